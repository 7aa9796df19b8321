//! Detects a token bucket that polices the flow (Linux only: `bbr_lt_bw_sampling`): two intervals of 4 to 16 rounds, each with
//! at least 50/256 as many packets lost as delivered and the same delivery rate within an eighth. That rate is then used for 48 rounds.

use crate::units::{Bytes, Rate, Ratio, Span, Time};

const MIN_ROUNDS: u32 = 4;
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
const USED_ROUNDS: u32 = 48;
/// Lost packets over delivered ones (`bbr_lt_loss_thresh`).
const LOSS: Ratio = Ratio::of(50, 256);
const SAME: Ratio = Ratio::of(1, 8);
const SAME_RATE: Rate = Rate::from_bps(4_000);
const MIN_TIME: Span = Span::from_millis(1);

/// Values of one acknowledgment.
pub(super) struct Seen {
    pub now: Time,
    pub packet: Bytes,
    /// Packets delivered, and lost, so far.
    pub delivered: u64,
    pub lost: u64,
    pub newly_lost: bool,
    pub round_started: bool,
    pub is_app_limited: bool,
    /// Whether the controller probes for bandwidth.
    pub probes: bool,
}

/// The search for a policer.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    used: bool,
    rate: Option<Rate>,
    start: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The policer's rate, while it is used.
    pub fn rate(&self) -> Option<Rate> {
        self.rate.filter(|_| self.used)
    }

    /// Returns whether the rate was used long enough: it is time to probe again.
    pub fn see(&mut self, seen: &Seen) -> bool {
        if self.used {
            self.rounds += u32::from(seen.probes && seen.round_started);
            let over = self.rounds >= USED_ROUNDS;
            if over {
                *self = Policer::default();
            }
            return over;
        }
        self.sample(seen);
        false
    }

    fn sample(&mut self, seen: &Seen) {
        if !self.sampling {
            if !seen.newly_lost {
                return;
            }
            self.begin(seen);
            self.sampling = true;
        }
        if seen.is_app_limited {
            *self = Policer::default();
            return;
        }
        self.rounds += u32::from(seen.round_started);
        if self.rounds > MAX_ROUNDS {
            *self = Policer::default();
            return;
        }
        if self.rounds < MIN_ROUNDS || !seen.newly_lost {
            return;
        }
        let (delivered, lost) = (seen.delivered - self.delivered, seen.lost - self.lost);
        let time = seen.now.saturating_since(self.start);
        if delivered > 0 && lost >= LOSS.of_u64(delivered) && time >= MIN_TIME {
            self.end(seen, Rate::of(seen.packet * delivered, time));
        }
    }

    fn begin(&mut self, seen: &Seen) {
        (self.start, self.delivered, self.lost, self.rounds) = (seen.now, seen.delivered, seen.lost, 0);
    }

    /// An interval is over: is its rate that of the one before?
    fn end(&mut self, seen: &Seen, rate: Rate) {
        if let Some(before) = self.rate {
            let difference = rate.max(before) - rate.min(before);
            if difference <= before.scale(SAME) || difference <= SAME_RATE {
                self.rate = Some(Rate::from_bps((rate.bps() + before.bps()) / 2));
                (self.used, self.rounds) = (true, 0);
                return;
            }
        }
        self.rate = Some(rate);
        self.begin(seen);
    }
}
