//! The cycle of many flows: the fluid with the law's thresholds and its queue, stepped in time.
//!
//! All flows are alike. To the equation of the rate come what `envelope.h` and `queue.h` read:
//!
//! * slopes `s (x - A/R)` of the two top levels, none below zero, averaged over 1/8 of a round trip;
//! * a slope of level 3 of at most 3 %, and a queue of less than four packets of a flow: the path shows no limit, `A` is
//!   the top level, the gain doubles with each round trip, and after 1/4 of one streams are wide;
//! * else `A` from the line through the slopes, the drain, and the queue's growth, averaged over 1/4 of a round trip.
//!
//! Time in round trips, rates in capacities, the queue in round trips of the link's time.

use super::{CEILING_PACKETS, CONGESTED, DRAIN_CAP, DRAIN_TIMES, Flows, MOVES, SPAN, SPAN_WIDE, TOLERATED_PACKETS};
use super::{gain, levels};
use alloc::collections::VecDeque;
use libm::sqrt;

/// Steps of a round trip.
const STEPS: usize = 200;
const STEP: f64 = 1.0 / STEPS as f64;
/// Round trips that pass before the cycle is looked at, and those that are.
const BEFORE: usize = 200;
const SEEN: usize = 400;
/// Averages: slopes and growth, times per round trip; and the growth that counts.
const SLOPES_PER_ROUND: f64 = 8.0;
const GROWTH_PER_ROUND: f64 = 4.0;
const GROWING: f64 = 0.02;
/// Of the mean rate: less is not read from a stream.
const AVAILABLE_LEAST: f64 = 0.5;
/// Streams get wide after this part of a round trip without a limit.
const WIDE_AFTER: f64 = 0.25;
/// A deviation below this counts as zero.
const STILL: f64 = 1e-4;

/// The long-run behaviour of the sum of the rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// Mean sum of the rates, over the capacity.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Mean queue, in round trips.
    pub queue: f64,
    /// Round trips of one turn; none where the rates rest.
    pub period: Option<f64>,
}

impl Cycle {
    /// Reads a sum of rates over the capacity, `per_round` values a round trip: a turn begins where the sum rises through its
    /// mean and has been below it by half of its deviation.
    pub fn read(sums: &[f64], queue: f64, per_round: f64) -> Cycle {
        let count = sums.len().max(1) as f64;
        let mean = sums.iter().sum::<f64>() / count;
        let deviation = sqrt(sums.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count);
        let (mut low, mut first, mut last, mut turns) = (false, None, 0, 0_u32);
        for (i, x) in sums.iter().enumerate() {
            low |= *x < mean - 0.5 * deviation;
            if low && *x > mean + 0.5 * deviation {
                (low, last, turns) = (false, i, turns + 1);
                first.get_or_insert(i);
            }
        }
        let whole = first.map_or(0, |first| last - first) as f64;
        let period = (deviation > STILL && turns > 1).then(|| whole / f64::from(turns - 1) / per_round);
        Cycle { mean, deviation, queue, period }
    }
}

/// The result of a stream.
#[derive(Clone, Copy)]
struct Past {
    rate: f64,
    spare: f64,
    queue: f64,
}

struct Stepped {
    flows: f64,
    used_share: f64,
    packet: f64,
    now: f64,
    rate: f64,
    queue: f64,
    past: VecDeque<Past>,
    slope2: f64,
    slope3: f64,
    growth: f64,
    heard: f64,
    /// Since when the path shows no limit, and when the gain has doubled.
    ceiling: Option<(f64, f64)>,
    ceiling_gain: f64,
    wide: bool,
}

