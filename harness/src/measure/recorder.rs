//! What happened, kept small: totals always, curves and distributions when asked.
//!
//! Everything is recorded at the measured link, the bottleneck, but for what each flow gets: that is recorded at its
//! receiver, wherever the flow runs. A packet counts in the interval in which its last bit leaves, or reaches the receiver.

use crate::measure::arriving::Arriving;
use crate::measure::bins::Bins;
use crate::measure::capacity::LinkCapacity;
use crate::measure::completions::Completions;
use crate::measure::contenders::Contenders;
use crate::measure::detail::Detail;
use crate::measure::links::LinkAccount;
use crate::measure::lives::{EntryWindow, Life, compared_starts, entry_windows};
use crate::measure::presence::Presence;
use crate::measure::seen::{FlowSample, Owner};
use crate::measure::tally::Tally;
use crate::measure::windows::Windows;
use experiment::scenario::{Experiment, TrafficKind, TrafficSpec};
use experiment::traffic::Meter;
use packetscale_models::congestion::StreamTrace;
use packetscale_models::queueing::Readings;
use packetscale_models::units::{Bytes, Span, Time};

/// Intervals in which start-up is judged: so many to a base round trip, and so many in all.
const STARTUP_PER_RTT: u64 = 8;
const STARTUP_INTERVALS: usize = 1024;

/// Whose packets a flow beyond those of the scenario carries.
#[derive(Clone, Copy, Debug)]
enum Carried {
    /// Those of a traffic source.
    Traffic(usize),
    /// Its own: it has arrived.
    Arrived(usize),
}

/// One traffic source.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) tally: Tally,
    /// Packets that entered the path.
    pub(crate) packets: u64,
    /// Its rate per millisecond where it enters.
    pub(crate) meter: Meter,
    /// Files and pages; `None`: it has no users who browse.
    pub(crate) completions: Option<Box<Completions>>,
}

/// The recorder of one run. A host tells it what happens, in order of time (of departure, for what is served), and takes
/// the run from it at the end ([`Recorder::finish`]).
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(crate) warm: Time,
    pub(crate) end: Time,
    /// When the last flow that is compared had started (and the warm-up was over).
    shared: Time,
    /// When the first such flow's receiver had all that the flow has to send; the end, if none had.
    unshared: Time,
    /// What each flow has to send, and when its receiver had that much.
    pub(crate) lives: Vec<Life>,
    /// Whether some flow sends no more than so many bytes: what all packets of flows are asked without a look at the flow.
    some_end: bool,
    pub(crate) starts: Vec<Time>,
    /// The longest base round-trip time of the flows that are compared.
    pub(crate) base_rtt: Option<Span>,
    pub(crate) capacity: LinkCapacity,
    pub(crate) flows: Vec<Tally>,
    pub(crate) traffic: Vec<Source>,
    other: Tally,
    /// Where several controllers meet.
    pub(crate) contenders: Option<Box<Contenders>>,
    /// One for each table of flows that arrive.
    pub(crate) arriving: Vec<Arriving>,
    /// Of each flow beyond those of the scenario.
    carried: Vec<Carried>,
    /// Bytes of all that left the bottleneck after the warm-up, and of these, those of flows.
    pub(crate) all_bytes: u64,
    pub(crate) flow_bytes: u64,
    /// Bytes of traffic that arrived there after the warm-up.
    pub(crate) offered_bytes: u64,
    /// Packets at the bottleneck.
    pub(crate) present: Presence,
    /// The number of that link.
    measured: usize,
    pub(crate) wait_sum_ps: u128,
    pub(crate) waited: u64,
    pub(crate) delivered: u64,
    /// Of these, after the warm-up.
    pub(crate) delivered_warm: u64,
    pub(crate) entries: Vec<EntryWindow>,
    /// Start-up, in fine intervals from the start of the last flow: bytes of flows, bytes of traffic.
    pub(crate) startup: (Bins, Bins),
    pub(crate) detail: Option<Box<Detail>>,
    pub(crate) windows: Option<Box<Windows>>,
    /// One for each link, where the scenario asks for them.
    pub(crate) links: Vec<LinkAccount>,
}

