//! The safe interface of Rapid's law, implemented in C by `packetscale-law`.
//!
//! [`Law`] owns the memory that the C body needs, grows it with the bandwidth-delay product, and is the only way in. It is
//! plain data, so it can be cloned and sent between threads. `Law<Params>` is the default law, `Law<ThesisParams>` the
//! dissertation's, in the same frame.
#![allow(unsafe_code, reason = "calls of the law's C body")]

pub mod gaps;

mod law;
mod memory;
mod params;
mod trace;

pub use law::{Envelope, Law, Probe};
pub use packetscale_law::{Params as RawParams, ThesisParams as RawThesisParams};
pub use params::{Estimator, LawParams, Params, SHORTEST_ROUND_TRIP, ThesisParams};
pub use trace::{TracedPacket, TracedStream};
