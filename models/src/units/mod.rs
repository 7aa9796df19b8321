//! Typed, exact quantities.
//!
//! This is the only place where quantities are computed. Inside the project a number with a unit is one of
//! these types; where types stop (C, JSON, CSV) its name carries the unit (`min_rtt_ns`).
//!
//! * [`Time`]: a point of virtual or real time, picoseconds since the start (`u64`, 213 days).
//! * [`Span`]: a length of time, picoseconds.
//! * [`Bytes`], [`Packets`]: amounts.
//! * [`Rate`]: bits per second (`u64`: 400 Gbit/s and far beyond).
//! * [`Ratio`]: a non-negative fraction in 1/2^32.
//! * [`Serialiser`]: times on the wire with the remainder carried, so that a rate is exact in the long run.
//! * [`Capacity`], [`VaryingSerialiser`]: the same for a wire with a varying rate, or that carries in bursts.
//! * [`TokenBucket`]: the meter of shapers and policers.
//! * [`Marks`]: what a queue writes into a packet and a receiver echoes.
//! * [`Random`]: random numbers from a seed, for algorithms that have no source of their own.
//!
//! Arithmetic that cannot overflow in any meaningful run uses plain operators, which panic on overflow in every
//! build. Where overflow can happen, there are `saturating_*` and `checked_*` forms. Multiplications use 128 bits and round
//! down unless the name states otherwise.
//!
//! With the feature `serde` each quantity is written as the whole number that it is made of: picoseconds, bytes,
//! packets, bits per second, 1/2^32.
mod amount;
mod bucket;
mod capacity;
mod marks;
mod random;
mod rate;
mod ratio;
mod text;
mod time;

pub use amount::{Bytes, Packets};
pub use bucket::TokenBucket;
pub use capacity::{Capacity, CapacityAccount, CapacityPoint, VaryingSerialiser};
pub use marks::{Ecn, Marks};
pub use random::Random;
pub use rate::{Rate, Serialiser};
pub use ratio::Ratio;
pub use text::{ParseError, Problem};
pub use time::{Span, SpanSum, Time};
