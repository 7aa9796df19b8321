//! The questions of RFC 9743.

#[path = "../support/host.rs"]
mod host;
mod resume;
