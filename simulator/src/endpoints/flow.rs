//! One flow: its sender, its receiver, and the hosts they live on.

use super::coalescer::Coalescer;
use super::gaps::Gaps;
use super::headers::Headers;
use super::lines::Line;
use super::return_path::ReturnPath;
use crate::agenda::{Agenda, EventSource};
use crate::transit::Usual;
use experiment::scenario::{HEADERS, ReceiverSpec};
use experiment::traffic::Application;
use harness::measure::{FlowSample, FlowSeen, Marked, RoundTrips};
use harness::packets::{FlowStart, SenderState};
use packetscale_models::congestion::{AnyController, Controller, Extras, StreamTrace};
use packetscale_models::transport::{Ack, Receiver, Sender};
use packetscale_models::units::{Bytes, Ratio, Span, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A flow with all state that is not shared. Fields used by every packet are adjacent in memory.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    /// Its event at the first link of its route; [`Time::MAX`]: none.
    pub(super) expected: Time,
    /// Packets on their way to the first link.
    pub(super) access: Line,
    /// Packets or acknowledgments on their way to its sender, if it runs ahead: packets if it is `direct`.
    pub(super) waiting: Line,
    /// The number of its route.
    pub(super) route: u32,
    /// Its sender may be brought up to date later (see [`super::ahead`]).
    pub(super) may_run_ahead: bool,
    /// It runs ahead: its sender has a separate clock.
    pub(super) runs_ahead: bool,
    /// Each packet is acknowledged the instant it arrives: its reception needs no event.
    pub(super) immediate: bool,
    /// And its acknowledgment is only delayed: while the sender runs ahead, the receiver does, too.
    pub(super) direct: bool,
    /// When the next packet that its sender has not sent yet reaches the first link, if no news brings that forward;
    /// [`Time::MAX`]: news may, or none is known of.
    pub(super) follows: Time,
    /// From the sender to the first link.
    pub(super) access_delay: Span,
    /// The number of its sender's network card among [`super::Cards`]; `None`: a card without a rate.
    pub(super) card: Option<u32>,
    /// From the receiver back to the sender.
    pub(super) return_delay: Span,
    /// How long before it reaches the sender an acknowledgment is known, at least.
    pub(super) known_ahead: Span,
    /// Which ring its acknowledgments travel in.
    pub(super) ack_lane: u32,
    /// Its acknowledgments in that ring, if it may run ahead.
    pub(super) in_lane: u32,
    /// Window that its receiver always advertises.
    pub(super) receive_window: u64,
    /// Its sender's timer in the schedule; [`Time::MAX`]: none.
    pub(super) armed: Time,
    /// The wake-up that the timer is set for, before the host's error.
    pub(super) due: Time,
    /// The errors of its sending host; `None`: none.
    pub(super) gaps: Option<Box<Gaps>>,
    /// The application; `None`: it always has data.
    pub(super) application: Option<Box<Application>>,
    /// Rate headers of its packets under way; `None`: its sender takes no rates from routers.
    pub(super) headers: Option<Box<Headers>>,
    pub(super) sender: Sender<AnyController>,
    pub(super) receiver: Receiver,
    /// The host's lateness of its receiver's stamps; `None`: none.
    pub(super) processing: Option<Box<Processing>>,
    /// The way of its acknowledgments; `None`: they are only delayed.
    pub(super) return_path: Option<Box<ReturnPath>>,
    /// From this time on it has nothing new to send; [`Time::MAX`]: never.
    pub(super) stop: Time,
    /// When all was acknowledged; [`Time::MAX`]: not yet.
    pub(super) completed: Time,
    /// Interrupt coalescence at its receiver; `None`: none.
    pub(super) coalescer: Option<Box<Coalescer>>,
    /// Its delayed acknowledgment's timer in the schedule.
    pub(super) ack_armed: Time,
    pub(super) start: Time,
}

impl Flow {
    pub(crate) fn sender(&self) -> &Sender<AnyController> {
        &self.sender
    }

    /// Returns a sample of its state at `now`; nothing while it is not active.
    pub(crate) fn sample(&self, now: Time) -> FlowSample {
        if self.start > now || self.completed < Time::MAX {
            return FlowSample::default();
        }
        FlowSample::of(&self.sender, self.receive_window)
    }

    /// Returns what is known of it before its first packet.
    pub(crate) fn beginning(&self, controller: &str) -> FlowStart {
        FlowStart {
            controller: controller.to_string(),
            start: self.start,
            packet: self.sender.packet(),
            rtt: self.sender.rtt().0,
            receive_window: self.receive_window,
            ecn: self.sender.ecn(),
        }
    }

    /// Returns the state of its sender.
    pub(crate) fn state(&self) -> SenderState {
        let (controller, counters) = (self.sender.controller(), self.sender.counters());
        let (smoothed_rtt, min_rtt) = self.sender.rtt();
        SenderState {
            window: u64::from(controller.decision().window).min(self.receive_window),
            threshold: controller.slow_start_threshold(),
            in_flight: self.sender.in_flight(),
            smoothed_rtt,
            min_rtt,
            latest_rtt: counters.rtt_latest,
            rate: controller.rate(),
            in_recovery: self.sender.in_recovery(),
            timeouts: counters.timeouts,
        }
    }