impl Recorder {
    /// For one experiment whose flows start then. `base_rtt`: the round-trip time without a queue that figures count in,
    /// [`longest`]; `None` where there is none, or where the host cannot resolve it: no figure counts in it then.
    ///
    /// [`longest`]: crate::measure::longest
    pub fn new(experiment: &Experiment, starts: &[Time], base_rtt: Option<Span>) -> Recorder {
        let (warm, end) = (Time::ZERO + experiment.warmup, Time::ZERO + experiment.duration);
        let measured = experiment.bottleneck;
        let lives: Vec<Life> =
            (0..starts.len()).map(|flow| Life::of(experiment.flows.get(flow).map(|spec| &**spec), measured)).collect();
        let last = compared_starts(starts, &lives).max().unwrap_or(Time::ZERO);
        let fine = base_rtt.map_or(Span::ZERO, |rtt| rtt / STARTUP_PER_RTT).max(Span::from_micros(1));
        let bins = || Bins::new(last, fine, STARTUP_INTERVALS);
        let record = &experiment.record;
        Recorder {
            warm,
            end,
            shared: last.max(warm),
            unshared: lives.iter().filter(|life| life.compared).map(|life| life.over).fold(end, Time::min),
            entries: entry_windows(starts, &lives, end),
            some_end: lives.iter().any(Life::ends),
            lives,
            starts: starts.to_vec(),
            base_rtt,
            capacity: LinkCapacity::of(&experiment.links[measured]),
            flows: vec![Tally::default(); starts.len()],
            traffic: experiment.traffic.iter().map(|spec| Source::new(spec, warm)).collect(),
            other: Tally::default(),
            contenders: Contenders::of(experiment),
            arriving: experiment.arrivals.iter().map(|arrivals| Arriving::new(experiment, arrivals)).collect(),
            carried: Vec::new(),
            all_bytes: 0,
            flow_bytes: 0,
            offered_bytes: 0,
            present: Presence::new(warm, end),
            measured,
            wait_sum_ps: 0,
            waited: 0,
            delivered: 0,
            delivered_warm: 0,
            startup: (bins(), bins()),
            detail: record.detail.then(|| Box::new(Detail::new(record.step, end, starts.len()))),
            windows: Windows::new(&record.windows, warm, end),
            links: vec![
                LinkAccount::new(warm, end, record.detail.then_some(record.step));
                if record.links { experiment.links.len() } else { 0 }
            ],
        }
    }

    // ---- packets -----------------------------------------------------------------------------------------------

    /// A packet of traffic enters the path.
    #[inline]
    pub fn entered(&mut self, owner: Owner, now: Time, size: Bytes) {
        let Some(source) = self.source_of(owner) else { return };
        let source = &mut self.traffic[source];
        source.packets += 1;
        if now > self.warm {
            source.meter.record(now, size);
        }
        if let Some(windows) = &mut self.windows {
            windows.entered(now, size.get());
        }
    }

    /// A packet arrives at the bottleneck. Those of the scenario's flows need not be told: they count when they leave.
    #[inline]
    pub fn arrives(&mut self, owner: Owner, now: Time, size: Bytes) {
        if self.flow_of(owner).is_some() || owner == Owner::Other {
            return;
        }
        let bytes = size.get();
        if now > self.warm {
            self.offered_bytes += bytes;
        }
        self.startup.1.add(now, bytes);
        if let Some(detail) = &mut self.detail {
            detail.arrives(now, bytes);
        }
    }

    /// The bottleneck serves a packet: it arrived, its transmission begins, its last bit departs.
    #[inline]
    pub fn served(&mut self, owner: Owner, size: Bytes, arrival: Time, begins: Time, departs: Time) {
        self.present.stays(arrival, departs);
        if departs > self.end {
            return;
        }
        let bytes = size.get();
        let wait = begins.since(arrival);
        if departs > self.warm {
            self.all_bytes += bytes;
            self.wait_sum_ps += u128::from(wait.picos());
            self.waited += 1;
            self.count_wait(owner, wait);
        }
        if let Some(windows) = &mut self.windows {
            windows.left(departs, bytes);
        }
        let flow = self.flow_of(owner);
        if flow.is_some() {
            self.flow_bytes += if departs > self.warm { bytes } else { 0 };
            self.startup.0.add(departs, bytes);
        }
        if let Some(detail) = &mut self.detail {
            detail.served(flow.is_some(), bytes, wait, departs, self.warm);
            if let Some(flow) = flow {
                detail.beside(flow, arrival, bytes);
            }
        }
    }

    #[inline]
    fn count_wait(&mut self, owner: Owner, wait: Span) {
        let Some(contenders) = &mut self.contenders else { return };
        match owner {
            Owner::Flow(flow) if flow < self.flows.len() => contenders.waited(flow, wait),
            Owner::Flow(flow) => {
                if let Carried::Arrived(table) = self.carried[flow - self.flows.len()] {
                    contenders.arrived_waited(table, wait);
                }
            }
            Owner::Traffic(_) | Owner::Other => {}
        }
    }

    /// A packet was dropped at a queue.
    pub fn dropped(&mut self, owner: Owner, now: Time) {
        self.tally(owner).dropped += 1;
        self.count_loss(owner, now);
    }

