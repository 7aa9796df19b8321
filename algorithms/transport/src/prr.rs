//! Proportional rate reduction (RFC 6937; the choice of bound is that of its successor, RFC 9937): in fast recovery,
//! what leaves is proportional to what is delivered, so that the window arrives at the controller's target when
//! recovery ends, without a pause and without a burst.
//!
//! ```text
//! pipe > target:   send = ceil(delivered * target / flight_at_start) - sent
//! otherwise:       send = min(target - pipe, limit)
//!     safe:        limit = max(delivered - sent, newly delivered) + 1      (slow-start reduction bound)
//!     else:        limit = delivered - sent                                (conservative reduction bound)
//! ```
//!
//! An acknowledgment is safe when it moves the left edge and shows no further loss. The first call lets at least one
//! packet leave: the fast retransmission.
//!
//! Deviation: `flight_at_start` is the pipe before the acknowledgment that began recovery (RFC 9937), not everything
//! between the edges of the window: packets delivered above the hole before that can no longer be delivered.

#[derive(Clone, Debug)]
pub(crate) struct ProportionalReduction {
    target: u32,
    flight_at_start: u32,
    delivered: u32,
    sent: u32,
    window: u32,
}

impl ProportionalReduction {
    /// Recovery begins: `target` is the window that the controller set for its end.
    pub fn new(target: u32, flight_at_start: u32) -> ProportionalReduction {
        ProportionalReduction { target, flight_at_start: flight_at_start.max(1), delivered: 0, sent: 0, window: 0 }
    }

    /// Packets were delivered and `pipe` packets are in flight now.
    pub fn on_delivery(&mut self, newly: u32, pipe: u32, safe: bool) {
        self.delivered += newly;
        let owed = self.delivered.saturating_sub(self.sent);
        let mut send = if pipe > self.target {
            let share = (u64::from(self.delivered) * u64::from(self.target)).div_ceil(u64::from(self.flight_at_start));
            (share as u32).saturating_sub(self.sent)
        } else {
            let limit = if safe { owed.max(newly) + 1 } else { owed };
            limit.min(self.target - pipe)
        };
        if self.sent == 0 {
            send = send.max(1);
        }
        self.window = pipe + send;
    }

    pub fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// Packets that may be in flight until the next delivery.
    pub fn window(&self) -> u32 {
        self.window
    }
}
