//! BBR's model of its path (draft-ietf-ccwg-bbr, "Updating Network Path Model Parameters"). The parts do not
//! know BBR's states; `machine` reads the parts.

use super::Seen;
use crate::congestion::contract::RateSample;
use crate::units::{Bytes, Rate, Ratio, Span, Time};

/// No bound on a volume.
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// Rounds to remember aggregation for, once the pipe was full.
const AGGREGATION_ROUNDS: usize = 10;

/// Round trips counted by packets: a round ends when a packet that left after its start is delivered.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// Packets delivered when the round began.
    begin: u64,
    pub count: u64,
    /// Rounds since the last bandwidth probe ended, plus a random one.
    pub since_probe: u64,
    /// Whether this acknowledgment began a round.
    pub started: bool,
}

impl Rounds {
    /// Returns whether a round begins.
    pub fn see(&mut self, sample: &RateSample) -> bool {
        self.started = sample.prior_delivered >= self.begin;
        if self.started {
            self.restart(sample.prior_delivered + sample.delivered);
            self.count += 1;
            self.since_probe += 1;
        }
        self.started
    }

    /// Begins a round.
    pub fn restart(&mut self, delivered: u64) {
        self.begin = delivered;
    }
}

/// The largest delivery rate over this cycle of probing and the one before ("BBR.max_bw Max Filter").
#[derive(Clone, Debug, Default)]
pub(super) struct Bandwidth {
    before: Rate,
    current: Rate,
}

impl Bandwidth {
    pub fn max(&self) -> Rate {
        self.before.max(self.current)
    }

    /// A sample limited by the application counts only if it is larger still.
    pub fn see(&mut self, rate: Rate, app_limited: bool) {
        if rate >= self.max() || !app_limited {
            self.current = self.current.max(rate);
        }
    }

    /// Ends a cycle.
    pub fn advance(&mut self) {
        if self.current > Rate::ZERO {
            self.before = self.current;
            self.current = Rate::ZERO;
        }
    }
}

/// The base delay over two windows: the shorter schedules ProbeRTT, the longer is the estimate ("ProbeRTT Logic").
#[derive(Clone, Debug)]
pub(super) struct Delay {
    min_rtt: Span,
    min_rtt_stamp: Time,
    recent: Span,
    recent_stamp: Time,
    /// Whether ProbeRTT is due.
    pub probe_due: bool,
}

impl Delay {
    const WINDOW: Span = Span::from_secs(10);

    pub fn new(now: Time, handshake_rtt: Span) -> Delay {
        let rtt = if handshake_rtt == Span::ZERO { Span::MAX } else { handshake_rtt };
        Delay { min_rtt: rtt, min_rtt_stamp: now, recent: rtt, recent_stamp: now, probe_due: false }
    }

    pub fn min_rtt(&self) -> Span {
        self.min_rtt
    }

    /// Without an `interval` nothing expires: ProbeRTT has to wait.
    pub fn see(&mut self, now: Time, rtt: Option<Span>, interval: Option<Span>) {
        self.probe_due = interval.is_some_and(|interval| now > self.recent_stamp.saturating_add(interval));
        if let Some(rtt) = rtt
            && (rtt < self.recent || self.probe_due)
        {
            self.recent = rtt;
            self.recent_stamp = now;
        }
        let expired = interval.is_some() && now > self.min_rtt_stamp.saturating_add(Delay::WINDOW);
        if self.recent < self.min_rtt || expired {
            self.min_rtt = self.recent;
            self.min_rtt_stamp = self.recent_stamp;
        }
    }

    /// The queue is drained: ProbeRTT is due an interval from now.
    pub fn probed(&mut self, now: Time) {
        self.recent_stamp = now;
    }
}

/// Whether sending faster still delivers more ("Exiting Acceleration Based on Bandwidth Plateau").
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    base: Rate,
    rounds: u32,
    /// In this probe.
    pub now: bool,
    /// Ever.
    pub reached: bool,
}

impl FullPipe {
    const GROWTH: Ratio = Ratio::of(5, 4);
    const ROUNDS: u32 = 3;

    /// Restarts at this rate.
    pub fn restart(&mut self, base: Rate) {
        *self = FullPipe { base, rounds: 0, now: false, reached: self.reached };
    }

