//! Real paths, as an ordinary user: probe streams and transfers over UDP, and the server at the other end.
//!
//! | module | what it does |
//! |---|---|
//! | [`wire`] | the wire format |
//! | [`socket`] | a UDP socket that says when packets really left and arrived |
//! | [`pace`] | waits until an instant: sleeps first, then spins |
//! | [`ability`] | measures which gaps this machine can make |
//! | [`stream`] | sends the packets of a stream at their gaps |
//! | [`serve`] | the server |
//! | [`probe`] | asks a server how much of the path is free |
//! | [`host`] | runs scenarios over real paths |
//! | [`send`] | sends files |
//! | [`transfer`] | flows of data, by the transport of every host |
//! | [`store`] | where a receiver puts files |

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
