//! Real paths, as an ordinary user: probe streams over UDP, and the server at the other end.
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

pub mod ability;
pub mod pace;
pub mod probe;
pub mod serve;
pub mod socket;
pub mod stream;
pub mod wire;
