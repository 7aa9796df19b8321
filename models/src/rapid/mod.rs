//! The safe interface of Rapid's law, whose C body is `packetscale-law`.
//!
//! [`Law`] owns the memory that the C body needs, grows it with the bandwidth-delay product, and is the only way in. It is
//! plain data, so it can be cloned and sent between threads.
#![allow(unsafe_code, reason = "calls of the law's C body")]

pub mod gaps;

mod law;
mod memory;
mod params;
mod trace;

pub use law::{Law, Probe};
pub use packetscale_law::Params as RawParams;
pub use params::{Estimator, Params, Preset, SHORTEST_ROUND_TRIP};
pub use trace::{TracedPacket, TracedStream};
