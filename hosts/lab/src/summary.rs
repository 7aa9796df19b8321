//! From books to a run, by the definitions of the results' dictionary, the same as the simulator's: at the bottleneck, a
//! packet counts when its last bit has left, after the warm-up unless said. What this host does not know is absent.

use crate::books::{Books, Fate, Owner};
use crate::delay_line::Loss;
use crate::rapid::Steered;
use crate::sampler::Samples;
use results::{FlowResult, Histogram, Run, StreamRecord, Summary, TrafficResult};
use scenario::Experiment;

/// Most flows for which curves are kept one by one.
pub(crate) const FLOW_CURVES: usize = 32;

/// Time after the entry of a flow before fairness is judged.
const ENTRY_SETTLING_NS: u64 = 5_000_000_000;

/// Base round trips below this are less than what the machine's own noise adds: no start-up is judged in them.
const LEAST_JUDGED_RTT_S: f64 = 0.001;

/// What came out of a run.
pub(crate) struct Observed {
    pub books: Books,
    pub samples: Samples,
    /// Packets lost at random behind the bottleneck.
    pub losses: Vec<Loss>,
    /// What became of Rapid's flows.
    pub steered: Vec<Option<Steered>>,
    /// Probe streams of Rapid, some.
    pub streams: Vec<StreamRecord>,
    /// When each flow started and, if it did, was done, nanoseconds.
    pub starts_ns: Vec<u64>,
    pub completed_ns: Vec<Option<u64>>,
    pub cpu_s: f64,
}

/// Totals of one owner.
#[derive(Clone, Copy, Default)]
struct Tally {
    arrived: u64,
    departed: u64,
    dropped: u64,
    /// After the warm-up.
    bytes: u64,
    /// While all flows were active.
    shared_bytes: u64,
}

pub(crate) fn summarise(experiment: &Experiment, observed: &Observed) -> Run {
    let colour = |name: &str| congestion::find(name).map_or("#000000", |entry| entry.colour);
    let totals = Totals::of(experiment, observed);
    let mut run = Run {
        controller: experiment.controller.clone(),
        colour: colour(&experiment.controller).to_string(),
        seed: experiment.seed,
        replication: experiment.replication,
        params: experiment.params.clone(),
        summary: totals.summary(experiment, observed),
        flows: flows(experiment, observed, &totals),
        traffic: traffic(experiment, observed, &totals),
        series: Vec::new(),
        windows: Vec::new(),
        queue_delay: Histogram::default(),
        streams: observed.streams.clone(),
    };
    if experiment.record.detail {
        distribution(&totals.waits_ns, &mut run);
        run.series = crate::curves::curves(experiment, observed);
    }
    run
}

struct Totals {
    warm_ns: u64,
    end_ns: u64,
    flows: Vec<Tally>,
    traffic: Vec<Tally>,
    all_bytes: u64,
    offered_bytes: u64,
    /// After the warm-up, ascending.
    waits_ns: Vec<u64>,
}

impl Totals {
    fn of(experiment: &Experiment, observed: &Observed) -> Totals {
        let warm_ns = experiment.warmup.nanos();
        let end_ns = experiment.duration.nanos();
        let shared_ns = observed.starts_ns.iter().copied().max().unwrap_or(0).max(warm_ns);
        let mut totals = Totals {
            warm_ns,
            end_ns,
            flows: vec![Tally::default(); experiment.flows.len()],
            traffic: vec![Tally::default(); experiment.traffic.len()],
            all_bytes: 0,
            offered_bytes: 0,
            waits_ns: Vec::new(),
        };
        let mut nobody = Tally::default();
        for packet in observed.books.packets.iter().filter(|packet| packet.arrival_ns <= end_ns) {
            let bytes = u64::from(packet.size);
            if matches!(packet.owner, Owner::Traffic(_)) && packet.arrival_ns > warm_ns {
                totals.offered_bytes += bytes;
            }
            let tally = match packet.owner {
                Owner::Flow(flow) => &mut totals.flows[flow],
                Owner::Traffic(source) => &mut totals.traffic[source],
                Owner::Other => &mut nobody,
            };
            tally.arrived += 1;
            tally.dropped += u64::from(packet.fate == Fate::Dropped);
            let Some(departed) = packet.departure_ns().filter(|at| *at <= end_ns) else { continue };
            tally.departed += 1;
            if departed > warm_ns {
                tally.bytes += bytes;
                tally.shared_bytes += if departed > shared_ns { bytes } else { 0 };
                totals.all_bytes += bytes;
                totals.waits_ns.extend(observed.books.wait_ns(packet));
            }
        }
        totals.waits_ns.sort_unstable();
        totals
    }

