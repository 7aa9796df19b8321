//! Streams through the simulator's link, beside the simulator's traffic.

use crate::condition::{Condition, Spacing};
use packetscale_simulator::traffic::Source;
use packetscale_simulator::{Mode, Served};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use scenario::{
    Buffer, Coalescing, Experiment, GapModel, Impairments, LinkSpec, QueueSpec, ReceiverSpec, Record, TraceSource,
    TrafficKind, TrafficSpec,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use units::{Bytes, Packets, Rate, Ratio, Span, Time};

/// One stream that crossed the path.
pub struct Carried {
    /// Between packets, as sent and as stamped, shared out evenly between packets that were answered together.
    pub send: Vec<Span>,
    pub receive: Vec<Span>,
    pub size: Bytes,
    pub lost: u64,
    /// What was sent between the first and the last packet, bit/s.
    pub rate_bps: f64,
    pub low_bps: f64,
    pub high_bps: f64,
    /// Available meanwhile, bit/s.
    pub truth_bps: f64,
}

/// Cross traffic has the link for itself for so many streams' time first.
const WARMUP_STREAMS: f64 = 8.0;

/// The sources of an experiment, and their numbers in the log.
const CROSS: usize = 0;
const PROBES: usize = 1;

/// Sends all streams of a run.
pub fn carry(condition: &Condition) -> Result<Vec<Carried>, Box<dyn Error>> {
    let sent = departures(condition);
    let experiment = experiment(condition, &sent)?;
    let log = packetscale_simulator::log(&experiment.0, Mode::Fused)?;
    let of = |source: usize| log.iter().filter(move |served| served.owner == u32::MAX - source as u32);
    let probes: Vec<&Served> = in_order(of(PROBES));
    let cross = Books::new(&experiment.0, in_order(of(CROSS)))?;
    let arrivals: Vec<Time> = probes.iter().filter(|p| p.departure != Time::MAX).map(|p| p.departure).collect();
    let mut stamps = condition.receiver.stamps(&arrivals, condition.seed).into_iter();
    let stamped: Vec<Option<Time>> =
        probes.iter().map(|p| if p.departure == Time::MAX { None } else { stamps.next() }).collect();
    let streams = probes.chunks_exact(condition.length).zip(stamped.chunks_exact(condition.length));
    Ok(streams.map(|(sent, stamped)| read(condition, &cross, sent, stamped)).collect())
}

fn in_order<'a>(served: impl Iterator<Item = &'a Served>) -> Vec<&'a Served> {
    let mut served: Vec<&Served> = served.collect();
    served.sort_by_key(|served| served.transmission);
    served
}

/// When each packet of each stream is sent, nanoseconds from the first.
fn departures(condition: &Condition) -> Vec<u64> {
    let mut draws = Pcg64::seed_from_u64(condition.seed ^ 1);
    let (mut at, mut sent) = (0.0, Vec::new());
    let each = condition.length / condition.levels;
    for rate in &condition.rates_bps {
        // Rates rise by equal ratios; the mean of their gaps is that of `rate`.
        let step = (1.0 + condition.range).powf(1.0 / (condition.levels.max(2) - 1) as f64);
        let gaps: Vec<f64> = (0..condition.length).map(|i| step.powi(-((i / each) as i32))).collect();
        let unit = condition.packet as f64 * 8e9 / rate * gaps.len() as f64 / gaps.iter().sum::<f64>();
        for gap in gaps {
            let late = condition.lateness * draws.random::<f64>() * gap * unit;
            sent.push((at + late).round() as u64);
            at += gap * unit;
        }
        if condition.spacing == Spacing::Apart {
            let stream = unit * condition.length as f64;
            at += stream * (1.0 + 3.0 * draws.random::<f64>());
        }
    }
    sent
}

