//! Congestion control: the contract every controller keeps, the registry, and one file per controller.
//!
//! A controller receives events and answers with a value, its [`Decision`]. It has no clock, no randomness except
//! a given seed, and no access to its host. The host applies the decision: it keeps at most
//! [`Decision::window`] packets in flight and sends the next one no earlier than [`Decision::departure`]. An
//! ack-clocked sender leaves the departure time in the past; a paced or gap-clocked sender sets it. They are one thing.
mod answered;
mod contract;
mod extremes;
#[cfg(test)]
mod growth_tests;
mod registry;
mod rounds;
#[cfg(test)]
mod testing;
mod window;
mod window_based;

pub mod bbr;
pub mod bbr1;
pub mod bic;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod dctcp;
pub mod fast;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod ledbat;
pub mod lp;
pub mod newark;
pub mod newreno;
mod prague;
pub mod rapid;
pub mod rapid_thesis;
pub mod rcp;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod yeah;

pub use contract::{
    AckSample, Arrival, Controller, Decision, Extras, GapRecord, Idle, Loss, LossResponse, LostFlight, Marked, Needs,
    Probe, Probing, RateSample, Sent, Setup, StreamTrace, Timeout, Undo,
};
pub use registry::{AnyController, Entry, External, find, registry};