    fn summary(&self, experiment: &Experiment, observed: &Observed) -> Summary {
        let time = (self.end_ns - self.warm_ns) as f64 * 1e-9;
        let capacity = experiment.links[experiment.bottleneck].rate.bps() as f64;
        let sum = |of: fn(&Tally) -> u64| self.flows.iter().map(of).sum::<u64>();
        let throughput = sum(|tally| tally.bytes) as f64 * 8.0 / time;
        let lost = (0..experiment.flows.len()).map(|flow| observed.lost(flow)).sum::<u64>();
        let sent = sum(|tally| tally.arrived) as f64;
        let waits = &self.waits_ns;
        let base_rtt = observed.base_rtt_s(experiment, 0).filter(|rtt| *rtt >= LEAST_JUDGED_RTT_S);
        let convergence_s = base_rtt.and_then(|rtt| self.convergence(observed, capacity, rtt));
        let rtts = (0..experiment.flows.len()).filter_map(|flow| observed.samples.mean_rtt_s(flow));
        let quantile = |q| if experiment.record.detail { quantile(waits, q) } else { f64::NAN };
        Summary {
            throughput_bps: throughput,
            utilisation: self.all_bytes as f64 * 8.0 / (time * capacity),
            available_share: throughput / (capacity - self.offered_bytes as f64 * 8.0 / time),
            loss_ratio: (sum(|tally| tally.dropped) + lost) as f64 / sent,
            drop_ratio: sum(|tally| tally.dropped) as f64 / sent,
            queue_delay_mean_s: mean(waits.iter().map(|ns| *ns as f64 * 1e-9)),
            queue_delay_p50_s: quantile(0.50),
            queue_delay_p95_s: quantile(0.95),
            queue_delay_p99_s: quantile(0.99),
            rtt_mean_s: mean(rtts),
            fairness_jain: jain(self.flows.iter().map(|tally| tally.shared_bytes as f64)).unwrap_or(f64::NAN),
            fairness_jain_after_entry: after_entry(observed, self.end_ns),
            convergence_s,
            convergence_rtts: convergence_s.zip(base_rtt).map(|(seconds, rtt)| seconds / rtt),
            packets_delivered: sum(|tally| tally.departed).saturating_sub(lost),
            cpu_s: observed.cpu_s,
            steady_loss_ratio: f64::NAN,
            queue_mean_packets: f64::NAN,
            mark_ratio: f64::NAN,
            burst_mark_ratio: f64::NAN,
            ..Summary::default()
        }
    }

    /// From the start of the last flow until the flows' throughput over one round trip is 95 % of what was available
    /// over it; judged every eighth of a round trip, within the first 128 of them.
    fn convergence(&self, observed: &Observed, capacity: f64, rtt_s: f64) -> Option<f64> {
        const PER_RTT: usize = 8;
        const STARTED: f64 = 0.95;
        let step_ns = (rtt_s * 1e9 / PER_RTT as f64).max(1_000.0);
        let origin = observed.starts_ns.iter().copied().max().unwrap_or(0);
        let (mut flows, mut traffic) = (vec![0u64; 128 * PER_RTT], vec![0u64; 128 * PER_RTT]);
        let slot = |at: u64| at.checked_sub(origin).map(|after| (after as f64 / step_ns) as usize);
        for packet in &observed.books.packets {
            let (bins, at) = match packet.owner {
                Owner::Flow(_) => (&mut flows, packet.departure_ns()),
                Owner::Traffic(_) => (&mut traffic, Some(packet.arrival_ns)),
                Owner::Other => continue,
            };
            if let Some(bin) = at.and_then(slot).and_then(|slot| bins.get_mut(slot)) {
                *bin += u64::from(packet.size);
            }
        }
        let whole = capacity / 8.0 * step_ns * 1e-9 * PER_RTT as f64;
        let sum = |bins: &[u64], end: usize| bins[end - PER_RTT..end].iter().sum::<u64>() as f64;
        (PER_RTT..flows.len())
            .find(|end| sum(&flows, *end) >= STARTED * (whole - sum(&traffic, *end)))
            .map(|end| end as f64 * step_ns * 1e-9)
    }
}

impl Observed {
    /// The least round-trip time that the kernel measured; what the scenario says if it measured none.
    fn base_rtt_s(&self, experiment: &Experiment, flow: usize) -> Option<f64> {
        let said = experiment.flows.get(flow)?.rtt.as_secs_f64();
        Some(self.samples.least_rtt_s(flow).unwrap_or(said))
    }
}

impl Observed {
    /// Packets of a flow lost at random.
    fn lost(&self, flow: usize) -> u64 {
        self.losses.iter().filter(|loss| loss.owner == Owner::Flow(flow)).count() as u64
    }
}

