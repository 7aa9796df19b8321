//! The model of BBR version 1: the largest delivery rate, whether the pipe is full, and how bunched acknowledgments are.

use crate::units::{Bytes, Rate, Ratio, Span, Time};

/// Rounds that a delivery rate counts for, in addition to its own (`bbr_bw_rtts`).
const RATE_ROUNDS: usize = 10;

/// The largest delivery rate of the last rounds (4.1.1.3).
#[derive(Clone, Debug, Default)]
pub(super) struct MaxRate {
    rates: [(u64, Rate); RATE_ROUNDS + 1],
    max: Rate,
}

impl MaxRate {
    pub fn value(&self) -> Rate {
        self.max
    }

    pub fn take(&mut self, round: u64, rate: Rate) {
        let slot = &mut self.rates[(round % self.rates.len() as u64) as usize];
        if slot.0 != round {
            *slot = (round, Rate::ZERO);
        }
        slot.1 = slot.1.max(rate);
        let recent = self.rates.iter().filter(|(then, _)| then + RATE_ROUNDS as u64 >= round);
        self.max = recent.map(|(_, rate)| *rate).max().unwrap_or_default();
    }
}

/// Whether sending faster still delivers more (4.3.2.2).
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    base: Rate,
    rounds: u32,
    pub reached: bool,
}

impl FullPipe {
    const GROWTH: Ratio = Ratio::of(5, 4);
    const ROUNDS: u32 = 3;

    /// Takes the rate at the beginning of a round.
    pub fn see(&mut self, rate: Rate) {
        if self.reached {
            return;
        }
        if rate >= self.base.scale(FullPipe::GROWTH) {
            (self.base, self.rounds) = (rate, 0);
            return;
        }
        self.rounds += 1;
        self.reached = self.rounds >= FullPipe::ROUNDS;
    }

    /// Restarts the measurement of growth.
    pub fn restart(&mut self) {
        (self.base, self.rounds) = (Rate::ZERO, 0);
    }
}

/// Packets acknowledged beyond what the rate explains (`bbr_update_ack_aggregation`): the most of five to ten rounds.
#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    start: Time,
    acked: u64,
    /// Of this window of rounds and the one before.
    excess: [u64; 2],
    rounds: u32,
}

impl Aggregation {
    /// Rounds of a window; until the pipe was full, one.
    const ROUNDS: u32 = 5;
    /// The allowance is at most what is delivered in this time.
    const MOST: Span = Span::from_millis(100);
    /// A measurement is as long as this many packets at most.
    const MOST_PACKETS: u64 = 1 << 20;

    pub fn new(now: Time) -> Aggregation {
        Aggregation { start: now, acked: 0, excess: [0; 2], rounds: 0 }
    }

    pub fn see(
        &mut self,
        now: Time,
        acked: u64,
        rate: Rate,
        packet: Bytes,
        window: u64,
        (round_started, full): (bool, bool),
    ) {
        if round_started {
            self.rounds += 1;
            if self.rounds >= if full { Aggregation::ROUNDS } else { 1 } {
                self.rounds = 0;
                self.excess = [0, self.excess[0]];
            }
        }
        let mut expected = rate.amount_in(now.saturating_since(self.start)) / packet;
        if self.acked <= expected || self.acked + acked >= Aggregation::MOST_PACKETS {
            (self.acked, self.start, expected) = (0, now, 0);
        }
        self.acked += acked;
        self.excess[0] = self.excess[0].max((self.acked - expected).min(window));
    }

    /// Restarts after an idle time.
    pub fn restart(&mut self, now: Time) {
        (self.start, self.acked) = (now, 0);
    }

    /// Packets to allow for aggregation at this rate.
    pub fn extra(&self, rate: Rate, packet: Bytes) -> u64 {
        self.excess[0].max(self.excess[1]).min(rate.amount_in(Aggregation::MOST) / packet)
    }
}
