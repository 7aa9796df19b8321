//! The search for the worst path.

#[path = "../../../harness/tests/runner/counting.rs"]
mod counting;
mod known;
mod search;
