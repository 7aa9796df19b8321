//! Connection vectors: what the two ends of a TCP connection send each other, and when, without the network between
//! them. Each message has a wait. It leaves that long after the same end handed over its previous message, or after a
//! whole message from the other end has arrived.
//!
//! Source of the model: M. C. Weigle, P. Adurthi, F. Hernandez-Campos, K. Jeffay and F. D. Smith, "Tmix: a tool for
//! generating realistic TCP application workloads in ns-2", ACM CCR 36(3), 2006.

mod reader;
mod sessions;
#[cfg(test)]
mod tests;

pub use reader::read;
pub use sessions::draw;

use packetscale_models::units::{Bytes, Span};

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end that opens the connection.
    Initiator = 0,
    /// The end that waits for connections.
    Acceptor = 1,
}

impl End {
    /// Returns the other end.
    pub fn other(self) -> End {
        match self {
            End::Initiator => End::Acceptor,
            End::Acceptor => End::Initiator,
        }
    }
}

/// The event that a message waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The connection's establishment.
    Start,
    /// The handover of the same end's previous message.
    Sent,
    /// The arrival of this number of whole messages from the other end.
    Received(u32),
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The event that it waits for.
    pub after: After,
    /// How long it waits after that.
    pub wait: Span,
    /// Its size without headers.
    pub size: Bytes,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// When it begins, from the start of the source.
    pub start: Span,
    /// Receive windows of both ends.
    pub windows: [Bytes; 2],
    /// Base round-trip time.
    pub rtt: Span,
    /// The messages of both ends.
    pub messages: [Vec<Message>; 2],
}
