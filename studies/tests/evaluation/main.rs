//! The questions of RFC 9743.

#[path = "../../../harness/tests/runner/counting.rs"]
mod counting;
mod resume;
