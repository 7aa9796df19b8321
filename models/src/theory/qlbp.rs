//! A queue-length based pacer (QLBP): its delay, its response, and how much it smooths traffic.
//!
//! A pacer with `q` packets of size `S` sends at `mu(q) = mu_min + (mu_max - mu_min) q / Q_max` up to `Q_max`, and at
//! the link's rate beyond. Its response constant is `alpha = (mu_max - mu_min) / (Q_max S)`, with the queue in bits.
//!
//! ```text
//! fluid:    d = Q_max S / (mu_max - mu_min) (1 - mu_min / lambda)         mu_min <= lambda <= mu_max
//! packets:  d = (ceil(q*) - 1) S / lambda,  q* = (lambda - mu_min) / (mu_max - mu_min) Q_max
//! bound:    Q_max S / mu_max                                              steady state only
//! emptying: sum over j = 1..Q_max of S / mu(j)                            a full queue after arrivals stop
//! step:     mu(t) = lambda - (lambda - mu_min) exp(-alpha t)              from an empty queue, lambda > mu_min
//! ```
//!
//! A Markov on-off source with peak `h`, mean idle `1/r1` and mean burst `1/r2`, `r = r1 + r2`, `s^2 = h^2 r1 r2 / r^2`:
//!
//! ```text
//! C_in(t)  = s^2 exp(-r t)
//! C_out(t) = s^2 alpha^2 / (alpha^2 - r^2) (exp(-r t) - r / alpha exp(-alpha t)),  s^2 / 2 (1 + r t) exp(-r t) at alpha = r
//! (CV_n / CV_0)^2 = I_n / I_0,  I_n = integral of (alpha^2 / (alpha^2 + w^2))^n / (r^2 + w^2) sinc^2(w W / 2) dw
//! ```
//!
//! with `CV_n` the coefficient of variation of counts in windows `W` after `n` equal pacers.
//!
//! Source: Y. Cai, B. Jiang, T. Wolf and W. Gong, "A Practical On-line Pacing Scheme at Edges of Small Buffer
//! Networks": equations (1)-(6), Theorems 1 and 2, Table II.
//!
//! Where this differs from the paper:
//!
//! 1. Theorem 1 bounds the delay in steady state only. In a queue that empties, packets wait up to the sum above, which
//!    is near `ln(mu_max / mu_min) / alpha`.
//! 2. Section IV-B starts the step at `mu(0) = mu_max`; an empty queue is `mu(0) = mu_min`, as its solution has it.
//! 3. With equation (2) as printed the queue never leaves zero; the indicator belongs to the departures alone.
//! 4. Table II has factors `1 / mu_max` where equation (1) gives `1 / (mu_max - mu_min)`. Counted in packets, the table
//!    is equation (1) with a slope of `(mu_max - mu_min) / (Q_max - 1)`, as if `Q_max` included the packet in service:
//!    [`Reading::WithInService`]. The literal equation gives one packet time more at 8 and 10 Mbit/s.
//! 5. Theorem 2 (and its `alpha`) assumes `mu_min = 0`, and a queue that never passes `Q_max`.

use crate::theory::Error;
use crate::units::{Bytes, Packets, Rate, Span};
use alloc::format;
use libm::{ceil, exp, expm1, log, sin, sqrt};

/// The unit of `Q_max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Waiting packets: equation (1).
    Waiting,
    /// Waiting packets and the one in service: Table II.
    WithInService,
}

/// A pacer and the packets it paces.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    /// Rate with an empty queue, `mu_min`.
    pub mu_min: Rate,
    /// Rate at `q_max`, `mu_max`.
    pub mu_max: Rate,
    /// Queue beyond which nothing is paced, `Q_max`.
    pub q_max: Packets,
    /// Size of every packet, `S`.
    pub packet: Bytes,
    /// The unit of `q_max`.
    pub reading: Reading,
}

/// No pacer has longer queues, and the time to empty one is a sum over every packet.
const MOST_PACKETS: u64 = 10_000_000;

