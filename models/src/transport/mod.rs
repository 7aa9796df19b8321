//! A TCP sender and receiver as pure state machines.
//!
//! A host drives a [`Sender`] through four calls. Extra calls are harmless.
//!
//! * [`Sender::on_ack`]: an acknowledgment arrived.
//! * [`Sender::poll_transmit`]: what may leave now; call it until it returns `None`.
//! * [`Sender::next_wakeup`]: when to wake the sender.
//! * [`Sender::on_wakeup`]: the wake-up time has arrived.
//!
//! A [`Receiver`] works the same way: it takes segments and returns acknowledgments. Neither has a clock.
//!
//! Sequence numbers count packets, as in ns-2. All packets of a flow have one size; the last may be short.
mod covered;
mod delivery;
mod params;
mod prr;
mod rack;
mod receiver;
mod recovery;
mod ring;
mod rtt;
mod scoreboard;
mod sender;
mod watch;
mod wire;

pub use params::{Counters, SenderParams, Transfer};
pub use receiver::{Receiver, ReceiverParams};
pub use rtt::MAX_RTO;
pub use sender::Sender;
pub use wire::{Ack, MAX_SACK_BLOCKS, MAX_STAMPS, MarkCounts, SackBlock, Segment, Stamp};
