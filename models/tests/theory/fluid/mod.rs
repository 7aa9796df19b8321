//! The on-off model in time steps: a queue, a delay line of signals and a rate. It shares no formula with the library:
//! it has no waveform, no period and no fixed point. Rates are in units of the capacity.

use super::{CAPACITY_BPS, Filter, OnOff, Smoothing};
use std::collections::VecDeque;

const STEPS_PER_PERIOD: usize = 10_000;

pub struct Fluid {
    on: usize,
    step: f64,
    burst: f64,
    rtt: f64,
    smoothing: Smoothing,
}

/// What was seen in one period.
#[derive(Debug)]
pub struct Seen {
    pub throughput: f64,
    pub queue_max: f64,
    pub queue_min: f64,
}

impl Fluid {
    pub fn new(traffic: &OnOff, smoothing: &Smoothing, rtt: f64) -> Fluid {
        let period = (traffic.on + traffic.off).as_secs_f64();
        let on = (traffic.on.as_secs_f64() / period * STEPS_PER_PERIOD as f64).round() as usize;
        let average = traffic.average.bps() as f64 / CAPACITY_BPS;
        let burst = average * STEPS_PER_PERIOD as f64 / on as f64;
        Fluid { on, step: period / STEPS_PER_PERIOD as f64, burst, rtt, smoothing: *smoothing }
    }

    /// Runs `periods` periods. At the start the queue is empty and the sender leaves capacity for the first burst. (Where
    /// some phases overload the link, a queue left by the start could stay for ever.)
    pub fn run(&self, periods: usize) -> Vec<Seen> {
        let mut signals: VecDeque<(f64, f64)> = VecDeque::new();
        let (mut queue, mut rate) = (0.0f64, 1.0 - self.burst);
        let (mut target, mut slope, mut constant) = (rate, 0.0f64, 1.0f64);
        let mut seen: Vec<Seen> = Vec::with_capacity(periods);
        for tick in 0..periods * STEPS_PER_PERIOD {
            let now = tick as f64 * self.step;
            let place = tick % STEPS_PER_PERIOD;
            let cross = if place < self.on { self.burst } else { 0.0 };
            if place == 0 {
                seen.push(Seen { throughput: 0.0, queue_max: 0.0, queue_min: f64::INFINITY });
            }
            if place == 0 || place == self.on {
                signals.push_back((now + self.rtt + queue, 1.0 - cross));
            }
            while signals.front().is_some_and(|&(due, _)| due <= now) {
                target = signals.pop_front().unwrap().1;
                let span = if target < rate { self.smoothing.decrease } else { self.smoothing.increase };
                constant = span.as_secs_f64().max(1e-12);
                slope = (target - rate) / constant;
            }
            rate = match self.smoothing.filter {
                Filter::Linear => {
                    let next = rate + slope * self.step;
                    if (target - next) * slope <= 0.0 { target } else { next }
                }
                Filter::Exponential => target + (rate - target) * (-self.step / constant).exp(),
            };
            queue = (queue + (rate + cross - 1.0) * self.step).max(0.0);
            let period = seen.last_mut().unwrap();
            period.throughput += rate / STEPS_PER_PERIOD as f64;
            period.queue_max = period.queue_max.max(queue);
            period.queue_min = period.queue_min.min(queue);
        }
        seen
    }
}
