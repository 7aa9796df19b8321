//! The condition of a run: drawn, except for what settings fix.

use crate::streams::draws::{Draws, Scale, span};
use crate::streams::fixed::Fixed;
use crate::streams::receiver;
use crate::streams::sender;
use crate::streams::traffic::{self, CROSS};
use experiment::scenario::{
    Buffer, Experiment, Impairments, LinkSpec, ProbeSpec, QueueSpec, ReceiverSpec, Record, Recorded, Service,
    TrafficSpec,
};
use packetscale_models::units::{Bytes, Rate, Ratio, Span};
use std::collections::BTreeMap;
use std::error::Error;

/// One run: its experiment, and the facts that the experiment does not contain.
pub struct Condition {
    pub experiment: Experiment,
    /// Load of cross traffic, as a share of the capacity.
    pub load: f64,
    pub cross: &'static str,
    pub receiver: &'static str,
    pub gaps: &'static str,
}

impl Condition {
    /// Draws run number `run`. Every number is drawn, fixed or not, so that fixing one does not change the others.
    ///
    /// # Errors
    /// A fixed value that cannot be read.
    pub fn draw(seed: u64, run: u64, fixed: &Fixed) -> Result<Condition, Box<dyn Error>> {
        let mut draws = Draws::of_run(seed, run);
        // A third of the runs are the testbed's path.
        let testbed = draws.between(0.0, 1.0) < 0.33;
        let (capacity, packet) = (draws.geometric(1e8, 1e11), draws.one_of(&[1500, 9000]));
        let capacity_bps = fixed.rate("capacity", if testbed { 1e10 } else { capacity })?;
        let packet = Bytes::new(fixed.number("packet", if testbed { 9000 } else { packet })?);
        let packets = draws.one_of(&[16, 32, 48, 64]);
        let packets = fixed.number("packets", packets)? as u32;
        let load = draws.between(0.1, 0.7);
        let load = fixed.real("load", load)?;
        let gap_s = packet.get() as f64 * 8.0 / (capacity_bps * (1.0 - load));
        let scale = Scale { capacity_bps, load, stream_s: f64::from(packets) * gap_s, gap_s };
        let kind = draws.one_of(&[0, 1, 2, 2, 3, 4, 4, 5, 5, 5]);
        let cross = fixed.word("cross", &CROSS, kind)?;
        let traffic = traffic::spec(cross, &scale, fixed, &mut draws)?;
        let probe = probe(packets, packet, &scale, fixed, &mut draws)?;
        let (receiver, coalescing) = receiver::draw(packets, &scale, fixed, &mut draws)?;
        let granularity = draws.one_of(&[Span::ZERO, Span::from_nanos(1), Span::from_nanos(1)]);
        let (gaps, model) = sender::draw(&scale, fixed, &mut draws)?;
        let link = link(&probe, &scale);
        let receiving = ReceiverSpec { coalescing, stamp_granularity: granularity, ..ReceiverSpec::PLAIN };
        let experiment = Experiment { gaps: model, ..experiment(draws.seed(), link, receiving, traffic, probe) };
        Ok(Condition { experiment, load, cross, receiver, gaps })
    }

    pub fn probe(&self) -> &ProbeSpec {
        self.experiment.probe.as_ref().expect("a condition has probe streams")
    }

    pub fn capacity_bps(&self) -> f64 {
        self.experiment.links[0].rate.bps() as f64
    }
}

/// Draws the streams. Some runs aim at the mean available bandwidth, some are far from it.
fn probe(
    packets: u32,
    packet: Bytes,
    scale: &Scale,
    fixed: &Fixed,
    draws: &mut Draws,
) -> Result<ProbeSpec, Box<dyn Error>> {
    let range = draws.one_of(&[0.5, 0.5, 0.3]);
    let (levels, range) = (fixed.number("levels", 4)? as u32, fixed.real("range", range)?);
    let aim = draws.one_of(&[0.02, 0.15, 0.3, 0.6]);
    let aim = fixed.real("aim", aim)?;
    let mean_bps = scale.capacity_bps * (1.0 - scale.load) * fixed.real("centre", 1.0)?;
    let rate = |x: f64| Rate::from_bps((mean_bps * x.exp()) as u64);
    // Streams follow each other, as Rapid sends them, or have pauses in which queues drain.
    let pause = draws.one_of(&[0.0, 2.5]);
    let pause = fixed.real("pause", pause)?;
    let acknowledge = draws.one_of(&[1, 1, 2]);
    let access = draws.one_of(&[1.0, 1.0, 4.0]);
    let access = fixed.real("access", access)?;
    Ok(ProbeSpec {
        streams: fixed.number("streams", 60)? as u32,
        packets,
        levels,
        range: Ratio::from_f64(range),
        slowest: rate(-aim),
        fastest: rate(aim),
        packet,
        access: Some(Rate::from_bps((scale.capacity_bps * access) as u64)),
        train: 1,
        pause: span(pause * scale.stream_s),
        acknowledge: fixed.number("acknowledge", acknowledge)? as u32,
        recorded: Recorded::Sent,
        search: None,
    })
}

/// The link. Its buffer holds some streams, and at least the bursts of the traffic.
fn link(probe: &ProbeSpec, scale: &Scale) -> LinkSpec {
    let room = 6 * u64::from(probe.packets) * probe.packet.get().max(1500);
    LinkSpec {
        name: "bottleneck".to_string(),
        rate: Rate::from_bps(scale.capacity_bps as u64),
        delay: Span::ZERO,
        buffer: Buffer::Bytes(Bytes::new(room)),
        queue: QueueSpec::named("fifo"),
        loss: Ratio::ZERO,
        impairments: Impairments::default(),
        service: Service::default(),
    }
}

/// At first, cross traffic has the link to itself for the duration of this number of streams.
const WARMUP_STREAMS: u64 = 8;

fn experiment(seed: u64, link: LinkSpec, receiver: ReceiverSpec, traffic: TrafficSpec, probe: ProbeSpec) -> Experiment {
    let stream = probe.slowest.time_for(probe.packet) * u64::from(probe.packets);
    let warmup = stream * WARMUP_STREAMS;
    Experiment {
        controller: "newreno".to_string(),
        params: BTreeMap::new(),
        replication: 0,
        seed,
        duration: warmup + (stream + probe.pause * 2) * u64::from(probe.streams),
        warmup,
        links: vec![link],
        bottleneck: 0,
        receiver,
        gaps: experiment::scenario::GapModel::Perfect,
        flows: Vec::new(),
        arrivals: Vec::new(),
        traffic: vec![traffic],
        probe: Some(probe),
        record: Record::PLAIN,
    }
}
