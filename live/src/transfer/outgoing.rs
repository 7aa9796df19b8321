//! The sending end of a flow: the transport's sender, with actual departure times. It has no clock and no socket.

use super::punctuality::Punctuality;
use super::{Breaker, Departing};
use crate::wire::{Acknowledgment, Came};
use harness::measure::{FlowSample, FlowSeen, Marked, RoundTrips};
use packetscale_models::congestion::{AnyController, Controller, Extras, Setup, find};
use packetscale_models::settings::Settings;
use packetscale_models::transport::{
    Ack, MAX_SACK_BLOCKS, MAX_STAMPS, MarkCounts, SackBlock, Segment, Sender, SenderParams, Stamp,
};
use packetscale_models::units::{Bytes, Span, Time};
use std::collections::VecDeque;

/// Offset of the first reported arrival on the flow's receiver clock: other arrivals may be earlier.
const BEFORE_FIRST_NS: u64 = 1_000_000_000;
/// Largest believable arrival time: a run counts picoseconds in 64 bits.
const FARTHEST_NS: u64 = 100 * 86_400 * 1_000_000_000;
/// Takes over from a controller whose gaps this machine makes too late.
const FALL_BACK: &str = "cubic";
const TOO_LATE: &str = "this machine creates gaps too late";
/// Minimum initial window.
const LEAST_WINDOW: u32 = 10;
/// Maximum number of transmissions whose departures wait for an arrival report.
const MAX_DEPARTURES: usize = 1 << 17;

/// A segment that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its size on the wire.
    pub size: Bytes,
    /// When it left.
    pub left: Time,
    /// When it arrived, in nanoseconds of the receiver's clock.
    pub came_ns: u64,
}

/// The sending end of a flow.
pub struct Outgoing {
    sender: Sender<Departing<AnyController>>,
    /// Whether the controller receives arrival times.
    stamps: bool,
    punctuality: Punctuality,
    /// Due time of the next packet, if only pacing delays it.
    promised: Option<Time>,
    /// Due time of the packet before, and its delay.
    before: Option<(Time, Span)>,
    /// Whether CUBIC takes over when gaps are too late; and after how many packets it did.
    may_fall_back: bool,
    fell_back: Option<u64>,
    breaker: Breaker,
    /// Whether transmission has ended.
    stopped: bool,
    /// When the breaker releases the next packet, if later than the sender would.
    held_until: Time,
    /// The latest time passed to the sender: its clock must not go back.
    last: Time,
    /// Departures of transmissions from this one on that wait for an arrival report.
    first_departure: u64,
    departures: VecDeque<Option<(Time, Bytes)>>,
    /// Origin of the receiver's clock, from its first report.
    origin_ns: Option<u64>,
    acknowledged: u64,
    receive_window: u64,
    marked: Option<u64>,
    deliveries: Option<Vec<Delivery>>,
    losses: Vec<(Time, u32)>,
}

impl Outgoing {
    /// A flow that is ready at `now`. `stamps`: the controller receives arrival times if it needs them. `recorded`: collect
    /// deliveries and losses.
    pub fn new(params: SenderParams, controller: AnyController, now: Time, stamps: bool, recorded: bool) -> Outgoing {
        Outgoing {
            stamps: stamps && controller.needs().arrivals,
            sender: Sender::new(params, Departing::new(controller), now),
            punctuality: Punctuality::default(),
            promised: None,
            before: None,
            may_fall_back: false,
            fell_back: None,
            breaker: Breaker::default(),
            stopped: false,
            held_until: Time::ZERO,
            last: now,
            first_departure: 0,
            departures: VecDeque::new(),
            origin_ns: None,
            acknowledged: 0,
            receive_window: params.handshake_window,
            marked: None,
            deliveries: recorded.then(Vec::new),
            losses: Vec::new(),
        }
    }

    /// Hand over to CUBIC if this machine makes the controller's gaps too late. `busy`: other programs compete for the
    /// processors.
    pub fn with_fall_back(self, busy: bool) -> Outgoing {
        let punctuality = if busy { Punctuality::on_a_busy_machine() } else { Punctuality::default() };
        Outgoing { may_fall_back: true, punctuality, ..self }
    }

    /// As [`Sender::restart_round_trips`].
    pub fn restart_round_trips(&mut self, at: Time) {
        self.sender.restart_round_trips(at);
    }

    /// The sender.
    pub fn sender(&self) -> &Sender<Departing<AnyController>> {
        &self.sender
    }

    /// The sender, for its application's data.
    pub fn sender_mut(&mut self) -> &mut Sender<Departing<AnyController>> {
        &mut self.sender
    }