/// The path, its traffic, and the probes as a trace; the file lives as long as what is returned.
fn experiment(condition: &Condition, sent: &[u64]) -> Result<(Experiment, tempfile::NamedTempFile), Box<dyn Error>> {
    let mut trace = tempfile::NamedTempFile::new()?;
    let mut text = String::from("time_ns,size_bytes\n");
    sent.iter().for_each(|at| text.push_str(&format!("{at},{}\n", condition.packet)));
    trace.write_all(text.as_bytes())?;
    let bits = condition.length as f64 * condition.packet as f64 * 8.0;
    let mean_bps = condition.capacity_bps * (1.0 - condition.load);
    let warmup = Span::from_nanos((WARMUP_STREAMS * bits / mean_bps * 1e9) as u64);
    let span = Span::from_nanos(sent.last().copied().unwrap_or(0) + 1);
    let start = Time::ZERO + warmup;
    // Room for some streams, and at least for the bursts of the traffic.
    let room = 6 * condition.length as u64 * condition.packet.max(1500);
    let link = LinkSpec {
        name: "bottleneck".to_string(),
        rate: Rate::from_bps(condition.capacity_bps as u64),
        delay: Span::ZERO,
        buffer: Buffer::Bytes(Bytes::new(room)),
        queue: QueueSpec::named("fifo"),
        loss: Ratio::ZERO,
        impairments: Impairments::default(),
    };
    let probes = TrafficSpec {
        kind: TrafficKind::Trace { file: trace.path().into(), source: TraceSource::Csv, rate: None },
        packet: Bytes::new(condition.packet),
        start,
        stop: start + span,
        route: vec![0],
        copies: 1,
        shaper: None,
    };
    let receiver = ReceiverSpec {
        coalescing: Coalescing::NONE,
        delayed_ack: 1,
        delayed_ack_timeout: Span::from_millis(40),
        window: Packets::new(1 << 40),
        stamps: true,
        stamp_granularity: Span::ZERO,
        ack_loss: Ratio::ZERO,
        ack_bunching: Span::ZERO,
        stamp_delay: Span::ZERO,
    };
    let experiment = Experiment {
        controller: "newreno".to_string(),
        params: BTreeMap::new(),
        replication: 0,
        seed: condition.seed,
        // What is queued when the last packet has come can leave.
        duration: warmup + span + Rate::from_bps(condition.capacity_bps as u64).time_for(Bytes::new(4 * room)),
        warmup: Span::ZERO,
        links: vec![link],
        bottleneck: 0,
        receiver,
        gaps: GapModel::Perfect,
        flows: Vec::new(),
        traffic: vec![condition.traffic.clone(), probes],
        probe: None,
        record: Record { detail: false, step: Span::from_millis(10), streams: 0, windows: Vec::new() },
    };
    Ok((experiment, trace))
}

/// What cross traffic has brought up to a time.
struct Books {
    at: Vec<Time>,
    bytes: Vec<u64>,
}

impl Books {
    fn new(experiment: &Experiment, log: Vec<&Served>) -> Result<Books, Box<dyn Error>> {
        let mut sources = packetscale_simulator::cross_traffic(experiment)?;
        let source = &mut sources[CROSS];
        let (mut at, mut bytes, mut sum) = (Vec::with_capacity(log.len()), Vec::with_capacity(log.len()), 0);
        // What is still queued at the end is not in the log; what is dropped meanwhile is.
        let whole = log.iter().enumerate().take_while(|(i, served)| served.transmission == *i as u64 + 1);
        for (_, served) in whole {
            let packet = source.next().ok_or("the log has more packets than the traffic")?;
            if packet.at != served.arrival {
                return Err("the log and the traffic tell of different packets".into());
            }
            sum += packet.size.get();
            at.push(served.arrival);
            bytes.push(sum);
        }
        Ok(Books { at, bytes })
    }

    /// Bytes that have come up to `now`.
    fn up_to(&self, now: Time) -> u64 {
        let count = self.at.partition_point(|at| *at <= now);
        if count == 0 { 0 } else { self.bytes[count - 1] }
    }
}

fn read(condition: &Condition, cross: &Books, sent: &[&Served], stamped: &[Option<Time>]) -> Carried {
    let (first, last) = (sent[0].arrival, sent[sent.len() - 1].arrival);
    let span_s = last.since(first).as_secs_f64();
    let created: Vec<Span> = sent.windows(2).map(|pair| pair[1].arrival.since(pair[0].arrival)).collect();
    let stamps: Vec<u64> = stamped.iter().flatten().map(|at| at.picos() / 1000).collect();
    let level = |part: &[Span]| {
        let time: Span = part.iter().copied().sum();
        part.len() as f64 * condition.packet as f64 * 8.0 / time.as_secs_f64()
    };
    let each = created.len() / condition.levels;
    let received: Vec<Span> = stamps.windows(2).map(|pair| Span::from_nanos(pair[1] - pair[0])).collect();
    Carried {
        low_bps: level(&created[..each]),
        high_bps: level(&created[created.len() - each..]),
        rate_bps: level(&created),
        send: shared(&created, condition.delayed_ack),
        receive: shared(&received, condition.delayed_ack),
        size: Bytes::new(condition.packet),
        lost: stamped.iter().filter(|stamp| stamp.is_none()).count() as u64,
        truth_bps: condition.capacity_bps - (cross.up_to(last) - cross.up_to(first)) as f64 * 8.0 / span_s,
    }
}

/// What is left of gaps if only every `each`th packet is answered: the first answer is that of packet `each - 1`.
fn shared(gaps: &[Span], each: usize) -> Vec<Span> {
    let groups = gaps[(each - 1).min(gaps.len())..].chunks_exact(each);
    groups.flat_map(|group| std::iter::repeat_n(group.iter().copied().sum::<Span>() / each as u64, each)).collect()
}