fn flows(experiment: &Experiment, observed: &Observed, totals: &Totals) -> Vec<FlowResult> {
    let one = |(flow, tally): (usize, &Tally)| {
        let info = observed.samples.last.get(flow).copied().flatten().unwrap_or_default();
        let kind = &experiment.flows[flow].controller.kind;
        let steered = observed.steered[flow].clone().unwrap_or_default();
        let start = observed.starts_ns[flow];
        let until = observed.completed_ns[flow].unwrap_or(totals.end_ns).min(totals.end_ns);
        let active = until.saturating_sub(start.max(totals.warm_ns)) as f64 * 1e-9;
        FlowResult {
            flow: flow as u32,
            controller: match steered.fell_back {
                Some(why) => format!("{kind} (fell back to cubic: {why})"),
                None => kind.clone(),
            },
            start_s: start as f64 * 1e-9,
            completion_s: observed.completed_ns[flow].map(|ns| ns as f64 * 1e-9),
            throughput_bps: if active > 0.0 { tally.bytes as f64 * 8.0 / active } else { 0.0 },
            base_rtt_s: observed.base_rtt_s(experiment, flow).unwrap_or(f64::NAN),
            rtt_mean_s: observed.samples.mean_rtt_s(flow).unwrap_or(f64::NAN),
            sent_packets: u64::from(info.data_packets),
            retransmitted_packets: u64::from(info.retransmitted),
            dropped_packets: tally.dropped,
            lost_packets: observed.lost(flow),
            timeouts: info.timeouts.map(u64::from),
            recoveries: None,
            undone: None,
            streams: steered.streams.map(|(streams, _)| streams),
            unusable_streams: steered.streams.map(|(_, unusable)| unusable),
        }
    };
    totals.flows.iter().enumerate().map(one).collect()
}

/// Rates per millisecond as they reached the bottleneck; quantiles are samples: of n in order, the ceil(p n)-th.
fn traffic(experiment: &Experiment, observed: &Observed, totals: &Totals) -> Vec<TrafficResult> {
    const MS: u64 = 1_000_000;
    let intervals = (totals.end_ns / MS) as usize;
    let mut bytes = vec![vec![0u64; intervals]; experiment.traffic.len()];
    for packet in &observed.books.packets {
        if let Owner::Traffic(source) = packet.owner
            && let Some(interval) = bytes[source].get_mut((packet.arrival_ns / MS) as usize)
        {
            *interval += u64::from(packet.size);
        }
    }
    let one = |(source, mut bytes): (usize, Vec<u64>)| {
        let mut bytes = bytes.split_off(((totals.warm_ns / MS) as usize).min(intervals));
        bytes.sort_unstable();
        let bps = |bytes: u64| bytes as f64 * 8.0 * 1e3;
        let at = |percent: usize| bytes.get((bytes.len() * percent).div_ceil(100).max(1) - 1).map_or(0.0, |b| bps(*b));
        TrafficResult {
            kind: experiment.traffic[source].kind.name().to_string(),
            mean_rate_bps: bps(bytes.iter().sum::<u64>()) / bytes.len().max(1) as f64,
            rate_p05_bps: at(5),
            rate_p95_bps: at(95),
            burstiness_bps: at(95) - at(5),
            packets: totals.traffic[source].arrived,
            dropped_packets: totals.traffic[source].dropped,
            ..TrafficResult::default()
        }
    };
    bytes.into_iter().enumerate().map(one).collect()
}

/// Smallest Jain's index over the windows from five seconds after each entry of a flow until the next.
fn after_entry(observed: &Observed, end_ns: u64) -> Option<f64> {
    let mut entries = observed.starts_ns.clone();
    entries.sort_unstable();
    entries.dedup();
    let windows = entries.iter().enumerate().filter_map(|(i, entry)| {
        let (from, to) = (entry + ENTRY_SETTLING_NS, entries.get(i + 1).copied().unwrap_or(end_ns).min(end_ns));
        (from < to).then_some((from, to))
    });
    let index = |(from, to): (u64, u64)| {
        let mut bytes = vec![0u64; observed.starts_ns.len()];
        for packet in &observed.books.packets {
            if let (Owner::Flow(flow), Some(at)) = (packet.owner, packet.departure_ns())
                && at > from
                && at <= to
            {
                bytes[flow] += u64::from(packet.size);
            }
        }
        let active = bytes.iter().zip(&observed.starts_ns).filter(|(_, start)| **start < from);
        jain(active.map(|(bytes, _)| *bytes as f64))
    };
    windows.filter_map(index).reduce(f64::min)
}

