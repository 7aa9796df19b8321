//! Probe streams over the bottleneck, and what was really available while each was under way.
//!
//! Nothing responds, so no events are needed: the packets of the streams and those of cross traffic meet at the link in
//! order of time, through the same queue, gap models, interrupt coalescence and traffic as in a run. The truth is the
//! link's own account, to the packet: its rate less what cross traffic arrived between the first and the last packet of a
//! stream, over that time (dissertation, section 5.3.3: from the trace taken at the bottleneck).

mod prober;

pub use prober::Prober;

use crate::endpoints::{Coalescer, Gaps, Interrupt, StampClock};
use crate::topology::{Constant, Fused};
use crate::transit::Transit;
use crate::{RunError, network};
use experiment::scenario::{Experiment, ProbeSpec, Recorded};
use experiment::traffic::chance::{self, Purpose};
use experiment::traffic::{AnySource, CrossPacket, Source, Superposition};
use harness::probing::{ProbePacket, ProbeStream};
use packetscale_models::units::{Bytes, Rate, Serialiser, Span, Time};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Sends the probe streams of an experiment.
///
/// # Errors
/// A traffic source that cannot be opened or read.
///
/// # Panics
/// If the experiment has no probe streams.
pub fn probe(experiment: &Experiment) -> Result<Vec<ProbeStream>, RunError> {
    let spec = experiment.probe.expect("the experiment has probe streams");
    let mut path = ProbedPath::new(experiment)?;
    let mut random = Pcg64Mcg::seed_from_u64(chance::seed(experiment.seed, Purpose::ProbeStreams, 0));
    let mut host = ProbingHost::new(experiment);
    let mut now = Time::ZERO + experiment.warmup;
    let mut probes: Vec<ProbeStream> = Vec::with_capacity(spec.streams as usize);
    for train in 0..spec.streams.div_ceil(spec.train) {
        let half = spec.pause.picos() / 2;
        let begun = now + Span::from_picos(random.random_range(half..=half + spec.pause.picos()));
        let mean = mean_rate(&spec, train);
        let first = train * spec.train;
        let before = path.offered_until(begun);
        let (mut start, mut closed) = (begun, begun);
        for number in first..spec.streams.min(first + spec.train) {
            let (probe, next, last) = path.carry(&spec, &mut host, number, mean, start);
            probes.push(ProbeStream { train, ..probe });
            (start, closed) = (next, last);
        }
        let truth = path.available(path.cross - before, closed.since(begun));
        probes[first as usize..].iter_mut().for_each(|probe| probe.train_truth = truth);
        now = closed.max(start);
    }
    path.hand_over(&mut probes);
    let failed = path.sources.iter().flat_map(Superposition::sources).find_map(AnySource::failure);
    failed.map_or(Ok(probes), |error| Err(RunError::Replay(error.to_string())))
}

/// The mean rate of a train: spread evenly between the two rates, by the golden ratio, so that neighbours differ and every
/// number of trains covers all.
fn mean_rate(spec: &ProbeSpec, train: u32) -> Rate {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let part = (f64::from(train) + 0.5) * GOLDEN;
    let part = part - libm::floor(part);
    let (slowest, fastest) = (spec.slowest.bps() as f64, spec.fastest.bps() as f64);
    Rate::from_bps((slowest + part * (fastest - slowest)) as u64)
}

/// Gaps of a stream with this mean rate, bits over time, and its lowest and highest rate.
fn gaps(spec: &ProbeSpec, mean: Rate) -> (Vec<Span>, Rate, Rate) {
    let count = spec.packets as usize - 1;
    let last = f64::from(spec.levels.max(2) - 1);
    let level = |gap: usize| (gap * spec.levels as usize / count) as f64;
    // The time of each gap, that of the lowest rate being 1.
    let part = |gap: usize| libm::pow(spec.spread(), -level(gap) / last);
    let sum: f64 = (0..count).map(part).sum();
    let longest = count as f64 * spec.packet.get() as f64 * 8e12 / (mean.bps() as f64 * sum);
    let gaps: Vec<Span> = (0..count).map(|gap| Span::from_picos((longest * part(gap) + 0.5) as u64)).collect();
    let rate = |gap: Option<&Span>| Rate::of(spec.packet, *gap.expect("a stream has two packets"));
    let (lowest, highest) = (rate(gaps.first()), rate(gaps.last()));
    (gaps, lowest, highest)
}

