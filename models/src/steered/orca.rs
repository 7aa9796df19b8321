//! Orca's observations, actions and reward (Abbasloo, Yen, Chao, "Classic meets modern: a pragmatic learning-based
//! congestion control for the Internet", SIGCOMM 2020, and the code published with it).
//!
//! CUBIC runs as ever; an agent multiplies its window. For each interval of 20 ms:
//!
//! ```text
//! most     = largest packets acknowledged per second of an interval so far
//! delay    = 1                                   if srtt <= 1.25 smallest round trip
//!            1.25 smallest round trip / srtt     otherwise
//! observed:  acknowledged per s / most,  window / srtt / most (at most 10),  5 lost per s / most,
//!            acknowledged / window,  length in s,  smallest round trip / srtt,  delay
//! reward:    (acknowledged per s - 5 lost per s) / most * delay
//! action a:  window *= 4^a,  -1 <= a <= 1
//! ```
//!
//! An observation is the last ten intervals, the newest last; before the first there are zeros.
//!
//! Deviations:
//! 1. After an action CUBIC begins a new epoch at the window that was set. In Linux its curve continues, and pulls the window
//!    back.
//! 2. Actions count from the start. The published code lets slow start end first, a tenth larger each 20 ms.
//! 3. The agent's rate is window / srtt; the kernel's pacing rate is up to twice that.
//! 4. The agent observes ten intervals; the published one has a recurrent network of that depth.
//! 5. Observations stay within bounds: 0 to 10, what is lost 0 to 100.

use crate::congestion::cubic::Cubic;
use crate::congestion::{Controller, Setup};
use crate::settings::{SettingError, Settings};
use crate::steered::interval::Interval;
use crate::units::Span;

/// Values observed of one interval.
pub const FEATURES: usize = 7;
/// Bounds of what is observed.
pub const BOUNDS: [(f32, f32); FEATURES] =
    [(0.0, 10.0), (0.0, 10.0), (0.0, 100.0), (0.0, 10.0), (0.0, 10.0), (0.0, 10.0), (0.0, 10.0)];
/// The history before the first interval.
pub const BEFORE: [f32; FEATURES] = [0.0; FEATURES];
/// Largest action; the smallest is its opposite.
pub const MOST_ACTION: f32 = 1.0;
/// The length of an interval.
const LENGTH: Span = Span::from_millis(20);
/// How much longer than the smallest a round trip may be before delay costs.
const DELAY_MARGIN: f64 = 1.25;
/// The cost of a lost packet, in packets acknowledged.
const PER_LOSS: f64 = 5.0;
/// The factor of the window for an action of 1.
const BASE: f64 = 4.0;
/// Bounds of the window after an action, in packets.
const LEAST_WINDOW: f64 = 4.0;
const MOST_WINDOW: f64 = 10_000.0;

/// CUBIC, and what intervals are compared with.
#[derive(Clone, Debug)]
pub(crate) struct Orca {
    pub(crate) cubic: Cubic,
    most_per_s: f64,
}

impl Orca {
    pub(crate) fn new(setup: &Setup) -> Result<Orca, SettingError> {
        Ok(Orca { cubic: Cubic::build(setup, &Settings::new())?, most_per_s: 0.0 })
    }

    pub(crate) fn length() -> Span {
        LENGTH
    }

    /// Returns what is observed of an interval, and its reward.
    pub(crate) fn judge(&mut self, interval: &Interval) -> ([f32; FEATURES], f64) {
        let (delivered, lost) = (interval.delivered_per_s(), PER_LOSS * interval.lost_per_s());
        self.most_per_s = self.most_per_s.max(delivered);
        let window = f64::from(self.cubic.decision().window.max(1));
        // Before the first acknowledgment there is nothing to compare with.
        let of_most = |value: f64| if self.most_per_s > 0.0 { value / self.most_per_s } else { 0.0 };
        let (srtt, smallest) = (interval.srtt_s, interval.min_rtt_s);
        let delay = (DELAY_MARGIN * smallest / srtt).min(1.0);
        let observed = [
            of_most(delivered),
            of_most(window / srtt),
            of_most(lost),
            interval.delivered as f64 / window,
            interval.seconds,
            smallest / srtt,
            delay,
        ];
        (observed.map(|value| value as f32), of_most(delivered - lost) * delay)
    }

    pub(crate) fn act(&mut self, action: f32) {
        let window = f64::from(self.cubic.decision().window) * libm::pow(BASE, f64::from(action));
        self.cubic.begin_at(window.clamp(LEAST_WINDOW, MOST_WINDOW));
    }
}
