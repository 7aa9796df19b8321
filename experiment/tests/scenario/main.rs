//! Scenarios as written: what is read, what is refused, and how.

mod arrivals;
mod canonical;
mod documented;
mod expectations;
mod graph;
mod plan;
mod probes;
mod refusals;
mod service;
mod support;
mod texts;