impl Pacer {
    /// Checks that `mu_min` is below `mu_max`, and that `Q_max` is positive.
    ///
    /// # Errors
    /// [`Error::Input`] otherwise.
    pub fn check(&self) -> Result<(), Error> {
        if self.mu_min >= self.mu_max {
            return Err(Error::input("mu_min", format!("{}", self.mu_min), format!("below mu_max, {}", self.mu_max)));
        }
        let least = if self.reading == Reading::Waiting { 1 } else { 2 };
        if !(least..=MOST_PACKETS).contains(&self.q_max.get()) {
            return Err(Error::input("q_max", format!("{}", self.q_max), format!("{least} to {MOST_PACKETS} packets")));
        }
        if self.packet == Bytes::ZERO {
            return Err(Error::input("packet", "0 B", "a size above 0"));
        }
        Ok(())
    }

    fn bits(&self) -> f64 {
        self.packet.get() as f64 * 8.0
    }

    fn range(&self) -> f64 {
        self.mu_max.bps() as f64 - self.mu_min.bps() as f64
    }

    /// Number of waiting packets at `mu_max`.
    fn steps(&self) -> f64 {
        let in_service = if self.reading == Reading::Waiting { 0.0 } else { 1.0 };
        self.q_max.get() as f64 - in_service
    }

    /// The response constant `alpha`, 1/s.
    pub fn response_per_s(&self) -> f64 {
        self.range() / (self.steps() * self.bits())
    }

    /// The steady queue in packets, real, at a constant rate; above `mu_max` it hovers around `q_max`.
    pub fn steady_queue_packets(&self, rate: Rate) -> f64 {
        let above = rate.bps() as f64 - self.mu_min.bps() as f64;
        (above / self.range() * self.steps()).clamp(0.0, self.steps())
    }

    /// The fluid's steady delay at a constant rate, seconds.
    pub fn steady_delay_s(&self, rate: Rate) -> f64 {
        self.packets_s(self.steady_queue_packets(rate), rate)
    }

    /// The steady delay of packets that arrive one by one at a constant rate, seconds.
    ///
    /// The pacer stays at a switching point: an arrival that raises the queue to `ceil(q*)` makes the next departure
    /// due.
    pub fn steady_delay_of_packets_s(&self, rate: Rate) -> f64 {
        // Rounding must not raise a whole number of packets to the next.
        let lifted_to = ceil(self.steady_queue_packets(rate) - 1e-9);
        self.packets_s((lifted_to - 1.0).max(0.0), rate)
    }

    fn packets_s(&self, packets: f64, rate: Rate) -> f64 {
        if rate == Rate::ZERO { 0.0 } else { packets * self.bits() / rate.bps() as f64 }
    }

    /// Theorem 1's bound on the delay in steady state, seconds. It holds up to `mu_max`. From there to the link's rate
    /// the delay is less, because the same queue leaves faster.
    pub fn bound_s(&self) -> f64 {
        self.packets_s(self.q_max.get() as f64, self.mu_max)
    }

    /// How long the last packet of a full queue waits if no more arrive, seconds. Transients exceed the bound.
    pub fn emptying_s(&self) -> f64 {
        let slope = self.range() / self.steps();
        let at = |queue: u64| self.bits() / (self.mu_min.bps() as f64 + slope * queue as f64);
        (1..=self.steps() as u64).map(at).sum()
    }

    /// The output rate, bit/s, at a time `after` the input stepped from 0 to `rate` with an empty queue.
    pub fn step_response_bps(&self, rate: Rate, after: Span) -> f64 {
        let (input, least) = (rate.bps() as f64, self.mu_min.bps() as f64);
        if input <= least {
            return input;
        }
        input - (input - least) * exp(-self.response_per_s() * after.as_secs_f64())
    }
}

/// A Markov on-off source.
#[derive(Clone, Copy, Debug)]
pub struct OnOff {
    /// Rate during a burst, `h`.
    pub peak: Rate,
    /// Mean length of a silence, `1/r1`.
    pub idle: Span,
    /// Mean length of a burst, `1/r2`.
    pub burst: Span,
}

