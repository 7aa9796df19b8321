//! The sending end: it connects acknowledgments, timers and the controller.
//!
//! An acknowledgment is processed in this order: the scoreboard; the round-trip estimator and RACK, with
//! the packets that it covers; recovery is undone, ended, entered or continued; the timer is set; the controller's event.
//! Losses are reported to the controller before the acknowledgment that revealed them, so that it sees
//! `in_recovery` on that acknowledgment.
//!
//! A packet may leave when the window allows it, the receive window allows it (new data only) and its departure time has
//! arrived. Packets delivered selectively leave the pipe, so the first acknowledgments above a hole release new packets
//! before any packet is declared lost: limited transmit (RFC 3042) needs no separate rule.
//!
//! Marks: each acknowledgment reports how many packets have arrived marked. New marks are reported to the controller before
//! the acknowledgment. It should react to the first congestion mark of a window, which the sender identifies
//! (RFC 3168, section 6.1.2). A window ends when a packet is acknowledged that left after the last reduction, for marks
//! or loss. Retransmissions are never sent as ECN-capable (section 6.1.5). Unless the controller wants its own window at
//! once, what is in flight comes down to the smaller window by proportional rate reduction, as after a loss; so does
//! Linux (its state CWR).
//!
//! Idle time: new data that leaves with nothing in flight, more than a timeout after the last packet, restarts the window
//! (RFC 5681, section 4.1; Linux's `tcp_slow_start_after_idle`). How is the controller's part: those that pace by a rate
//! keep it.
//!
//! A host whose timer ticks has credit for a tick: paced packets that were due since the last tick leave together, as with
//! the pacers of QUIC stacks.
//!
//! Deviations:
//! 1. Selective acknowledgments are retained across a timeout (RFC 6675, section 5.1 allows it): the receiver of this
//!    crate never discards what it has reported.
//! 2. A timeout does not declare the whole window lost, only the packet at the left edge and the packets sent longer
//!    ago than RACK would wait (RFC 8985, section 6.3).
//! 3. The timer restarts on every acknowledgment that delivers something, also selectively (RFC 6298, 5.3 names
//!    cumulative ones).

mod face;
mod losses;

use crate::congestion::{AckSample, Extras, Idle, LossResponse, Marked, Sent, Timeout};
use crate::units::{Bytes, Ecn, Marks, Span, SpanSum, Time};
use alloc::boxed::Box;

use crate::transport::covered::CoveredList;
use crate::transport::params::{Counters, SenderParams, Transfer};
use crate::transport::prr::ProportionalReduction;
use crate::transport::rack::Rack;
use crate::transport::recovery::Recovery;
use crate::transport::rtt::RttEstimator;
use crate::transport::scoreboard::{Coverage, Scoreboard};
use crate::transport::watch::{Few, Wants, Watch};
use crate::transport::wire::{Ack, MarkCounts, Segment};
use face::ShortPackets;

/// The sending end of one flow, with its controller. Memory layout is in this order: fields used for every packet are
/// adjacent, since with a thousand flows none stays in the cache.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender<C> {
    controller: C,
    /// Departure time of a packet that nothing else holds back.
    gate: Time,
    /// When pacing lets the next packet leave.
    paced_until: Time,
    /// When the last packet left.
    last_sent: Time,
    next_transmission: u64,
    /// Packets in the whole transfer. With an application: the packets it has handed over so far.
    total: u64,
    /// First packet beyond the receive window.
    right_edge: u64,
    rto_deadline: Time,
    /// When a packet that reordering may have delayed counts as lost.
    reordering_deadline: Time,
    /// Only for a controller that wants to know about every packet.
    watch: Option<Box<Watch>>,
    /// The controller's needs.
    wants: Wants,
    packet: Bytes,
    last_packet: Bytes,
    /// `window_limited` stays as it is until this packet is acknowledged.
    window_limited_until: u64,
    most_in_flight: u32,
    pacing_percent: u32,
    tick: Span,
    /// Window after an idle time; `None`: as before it.
    restart_window: Option<u32>,
    window_limited: bool,
    offered: bool,
    /// One packet may leave regardless of the window.
    forced: bool,
    /// ECN codepoint of its first transmissions.
    ecn: Ecn,
    prr: Option<ProportionalReduction>,
    /// The short last packets of messages; `None`: there was none.
    short: Option<Box<ShortPackets>>,
    board: Scoreboard,
    rtt: RttEstimator,
    rack: Rack,
    recovery: Recovery,
    counters: Counters,
    /// When the round-trip statistics restart; [`Time::MAX`] once they have.
    round_trips_restart: Time,
    /// First packet that left after the last reduction. The sender reacts to a mark again when this packet is
    /// acknowledged.
    reduced_until: u64,
    /// Marks that the receiver has reported.
    marked: MarkCounts,
}

