//! The Rapid rate law and its safe face.
//!
//! The law itself is C, integers only, in `include/rapid/`: the same text runs here and inside a kernel. It has no
//! memory, no clock and no randomness of its own. [`Law`] owns its memory, grows it with the bandwidth-delay product,
//! and is the only way in; it is plain data, so it can be cloned and sent between threads. There are two laws in one frame:
//! `Law<Params>` is the default law, `Law<ThesisParams>` the dissertation's.
//!
//! Start reading at `include/rapid/rapid.h` (what a host calls), then `frame.h` (packet clock, streams, records),
//! `envelope.h` (the default law; `queue.h`, `coalescing.h` and `skew.h` serve it), `startup.h`, and `thesis.h` (the
//! dissertation's law).
#![no_std]

extern crate alloc;

pub mod gaps;

mod ffi;
mod law;
mod memory;
mod params;
mod trace;

pub use ffi::{Params as RawParams, ThesisParams as RawThesisParams};
pub use law::{Envelope, Law, Probe};
pub use params::{Estimator, LawParams, Params, SHORTEST_ROUND_TRIP, ThesisParams};
pub use trace::{TracedPacket, TracedStream};
