//! Flows that arrive: how long each takes, and how much longer than alone on an idle path.
//!
//! ```text
//! idle      one-way delay + time to transmit, packet by packet and link by link, with all packets ready at the start
//! slowdown  completion time / idle
//! ```
//!
//! Times end when the last byte reaches the receiver. `idle` is the least that any controller could need: no slow start,
//! no queue. Where a rate changes, it counts with the rate that the scenario states for the link.

use crate::measure::period::Period;
use crate::measure::tally::Tally;
use experiment::results::{CompletionResult, TransferResult};
use experiment::scenario::{Arrivals, Experiment};
use packetscale_models::units::{Bytes, Rate, Span, Time};

/// Sizes are grouped by these bounds: up to the first, above it and up to the second, ..., above the last.
const BOUNDS: [Bytes; 4] = [Bytes::new(10_000), Bytes::new(100_000), Bytes::new(1_000_000), Bytes::new(10_000_000)];

/// The path of the flows of one table, idle.
#[derive(Clone, Debug)]
struct IdlePath {
    one_way: Span,
    /// Rates that a packet meets one after the other.
    rates: Vec<Rate>,
    packet: Bytes,
}

/// A flow that ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    start: Time,
    size: Bytes,
    took: Span,
    idle: Span,
}

/// The accounts of all flows that arrive.
#[derive(Clone, Debug)]
pub struct ArrivingFlows {
    warm: Time,
    /// One for each table of them.
    pub(crate) tables: Vec<Arriving>,
}

impl ArrivingFlows {
    pub(crate) fn of(experiment: &Experiment) -> ArrivingFlows {
        let tables = experiment.arrivals.iter().map(|arrivals| Arriving::new(experiment, arrivals)).collect();
        ArrivingFlows { warm: Period::of(experiment).warm, tables }
    }

    /// A flow of this entry of the experiment's arrivals begins.
    pub(crate) fn begins(&mut self, entry: usize, now: Time, size: Bytes) {
        let table = &mut self.tables[entry];
        table.all += 1;
        table.arrived[group(size)] += u64::from(now >= self.warm);
    }

    /// The last byte of a flow that arrived at `start` has reached its receiver.
    pub fn ended(&mut self, entry: usize, start: Time, size: Bytes, now: Time) {
        if start >= self.warm {
            let table = &mut self.tables[entry];
            table.ended.push(Ended { start, size, took: now.since(start), idle: table.path.time_for(size) });
        }
    }
}

/// The account of one table of flows that arrive.
#[derive(Clone, Debug)]
pub(crate) struct Arriving {
    pub(crate) tally: Tally,
    pub(crate) table: u32,
    /// The name of its controller.
    pub(crate) label: String,
    /// Flows that arrived, in the warm-up too.
    pub(crate) all: u64,
    path: IdlePath,
    /// Flows that arrived after the warm-up, by size.
    arrived: [u64; BOUNDS.len() + 1],
    ended: Vec<Ended>,
}

impl Arriving {
    fn new(experiment: &Experiment, arrivals: &Arrivals) -> Arriving {
        Arriving {
            tally: Tally::default(),
            table: arrivals.table,
            label: arrivals.flow.controller.label.clone(),
            all: 0,
            path: IdlePath::of(experiment, arrivals),
            arrived: [0; BOUNDS.len() + 1],
            ended: Vec::new(),
        }
    }

    /// One row for all sizes, then one for each group of sizes.
    pub(crate) fn figures(&self) -> Vec<CompletionResult> {
        let all = self.row(self.arrived.iter().sum(), &self.ended, (None, None));
        let groups = (0..=BOUNDS.len()).map(|number| {
            let ended: Vec<Ended> = self.ended.iter().filter(|ended| group(ended.size) == number).copied().collect();
            let from = number.checked_sub(1).map_or(Bytes::ZERO, |below| BOUNDS[below]).get();
            self.row(self.arrived[number], &ended, (Some(from), BOUNDS.get(number).map(|bound| bound.get())))
        });
        std::iter::once(all).chain(groups).collect()
    }

    fn row(
        &self,
        arrived: u64,
        ended: &[Ended],
        (from_bytes, to_bytes): (Option<u64>, Option<u64>),
    ) -> CompletionResult {
        let took = Ranked::of(ended.iter().map(|ended| ended.took.as_secs_f64()));
        let slowdown = Ranked::of(ended.iter().map(Ended::slowdown));
        CompletionResult {
            table: self.table,
            controller: self.label.clone(),
            from_bytes,
            to_bytes,
            arrived,
            completed: ended.len() as u64,
            completion_time_mean_s: took.mean(),
            completion_time_p50_s: took.percentile(50),
            completion_time_p95_s: took.percentile(95),
            completion_time_p99_s: took.percentile(99),
            completion_time_percentiles_s: took.percentiles(),
            idle_time_mean_s: Ranked::of(ended.iter().map(|ended| ended.idle.as_secs_f64())).mean(),
            slowdown_mean: slowdown.mean(),
            slowdown_p50: slowdown.percentile(50),
            slowdown_p95: slowdown.percentile(95),
            slowdown_p99: slowdown.percentile(99),
            slowdown_percentiles: slowdown.percentiles(),
        }
    }

