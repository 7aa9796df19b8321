//! A TCP sender and receiver as pure state machines.
//!
//! A host talks to a [`Sender`] through four calls, and extra calls are harmless: an acknowledgment arrived
//! ([`Sender::on_ack`]), what may leave now ([`Sender::poll_transmit`], until it answers `None`), when to look again
//! ([`Sender::next_wakeup`]), and that this time has come ([`Sender::on_wakeup`]). A [`Receiver`] is the same with
//! segments in and acknowledgments out. Neither has a clock.
//!
//! Sequence numbers count packets, as in ns-2: all packets of a flow have one size, the last may be short.
#![no_std]

extern crate alloc;

mod delivery;
mod params;
mod prr;
mod rack;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod sender;
mod watch;
mod wire;

pub use params::{Counters, SenderParams, Transfer};
pub use receiver::{Receiver, ReceiverParams};
pub use sender::Sender;
pub use wire::{Ack, MAX_SACK_BLOCKS, MAX_STAMPS, MarkCounts, SackBlock, Segment, Stamp};
