//! Mean number of packets at a link: the time that each spends there, waiting or on the wire, divided by the time.
//!
//! Every packet counts for as long as it is there between the warm-up and the end of the run, whether it leaves in that time,
//! is dropped from the queue, or still waits at the end.

use packetscale_models::units::Time;

/// The account of one link.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    warm: Time,
    end: Time,
    /// Time that packets which have gone spent there.
    spent_ps: u128,
    /// Packets now at the link with unknown departure.
    there: u64,
    /// Sum of the times since when they count.
    since_ps: u128,
}

impl Presence {
    pub(crate) fn new(warm: Time, end: Time) -> Presence {
        Presence { warm, end, spent_ps: 0, there: 0, since_ps: 0 }
    }

    /// A packet was or will be there from then to then.
    #[inline]
    pub(crate) fn stays(&mut self, from: Time, to: Time) {
        self.spent_ps += u128::from(to.min(self.end).saturating_since(from.max(self.warm)).picos());
    }

    /// A packet arrives, with unknown departure.
    pub(crate) fn comes(&mut self, at: Time) {
        self.there += 1;
        self.since_ps += self.counts_from(at);
    }

    /// Of one that came then it is known now: [`Presence::stays`] counts it.
    pub(crate) fn settles(&mut self, from: Time) {
        self.there -= 1;
        self.since_ps -= self.counts_from(from);
    }

    fn counts_from(&self, at: Time) -> u128 {
        u128::from(at.max(self.warm).min(self.end).picos())
    }

    /// The mean over time; `None` for an empty interval.
    pub(crate) fn mean(&self) -> Option<f64> {
        let time_ps = self.end.saturating_since(self.warm).picos();
        let still_ps = u128::from(self.there) * u128::from(self.end.picos()) - self.since_ps;
        (time_ps > 0).then(|| (self.spent_ps + still_ps) as f64 / time_ps as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000_000;

    fn second(at: u64) -> Time {
        Time::from_picos(at * SECOND)
    }

    #[test]
    fn counts_each_packet_only_within_the_measured_time() {
        let mut four_to_ten = Presence::new(second(4), second(10));
        four_to_ten.stays(second(0), second(3)); // before the warm-up is over: 0
        four_to_ten.stays(second(2), second(5)); // 1 s
        four_to_ten.stays(second(9), second(12)); // 1 s
        four_to_ten.comes(second(1));
        four_to_ten.comes(second(7)); // still there: 3 s
        four_to_ten.settles(second(1));
        four_to_ten.stays(second(1), second(5)); // 1 s
        assert_eq!(four_to_ten.mean(), Some(1.0));
    }

    #[test]
    fn empty_interval_has_no_mean() {
        assert_eq!(Presence::new(second(3), second(3)).mean(), None);
    }
}
