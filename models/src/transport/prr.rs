//! Proportional rate reduction (RFC 6937, with the choice of bound of its successor, RFC 9937).
//!
//! In fast recovery the sender sends in proportion to what is delivered. The window thus reaches the controller's
//! target when recovery ends, without a pause and without a burst.
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
//! between the edges of the window. Packets above the hole that had already been delivered cannot be delivered again.

#[derive(Clone, Debug)]
pub(crate) struct ProportionalReduction {
    target: u32,
    flight_at_start: u32,
    delivered: u32,
    sent: u32,
    window: u32,
}

impl ProportionalReduction {
    /// Recovery begins. `target` is the window that the controller set for its end.
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

    /// Returns how many packets may be in flight until the next delivery.
    pub fn window(&self) -> u32 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty packets in flight, one lost, target ten. The k-th delivery allows ceil(k * 10 / 20) in all: 1, 1, 2, 2,
    /// 3, ... one packet for every two delivered. The 17th brings the pipe down to 20 - 1 lost - 17 + 8 = 10, the
    /// target. From then on the pipe stays full.
    #[test]
    fn one_packet_leaves_for_every_two_delivered() {
        let mut prr = ProportionalReduction::new(10, 20);
        let mut pipe = 19;
        let mut sent = alloc::vec::Vec::new();
        for _ in 0..19 {
            pipe -= 1;
            prr.on_delivery(1, pipe, false);
            let room = prr.window() - pipe;
            (0..room).for_each(|_| prr.on_sent());
            pipe += room;
            sent.push(room);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
        // 20 - 1 lost - 19 delivered + 10 sent
        assert_eq!(pipe, 10);
    }

    /// Sixteen of twenty are lost at once: the pipe, 3, is below the target. The first delivery lets one packet leave.
    /// Then, while the left edge moves, max(2 - 1, 1) + 1 = 2.
    #[test]
    fn below_the_target_deliveries_bound_the_window() {
        let mut prr = ProportionalReduction::new(10, 20);
        prr.on_delivery(1, 3, false);
        assert_eq!(prr.window(), 3 + 1);
        prr.on_sent();
        prr.on_delivery(1, 3, true);
        assert_eq!(prr.window(), 3 + 2);
    }

    /// None of 20 is delivered: the law allows nothing, but the fast retransmission must leave.
    #[test]
    fn the_first_retransmission_always_leaves() {
        let mut prr = ProportionalReduction::new(10, 20);
        prr.on_delivery(0, 19, false);
        assert_eq!(prr.window(), 19 + 1);
    }
}
