//! The search for the worst path.

#[path = "../support/host.rs"]
mod host;
mod known;
mod search;