/// The sending host.
pub(crate) struct ProbingHost {
    gaps: Option<Box<Gaps>>,
    card: Option<Serialiser>,
    free: Time,
}

impl ProbingHost {
    pub(crate) fn new(experiment: &Experiment) -> ProbingHost {
        let seed = chance::seed(experiment.seed, Purpose::Gaps, 0);
        let card = experiment.probe.and_then(|probe| probe.access).map(Serialiser::new);
        ProbingHost { gaps: Gaps::new(experiment.gaps, seed), card, free: Time::ZERO }
    }

    /// When packets with these scheduled gaps are sent, by the sender's own record, and when they leave.
    fn send(&mut self, start: Time, gaps: &[Span], size: Bytes) -> Vec<(Time, Time)> {
        let (mut due, mut before) = (start, start);
        let mut sent = vec![start];
        for gap in gaps {
            due += *gap;
            before = self.gaps.as_mut().map_or(due, |host| host.create(before, *gap, due));
            sent.push(before);
        }
        let batch = self.gaps.as_ref().map_or(1, |host| host.batch());
        let mut left = Vec::with_capacity(sent.len());
        for packets in sent.chunks(batch) {
            let together = packets[packets.len() - 1];
            left.extend(packets.iter().map(|at| (*at, self.through_card(together, size))));
        }
        left
    }

    fn through_card(&mut self, at: Time, size: Bytes) -> Time {
        let Some(card) = &mut self.card else { return at };
        self.free = at.max(self.free) + card.next(size);
        self.free
    }
}

/// From the bottleneck to the receiving host.
pub(crate) struct ProbedPath {
    link: Fused<Constant>,
    rate: Rate,
    delay: Span,
    /// A draw of 32 bits below this loses the packet.
    loss_below: u64,
    random: Pcg64Mcg,
    pub(crate) sources: Vec<Superposition<AnySource>>,
    heads: Vec<Option<CrossPacket>>,
    /// Bytes that cross traffic has offered.
    cross: u64,
    coalescer: Option<Box<Coalescer>>,
    clock: StampClock,
    /// Where the packets of the batch that waits belong: stream and place in it.
    waiting: Vec<(u32, usize)>,
    /// Streams and places of packets that were handed over, and when.
    seen: Vec<(u32, usize, Time)>,
}

impl ProbedPath {
    pub(crate) fn new(experiment: &Experiment) -> Result<ProbedPath, RunError> {
        let link = &experiment.links[experiment.bottleneck];
        let mut sources = experiment::traffic::cross_traffic(experiment, network::alone)?;
        let heads = sources.iter_mut().map(Source::next).collect();
        let seed = |purpose| chance::seed(experiment.seed, purpose, 0);
        Ok(ProbedPath {
            link: Fused::new(Constant::new(link.rate), link.buffer.limit()),
            rate: link.rate,
            delay: link.delay,
            loss_below: link.loss.q32(),
            random: Pcg64Mcg::seed_from_u64(seed(Purpose::LinkLoss)),
            sources,
            heads,
            cross: 0,
            coalescer: Coalescer::new(experiment.receiver.coalescing, seed(Purpose::Card)),
            clock: StampClock::new(&experiment.receiver),
            waiting: Vec::new(),
            seen: Vec::new(),
        })
    }