    /// Takes the rate at which a round began that the application did not limit.
    pub fn see(&mut self, rate: Rate) {
        if self.now {
            return;
        }
        if rate >= self.base.scale(FullPipe::GROWTH) {
            self.restart(rate);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= FullPipe::ROUNDS;
        self.reached |= self.now;
    }
}

/// Packets delivered and lost in the last round ("When not Probing for Bandwidth").
#[derive(Clone, Debug, Default)]
pub(super) struct LatestRound {
    pub rate: Rate,
    pub volume: u64,
    /// Packets delivered when the watched round began.
    begin: u64,
    /// Whether this acknowledgment ends it.
    pub ends: bool,
    /// Whether it had losses.
    pub lossy: bool,
    /// Lost ranges in it.
    pub lost_ranges: u32,
    next_lost: u64,
}

impl LatestRound {
    pub fn see(&mut self, sample: &RateSample, rate: Rate) {
        self.rate = self.rate.max(rate);
        self.volume = self.volume.max(sample.delivered);
        self.ends = sample.prior_delivered >= self.begin;
        if self.ends {
            self.begin = sample.prior_delivered + sample.delivered;
        }
    }

    /// Ends the handling of an acknowledgment.
    pub fn advance(&mut self, sample: &RateSample, rate: Rate) {
        if self.ends {
            self.rate = rate;
            self.volume = sample.delivered;
            self.lost_ranges = 0;
        }
    }

    /// At the first loss: watches one round from here.
    pub fn begin_loss_round(&mut self, delivered: u64) {
        self.begin = delivered;
        self.lossy = true;
    }

    pub fn count_lost(&mut self, sequence: u64) {
        if self.lost_ranges == 0 || sequence != self.next_lost {
            self.lost_ranges += 1;
        }
        self.next_lost = sequence + 1;
    }

    pub fn reset(&mut self) {
        self.lossy = false;
        self.rate = Rate::ZERO;
        self.volume = 0;
    }
}

/// Bounds set by losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub bw_shortterm: Rate,
    pub inflight_shortterm: u64,
    pub inflight_longterm: u64,
}

impl Bounds {
    pub const NONE: Bounds =
        Bounds { bw_shortterm: Rate::from_bps(u64::MAX), inflight_shortterm: UNBOUNDED, inflight_longterm: UNBOUNDED };

    /// After a round with losses: lowers the bounds to what it delivered, by `beta` at most.
    pub fn lower(&mut self, latest: &LatestRound, max_bw: Rate, window: u64, beta: Ratio) {
        if self.bw_shortterm == Bounds::NONE.bw_shortterm {
            self.bw_shortterm = max_bw;
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = window;
        }
        self.bw_shortterm = latest.rate.max(self.bw_shortterm.scale(beta));
        self.inflight_shortterm = latest.volume.max(beta.of_u64(self.inflight_shortterm));
    }

    pub fn forget_shortterm(&mut self) {
        *self = Bounds { inflight_longterm: self.inflight_longterm, ..Bounds::NONE };
    }

    pub fn raise_to(&mut self, saved: &Bounds) {
        self.bw_shortterm = self.bw_shortterm.max(saved.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(saved.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(saved.inflight_longterm);
    }
}

/// Packets acknowledged beyond what the bandwidth explains: bursts of acknowledgments ("BBR.extra_acked").
#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    start: Time,
    delivered: u64,
    /// Largest excess of each of the last rounds.
    excess: [u64; AGGREGATION_ROUNDS],
}

impl Aggregation {
    pub fn new(now: Time) -> Aggregation {
        Aggregation { start: now, delivered: 0, excess: [0; AGGREGATION_ROUNDS] }
    }

    fn slot(rounds: &Rounds) -> usize {
        (rounds.count % AGGREGATION_ROUNDS as u64) as usize
    }

    pub fn see(&mut self, seen: &Seen, bw: Rate, packet: Bytes, window: u64, rounds: &Rounds) {
        let slot = Aggregation::slot(rounds);
        if rounds.started {
            self.excess[slot] = 0;
        }
        let mut expected = bw.amount_in(seen.now.saturating_since(self.start)) / packet;
        if self.delivered <= expected {
            self.delivered = 0;
            self.start = seen.now;
            expected = 0;
        }
        self.delivered += seen.delivered;
        self.excess[slot] = self.excess[slot].max((self.delivered - expected).min(window));
    }

    /// Restarts the measurement after an idle time.
    pub fn restart(&mut self, now: Time) {
        self.start = now;
    }

    /// Largest excess of the last rounds; until the pipe was full, of this round only.
    pub fn extra(&self, remember: bool, rounds: &Rounds) -> u64 {
        if remember { self.excess.into_iter().max().unwrap_or(0) } else { self.excess[Aggregation::slot(rounds)] }
    }
}
