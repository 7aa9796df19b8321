//! Connection vectors: what the two ends of a TCP connection send each other, and when, without the network between
//! them. A message leaves a wait after the message before it from the same end was handed over, or after one from the
//! other end has arrived whole.
//!
//! Source of the model: M. C. Weigle, P. Adurthi, F. Hernandez-Campos, K. Jeffay and F. D. Smith, "Tmix: a tool for
//! generating realistic TCP application workloads in ns-2", ACM CCR 36(3), 2006.

mod reader;
mod sessions;
#[cfg(test)]
mod tests;

pub(crate) use reader::read;
pub(crate) use sessions::draw;

use units::{Bytes, Span};

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Initiator = 0,
    Acceptor = 1,
}

impl End {
    pub(crate) fn other(self) -> End {
        match self {
            End::Initiator => End::Acceptor,
            End::Acceptor => End::Initiator,
        }
    }
}

/// What a message waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The connection's establishment.
    Start,
    /// The message before it, handed over.
    Sent,
    /// So many messages of the other end, arrived whole.
    Received(u32),
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) after: After,
    pub(crate) wait: Span,
    /// Without headers.
    pub(crate) size: Bytes,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vector {
    /// When it begins, from the start of the source.
    pub(crate) start: Span,
    /// Receive windows of both ends.
    pub(crate) windows: [Bytes; 2],
    /// Base round-trip time.
    pub(crate) rtt: Span,
    /// The messages of both ends.
    pub(crate) messages: [Vec<Message>; 2],
}