    /// Returns what is known of it at the end of a run. `base_rtt`: without any queue.
    pub(crate) fn seen(&self, base_rtt: Span) -> FlowSeen {
        let (counters, marked) = (self.sender.counters(), self.receiver.marked());
        let controller = self.sender.controller();
        FlowSeen {
            remark: None,
            completed: (self.completed < Time::MAX).then_some(self.completed),
            base_rtt,
            round_trips: RoundTrips { sum: counters.rtt_sum, count: counters.rtt_samples },
            sent: counters.sent,
            retransmitted: counters.retransmitted,
            marked: Some(Marked { congestion: marked.congestion, burstiness: marked.burstiness }),
            timeouts: Some(counters.timeouts),
            recoveries: Some(counters.recoveries),
            undone: Some(counters.undone),
            streams: controller.probing().map(|probing| probing.probe()).map(|probe| (probe.streams, probe.unusable)),
            has_rate: controller.rate().is_some(),
        }
    }

    /// Makes the controller trace its next probe stream.
    pub(crate) fn arm_trace(&mut self) {
        if let Some(probing) = self.sender.controller_mut().probing_mut() {
            probing.arm_trace();
        }
    }

    /// The traced stream, once it is complete, and when its first packet reached the first link.
    pub(crate) fn take_trace(&mut self) -> Option<(StreamTrace, Time)> {
        let trace = self.sender.controller_mut().probing_mut()?.take_trace()?;
        let from = trace.start + self.access_delay;
        Some((trace, from))
    }

    /// This flow with the settings of a background flow: nothing wakes its sender before its first message.
    pub(crate) fn in_background(self, card: Option<u32>) -> Flow {
        Flow { armed: Time::MAX, due: Time::MAX, may_run_ahead: false, card, ..self }
    }

    /// Notes when all was acknowledged.
    #[inline]
    pub(super) fn note_completion(&mut self, at: Time) {
        if self.completed == Time::MAX && self.sender.is_done() && self.sender.next_wakeup() == Time::MAX {
            self.completed = at;
        }
    }

    /// It has an event at its first link at this time, or earlier.
    #[inline]
    pub(super) fn expect(&mut self, agenda: &mut Agenda, at: Time, index: usize) {
        if at < self.expected {
            self.expected = at;
            agenda.packet(at, EventSource::Access(index as u32));
        }
    }

    /// When its application hands over the next packet; [`Time::MAX`]: never, or it has no such application.
    #[inline]
    pub(super) fn next_offer(&self) -> Time {
        self.application.as_ref().map_or(Time::MAX, |application| application.next())
    }

    /// Hands over what its application has by now.
    pub(super) fn offer(&mut self, now: Time) {
        if let Some(application) = &mut self.application {
            self.sender.offer(application.take(now));
        }
    }

    /// Hands over a message of this much data, in packets of this size. Returns the packets handed over so far: the
    /// message has arrived when they have.
    pub(super) fn offer_data(&mut self, data: Bytes, packet: Bytes) -> u64 {
        let most = packet - HEADERS;
        let packets = data.packets_of(most).get();
        self.sender.offer_message(packets, data - most * (packets - 1) + HEADERS)
    }

    /// Reads the receiver's clock for the stamps of an acknowledgment.
    #[inline(always)]
    pub(super) fn stamp(&mut self, ack: &mut Ack, clock: StampClock) {
        for stamp in &mut ack.arrivals[..usize::from(ack.stamps)] {
            let made = self.processing.as_mut().map_or(stamp.arrived, |processing| processing.stamp(stamp.arrived));
            stamp.arrived = clock.read(made);
        }
    }

    /// The usual content of an acknowledgment that leaves the receiver at `at`.
    #[inline]
    pub(super) fn usual(&self, at: Time, clock: StampClock) -> Usual {
        Usual { window: self.receive_window, stamp: clock.read(at) }
    }
}

/// The clock that receivers read arrival times from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StampClock {
    /// Zero: exact.
    granularity: Span,
    pace: Ratio,
}

impl StampClock {
    pub(crate) fn new(receiver: &ReceiverSpec) -> StampClock {
        StampClock { granularity: receiver.stamp_granularity, pace: receiver.clock }
    }

    /// Returns what it shows at an instant.
    #[inline]
    pub(crate) fn read(&self, at: Time) -> Time {
        let at = if self.pace == Ratio::ONE { at } else { Time::from_picos(self.pace.of_u64(at.picos())) };
        if self.granularity == Span::ZERO { at } else { at - Span::from_picos(at.picos()) % self.granularity }
    }
}

/// Processing between a packet's arrival and its stamp: a uniform draw. Stamps keep their order.
#[derive(Debug)]
pub(super) struct Processing {
    most: Span,
    last: Time,
    random: Pcg64Mcg,
}

impl Processing {
    /// `None` when stamps are not late.
    pub(super) fn new(most: Span, seed: u64) -> Option<Box<Processing>> {
        let random = Pcg64Mcg::seed_from_u64(seed);
        (most > Span::ZERO).then(|| Box::new(Processing { most, last: Time::ZERO, random }))
    }

    pub(super) fn stamp(&mut self, arrived: Time) -> Time {
        let drawn = arrived + Span::from_picos(self.random.random_range(0..=self.most.picos()));
        self.last = self.last.max(drawn);
        self.last
    }
}