impl<C: Extras> Sender<C> {
    /// A sender that is ready at `now`.
    pub fn new(params: SenderParams, controller: C, now: Time) -> Sender<C> {
        let (total, last_packet) = params.extent();
        let needs = controller.needs();
        let paced = params.pacing_percent > 0 && controller.loss_response() == LossResponse::ProportionalReduction;
        Sender {
            board: Scoreboard::new(),
            next_transmission: 0,
            total,
            offered: params.transfer == Transfer::Offered,
            short: None,
            ecn: if params.ecn || needs.ecn == Ecn::Ect1 { needs.ecn } else { Ecn::NotEct },
            marked: MarkCounts::ZERO,
            reduced_until: 0,
            right_edge: params.handshake_window.max(1),
            rto_deadline: Time::MAX,
            reordering_deadline: Time::MAX,
            gate: if total > 0 { now } else { Time::MAX },
            paced_until: Time::ZERO,
            last_sent: now,
            tick: params.tick,
            restart_window: params.slow_start_after_idle.then_some(params.initial_window.max(1)),
            rtt: RttEstimator::new(params.handshake_rtt, params.min_rto),
            rack: Rack::new(params.handshake_rtt),
            recovery: Recovery::new(),
            prr: None,
            forced: false,
            watch: Watch::of(needs, now).map(Box::new),
            wants: Wants::of(needs),
            window_limited: false,
            window_limited_until: 0,
            most_in_flight: 0,
            pacing_percent: if paced { params.pacing_percent } else { 0 },
            packet: params.packet,
            last_packet,
            counters: Counters::default(),
            round_trips_restart: Time::MAX,
            controller,
        }
    }

    /// Restarts the round-trip statistics ([`Counters::rtt_sum`]) with the first sample after `at`.
    pub fn restart_round_trips(&mut self, at: Time) {
        self.round_trips_restart = at;
    }

