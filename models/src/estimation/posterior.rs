//! A Bayesian estimate: the available bandwidth that best explains how the delays of a stream grew, weighed against a
//! prior.
//!
//! Rates rise along the stream. Where a rate r exceeds the available bandwidth A of a link of capacity C, the queue
//! grows by (r - A) / C per unit of time; where it does not, the queue does not grow. Take two packets whose delays D
//! are known, time s apart at mean rate r:
//!
//! ```text
//! x = D' - D = s A g(r / A - 1) / C + noise of variance v s,    g(z) = (z + sqrt(z^2 + b^2)) / 2
//! P(A, C | x) ~ P(A) P(C) (sum (x - s A g / C)^2 / s + n0 v0) ^ -((n + n0) / 2)
//! ```
//!
//! g is the kink of a fluid, rounded by b: bursts fill a queue now and then below A too. The prior of A is even (in its
//! logarithm) over the stream's range and a little beyond. The prior of highest rate / C covers values up to 1. v
//! is integrated out over a scaled inverse chi-squared law. The estimate is the mean of A; the interval holds 90 %. A
//! stream with little information leaves A at its prior, near the middle of the range: the estimate is as unsure as the
//! stream.
//!
//! Under interrupt coalescence the gaps are unknown, but the delays of single packets are known. All packets of a batch
//! have one arrival time. If the card waits from a batch's first packet on, that packet's delay is off by a constant.
//! If it interrupts at set times or after a number of packets, the last packet's delay is off by less than a gap. Of
//! the two, the method takes the packets with smoother growth of delay. These are exact where BASS's mean over an
//! event is off by a gap. The last packets of the stream may wait for others that never arrive. They are left out
//! unless they are the first of their batch.
//!
//! Source: ours. The fluid relation is that of Q. Yin, "TCP RAPID: from theory to practice", section 2.2. That single
//! packets of a batch are exact is the principle of the law's lower envelopes (`rapid/envelope.h`). The constants b =
//! 0.14, n0 = 2 and v0 = 0.03 gaps were chosen on periodic, Poisson and on-off traffic and on the recorded web trace,
//! with visible scores. They are judged on other superpositions of that same trace
//! (`docs/estimation.md`), so no score on it is for traffic that the choice did not know. The method does not know C:
//! on a link with little available bandwidth, the estimate is up to 8 % high.

use crate::estimation::contract::{Abstain, Estimate, Estimator, Probing};
use crate::estimation::readable::{BATCH, one_size};
use crate::estimation::stream::Stream;
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::{Rate, Ratio};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

const BLUR: Parameter<Ratio> = Parameter::new(
    "blur",
    Ratio::of(14, 100),
    Ratio::of(1, 1_000_000)..=Ratio::of(100, 1),
    "b: width of a queue's gradual start",
);
const NOISE: Parameter<Ratio> = Parameter::new(
    "noise",
    Ratio::of(3, 100),
    Ratio::of(1, 1_000_000)..=Ratio::of(100, 1),
    "v0: expected variance of delays, in mean gaps",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&BLUR, &NOISE];

/// The weight of v0 against the stream, as a number of steps.
const WEIGHT: usize = 2;
/// How far the prior extends beyond the stream's rates.
const BEYOND: f64 = 0.1;
/// Number of values of A that are tried.
const GRID: usize = 41;
/// Highest rate over capacity.
const LOADS: [f64; 7] = [1.0, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2];
/// The most steps of delay that are read; packets beyond that are grouped.
const STEPS: usize = 12;
/// Probability left out on either side of the interval.
const TAIL: f64 = 0.05;

/// The estimator.
pub struct Posterior {
    blur: f64,
    noise: f64,
}

impl Posterior {
    pub fn build(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        Ok(Box::new(Posterior { blur: BLUR.read(settings)?.as_f64(), noise: NOISE.read(settings)?.as_f64() }))
    }
}

/// A change of delay, in seconds, over `time`, during which packets arrived at `rate`, in bit/s.
#[derive(Clone, Copy)]
struct Step {
    time: f64,
    rate: f64,
    growth: f64,
}