    /// Whether its controller needs exact departure times.
    pub fn is_exact(&self) -> bool {
        self.stamps
    }

    /// All segments below have arrived.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Whether an acknowledgment or a window update must come before it can end.
    pub fn waits(&self) -> bool {
        !self.stopped && (self.receive_window == 0 || self.acknowledged < self.sender_next())
    }

    /// Stops transmission. Packets in flight are still acknowledged.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    fn time(&mut self, now: Time) -> Time {
        self.last = self.last.max(now);
        self.last
    }

    // ---- events -------------------------------------------------------------------------------------------------

    /// An acknowledgment arrived.
    pub fn on_ack(&mut self, at: Time, report: &Acknowledgment) {
        let now = self.time(at);
        let news = self.news(report);
        self.acknowledged = self.acknowledged.max(report.next.min(self.sender_next()));
        self.receive_window = u64::from(report.window);
        self.marked = report.marked.or(self.marked);
        self.each(report, &news, |sender, ack| sender.on_ack(now, ack));
        self.record_losses();
    }

    fn record_losses(&mut self) {
        let losses = self.sender.controller_mut().take_losses();
        if self.deliveries.is_some() {
            self.losses.extend(losses);
        }
    }

    /// One past the last segment that was ever sent.
    fn sender_next(&self) -> u64 {
        let counters = self.sender.counters();
        counters.sent - counters.retransmitted
    }

    /// Arrivals that earlier acknowledgments did not report.
    fn news(&mut self, report: &Acknowledgment) -> Vec<Came> {
        let mut news = Vec::with_capacity(report.came.len());
        for came in &report.came {
            let place = came.transmission.checked_sub(self.first_departure).and_then(|at| usize::try_from(at).ok());
            let kept = place.and_then(|at| self.departures.get_mut(at)).and_then(Option::take);
            let Some((left, size)) = kept else { continue };
            news.push(*came);
            if let Some(deliveries) = &mut self.deliveries {
                deliveries.push(Delivery { size, left, came_ns: came.ns });
            }
        }
        while self.departures.len() > MAX_DEPARTURES || self.departures.front().is_some_and(Option::is_none) {
            self.departures.pop_front();
            self.first_departure += 1;
        }
        news
    }

    /// Splits an acknowledgment into several of the transport's if it reports more arrivals than one can hold.
    fn each(
        &mut self,
        report: &Acknowledgment,
        news: &[Came],
        mut then: impl FnMut(&mut Sender<Departing<AnyController>>, &Ack),
    ) {
        let window = u64::from(report.window);
        let mut news = if self.stamps { news } else { &[] };
        while news.len() > MAX_STAMPS {
            let (some, rest) = news.split_at(MAX_STAMPS);
            news = rest;
            let in_order = some.windows(2).all(|two| two[0].sequence.wrapping_add(1) == two[1].sequence);
            let next = some[MAX_STAMPS - 1].sequence.saturating_add(1);
            if in_order && next <= report.next {
                let mut ack = Ack::plain(next, some[0].transmission, report.next - next + window);
                self.stamp(&mut ack, some);
                then(&mut self.sender, &ack);
            }
        }
        let mut ack = Ack::plain(report.next, report.echo, window);
        self.stamp(&mut ack, news);
        ack.duplicate = report.duplicate;
        ack.marked = MarkCounts { congestion: report.marked.unwrap_or(0), burstiness: 0 };
        for (place, (start, end)) in ack.sack.iter_mut().zip(&report.blocks) {
            *place = SackBlock { start: *start, end: *end };
        }
        ack.blocks = report.blocks.len().min(MAX_SACK_BLOCKS) as u8;
        then(&mut self.sender, &ack);
    }

    fn stamp(&mut self, ack: &mut Ack, news: &[Came]) {
        for (place, came) in ack.arrivals.iter_mut().zip(news) {
            let origin_ns = *self.origin_ns.get_or_insert(came.ns.wrapping_sub(BEFORE_FIRST_NS));
            // Times before the origin are clamped to 0.
            let ns = came.ns.wrapping_sub(origin_ns);
            let arrived = Time::from_nanos(if ns > u64::MAX / 2 { 0 } else { ns.min(FARTHEST_NS) });
            *place = Stamp { sequence: came.sequence, transmission: came.transmission, arrived };
        }
        ack.stamps = news.len() as u8;
    }

    /// Runs due timers.
    pub fn on_wakeup(&mut self, now: Time) {
        let now = self.time(now);
        self.sender.on_wakeup(now);
        self.record_losses();
    }

    /// The next segment to send, if one may leave now. Call [`Outgoing::departed`] after it.
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        if self.stopped {
            return None;
        }
        let now = self.time(now);
        let counters = self.sender.counters();
        let (sent, delivered) = (counters.sent, counters.delivered);
        self.held_until = self.breaker.release_at(now, sent, delivered, self.sender.in_flight());
        if self.held_until > now {
            self.promised = None;
            return None;
        }
        let segment = self.sender.poll_transmit(now);
        if segment.is_none() && self.is_exact() {
            self.promise();
        }
        segment
    }

    /// Nothing may leave yet. If pacing is the only reason, record when the next packet is due.
    fn promise(&mut self) {
        let due = self.sender.next_wakeup();
        self.promised = Some(due).filter(|due| *due < self.sender.next_deadline());
        if let (Some(due), Some((before, late))) = (self.promised, self.before.take()) {
            self.punctuality.note(late, due.saturating_since(before));
        }
    }

    /// Reports that the server's grant delays the next packet.
    pub fn hold(&mut self) {
        self.promised = None;
    }

    /// Hands over to CUBIC, with the current number of packets in flight as its window.
    fn fall_back(&mut self, packet: Bytes) {
        let initial_window = self.sender.in_flight().max(LEAST_WINDOW);
        let setup = Setup { now: self.last, packet, handshake_rtt: self.least_rtt(), initial_window, seed: 1 };
        let cubic = find(FALL_BACK).and_then(|entry| (entry.build)(&setup, &Settings::new()).ok());
        if let Some(cubic) = cubic {
            self.sender.controller_mut().replace(cubic);
            self.stamps = false;
            self.fell_back = Some(self.sender.counters().sent);
        }
    }

    /// The segment left at this time.
    pub fn departed(&mut self, segment: &Segment, at: Time) {
        let at = self.time(at);
        self.sender.controller_mut().departed(at);
        self.breaker.left(at);
        self.before = self.promised.take().map(|promised| (promised, at.saturating_since(promised)));
        if self.may_fall_back && self.fell_back.is_none() && self.punctuality.is_too_late() {
            self.fall_back(segment.size);
        }
        debug_assert_eq!(segment.transmission, self.first_departure + self.departures.len() as u64);
        self.departures.push_back(Some((at, segment.size)));
        if self.departures.len() > MAX_DEPARTURES {
            self.departures.pop_front();
            self.first_departure += 1;
        }
    }

    /// When to wake it.
    pub fn next_wakeup(&self) -> Time {
        // When held by the breaker, it waits for that and for its timers.
        match self.held_until > self.last {
            _ if self.stopped => Time::MAX,
            true => self.held_until.min(self.sender.next_deadline()),
            false => self.sender.next_wakeup(),
        }
    }

    // ---- state ----------------------------------------------------------------------------------------------------

    /// A sample of its state.
    pub fn sample(&self) -> FlowSample {
        FlowSample::of(&self.sender, self.receive_window)
    }

    /// After how many packets CUBIC took over, if it did.
    pub fn fell_back(&self) -> Option<u64> {
        self.fell_back
    }

    /// Remark to print next to the controller's name.
    fn remark(&self) -> Option<String> {
        match self.fell_back {
            Some(_) => Some(format!("fell back to {FALL_BACK}: {TOO_LATE}")),
            None => self.punctuality.is_too_late().then(|| TOO_LATE.to_string()),
        }
    }

    /// Summary at the end.
    pub fn seen(&self, completed: Option<Time>) -> FlowSeen {
        let (counters, controller) = (self.sender.counters(), self.sender.controller());
        FlowSeen {
            remark: self.remark(),
            completed,
            base_rtt: self.sender.rtt().1,
            round_trips: RoundTrips { sum: counters.rtt_sum, count: counters.rtt_samples },
            sent: counters.sent,
            retransmitted: counters.retransmitted,
            marked: self.marked.map(|congestion| Marked { congestion, burstiness: 0 }),
            timeouts: Some(counters.timeouts),
            recoveries: Some(counters.recoveries),
            undone: Some(counters.undone),
            streams: controller.probing().map(|probing| probing.probe()).map(|probe| (probe.streams, probe.unusable)),
            has_rate: controller.rate().is_some(),
        }
    }

    /// The recorded deliveries, and the declared losses with their times.
    pub fn take_records(&mut self) -> (Vec<Delivery>, Vec<(Time, u32)>) {
        (self.deliveries.take().unwrap_or_default(), std::mem::take(&mut self.losses))
    }

    /// The shortest round trip that it has seen.
    pub fn least_rtt(&self) -> Span {
        self.sender.rtt().1
    }
}