    /// The queue that dropped it was the bottleneck's.
    pub fn refused(&mut self, owner: Owner, now: Time, size: Bytes) {
        if let (Some(detail), Owner::Flow(flow)) = (&mut self.detail, owner) {
            detail.refused_bytes.add(now, size.get());
            detail.beside(flow, now, size.get());
        }
    }

    /// A wire loses a packet that leaves its link then. A host may know it ahead of time: what leaves after the end of the
    /// run is not lost in it.
    pub fn lost(&mut self, owner: Owner, now: Time) {
        if now > self.end {
            return;
        }
        self.tally(owner).lost += 1;
        self.count_loss(owner, now);
    }

    // ---- every link --------------------------------------------------------------------------------------------

    /// A link takes a packet, and nobody knows yet when it will leave.
    pub fn queued(&mut self, link: usize, at: Time) {
        self.presences(link).for_each(|present| present.comes(at));
    }

    /// It is known now of a packet that came then: [`Recorder::served`] or [`Recorder::stayed`] follows.
    pub fn unqueued(&mut self, link: usize, arrival: Time) {
        self.presences(link).for_each(|present| present.settles(arrival));
    }

    /// A packet waited at a link until it was dropped.
    pub fn stayed(&mut self, link: usize, arrival: Time, until: Time) {
        self.presences(link).for_each(|present| present.stays(arrival, until));
    }

    fn presences(&mut self, link: usize) -> impl Iterator<Item = &mut Presence> {
        let own = self.links.get_mut(link).map(|account| &mut account.present);
        (link == self.measured).then_some(&mut self.present).into_iter().chain(own)
    }

    /// Whether every link is measured: [`Recorder::link_served`], [`Recorder::link_dropped`] and
    /// [`Recorder::link_lost`] are wanted.
    pub fn keeps_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// A link, the measured one or another, serves a packet.
    pub fn link_served(&mut self, link: usize, size: Bytes, arrival: Time, begins: Time, departs: Time) {
        if let Some(account) = self.links.get_mut(link) {
            account.served(size, arrival, begins, departs);
        }
    }

    /// A link drops a packet.
    pub fn link_dropped(&mut self, link: usize) {
        if let Some(account) = self.links.get_mut(link) {
            account.dropped();
        }
    }

    /// A link's wire loses a packet that leaves it then.
    pub fn link_lost(&mut self, link: usize, at: Time) {
        if let Some(account) = self.links.get_mut(link) {
            account.lost(at);
        }
    }

    // ---- receivers ---------------------------------------------------------------------------------------------

    /// A packet of this flow reaches its receiver; what carries traffic does not count. Between flows the order of time does not matter.
    #[inline]
    pub fn delivered(&mut self, flow: usize, size: Bytes, at: Time) {
        if at > self.end {
            return;
        }
        if flow >= self.flows.len() {
            return self.delivered_beyond(flow, size, at);
        }
        self.delivered += 1;
        let (tally, bytes) = (&mut self.flows[flow], size.get());
        if at > self.warm {
            self.delivered_warm += 1;
            tally.received_bytes += bytes;
            tally.shared_bytes += if at > self.shared && at <= self.unshared { bytes } else { 0 };
        } else {
            tally.early_bytes += bytes;
        }
        if self.some_end && self.lives[flow].sends(bytes, at) && self.lives[flow].compared {
            self.unshared = self.unshared.min(at);
        }
        if !self.entries.is_empty() {
            let ended = self.entries.partition_point(|window| window.to < at);
            if let Some(window) = self.entries.get_mut(ended).filter(|window| window.from < at) {
                window.bytes[flow] += bytes;
            }
        }
        if let Some(detail) = &mut self.detail {
            detail.delivered(flow, bytes, at);
        }
    }

