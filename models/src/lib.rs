//! Code without clock, input, output and randomness: quantities, controllers, queues, TCP's state
//! machines, estimators and theory. Nothing here needs `std`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`units`] | time, sizes, rates as types; only they compute quantities |
//! | [`settings`] | the settings of an algorithm: name, type, default, range |
//! | [`rapid`] | the safe interface of Rapid's law, implemented in C by `packetscale-law` |
//! | [`congestion`] | the `Controller` contract, the registry, one file per controller |
//! | [`queueing`] | the `Queue` contract, the registry, one file per discipline |
//! | [`transport`] | TCP sender and receiver: scoreboard, RACK, PRR, timeouts, undo |
//! | [`steered`] | controllers that an agent steers, interval by interval |
//! | [`estimation`] | estimators and denoisers of a probe stream, one file each |
//! | [`theory`] | closed forms and exact methods |
#![no_std]

extern crate alloc;

pub mod congestion;
pub mod estimation;
pub mod queueing;
pub mod rapid;
pub mod settings;
pub mod steered;
pub mod theory;
pub mod transport;
pub mod units;
