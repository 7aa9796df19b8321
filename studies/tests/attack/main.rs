//! The search for the worst path.

mod known;
mod search;
