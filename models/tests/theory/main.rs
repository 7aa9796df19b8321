//! Closed forms beside what the papers print and what time steps give.
//!
//! One program has them all: each program of tests links all that is tested anew.

mod burstiness;
mod multiplexing;
mod qlbp;
mod rapid;
mod tdqm;
