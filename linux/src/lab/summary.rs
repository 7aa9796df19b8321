//! Turns records into a run: replays every packet to the recorder of [`measure`], in order of time, and adds the kernel's
//! samples of its connections. Quantities unknown to this host (hops, events, when a packet's own transmission
//! began) are absent.

use crate::lab::books::{Books, Fate, Packet};
use crate::lab::delay_line::Loss;
use crate::lab::rapid::Steered;
use crate::lab::sampler::Samples;
use experiment::results::{Run, StreamRecord};
use experiment::scenario::Experiment;
use harness::measure::{FlowSeen, Marked, Owner, Recorder, Seen};
use packetscale_models::units::{Bytes, Span, Time};

/// Smallest base round trip that figures use as a unit: below it this machine's noise dominates.
const LEAST_JUDGED_RTT: Span = Span::from_millis(1);

/// Observations of a run.
pub(crate) struct Observed {
    pub books: Books,
    pub samples: Samples,
    /// Packets lost at random behind the bottleneck.
    pub losses: Vec<Loss>,
    /// Reports on Rapid's flows.
    pub steered: Vec<Option<Steered>>,
    /// Probe streams of Rapid, some.
    pub streams: Vec<StreamRecord>,
    /// When each flow started and, if it did, was done, nanoseconds.
    pub starts_ns: Vec<u64>,
    pub completed_ns: Vec<Option<u64>>,
    pub cpu_s: f64,
}

