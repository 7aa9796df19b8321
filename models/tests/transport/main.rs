//! The sender and receiver over a path computed by hand.

mod bbr;
mod completion;
mod laws;
mod marks;
mod path;
mod receiver;
mod recovery;
mod sending;

use packetscale_models::congestion::{AnyController, Controller, Extras};
use packetscale_models::transport::{Ack, Receiver, ReceiverParams, Segment, Sender, SenderParams, Transfer};
use packetscale_models::units::{Bytes, Ecn, Marks, Span, Time};
use path::scripted::{Report, Scripted};
use path::{Dice, Fate, PACKET, Path, arrives, controller, dropped, receiver_params, sender_params};
use std::collections::BTreeSet;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}
