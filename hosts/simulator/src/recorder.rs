//! What happened, kept small: totals after the warm-up always, curves and distributions when asked.
//!
//! Everything is recorded at the bottleneck. A packet counts in the interval in which its last bit leaves.

use crate::transit::{Owner, Transit};
use crate::windows::Windows;
use congestion::StreamTrace;
use hdrhistogram::Histogram;
use queueing::Readings;
use units::{Rate, Span, Time};

/// Most flows for which curves are kept one by one.
const FLOW_CURVES: usize = 32;

/// Wait after the last packet before a flow entry is judged.
pub(crate) const ENTRY_SETTLING: Span = Span::from_secs(5);

/// Amounts per equal interval.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    pub(crate) origin: Time,
    pub(crate) step: Span,
    pub(crate) amounts: Vec<u64>,
}

impl Bins {
    pub(crate) fn new(origin: Time, step: Span, count: usize) -> Bins {
        Bins { origin, step, amounts: vec![0; count] }
    }

    #[inline]
    fn slot(&mut self, at: Time) -> Option<&mut u64> {
        if at < self.origin {
            return None;
        }
        let index = (at.picos() - self.origin.picos()) / self.step.picos();
        self.amounts.get_mut(index as usize)
    }

    #[inline]
    pub(crate) fn add(&mut self, at: Time, amount: u64) {
        if let Some(slot) = self.slot(at) {
            *slot += amount;
        }
    }

    #[inline]
    fn raise(&mut self, at: Time, to: u64) {
        if let Some(slot) = self.slot(at) {
            *slot = (*slot).max(to);
        }
    }
}

/// What one owner of packets (a flow, a traffic source) did, after the warm-up unless said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Bytes that left the bottleneck.
    pub(crate) bytes: u64,
    /// Bytes that left it while all flows were active.
    pub(crate) shared_bytes: u64,
    /// Dropped at queues, whole run.
    pub(crate) dropped: u64,
    /// Lost on wires, whole run.
    pub(crate) lost: u64,
    /// Dropped or lost after the warm-up.
    pub(crate) lost_warm: u64,
}

/// Bytes per flow between one entry of a flow and the next.
#[derive(Clone, Debug)]
pub(crate) struct EntryWindow {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) bytes: Vec<u64>,
}

/// Curves and distributions.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    pub(crate) step: Span,
    /// Waiting time after the warm-up, nanoseconds.
    pub(crate) wait_ns: Histogram<u64>,
    pub(crate) flow_bytes: Vec<Bins>,
    pub(crate) total_bytes: Bins,
    pub(crate) traffic_bytes: Bins,
    pub(crate) wait_sum_ns: Bins,
    pub(crate) wait_max_ns: Bins,
    pub(crate) served: Bins,
    /// What the bottleneck's discipline measures, sampled.
    pub(crate) readings: Vec<Readings>,
    pub(crate) losses: Vec<Bins>,
    /// Bytes of flows dropped at the bottleneck.
    pub(crate) dropped_bytes: Bins,
    /// Sampled per flow: rate in bit/s, smoothed RTT in ns, window in packets.
    pub(crate) samples: Vec<FlowSamples>,
    pub(crate) traces: Vec<(usize, StreamTrace, Rate)>,
    /// Traffic that arrived while a trace is awaited.
    watched: Vec<(Time, u64)>,
    watching: bool,
}

/// What a flow says of itself, sampled.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSamples {
    pub(crate) rate_bps: Vec<Option<f32>>,
    pub(crate) srtt_ns: Vec<f32>,
    pub(crate) window: Vec<f32>,
}

/// The recorder of one run.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub(crate) warm: Time,
    pub(crate) end: Time,
    /// When the last flow had started (and the warm-up was over).
    pub(crate) shared: Time,
    pub(crate) flows: Vec<Tally>,
    pub(crate) traffic: Vec<Tally>,
    /// The traffic source of each flow beyond those of the scenario.
    sources: Vec<usize>,
    /// Bytes of all that left the bottleneck after warm-up.
    pub(crate) all_bytes: u64,
    /// Bytes of traffic that arrived there after warm-up.
    pub(crate) offered_bytes: u64,
    pub(crate) wait_sum_ps: u128,
    /// Time on the wire of the same packets.
    pub(crate) service_sum_ps: u128,
    pub(crate) waited: u64,
    pub(crate) delivered: u64,
    /// Of these, after the warm-up.
    pub(crate) delivered_warm: u64,
    pub(crate) hops: u64,
    pub(crate) entries: Vec<EntryWindow>,
    entry: usize,
    /// Start-up, in fine intervals from the start of the last flow: bytes of flows, bytes of traffic.
    pub(crate) startup: (Bins, Bins),
    pub(crate) detail: Option<Box<Detail>>,
    pub(crate) windows: Option<Box<Windows>>,
    /// Every service of every link, for comparing runs packet by packet.
    pub(crate) log: Option<Vec<Served>>,
}