    /// The same for a flow beyond those of the scenario.
    fn delivered_beyond(&mut self, flow: usize, size: Bytes, at: Time) {
        let Carried::Arrived(table) = self.carried[flow - self.flows.len()] else { return };
        self.delivered += 1;
        if at > self.warm {
            self.delivered_warm += 1;
            self.arriving[table].tally.received_bytes += size.get();
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

    // ---- whose packets -----------------------------------------------------------------------------------------

    /// A flow beyond those of the scenario carries packets of this traffic source from now on.
    pub fn belongs(&mut self, flow: usize, source: usize) {
        self.carry(flow, Carried::Traffic(source));
    }

    fn carry(&mut self, flow: usize, carried: Carried) {
        let place = flow - self.flows.len();
        if place == self.carried.len() {
            self.carried.push(carried);
        }
        self.carried[place] = carried;
    }

    /// The responsive flow whose packet it is: of the scenario, or one that arrived.
    #[inline]
    fn flow_of(&self, owner: Owner) -> Option<usize> {
        match owner {
            Owner::Flow(flow) if flow < self.flows.len() => Some(flow),
            Owner::Flow(flow) if matches!(self.carried[flow - self.flows.len()], Carried::Arrived(_)) => Some(flow),
            _ => None,
        }
    }

    /// The traffic source whose packet it is.
    #[inline]
    fn source_of(&self, owner: Owner) -> Option<usize> {
        match owner {
            Owner::Flow(flow) if flow < self.flows.len() => None,
            Owner::Flow(flow) => match self.carried[flow - self.flows.len()] {
                Carried::Traffic(source) => Some(source),
                Carried::Arrived(_) => None,
            },
            Owner::Traffic(source) => Some(source),
            Owner::Other => None,
        }
    }

    #[inline]
    fn tally(&mut self, owner: Owner) -> &mut Tally {
        match owner {
            Owner::Flow(flow) if flow < self.flows.len() => &mut self.flows[flow],
            Owner::Flow(flow) => match self.carried[flow - self.flows.len()] {
                Carried::Traffic(source) => &mut self.traffic[source].tally,
                Carried::Arrived(table) => &mut self.arriving[table].tally,
            },
            Owner::Traffic(source) => &mut self.traffic[source].tally,
            Owner::Other => &mut self.other,
        }
    }

    // ---- flows that arrive -------------------------------------------------------------------------------------

    /// A flow of this entry of the experiment's arrivals begins. Its number is beyond those of the scenario's flows.
    pub fn arrived(&mut self, flow: usize, entry: usize, now: Time, size: Bytes) {
        self.carry(flow, Carried::Arrived(entry));
        self.arriving[entry].arrives(size, now >= self.warm);
    }

    /// The last byte of a flow that arrived at `start` has reached its receiver.
    pub fn ended(&mut self, entry: usize, start: Time, size: Bytes, now: Time) {
        if start >= self.warm {
            self.arriving[entry].ends(start, size, now);
        }
    }

    // ---- users who browse --------------------------------------------------------------------------------------

    /// A user of this traffic source asks for a file.
    pub fn file_asked(&mut self, source: usize, now: Time) {
        if now > self.warm
            && let Some(completions) = &mut self.traffic[source].completions
        {
            completions.asked += 1;
        }
    }

    /// A file is there that was asked for then.
    pub fn file_fetched(&mut self, source: usize, asked: Time, now: Time) {
        if asked > self.warm
            && let Some(completions) = &mut self.traffic[source].completions
        {
            completions.file(now.since(asked));
        }
    }

    /// The last file of a page is there whose first was asked for then.
    pub fn page_fetched(&mut self, source: usize, asked: Time, now: Time) {
        if asked > self.warm
            && let Some(completions) = &mut self.traffic[source].completions
        {
            completions.page(now.since(asked));
        }
    }

    // ---- samples and traces ------------------------------------------------------------------------------------

    /// Whether curves are kept: samples and traces are wanted.
    pub fn keeps_curves(&self) -> bool {
        self.detail.is_some()
    }

    /// How many flows are sampled, the first ones: all or none.
    pub fn sampled_flows(&self) -> usize {
        self.detail.as_ref().map_or(0, |detail| detail.samples.len())
    }

    /// What the bottleneck's queue discipline measures, in the middle of an interval of `record.step`.
    pub fn sample_queue(&mut self, readings: Readings) {
        if let Some(detail) = &mut self.detail {
            detail.readings.push(readings);
        }
    }

    /// What a flow says of itself, in the middle of an interval of `record.step`.
    pub fn sample_flow(&mut self, flow: usize, sample: FlowSample) {
        if let Some(detail) = &mut self.detail
            && let Some(samples) = detail.samples.get_mut(flow)
        {
            samples.push(sample);
        }
    }

    /// A trace will be asked for: remember traffic and flows from now on, until it comes. Extra calls are harmless.
    pub fn watch(&mut self) {
        if let Some(detail) = &mut self.detail {
            detail.watching = true;
        }
    }

    /// A traced stream is complete. Its packets reached the bottleneck between `from` and `to`: what the traffic and the
    /// other flows left then is what it should have found.
    pub fn traced(&mut self, flow: usize, trace: StreamTrace, from: Time, to: Time) {
        let capacity = self.capacity.mean(from, to);
        if let Some(detail) = &mut self.detail {
            detail.traced(flow, trace, from, to, capacity);
        }
    }
}

impl Source {
    fn new(spec: &TrafficSpec, warm: Time) -> Source {
        let browses = matches!(&spec.kind, TrafficKind::Web(web) if web.responsive);
        Source {
            tally: Tally::default(),
            packets: 0,
            meter: Meter::new(warm, Span::from_millis(1)),
            completions: browses.then(|| Box::new(Completions::new())),
        }
    }
}