impl Estimator for Posterior {
    fn probing(&self) -> Probing {
        Probing::Rising
    }

    fn least_events(&self) -> usize {
        1
    }

    fn reads_unacknowledged(&self) -> bool {
        true
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        let bits = one_size(&stream.gaps)?.get() as f64 * 8.0;
        let steps = Delays::of(stream).steps(bits)?;
        let (lowest, highest) = ends(stream, bits);
        let mean_gap = stream.send_time().as_secs_f64() / stream.gaps.len() as f64;
        let weights = self.weights(&steps, lowest, highest, self.noise * mean_gap);
        Ok(summary(&weights, lowest, highest))
    }
}

impl Posterior {
    /// Returns values of A, rising, each with its weight; the weights need not sum to one.
    ///
    /// The sum of squares is a polynomial in the load, so each step is read once for all loads. With a whole number of
    /// steps its power needs no logarithm.
    fn weights(&self, steps: &[Step], lowest: f64, highest: f64, v0: f64) -> Vec<(f64, f64)> {
        let (from, to) = (lowest * (1.0 - BEYOND), highest * (1.0 + BEYOND));
        let ratio = libm::exp(libm::log(to / from) / (GRID - 1) as f64);
        let grown = steps.iter().map(|step| step.growth * step.growth / step.time).sum::<f64>();
        let noise = WEIGHT as f64 * v0;
        let (mut a, mut least) = (from, f64::INFINITY);
        let mut squares = [(0.0, [0.0; LOADS.len()]); GRID];
        for (value, of_load) in &mut squares {
            let (mut both, mut fluid) = (0.0, 0.0);
            for step in steps {
                let slope = self.slope(step.rate, a);
                both += step.growth * slope;
                fluid += step.time * slope * slope;
            }
            *value = a;
            for (sum, load) in of_load.iter_mut().zip(LOADS) {
                let part = load / highest;
                *sum = (grown - 2.0 * part * both + part * part * fluid).max(0.0) + noise;
                least = least.min(*sum);
            }
            a *= ratio;
        }
        let weight = |sum: &f64| half_power(least / sum, steps.len() + WEIGHT);
        squares.iter().map(|(a, sums)| (*a, sums.iter().map(weight).sum())).collect()
    }

    /// Returns A g in bit/s: how fast a queue grows at this rate, times the capacity.
    fn slope(&self, rate: f64, a: f64) -> f64 {
        let (excess, blur) = (rate - a, self.blur * a);
        0.5 * (excess + libm::sqrt(excess * excess + blur * blur))
    }
}

/// x^(n / 2).
fn half_power(x: f64, n: usize) -> f64 {
    let whole = (0..n / 2).fold(1.0, |power, _| power * x);
    if n.is_multiple_of(2) { whole } else { whole * libm::sqrt(x) }
}

/// Returns mean and interval, limited to the rates of the stream.
fn summary(weights: &[(f64, f64)], lowest: f64, highest: f64) -> Estimate {
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mean = weights.iter().map(|(a, weight)| a.clamp(lowest, highest) * weight).sum::<f64>() / sum;
    let quantile = |part: f64| {
        let mut below = 0.0;
        let reached = |(_, weight): &&(f64, f64)| {
            below += *weight;
            below >= part * sum
        };
        weights.iter().find(reached).map_or(highest, |(a, _)| *a)
    };
    let rate = |bps: f64| Rate::from_bps(bps as u64);
    let (low, high) = (quantile(TAIL), quantile(1.0 - TAIL));
    Estimate {
        value: rate(mean),
        low: if low < lowest { Rate::ZERO } else { rate(low.min(mean)) },
        high: (high <= highest).then(|| rate(high.max(mean))),
    }
}

