//! Queue disciplines: the contract that each keeps, the registry, and one file per discipline.
//!
//! A discipline decides what happens to packets that wait for one link. It has no clock: the host passes the time,
//! takes the next packet when the link is free, and reads when to call again.
mod average;
mod codel;
mod contract;
mod dualpi2;
mod fifo;
mod fq_codel;
#[cfg(test)]
mod law_error;
mod pie;
mod qlbp;
mod ramp;
mod rcp;
mod red;
mod registry;
mod tdqm;
mod ticks;
mod timed;

pub use contract::{DropReason, Limit, Packet, Queue, RateHeader, Readings, Setup, Verdict};
pub use fifo::Fifo;
pub use red::Red;
pub use registry::{AnyQueue, Entry, find, registry};
pub use tdqm::Tdqm;
