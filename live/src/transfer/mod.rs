//! Transfers: flows of data to a server, by the sender, receiver and controllers that all hosts use. Only the clock and the
//! carrier of datagrams differ.
//!
//! ```text
//! client: [`drive`] ── [`Outgoing`]: packetscale_models::transport::Sender, a controller ──┐
//!                                                                      │ [`Carrier`]: a socket, or a link of a test
//! server: serve::Server ── [`Incoming`]: packetscale_models::transport::Receiver ──────────┘
//! ```
//!
//! A [`Carrier`] sends datagrams and reports their departure times. Another protocol (QUIC) would be another carrier, with
//! another reader of its packets.

mod breaker;
mod carrier;
mod departing;
mod drive;
mod incoming;
mod outgoing;
mod punctuality;
mod session;
mod wired;

pub use breaker::Breaker;
pub use carrier::{Carrier, Datagram};
pub use departing::Departing;
pub use drive::{Driven, Ends, Flows, Next, Session, drive};
pub use incoming::{Halt, Incoming, Seen};
pub use outgoing::{Delivery, Outgoing};
pub(crate) use session::LONGEST_RETRY;
pub use session::SessionError;
pub use wired::Wired;

use packetscale_models::units::Span;

/// Maximum number of flows per session.
pub const MOST_FLOWS: usize = 64;
/// Maximum number of segments that a receiver buffers per flow.
pub const MOST_WINDOW: u32 = 1 << 14;
/// Maximum number of buffered bytes of a file above a hole.
pub const MOST_HELD: u64 = 16_000_000;
/// Maximum number of ranges above a hole that a receiver stores per flow.
pub const MOST_RANGES: usize = 1 << 10;
/// Maximum number of segments per acknowledgment: their arrivals fit into a datagram.
pub const MOST_DELAYED: u32 = 256;
/// Longest interval without a packet: a server ends silent sessions.
pub const ALIVE: Span = Span::from_millis(1000);