impl Stepped {
    /// Begins near the rest, and not on it.
    fn new(flows: &Flows) -> Stepped {
        let n = f64::from(flows.flows);
        let rate = 0.9 / n;
        Stepped {
            flows: n,
            used_share: flows.used_share(),
            packet: flows.packet_time(),
            now: 0.0,
            rate,
            queue: 0.0,
            past: [Past { rate, spare: 0.1, queue: 0.0 }; STEPS].into_iter().collect(),
            slope2: 0.0,
            slope3: 0.0,
            growth: 0.0,
            heard: 0.0,
            ceiling: None,
            ceiling_gain: 0.0,
            wide: false,
        }
    }

    fn step(&mut self) {
        let seen = self.past.pop_front().expect("a round trip");
        let target = self.target(seen);
        self.rate += MOVES * STEP * (target - self.rate);
        self.rate = self.rate.max(TOLERATED_PACKETS * self.packet);
        self.queue = (self.queue + STEP * (self.flows * self.rate - 1.0)).max(0.0);
        self.past.push_back(Past { rate: self.rate, spare: 1.0 - self.flows * self.rate, queue: self.queue });
        self.now += STEP;
    }

    fn target(&mut self, seen: Past) -> f64 {
        let (x2, x3) = levels(if self.wide { SPAN_WIDE } else { SPAN });
        let available = 1.0 + seen.spare / seen.rate;
        let slope = |x: f64| seen.rate * (x - available).max(0.0);
        self.slope2 += SLOPES_PER_ROUND * STEP * (slope(x2) - self.slope2);
        self.slope3 += SLOPES_PER_ROUND * STEP * (slope(x3) - self.slope3);
        self.growth += GROWTH_PER_ROUND * STEP * ((seen.queue - self.heard) / STEP - self.growth);
        self.heard = seen.queue;

        let limitless = self.slope3 <= CONGESTED && seen.queue < CEILING_PACKETS * self.packet / seen.rate;
        let gain = self.gain(limitless, gain(seen.rate));
        let read = if limitless { x3 } else { self.knee(seen.rate, x2, x3) };
        self.held_back(seen, seen.rate * (1.0 + gain * (self.used_share * read - 1.0)))
    }

    /// The available bandwidth over the rate, where the line through the slopes meets zero.
    fn knee(&self, share: f64, x2: f64, x3: f64) -> f64 {
        let knee = x3 - self.slope3 / share;
        if knee > x2 { knee } else { (x2 - self.slope2 / share).clamp(AVAILABLE_LEAST, x2) }
    }

    fn gain(&mut self, limitless: bool, gain: f64) -> f64 {
        if !limitless {
            (self.ceiling, self.ceiling_gain, self.wide) = (None, 0.0, false);
            return gain;
        }
        let (since, doubled) = self.ceiling.get_or_insert((self.now, self.now));
        if self.now - *doubled >= 1.0 {
            self.ceiling_gain = (2.0 * self.ceiling_gain).max(gain).min(1.0);
            *doubled = self.now;
        }
        self.wide = self.now - *since > WIDE_AFTER;
        gain.max(self.ceiling_gain)
    }

    fn held_back(&self, seen: Past, target: f64) -> f64 {
        let queue = seen.queue - TOLERATED_PACKETS * self.packet / seen.rate;
        if queue <= 0.0 {
            return target;
        }
        let received = if self.growth > GROWING { seen.rate * self.used_share / (1.0 + self.growth) } else { target };
        target.min(received) * (1.0 - DRAIN_CAP.min(DRAIN_TIMES * queue))
    }
}

impl Flows {
    /// The long-run behaviour of the rates: rest, or a cycle around it.
    pub fn cycle(&self) -> Cycle {
        let mut fluid = Stepped::new(self);
        (0..BEFORE * STEPS).for_each(|_| fluid.step());
        let mut queue = 0.0;
        let sums: alloc::vec::Vec<f64> = (0..SEEN * STEPS)
            .map(|_| {
                fluid.step();
                queue += fluid.queue;
                fluid.flows * fluid.rate
            })
            .collect();
        Cycle::read(&sums, queue / sums.len() as f64, STEPS as f64)
    }
}