    /// Each flow that ended, in order of its end.
    pub(crate) fn transfers(&self) -> impl Iterator<Item = TransferResult> {
        self.ended.iter().map(|ended| TransferResult {
            table: self.table,
            start_s: ended.start.as_secs_f64(),
            size_bytes: ended.size.get(),
            completion_time_s: ended.took.as_secs_f64(),
            idle_time_s: ended.idle.as_secs_f64(),
            slowdown: ended.slowdown(),
        })
    }
}

/// Figures of the flows of all tables together.
#[derive(Debug)]
pub(crate) struct AllArrived {
    pub(crate) arrived: u64,
    pub(crate) completed: u64,
    pub(crate) took: Ranked,
    pub(crate) slowdown: Ranked,
}

impl AllArrived {
    /// `None`: no flows arrive in this scenario.
    pub(crate) fn of(tables: &[Arriving]) -> Option<AllArrived> {
        let ended = || tables.iter().flat_map(|table| &table.ended);
        (!tables.is_empty()).then(|| AllArrived {
            arrived: tables.iter().flat_map(|table| &table.arrived).sum(),
            completed: ended().count() as u64,
            took: Ranked::of(ended().map(|ended| ended.took.as_secs_f64())),
            slowdown: Ranked::of(ended().map(Ended::slowdown)),
        })
    }
}

impl Ended {
    fn slowdown(&self) -> f64 {
        self.took.as_secs_f64() / self.idle.as_secs_f64()
    }
}

/// Values in order.
#[derive(Debug)]
pub(crate) struct Ranked(Vec<f64>);

impl Ranked {
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Ranked {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Ranked(values)
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// By nearest rank: the smallest value that at least this share of the values does not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Option<f64> {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).copied()
    }

    /// From the smallest to the largest; nothing of no values.
    fn percentiles(&self) -> Vec<f64> {
        (0..=100).filter_map(|percent| self.percentile(percent)).collect()
    }
}

fn group(size: Bytes) -> usize {
    BOUNDS.partition_point(|bound| *bound < size)
}

impl IdlePath {
    fn of(experiment: &Experiment, arrivals: &Arrivals) -> IdlePath {
        let flow = &arrivals.flow;
        let links = || flow.route.iter().map(|link| &experiment.links[*link]);
        let forward: Span = links().map(|link| link.delay).sum();
        let rates = flow.access.into_iter().chain(links().map(|link| link.within_buckets(link.rate)));
        IdlePath { one_way: forward.max(flow.rtt / 2), rates: rates.collect(), packet: flow.packet }
    }

    /// From the first bit's start until the last bit is there. Full packets leave a link `(n - 1)` times its own or the
    /// slowest earlier transmission after the first; the last packet, perhaps a short one, follows them.
    fn time_for(&self, size: Bytes) -> Span {
        let full = size.packets_of(self.packet).get().saturating_sub(1);
        let last = size - self.packet * full;
        let (mut first, mut slowest, mut end) = (Span::ZERO, Rate::from_bps(u64::MAX), Span::ZERO);
        for rate in &self.rates {
            slowest = slowest.min(*rate);
            first += rate.time_for(self.packet);
            let before = match full {
                0 => Span::ZERO,
                _ => first + slowest.time_for(self.packet * (full - 1)),
            };
            end = end.max(before) + rate.time_for(last);
        }
        self.one_way + end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(rates_mbps: &[u64]) -> IdlePath {
        let rates = rates_mbps.iter().map(|mbps| Rate::from_mbps(*mbps)).collect();
        IdlePath { one_way: Span::from_millis(10), rates, packet: Bytes::new(1000) }
    }

    /// 1000 B take 1 ms at 8 Mbit/s and 0.5 ms at 16. Two and a half packets over 8 Mbit/s: 2.5 ms. Over 16, then 8: the
    /// first is at the second link after 0.5 ms, and 2.5 ms later all are through. Over 8, then 16: the short one leaves the
    /// first link after 2.5 ms and takes 0.25 ms more.
    #[test]
    fn idle_path_time_is_delay_plus_transmission() {
        let size = Bytes::new(2500);
        let us = |rates: &[u64]| path(rates).time_for(size).nanos() / 1000;
        assert_eq!([us(&[8]), us(&[16, 8]), us(&[8, 16])], [12_500, 13_000, 12_750]);
        assert_eq!(path(&[8]).time_for(Bytes::new(40)).nanos(), 10_040_000);
    }

    #[test]
    fn percentiles_are_measured_values() {
        let values = Ranked::of((1..=10).rev().map(f64::from));
        assert_eq!(
            [0, 10, 50, 95, 100].map(|percent| values.percentile(percent)),
            [1.0, 1.0, 5.0, 10.0, 10.0].map(Some)
        );
        assert_eq!((Ranked::of(std::iter::empty()).percentile(50), values.mean()), (None, Some(5.5)));
    }

    #[test]
    fn sizes_are_grouped_by_powers_of_ten() {
        assert_eq!([1, 10_000, 10_001, 10_000_000, 10_000_001].map(|size| group(Bytes::new(size))), [0, 0, 1, 3, 4]);
    }
}