fn distribution(waits_ns: &[u64], run: &mut Run) {
    const FIRST_S: f64 = 100e-9;
    const GROWTH: f64 = 1.122_018_454_301_963_3;
    let (mut upper_s, mut counted) = (FIRST_S, 0);
    while counted < waits_ns.len() {
        let below = waits_ns.partition_point(|ns| *ns as f64 * 1e-9 <= upper_s);
        run.queue_delay.upper_s.push(upper_s);
        run.queue_delay.count.push((below - counted) as u64);
        counted = below;
        upper_s *= GROWTH;
    }
}

/// Of n values in order, the ceil(q n)-th, in seconds.
fn quantile(sorted_ns: &[u64], q: f64) -> f64 {
    let rank = (sorted_ns.len() as f64 * q).ceil() as usize;
    sorted_ns.get(rank.max(1) - 1).map_or(f64::NAN, |ns| *ns as f64 * 1e-9)
}

/// NaN, a figure that does not exist, when there are none.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u64), |(sum, count), value| (sum + value, count + 1));
    sum / count as f64
}

/// Jain's index: (sum x)^2 / (n sum x^2).
fn jain(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) = shares.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::books::{Books, Packet};
    use crate::calibrate::one_flow;
    use units::{Bytes, Rate, Span};

    const MS: u64 = 1_000_000;

    /// 8 Mbit/s is 1000 B per ms. For a second after a warm-up of a second, the bottleneck serves a packet of 1000 B of
    /// the flow every 2 ms, each after 1 ms, and as many of others in the first half of that second.
    fn observed() -> (Experiment, Observed) {
        let mut experiment = one_flow(Rate::from_mbps(8), Bytes::new(1_000), Bytes::new(10_000));
        (experiment.duration, experiment.warmup) = (Span::from_secs(2), Span::from_secs(1));
        experiment.record.detail = true;
        let served = |owner: Owner, arrival_ns: u64| {
            let fate = Fate::Departed(arrival_ns + MS + 7);
            Packet { owner, size: 1_000, arrival_ns, fate }
        };
        let mut packets: Vec<Packet> = (0..1_000).map(|n| served(Owner::Flow(0), 2 * n * MS)).collect();
        packets.extend((0..250).map(|n| served(Owner::Other, 1_000 * MS + 2 * n * MS)));
        // The least wait of the run: what crossing to the next host takes.
        let fate = Fate::Departed(7);
        packets.push(Packet { owner: Owner::Other, size: 60, arrival_ns: 0, fate });
        packets.push(Packet { owner: Owner::Flow(0), size: 1_000, arrival_ns: 5 * MS, fate: Fate::Dropped });
        let observed = Observed {
            books: Books { packets, least_wait_ns: 7 },
            samples: Samples::new(1),
            losses: vec![Loss { at_ns: 5, owner: Owner::Flow(0) }],
            steered: vec![None],
            streams: vec![],
            starts_ns: vec![0],
            completed_ns: vec![None],
            cpu_s: 0.0,
        };
        (experiment, observed)
    }

    #[test]
    fn figures_are_of_the_time_after_the_warm_up_and_counts_of_the_whole_run() {
        let (experiment, observed) = observed();
        let run = summarise(&experiment, &observed);
        let summary = &run.summary;
        // 500 packets of the flow and 250 others, of 8000 bits, in a second of 8 Mbit/s.
        assert_eq!((summary.throughput_bps, summary.utilisation), (4e6, 0.75));
        assert_eq!((summary.queue_delay_p50_s, summary.queue_delay_p99_s), (0.001, 0.001));
        // 1001 arrived; one was dropped, one lost behind the queue.
        assert_eq!((summary.drop_ratio, summary.loss_ratio), (1.0 / 1_001.0, 2.0 / 1_001.0));
        assert_eq!(summary.packets_delivered, 999);
        assert_eq!(run.queue_delay.count.iter().sum::<u64>(), 750);
        assert_eq!((summary.events, run.flows[0].recoveries), (None, None));
    }

    #[test]
    fn curves_have_the_bytes_of_each_interval() {
        let (mut experiment, observed) = observed();
        experiment.record.step = Span::from_millis(500);
        let run = summarise(&experiment, &observed);
        let curve = |metric: &str| &run.series.iter().find(|series| series.metric == metric).expect("a curve").values;
        assert_eq!(*curve("throughput"), vec![Some(4e6); 4]);
        assert_eq!(*curve("losses"), [Some(2.0), Some(0.0), Some(0.0), Some(0.0)]);
        assert_eq!(*curve("queue_delay_max"), vec![Some(0.001); 4]);
    }

    #[test]
    fn two_flows_of_which_one_has_all_are_as_unfair_as_two_can_be() {
        assert_eq!(jain([3.0, 3.0].into_iter()), Some(1.0));
        assert_eq!(jain([5.0, 0.0].into_iter()), Some(0.5));
        assert_eq!(jain([0.0].into_iter()), None);
    }
}
