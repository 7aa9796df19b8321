//! Real paths, without privileges: probe streams and transfers over UDP, and the server at the other end.
//!
//! | module | what it does |
//! |---|---|
//! | [`wire`] | the wire format |
//! | [`socket`] | a UDP socket with departure and arrival times of packets |
//! | [`pace`] | waits until an instant: sleeps first, then spins |
//! | [`ability`] | measures which gaps this machine can make |
//! | [`stream`] | sends the packets of a stream at their gaps |
//! | [`serve`] | the server |
//! | [`probe`] | measures the available bandwidth of the path to a server |
//! | [`host`] | runs scenarios over real paths |
//! | [`send`] | sends files |
//! | [`transfer`] | flows of data, by the transport that all hosts use |
//! | [`store`] | where a receiver stores files |

pub mod ability;
mod controllers;
pub mod host;
pub mod pace;
pub mod probe;
pub mod send;
pub mod serve;
pub mod socket;
pub mod store;
pub mod stream;
pub mod transfer;
pub mod wire;
