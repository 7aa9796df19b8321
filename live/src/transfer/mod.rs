//! Transfers: flows of data to a server, by the sender, the receiver and the controllers of every other host. Only the clock
//! and what carries datagrams differ.
//!
//! ```text
//! client: [`drive`] ── [`Outgoing`]: packetscale_models::transport::Sender, a controller ──┐
//!                                                                      │ [`Carrier`]: a socket, or a link of a test
//! server: serve::Server ── [`Incoming`]: packetscale_models::transport::Receiver ──────────┘
//! ```
//!
//! A [`Carrier`] takes datagrams and says when each really left. Another protocol (QUIC) would be another carrier, and
//! another reader of what it carries.

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
pub use carrier::{Carrier, Heard};
pub use departing::Departing;
pub use drive::{Driven, Ends, Flows, Next, Session, drive};
pub use incoming::{Halt, Incoming, Seen};
pub use outgoing::{Delivery, Outgoing};
pub(crate) use session::LONGEST_RETRY;
pub use session::SessionError;
pub use wired::Wired;

use packetscale_models::units::Span;

/// The most flows of a session.
pub const MOST_FLOWS: usize = 64;
/// The most segments that a receiver holds for a flow.
pub const MOST_WINDOW: u32 = 1 << 14;
/// The most bytes of a file that arrived above a hole, and wait for it.
pub const MOST_HELD: u64 = 16_000_000;
/// The most ranges above a hole that a receiver keeps of a flow.
pub const MOST_RANGES: usize = 1 << 10;
/// The most segments that one acknowledgment answers: their arrivals fit into a datagram.
pub const MOST_DELAYED: u32 = 256;
/// Nothing is sent for no longer than this: a server ends sessions that are silent.
pub const ALIVE: Span = Span::from_millis(1000);