/// Returns the lowest and the highest rate in bit/s: means over a sixteenth of the stream at either end, so that small
/// errors of the sender in single gaps do not matter.
fn ends(stream: &Stream, bits: f64) -> (f64, f64) {
    let gaps = &stream.gaps;
    let many = (gaps.len() / 16).max(1);
    let rate = |part: &[crate::estimation::stream::Gap]| {
        many as f64 * bits / part.iter().map(|gap| gap.send.as_secs_f64()).sum::<f64>()
    };
    let (first, last) = (rate(&gaps[..many]), rate(&gaps[gaps.len() - many..]));
    (first.min(last), first.max(last))
}

/// The packets with a reported arrival time: their numbers in the stream, when each was sent, and its delay
/// beyond that of the first, in seconds.
struct Delays {
    number: Vec<usize>,
    sent: Vec<f64>,
    delay: Vec<f64>,
    /// Which of these packets to read.
    known: Vec<usize>,
}

impl Delays {
    /// Starts at the first packet, or else at the first with a time: earlier times count from another stream.
    fn of(stream: &Stream) -> Delays {
        let gaps = &stream.gaps;
        let whole = gaps.first().is_some_and(|gap| gap.acked);
        let start = if whole { 0 } else { gaps.iter().position(|gap| gap.acked).map_or(0, |gap| gap + 1) };
        let (mut number, mut sent, mut seen) = (vec![start], vec![0.0], vec![0.0]);
        let (mut now_sent, mut now_seen) = (0.0, 0.0);
        for (at, gap) in gaps.iter().enumerate().skip(start) {
            now_sent += gap.send.as_secs_f64();
            if gap.acked {
                now_seen += gap.receive.as_secs_f64();
                number.push(at + 1);
                sent.push(now_sent);
                seen.push(now_seen);
            }
        }
        let delay = seen.iter().zip(&sent).map(|(seen, sent)| seen - sent).collect();
        let mut delays = Delays { number, sent, delay, known: Vec::new() };
        delays.known = delays.choose(&seen);
        delays
    }

    /// Returns all packets, or one per batch: the first of each batch, or the last of each batch but the last,
    /// whichever delays are smoother.
    fn choose(&self, seen: &[f64]) -> Vec<usize> {
        let last = seen.len() - 1;
        let least = self.sent[last] / (BATCH as usize * last.max(1)) as f64;
        let before: Vec<usize> = (0..last).filter(|at| seen[at + 1] - seen[*at] >= least).collect();
        // Cross traffic makes a gap short now and then; batches make most gaps short.
        if 4 * before.len() >= 3 * last {
            return (0..=last).collect();
        }
        let first: Vec<usize> = core::iter::once(0).chain(before.iter().map(|at| at + 1)).collect();
        let few = before.len() < 3;
        if few || self.roughness(&first) <= self.roughness(&before) { first } else { before }
    }

    /// Returns the mean square change of slope; 0 with too few packets for one.
    fn roughness(&self, packets: &[usize]) -> f64 {
        let slope = |from: usize, to: usize| {
            (self.delay[to] - self.delay[from]) / (self.sent[to] - self.sent[from]).max(f64::MIN_POSITIVE)
        };
        let change = |three: &[usize]| slope(three[1], three[2]) - slope(three[0], three[1]);
        let changes = packets.windows(3).map(|three| change(three) * change(three));
        changes.sum::<f64>() / packets.len().saturating_sub(2).max(1) as f64
    }

    /// Returns the steps from one known delay to the next; joins several if they are many.
    fn steps(&self, bits: f64) -> Result<Vec<Step>, Abstain> {
        let stride = self.known.len().div_ceil(STEPS).max(1);
        let mut packets: Vec<usize> = self.known.iter().step_by(stride).copied().collect();
        if packets.last() != self.known.last() {
            packets.extend(self.known.last());
        }
        if packets.len() < 3 {
            return Err(Abstain::TooFewEvents { found: packets.len().saturating_sub(1), needed: 2 });
        }
        let step = |pair: &[usize]| {
            let time = self.sent[pair[1]] - self.sent[pair[0]];
            let rate = (self.number[pair[1]] - self.number[pair[0]]) as f64 * bits / time;
            Step { time, rate, growth: self.delay[pair[1]] - self.delay[pair[0]] }
        };
        Ok(packets.windows(2).map(step).collect())
    }
}
