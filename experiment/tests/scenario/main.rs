//! Scenarios as written: what is read, what is refused, and how.
//!
//! One program has them all: each program of tests links all that is tested anew.

mod arrivals;
mod canonical;
mod documented;
mod expectations;
mod graph;
mod plan;
mod probes;
mod refusals;
mod service;
mod texts;
