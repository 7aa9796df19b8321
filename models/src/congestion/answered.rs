//! The round trip after a mark was answered.
//!
//! A window is reduced once for all that befell it, marks and losses alike (RFC 3168, section 6.1.2). Until the packets
//! that left before the answer are acknowledged, or nothing is in flight, it neither shrinks again nor grows: it is as in
//! recovery from a loss, with nothing to repair (Linux: the state CWR). A timeout reduces it anyway.

use crate::congestion::contract::AckSample;

/// Whether a mark was answered less than a round trip ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// No, or it is over.
    No,
    /// By the acknowledgment of this moment.
    Now,
    /// Until this packet is acknowledged, the first that left after the answer.
    Until(u64),
}

impl Answered {
    /// Ends it: recovery from a loss begins. Returns whether the window has been reduced for its round trip already.
    pub fn end(&mut self) -> bool {
        core::mem::replace(self, Answered::No) != Answered::No
    }

    /// Processes the acknowledgment. Returns whether the window is frozen at it.
    #[inline]
    pub fn holds_at(&mut self, ack: &AckSample<'_>) -> bool {
        *self = match *self {
            Answered::Now => Answered::Until(ack.next_unsent),
            Answered::Until(next) if ack.next_unacked <= next && ack.in_flight > 0 => return true,
            Answered::Until(_) | Answered::No => Answered::No,
        };
        *self != Answered::No
    }
}