impl OnOff {
    /// Checks that the source changes its state.
    ///
    /// # Errors
    /// [`Error::Input`] for a zero time or rate.
    pub fn check(&self) -> Result<(), Error> {
        for (key, span) in [("idle", self.idle), ("burst", self.burst)] {
            if span == Span::ZERO {
                return Err(Error::input(key, format!("{span}"), "a time above 0"));
            }
        }
        if self.peak == Rate::ZERO { Err(Error::input("peak", "0 bit/s", "a rate above 0")) } else { Ok(()) }
    }

    /// The mean rate, bit/s.
    pub fn mean_bps(&self) -> f64 {
        let (idle, burst) = (self.idle.as_secs_f64(), self.burst.as_secs_f64());
        self.peak.bps() as f64 * burst / (idle + burst)
    }

    /// `r = r1 + r2`, 1/s.
    fn relaxation_per_s(&self) -> f64 {
        1.0 / self.idle.as_secs_f64() + 1.0 / self.burst.as_secs_f64()
    }

    /// `C_in(0) = s^2`, (bit/s)^2.
    fn variance(&self) -> f64 {
        self.mean_bps() * (self.peak.bps() as f64 - self.mean_bps())
    }

    /// The autocovariance of the input at a lag, (bit/s)^2: equation (5).
    pub fn autocovariance(&self, lag: Span) -> f64 {
        self.variance() * exp(-self.relaxation_per_s() * lag.as_secs_f64())
    }

    /// The autocovariance after one pacer with this response constant at a lag, (bit/s)^2: equation (6).
    pub fn paced_autocovariance(&self, response_per_s: f64, lag: Span) -> f64 {
        let (r, alpha, t) = (self.relaxation_per_s(), response_per_s, lag.as_secs_f64());
        // exp(-r t) and exp(-alpha t) differ by less than they round if alpha is near r: take the difference as expm1.
        let apart = (alpha - r).abs();
        let quotient = if apart == 0.0 { t } else { -expm1(-apart * t) / apart };
        let shape = exp(-r * t) + r * exp(-r.min(alpha) * t) * quotient;
        self.variance() * alpha / (alpha + r) * shape
    }

    /// The coefficient of variation of counts in windows of length `window`, after `pacers` equal pacers.
    pub fn variation(&self, response_per_s: f64, pacers: u32, window: Span) -> f64 {
        let (r, w) = (self.relaxation_per_s(), window.as_secs_f64());
        let x = r * w;
        // The variance in windows on the source itself: 2 s^2 (x - 1 + exp(-x)) / x^2.
        let shape = if x < 1e-4 { 1.0 - x / 3.0 } else { 2.0 * (x + expm1(-x)) / (x * x) };
        let unpaced = sqrt(self.variance() * shape) / self.mean_bps();
        let power = |passed| spectral_power(r, response_per_s, passed, w);
        unpaced * sqrt(power(pacers) / power(0))
    }
}

/// Returns `I_n` by the midpoint rule, over `ln w` from far below the slowest to far above the fastest of the three
/// rates. Where the steps no longer resolve the sine, less than a millionth of the integral is left.
fn spectral_power(r: f64, alpha: f64, pacers: u32, window: f64) -> f64 {
    const POINTS: u32 = 40_000;
    let (low, high) = (1e-6 * r.min(alpha).min(1.0 / window), 1e4 * r.max(1.0 / window));
    let step = log(high / low) / f64::from(POINTS);
    let ordinate = |i: u32| {
        let w = low * exp((f64::from(i) + 0.5) * step);
        let half = 0.5 * w * window;
        let sinc = if half < 1e-6 { 1.0 } else { sin(half) / half };
        let through = alpha * alpha / (alpha * alpha + w * w);
        w * (0..pacers).fold(1.0, |gain, _| gain * through) * sinc * sinc / (r * r + w * w)
    };
    (0..POINTS).map(ordinate).sum::<f64>() * step
}