/// An event of a packet.
enum Event<'a> {
    Arrives(&'a Packet),
    /// It leaves the bottleneck.
    Leaves(&'a Packet),
    /// It is lost behind the bottleneck.
    IsLost(Owner),
    /// It reaches its receiver, unless it was lost.
    Reaches(usize, &'a Packet),
}

/// Fates of a flow's packets.
#[derive(Clone, Copy, Default)]
struct Counted {
    /// Those that came to the bottleneck.
    sent: u64,
    /// Those that reached the receiver marked.
    marked: u64,
}

pub(crate) fn summarise(experiment: &Experiment, observed: &Observed) -> Run {
    let starts: Vec<Time> = observed.starts_ns.iter().map(|start| Time::from_nanos(*start)).collect();
    let base_rtt = harness::measure::longest(experiment, |flow| observed.base_rtt(experiment, flow));
    let base_rtt = base_rtt.filter(|rtt| *rtt >= LEAST_JUDGED_RTT);
    let mut recorder = Recorder::new(experiment, &starts, base_rtt);
    let counted = observed.replay(experiment, &mut recorder);
    observed.samples.report(&mut recorder);
    let flows = counted.into_iter().enumerate().map(|(flow, counted)| observed.flow(experiment, flow, counted));
    let flows = flows.collect();
    let (streams, cpu_s) = (observed.streams.clone(), Some(observed.cpu_s));
    recorder.finish(experiment, Seen { flows, streams, cpu_s, ..Seen::default() })
}

impl Observed {
    /// Everything that happened, in order of time.
    fn events(&self, experiment: &Experiment) -> Vec<(u64, Event<'_>)> {
        let delay_ns = experiment.links[experiment.bottleneck].delay.nanos();
        let mut events: Vec<(u64, Event)> = Vec::with_capacity(3 * self.books.packets.len());
        for packet in &self.books.packets {
            events.push((packet.arrival_ns, Event::Arrives(packet)));
            if let Some(departure_ns) = packet.departure_ns() {
                events.push((departure_ns, Event::Leaves(packet)));
                if let Owner::Flow(flow) = packet.owner {
                    events.push((departure_ns + delay_ns, Event::Reaches(flow, packet)));
                }
            }
        }
        events.extend(self.losses.iter().map(|loss| (loss.at_ns, Event::IsLost(loss.owner))));
        let end_ns = experiment.duration.nanos();
        events.retain(|(at_ns, _)| *at_ns <= end_ns);
        events.sort_by_key(|(at_ns, _)| *at_ns);
        events
    }

    /// Replays to the recorder. Returns the counts of each flow.
    fn replay(&self, experiment: &Experiment, recorder: &mut Recorder) -> Vec<Counted> {
        let mut counted = vec![Counted::default(); experiment.flows.len()];
        // Packets of each flow that were lost, until one fewer reaches the receiver.
        let mut missing = vec![0u64; experiment.flows.len()];
        for (at_ns, event) in self.events(experiment) {
            let now = Time::from_nanos(at_ns);
            match event {
                Event::Arrives(packet) => {
                    if let Owner::Flow(flow) = packet.owner {
                        counted[flow].sent += 1;
                    }
                    arrives(packet, now, recorder);
                }
                Event::Leaves(packet) => {
                    let arrival = Time::from_nanos(packet.arrival_ns);
                    let begins = arrival + Span::from_nanos(self.books.wait_ns(packet).unwrap_or_default());
                    recorder.served(packet.owner, packet.bytes(), arrival, begins, now);
                }
                Event::IsLost(owner) => {
                    recorder.lost(owner, now);
                    if let Owner::Flow(flow) = owner {
                        missing[flow] += 1;
                    }
                }
                Event::Reaches(flow, _) if missing[flow] > 0 => missing[flow] -= 1,
                Event::Reaches(flow, packet) => {
                    counted[flow].marked += u64::from(packet.marked);
                    recorder.delivered(flow, packet.bytes(), now);
                }
            }
        }
        counted
    }

    /// The least round-trip time that the kernel measured; the scenario's if it measured none.
    fn base_rtt(&self, experiment: &Experiment, flow: usize) -> Option<Span> {
        let output = experiment.flows.get(flow)?.rtt;
        Some(self.samples.least_rtt(flow).unwrap_or(output))
    }

    fn flow(&self, experiment: &Experiment, flow: usize, counted: Counted) -> FlowSeen {
        let info = self.samples.last.get(flow).copied().flatten().unwrap_or_default();
        let steered = self.steered[flow].clone().unwrap_or_default();
        let completed_ns = self.completed_ns[flow].filter(|at_ns| *at_ns <= experiment.duration.nanos());
        FlowSeen {
            remark: steered.fell_back.map(|why| format!("fell back to cubic: {why}")),
            completed: completed_ns.map(Time::from_nanos),
            base_rtt: self.base_rtt(experiment, flow).unwrap_or_default(),
            round_trips: self.samples.round_trips(flow),
            sent: counted.sent,
            marked: Some(Marked { congestion: counted.marked, burstiness: 0 }),
            retransmitted: u64::from(info.retransmitted),
            timeouts: info.timeouts.map(u64::from),
            streams: steered.streams,
            ..FlowSeen::default()
        }
    }
}

fn arrives(packet: &Packet, now: Time, recorder: &mut Recorder) {
    let (owner, size) = (packet.owner, packet.bytes());
    recorder.entered(owner, now, size);
    recorder.arrives(owner, now, size);
    if packet.fate == Fate::Dropped {
        recorder.dropped(owner, now);
        recorder.refused(owner, now, size);
    }
}

impl Packet {
    fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::books::{Books, Packet};
    use crate::lab::calibrate::one_flow;
    use packetscale_models::units::{Bytes, Rate, Span};

    const MS: u64 = 1_000_000;

    /// 8 Mbit/s is 1000 B per ms. For a second after a warm-up of a second, the bottleneck serves a packet of 1000 B of
    /// the flow every 2 ms, each after 1 ms, and as many of others in the first half of that second.
    fn observed() -> (Experiment, Observed) {
        let mut experiment = one_flow(Rate::from_mbps(8), Bytes::new(1_000), Bytes::new(10_000));
        (experiment.duration, experiment.warmup) = (Span::from_secs(2), Span::from_secs(1));
        experiment.record.detail = true;
        let served = |owner: Owner, arrival_ns: u64| {
            let fate = Fate::Departed(arrival_ns + MS + 7);
            Packet { owner, size: 1_000, arrival_ns, fate, marked: false }
        };
        let mut packets: Vec<Packet> = (0..1_000).map(|n| served(Owner::Flow(0), 2 * n * MS)).collect();
        packets[700].marked = true;
        packets.extend((0..250).map(|n| served(Owner::Other, 1_000 * MS + 2 * n * MS)));
        // The least wait of the run: what crossing to the next host takes.
        let fate = Fate::Departed(7);
        packets.push(Packet { owner: Owner::Other, size: 60, arrival_ns: 0, fate, marked: false });
        packets.push(Packet {
            owner: Owner::Flow(0),
            size: 1_000,
            arrival_ns: 5 * MS,
            fate: Fate::Dropped,
            marked: true,
        });
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
    fn figures_exclude_warm_up_but_counts_do_not() {
        let (experiment, observed) = observed();
        let run = summarise(&experiment, &observed);
        let summary = &run.summary;
        // 500 packets of the flow and 250 others, of 8000 bits, in a second of 8 Mbit/s.
        assert_eq!((summary.throughput_bps, summary.utilisation), (Some(4e6), Some(0.75)));
        assert_eq!(summary.queue_delay_mean_s, Some(0.001));
        // Quantiles are those of a histogram with three digits.
        for quantile in [summary.queue_delay_p50_s, summary.queue_delay_p99_s] {
            assert!((quantile.expect("packets waited") / 0.001 - 1.0).abs() < 0.001, "{quantile:?}");
        }
        // 1001 arrived; one was dropped, one lost behind the queue.
        assert_eq!((summary.drop_ratio, summary.loss_ratio), (Some(1.0 / 1_001.0), Some(2.0 / 1_001.0)));
        // One that left was marked; the mark of the dropped one does not count.
        assert_eq!(summary.mark_ratio, Some(1.0 / 1_001.0));
        // Both before the warm-up was over.
        assert_eq!(summary.steady_loss_ratio, Some(0.0));
        assert_eq!(summary.packets_delivered, 999);
        assert_eq!(run.queue_delay.count.iter().sum::<u64>(), 750);
        assert_eq!((summary.events, run.flows[0].recoveries), (None, None));
        assert_eq!((summary.queue_mean_packets, summary.rtt_mean_s), (None, None));
    }

    #[test]
    fn curves_have_bytes_per_interval() {
        let (mut experiment, observed) = observed();
        experiment.record.step = Span::from_millis(500);
        let run = summarise(&experiment, &observed);
        let curve = |metric: &str| &run.series.iter().find(|series| series.metric == metric).expect("a curve").values;
        // One of the first 250 packets was lost behind the queue.
        assert_eq!(*curve("throughput"), [Some(3.984e6), Some(4e6), Some(4e6), Some(4e6)]);
        assert_eq!(*curve("losses"), [Some(2.0), Some(0.0), Some(0.0), Some(0.0)]);
        assert_eq!(*curve("queue_delay_max"), vec![Some(0.001); 4]);
    }
}