/// One service of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Link number.
    pub link: usize,
    /// Flow or traffic source.
    pub owner: u32,
    /// Its transmission, or its number in its traffic source.
    pub transmission: u64,
    /// Arrival at the link.
    pub arrival: Time,
    /// End of transmission; [`Time::MAX`]: dropped.
    pub departure: Time,
}

impl Recorder {
    pub(crate) fn new(warm: Time, end: Time, starts: &[Time], traffic: usize, base_rtt: Span) -> Recorder {
        let last = starts.iter().copied().max().unwrap_or(Time::ZERO);
        let fine = (base_rtt / 8).max(Span::from_micros(1));
        let bins = || Bins::new(last, fine, 1024);
        Recorder {
            warm,
            end,
            shared: last.max(warm),
            flows: vec![Tally::default(); starts.len()],
            traffic: vec![Tally::default(); traffic],
            sources: Vec::new(),
            all_bytes: 0,
            offered_bytes: 0,
            wait_sum_ps: 0,
            service_sum_ps: 0,
            waited: 0,
            delivered: 0,
            delivered_warm: 0,
            hops: 0,
            entries: entry_windows(starts, end),
            entry: 0,
            startup: (bins(), bins()),
            detail: None,
            windows: None,
            log: None,
        }
    }

    /// Keeps curves with a point every `step`.
    pub(crate) fn keep_detail(&mut self, step: Span) {
        let count = self.end.picos().div_ceil(step.picos()) as usize;
        let bins = || Bins::new(Time::ZERO, step, count);
        let curves = if self.flows.len() <= FLOW_CURVES { self.flows.len() } else { 0 };
        self.detail = Some(Box::new(Detail {
            step,
            wait_ns: Histogram::new_with_bounds(1, 1_000_000_000_000, 3).expect("bounds are in range"),
            flow_bytes: vec![bins(); curves],
            total_bytes: bins(),
            traffic_bytes: bins(),
            wait_sum_ns: bins(),
            wait_max_ns: bins(),
            served: bins(),
            readings: Vec::new(),
            losses: vec![bins(); curves],
            dropped_bytes: bins(),
            samples: vec![FlowSamples::default(); curves],
            traces: Vec::new(),
            watched: Vec::new(),
            watching: false,
        }));
    }

    /// Traffic arrives at the bottleneck.
    #[inline]
    pub(crate) fn offered(&mut self, now: Time, bytes: u64) {
        if now > self.warm {
            self.offered_bytes += bytes;
        }
        self.startup.1.add(now, bytes);
        if let Some(detail) = &mut self.detail {
            detail.traffic_bytes.add(now, bytes);
            if detail.watching {
                detail.watched.push((now, bytes));
            }
        }
    }

    /// The bottleneck takes a packet that arrived at `arrival`.
    #[inline]
    pub(crate) fn served(&mut self, transit: &Transit, arrival: Time, begins: Time, departs: Time) {
        if departs > self.end {
            return;
        }
        let bytes = transit.size().get();
        let wait = begins.since(arrival);
        if departs > self.warm {
            self.all_bytes += bytes;
            self.wait_sum_ps += u128::from(wait.picos());
            self.service_sum_ps += u128::from(departs.since(begins).picos());
            self.waited += 1;
        }
        if let Some(windows) = &mut self.windows {
            windows.left(departs, bytes);
        }
        let flow = match transit.owner() {
            Owner::Flow(flow) if flow < self.flows.len() => Some(flow),
            _ => None,
        };
        match flow {
            Some(flow) => self.flow_served(flow, bytes, departs),
            None => self.tally(transit.owner()).bytes += if departs > self.warm { bytes } else { 0 },
        }
        if let Some(detail) = &mut self.detail {
            let wait_ns = wait.nanos();
            if departs > self.warm {
                detail.wait_ns.saturating_record(wait_ns);
            }
            detail.wait_sum_ns.add(departs, wait_ns);
            detail.wait_max_ns.raise(departs, wait_ns);
            detail.served.add(departs, 1);
            if let Some(flow) = flow {
                detail.total_bytes.add(departs, bytes);
                if let Some(bins) = detail.flow_bytes.get_mut(flow) {
                    bins.add(departs, bytes);
                }
            }
        }
    }

    #[inline]
    fn flow_served(&mut self, flow: usize, bytes: u64, departs: Time) {
        let tally = &mut self.flows[flow];
        if departs > self.warm {
            tally.bytes += bytes;
            if departs > self.shared {
                tally.shared_bytes += bytes;
            }
        }
        self.startup.0.add(departs, bytes);
        while let Some(window) = self.entries.get_mut(self.entry) {
            if departs <= window.from {
                break;
            }
            if departs <= window.to {
                window.bytes[flow] += bytes;
                break;
            }
            self.entry += 1;
        }
    }

