//! Closed forms beside what the papers print and what time steps give.

mod burstiness;
mod multiplexing;
mod qlbp;
mod rapid;
mod tdqm;
