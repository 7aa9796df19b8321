//! Closed forms against printed values and time steps.

mod burstiness;
mod multiplexing;
mod qlbp;
mod rapid;
mod tdqm;
