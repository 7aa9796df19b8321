//! Rounds, and what Vegas measures in each.
//!
//! A round lasts until a packet that was sent after its beginning is acknowledged. Each round keeps its smallest
//! round-trip time, which a delayed acknowledgment does not spoil. The connection keeps the smallest of all, the base.

use crate::congestion::contract::AckSample;
use crate::units::Span;

/// Ends of rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// The round ends when more than this is acknowledged; `None`: the next acknowledgment begins one.
    end: Option<u64>,
}

impl Rounds {
    pub fn new() -> Rounds {
        Rounds { end: None }
    }

    /// Restarts with the next acknowledgment.
    pub fn restart(&mut self) {
        self.end = None;
    }

    /// Returns whether this acknowledgment ends a round, and so begins the next.
    #[inline]
    pub fn ends(&mut self, ack: &AckSample<'_>) -> bool {
        let over = self.end.is_some_and(|end| ack.next_unacked > end);
        if over || self.end.is_none() {
            self.end = Some(ack.next_unsent);
        }
        over
    }
}

/// The measurements of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    /// Smallest round-trip time of the connection.
    pub base: Span,
    /// Smallest of the round.
    pub rtt: Span,
}

impl Backlog {
    pub fn delay(&self) -> Span {
        self.rtt.saturating_sub(self.base)
    }

    /// Packets queued, by the round's rate: window delay / rtt.
    pub fn packets_at_round_rate(&self, window: u32) -> u32 {
        proportion(window, self.delay(), self.rtt)
    }

    /// Packets queued, by the rate without a queue: window delay / base (Vegas: diff).
    pub fn packets_at_base_rate(&self, window: u32) -> u32 {
        proportion(window, self.delay(), self.base)
    }

    /// Window for the round's rate without a queue: window base / rtt.
    pub fn window_without_queue(&self, window: u32) -> u32 {
        proportion(window, self.base, self.rtt)
    }
}

/// `n part / whole`, rounded down.
pub(crate) fn proportion(n: u32, part: Span, whole: Span) -> u32 {
    let scaled = u128::from(n) * u128::from(part.picos()) / u128::from(whole.picos().max(1));
    u32::try_from(scaled).unwrap_or(u32::MAX)
}

/// Vegas' samples of round-trip times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VegasSamples {
    rounds: Rounds,
    base: Span,
    min: Span,
    count: u32,
}

impl VegasSamples {
    /// Fewest samples to judge a round by: delayed acknowledgments may distort all of fewer.
    const ENOUGH: u32 = 3;

    pub fn new() -> VegasSamples {
        VegasSamples { rounds: Rounds::new(), base: Span::MAX, min: Span::MAX, count: 0 }
    }

    pub fn take(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            self.base = self.base.min(rtt);
            self.min = self.min.min(rtt);
            self.count += 1;
        }
    }

    /// Forgets the round but not the base.
    pub fn restart(&mut self) {
        self.rounds.restart();
        self.forget();
    }

    /// At the end of a round returns its measurements; the inner `None`: too few samples.
    pub fn end_of_round(&mut self, ack: &AckSample<'_>) -> Option<Option<Backlog>> {
        if !self.rounds.ends(ack) {
            return None;
        }
        let shown = (self.count >= VegasSamples::ENOUGH).then_some(Backlog { base: self.base, rtt: self.min });
        self.forget();
        Some(shown)
    }

    fn forget(&mut self) {
        self.min = Span::MAX;
        self.count = 0;
    }
}