    /// A flow beyond those of the scenario belongs to this traffic source from now on.
    pub(crate) fn belongs(&mut self, flow: usize, source: usize) {
        let place = flow - self.flows.len();
        if place == self.sources.len() {
            self.sources.push(source);
        }
        self.sources[place] = source;
    }

    /// The traffic source of a flow beyond those of the scenario.
    pub(crate) fn source_of(&self, flow: usize) -> usize {
        self.sources[flow - self.flows.len()]
    }

    /// Whether a packet is a flow's of the scenario; else it is traffic.
    #[inline]
    pub(crate) fn is_of_a_flow(&self, owner: Owner) -> bool {
        matches!(owner, Owner::Flow(flow) if flow < self.flows.len())
    }

    /// A packet was dropped at a queue.
    pub(crate) fn dropped(&mut self, owner: Owner, now: Time) {
        self.tally(owner).dropped += 1;
        self.count_loss(owner, now);
    }

    /// A packet of a flow was refused by the bottleneck.
    pub(crate) fn refused(&mut self, transit: &Transit, now: Time) {
        if let (Some(detail), Owner::Flow(_)) = (&mut self.detail, transit.owner()) {
            detail.dropped_bytes.add(now, transit.size().get());
        }
    }

    /// A packet was lost on a wire.
    pub(crate) fn lost(&mut self, owner: Owner, now: Time) {
        self.tally(owner).lost += 1;
        self.count_loss(owner, now);
    }

    /// A packet of a flow has reached its receiver.
    #[inline]
    pub(crate) fn delivered(&mut self, at: Time) {
        if at <= self.end {
            self.delivered += 1;
            self.delivered_warm += u64::from(at > self.warm);
        }
    }

    fn count_loss(&mut self, owner: Owner, now: Time) {
        if now > self.warm {
            self.tally(owner).lost_warm += 1;
        }
        if let (Some(detail), Owner::Flow(flow)) = (&mut self.detail, owner)
            && let Some(bins) = detail.losses.get_mut(flow)
        {
            bins.add(now, 1);
        }
    }

    fn tally(&mut self, owner: Owner) -> &mut Tally {
        match owner {
            Owner::Flow(flow) if flow < self.flows.len() => &mut self.flows[flow],
            Owner::Flow(flow) => &mut self.traffic[self.sources[flow - self.flows.len()]],
            Owner::Traffic(source) => &mut self.traffic[source],
        }
    }

    /// A trace will be asked for: remember the traffic from now on, until it comes. Extra calls are harmless.
    pub(crate) fn watch(&mut self) {
        if let Some(detail) = &mut self.detail {
            detail.watching = true;
        }
    }

    /// A traced stream is complete. Its packets reached the bottleneck between `from` and `to`: what the traffic left
    /// of `capacity` then is what it should have found.
    pub(crate) fn traced(&mut self, flow: usize, trace: StreamTrace, from: Time, to: Time, capacity: Rate) {
        if let Some(detail) = &mut self.detail {
            let bytes: u64 = detail.watched.iter().filter(|(at, _)| *at >= from && *at <= to).map(|(_, b)| b).sum();
            let used = Rate::of(units::Bytes::new(bytes), to.saturating_since(from));
            detail.traces.push((flow, trace, capacity.saturating_sub(used)));
            detail.watching = false;
            detail.watched.clear();
        }
    }
}

/// One window per entry of a flow: from five seconds after it until the next entry or the end.
fn entry_windows(starts: &[Time], end: Time) -> Vec<EntryWindow> {
    let mut entries: Vec<Time> = starts.to_vec();
    entries.sort_unstable();
    entries.dedup();
    let mut windows = Vec::new();
    for (i, &entry) in entries.iter().enumerate() {
        let to = entries.get(i + 1).copied().unwrap_or(end).min(end);
        let from = entry.saturating_add(ENTRY_SETTLING);
        if from < to {
            windows.push(EntryWindow { from, to, bytes: vec![0; starts.len()] });
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_judged_from_five_seconds_after_it_until_the_next() {
        let at = |s| Time::ZERO + Span::from_secs(s);
        let windows = entry_windows(&[at(0), at(30), at(33), at(60)], at(90));
        let spans: Vec<(Time, Time)> = windows.iter().map(|w| (w.from, w.to)).collect();
        assert_eq!(spans, [(at(5), at(30)), (at(38), at(60)), (at(65), at(90))]);
    }

    #[test]
    fn what_falls_before_or_after_the_bins_is_left_out() {
        let mut bins = Bins::new(Time::from_nanos(100), Span::from_nanos(10), 2);
        for ns in [99, 100, 109, 110, 119, 120] {
            bins.add(Time::from_nanos(ns), 1);
        }
        assert_eq!(bins.amounts, [2, 2]);
    }
}