    /// An acknowledgment arrived. Call [`Sender::poll_transmit`] afterwards.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Ack) {
        if ack.next_expected > self.board.next() {
            return; // it acknowledges packets that were never sent
        }
        let prior_in_flight = self.board.in_flight();
        let prior_first = self.board.first();
        let mut coverage = Coverage::new(ack.echo);
        let few = self.take_in(now, ack, &mut coverage);
        self.right_edge = self.right_edge_of(ack);
        if coverage.delivered == 0 && !ack.duplicate {
            return;
        }
        let rtt = self.learn(now, &coverage);
        let repairing = !self.board.is_plain() || !self.recovery.is_open();
        if repairing || self.prr.is_some() || self.reordering_deadline != Time::MAX || ack.duplicate {
            let advanced = self.board.first() > prior_first;
            self.recover(now, ack, &coverage, prior_in_flight, advanced);
        }
        if coverage.delivered == 0 {
            return;
        }
        if self.ecn.is_capable() && ack.marked != self.marked {
            self.learn_marks(now, ack.marked, coverage.delivered, prior_in_flight);
        }
        if let Some(rate) = ack.offer {
            self.controller.on_offer(now, rate);
        }
        self.counters.delivered += u64::from(coverage.delivered);
        self.rto_deadline = if self.board.is_empty() { Time::MAX } else { now + self.rtt.rto() };
        let min_rtt = self.rtt.min();
        let rate = match &mut self.watch {
            Some(watch) if self.wants.rate_samples => watch.take_sample(min_rtt, &coverage),
            _ => None,
        };
        let sample = AckSample {
            now,
            delivered: coverage.delivered,
            cumulative: coverage.cumulative,
            prior_in_flight,
            in_flight: self.board.in_flight(),
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt,
            next_unacked: self.board.first(),
            next_unsent: self.board.next(),
            window_limited: self.is_window_limited(),
            in_recovery: !self.recovery.is_open(),
            arrivals: match (&few, &self.watch) {
                (Some(few), _) => few.arrivals(),
                (None, Some(watch)) => watch.arrivals.stored(),
                (None, None) => &[],
            },
            rate,
        };
        self.controller.on_ack(&sample);
    }

    /// Applies an acknowledgment to the scoreboard, and passes deliveries on to those that need every packet. Returns
    /// arrivals, if they are few and the controller needs them; else the watch has them.
    #[inline]
    fn take_in(&mut self, now: Time, ack: &Ack, coverage: &mut Coverage) -> Option<Few> {
        let Some(watch) = &mut self.watch else {
            self.board.take_in(ack, coverage, None);
            return None;
        };
        let Watch { buffer, sampler, arrivals, .. } = &mut **watch;
        let mut list = CoveredList::new(buffer);
        self.board.take_in(ack, coverage, Some(&mut list));
        if self.wants.rate_samples
            && let Some(sampler) = sampler
        {
            sampler.on_acknowledged(now, &list, self.board.first());
        }
        if self.wants.arrivals { arrivals.learn(ack, &list) } else { None }
    }

    /// A receiver does not shrink its window (RFC 9293, section 3.8.6), so an old acknowledgment changes nothing.
    #[inline]
    fn right_edge_of(&self, ack: &Ack) -> u64 {
        let edge = ack.next_expected.saturating_add(ack.receive_window);
        if self.right_edge == u64::MAX { edge } else { self.right_edge.max(edge) }
    }

    /// Takes round-trip times from what was covered. Returns that of the newest transmission.
    #[inline]
    fn learn(&mut self, now: Time, coverage: &Coverage) -> Option<Span> {
        let rtt = coverage.newest.map(|newest| now.saturating_since(newest.sent));
        if let Some(rtt) = rtt {
            self.rtt.see(rtt);
            if now > self.round_trips_restart {
                self.round_trips_restart = Time::MAX;
                (self.counters.rtt_samples, self.counters.rtt_sum) = (0, SpanSum::default());
            }
            self.counters.rtt_samples += 1;
            self.counters.rtt_sum += rtt;
            self.counters.rtt_latest = rtt;
        }
        if let Some(sent) = coverage.echo_sent.or(coverage.newest.map(|newest| newest.sent)) {
            self.rtt.sample(now, sent);
        }
        self.rack.on_delivery(now, coverage, self.rtt.min());
        rtt
    }

    /// Reports to the controller packets that arrived marked.
    #[cold]
    fn learn_marks(&mut self, now: Time, reported: MarkCounts, delivered: u32, prior_in_flight: u32) {
        let new = |reported: u64, known: &mut u64| {
            let before = *known;
            *known = before.max(reported);
            u32::try_from(*known - before).unwrap_or(u32::MAX)
        };
        let congestion = new(reported.congestion, &mut self.marked.congestion);
        let burstiness = new(reported.burstiness, &mut self.marked.burstiness);
        if congestion == 0 && burstiness == 0 {
            return; // a newer acknowledgment overtook this one
        }
        let answer = congestion > 0 && self.recovery.is_open() && self.board.first() > self.reduced_until;
        if answer {
            self.reduced_until = self.board.next();
            self.counters.marks_answered += 1;
        }
        self.controller.on_mark(&Marked { now, congestion, burstiness, answer, srtt: self.rtt.srtt() });
        let target = self.controller.decision().window;
        if answer && target < prior_in_flight && self.controller.mark_response() == LossResponse::ProportionalReduction
        {
            let prr = self.prr.insert(ProportionalReduction::new(target, prior_in_flight));
            prr.on_delivery(delivered, self.board.in_flight(), false);
        }
    }

    /// Returns what may leave now. Call it until it returns `None`.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        self.gate = Time::MAX;
        let in_flight = self.board.in_flight();
        if in_flight == 0 {
            self.restart_if_idle(now);
        }
        let departure = match &self.prr {
            _ if self.forced => self.controller.departure(0),
            Some(prr) if in_flight < prr.window().max(1) => self.controller.departure(0),
            Some(_) => None,
            None => self.controller.departure(in_flight),
        };
        let Some(departure) = departure else {
            self.limited_by_window(true);
            return None;
        };
        let repeated = if self.board.lost() > 0 { self.board.next_retransmission() } else { None };
        if repeated.is_none() && self.board.next() >= self.total.min(self.right_edge) {
            self.limited_by_window(false);
            if self.board.next() == self.total
                && let Some(watch) = &mut self.watch
            {
                watch.on_nothing_to_send(self.board.in_flight());
            }
            self.probe_closed_window(now);
            return None;
        }
        let departure = departure.max(self.paced_until);
        if departure > now {
            self.gate = departure;
            self.limited_by_window(true);
            return None;
        }
        Some(self.transmit(now, repeated))
    }

    /// Nothing is in flight: tells the controller if that is so for longer than a timeout, and new data is to leave.
    fn restart_if_idle(&mut self, now: Time) {
        let lasted = now.saturating_since(self.last_sent);
        let first = self.next_transmission == 0;
        let nothing_new = self.board.next() >= self.total.min(self.right_edge);
        if first || nothing_new || lasted <= self.rtt.rto() || !self.board.is_empty() {
            return;
        }
        self.last_sent = now;
        let (rto, restart_window) = (self.rtt.rto(), self.restart_window);
        self.controller.on_idle(&Idle { now, lasted, rto, restart_window });
    }

    /// Packets that may be in flight.
    fn window(&self) -> u32 {
        match &self.prr {
            Some(prr) => prr.window(),
            None => self.controller.decision().window,
        }
        .max(1)
    }

    #[inline(always)]
    fn transmit(&mut self, now: Time, repeated: Option<u64>) -> Segment {
        let paced_from = now.saturating_sub(self.tick);
        let spread_window = (self.pacing_percent > 0).then(|| self.window());
        let transmission = self.next_transmission;
        self.next_transmission += 1;
        let sequence = match repeated {
            Some(sequence) => {
                self.board.retransmit(sequence, now, transmission);
                self.counters.retransmitted += 1;
                sequence
            }
            None => self.board.send_new(now, transmission),
        };
        self.counters.sent += 1;
        self.last_sent = now;
        if self.wants.rate_samples
            && let Some(watch) = &mut self.watch
        {
            watch.on_sent(now, sequence, self.board.in_flight());
        }
        self.forced = false;
        if let Some(prr) = &mut self.prr {
            prr.on_sent();
        }
        if self.rto_deadline == Time::MAX {
            self.rto_deadline = now + self.rtt.rto();
        }
        if let Some(window) = spread_window {
            let per_window = self.rtt.srtt().saturating_mul(100);
            // The allowed flight: the smaller of the window and the receive window.
            let usable = u64::from(window).min(self.right_edge.saturating_sub(self.board.first())).max(1);
            let gap = per_window / (usable * u64::from(self.pacing_percent));
            self.paced_until = self.paced_until.max(paced_from) + gap;
        }
        let size = if sequence + 1 == self.total { self.last_packet } else { self.packet };
        let size = self.short.as_ref().and_then(|short| short.size(sequence)).unwrap_or(size);
        let (retransmission, ecn) = if repeated.is_some() { (true, Ecn::NotEct) } else { (false, self.ecn) };
        self.controller.on_sent(&Sent {
            now,
            paced_from,
            transmission,
            size,
            in_flight: self.board.in_flight(),
            app_limited: self.board.next() == self.total && self.board.lost() == 0,
            retransmission,
        });
        Segment { sequence, transmission, size, retransmission, ecn, marks: Marks::NONE }
    }

    /// Remembers what stopped the sender. A full window counts as full for a round trip (as in Linux), since a burst of
    /// acknowledgments would otherwise hide it.
    #[inline]
    fn limited_by_window(&mut self, limited: bool) {
        if limited || self.board.first() >= self.window_limited_until {
            self.window_limited = limited;
            self.window_limited_until = self.board.next();
            self.most_in_flight = self.board.in_flight();
        } else {
            self.most_in_flight = self.most_in_flight.max(self.board.in_flight());
        }
    }

    /// Whether the window limits the sender. In slow start a half-used window counts as used: it doubles within a round
    /// trip.
    #[inline]
    fn is_window_limited(&self) -> bool {
        self.window_limited || {
            let window = self.controller.decision().window;
            window < self.controller.slow_start_threshold() && window < 2 * self.most_in_flight
        }
    }

    /// The receive window is closed, and nothing in flight could bring an update (RFC 9293, section 3.8.6.1).
    fn probe_closed_window(&mut self, now: Time) {
        if self.board.is_empty() && self.board.next() < self.total && self.rto_deadline == Time::MAX {
            self.rto_deadline = now + self.rtt.rto();
        }
    }

    /// The wake-up time has arrived. Calling too early is harmless. Call [`Sender::poll_transmit`] afterwards.
    #[inline]
    pub fn on_wakeup(&mut self, now: Time) {
        if now >= self.reordering_deadline {
            self.reordering_expired(now);
        }
        if now >= self.rto_deadline {
            self.on_timeout(now);
        }
    }

    #[cold]
    fn reordering_expired(&mut self, now: Time) {
        let prior_in_flight = self.board.in_flight();
        if self.detect_losses(now, prior_in_flight) > 0
            && let Some(prr) = &mut self.prr
        {
            prr.on_delivery(0, self.board.in_flight(), false);
        }
    }

    #[cold]
    fn on_timeout(&mut self, now: Time) {
        let first = !self.rtt.is_backed_off();
        self.rtt.back_off();
        self.rto_deadline = now + self.rtt.rto();
        self.forced = true;
        if self.board.is_empty() {
            self.right_edge = self.right_edge.max(self.board.next() + 1);
            return;
        }
        self.counters.timeouts += 1;
        self.reduced_until = self.board.next();
        self.prr = None;
        let in_flight = self.board.in_flight();
        self.controller.on_timeout(&Timeout { now, in_flight, first });
        let head = self.board.first();
        let record = *self.board.record(head);
        let next = self.board.next();
        self.recovery.on_timeout(head, record.sent, record.retransmitted, next, self.next_transmission);
        self.lose_after_timeout(now, in_flight);
    }
}