    /// Sends one stream from `start` on. Returns when the next of its train begins, and when its last packet left.
    pub(crate) fn carry(
        &mut self,
        spec: &ProbeSpec,
        host: &mut ProbingHost,
        number: u32,
        mean: Rate,
        start: Time,
    ) -> (ProbeStream, Time, Time) {
        let (gaps, lowest, highest) = gaps(spec, mean);
        let sent = host.send(start, &gaps, spec.packet);
        let mut packets = Vec::with_capacity(sent.len());
        let (mut first, mut before) = (0, start);
        for (i, (record, left)) in sent.iter().enumerate() {
            self.cross_until(*left);
            first = if i == 0 { self.cross } else { first };
            let asked = if i == 0 { Span::ZERO } else { gaps[i - 1] };
            before = if i == 0 { start } else { before + asked };
            let sent = if spec.recorded == Recorded::Sent { *record } else { before };
            if let Some(passed) = self.pass(*left, spec.packet) {
                let seen = passed + self.delay;
                packets.push(ProbePacket { number: i as u32, asked, sent, left: *left, passed, seen });
                self.arrive(number, packets.len() - 1, seen);
            }
        }
        let (opened, closed) = (sent[0].1, sent[sent.len() - 1].1);
        let truth = self.available(self.cross - first, closed.since(opened));
        let lost = sent.len() as u32 - packets.len() as u32;
        let probe = ProbeStream {
            number,
            train: 0,
            mean_rate: mean,
            lowest,
            highest,
            truth,
            train_truth: truth,
            packets,
            lost,
            acknowledge: spec.acknowledge,
            size: spec.packet,
        };
        let last = gaps[gaps.len() - 1];
        (probe, sent[sent.len() - 1].0 + last, closed)
    }

    /// The capacity that was left of the link by this much offered cross traffic.
    pub(crate) fn available(&self, cross: u64, time: Span) -> Rate {
        self.rate.saturating_sub(Rate::of(Bytes::new(cross), time.max(Span::from_picos(1))))
    }

    /// Bytes that cross traffic has offered up to and including `now`.
    pub(crate) fn offered_until(&mut self, now: Time) -> u64 {
        self.cross_until(now);
        self.cross
    }

    /// From the bottleneck to the receiving host, and back.
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// Lets cross traffic arrive up to and including `now`: a probe packet that comes at the same instant is behind it.
    fn cross_until(&mut self, now: Time) {
        while let Some((source, packet)) = self.next_cross().filter(|(_, packet)| packet.at <= now) {
            self.heads[source] = self.sources[source].next();
            self.cross += packet.size.get();
            // Dropped cross traffic counts as offered.
            let _ = self.link.arrive(packet.at, packet.size);
        }
    }

    fn next_cross(&self) -> Option<(usize, CrossPacket)> {
        let heads = self.heads.iter().enumerate();
        heads.filter_map(|(source, head)| head.map(|packet| (source, packet))).min_by_key(|(_, packet)| packet.at)
    }

    /// When a probe packet has left the link; `None`: dropped or lost.
    fn pass(&mut self, now: Time, size: Bytes) -> Option<Time> {
        let service = self.link.arrive(now, size)?;
        let lost = self.loss_below > 0 && self.random.next_u64() >> 32 < self.loss_below;
        (!lost).then_some(service.departs)
    }

    /// A probe packet reaches the receiving card.
    fn arrive(&mut self, stream: u32, place: usize, at: Time) {
        let Some(card) = &mut self.coalescer else {
            self.seen.push((stream, place, at));
            return;
        };
        if card.due() < at {
            let due = card.due();
            card.take();
            self.seen.extend(self.waiting.drain(..).map(|(stream, place)| (stream, place, due)));
        }
        self.waiting.push((stream, place));
        if card.receive(at, Transit::of_traffic(0, 0, Bytes::ZERO, at)) == Interrupt::Now {
            card.take();
            self.seen.extend(self.waiting.drain(..).map(|(stream, place)| (stream, place, at)));
        }
    }

    /// Writes down when packets were seen, those too that still wait.
    pub(crate) fn hand_over(&mut self, probes: &mut [ProbeStream]) {
        if let Some(card) = &mut self.coalescer {
            let due = card.due();
            card.take();
            self.seen.extend(self.waiting.drain(..).map(|(stream, place)| (stream, place, due)));
        }
        for (stream, place, at) in self.seen.drain(..) {
            probes[stream as usize].packets[place].seen = self.clock.read(at);
        }
    }
}
