//! A path for tests: two fixed delays, and a fate for every segment and acknowledgment. It has no queue and no rate.

pub mod scripted;

use std::collections::BTreeMap;

use packetscale_models::congestion::{AnyController, Extras, Setup, find};
use packetscale_models::settings::{Setting, Settings};
use packetscale_models::transport::{Ack, Receiver, ReceiverParams, Segment, Sender, SenderParams, Transfer};
use packetscale_models::units::{Bytes, Marks, Span, Time};

pub const PACKET: Bytes = Bytes::new(1000);

/// The fate of a segment or acknowledgment: one entry per copy that arrives, with its delay beyond that of the path.
pub type Fate = Vec<Span>;

/// Decides the fate of each.
pub type FateOf<T> = Box<dyn FnMut(Time, &T) -> Fate>;

pub fn arrives() -> Fate {
    vec![Span::ZERO]
}

pub fn arrives_late(by: Span) -> Fate {
    vec![by]
}

pub fn dropped() -> Fate {
    Vec::new()
}

pub fn sender_params(transfer: Transfer, rtt: Span) -> SenderParams {
    SenderParams {
        packet: PACKET,
        transfer,
        initial_window: 10,
        handshake_rtt: rtt,
        handshake_window: u64::MAX,
        min_rto: Span::from_millis(200),
        pacing_percent: 0,
        tick: Span::ZERO,
        slow_start_after_idle: true,
        ecn: false,
    }
}

pub fn receiver_params() -> ReceiverParams {
    ReceiverParams { delayed_ack: 2, delayed_ack_timeout: Span::from_millis(40), window: 1 << 40, stamps: false }
}

pub fn controller(name: &str, params: &SenderParams, settings: &[(&str, Setting)]) -> AnyController {
    let setup = Setup {
        now: Time::ZERO,
        packet: params.packet,
        handshake_rtt: params.handshake_rtt,
        initial_window: params.initial_window,
        seed: 1,
    };
    let settings: Settings = settings.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
    (find(name).expect("registered").build)(&setup, &settings).expect("valid settings")
}

enum Event {
    Segment(Segment),
    Ack(Box<Ack>),
    Sender,
    Receiver,
}

/// A sender, a receiver, and the path between them.
pub struct Path<C> {
    pub now: Time,
    pub sender: Sender<C>,
    pub receiver: Receiver,
    /// The one-way delay.
    pub delay: Span,
    /// Everything that left, when `record` is set.
    pub sent: Vec<(Time, Segment)>,
    /// Every acknowledgment that left, when `record` is set.
    pub acks: Vec<(Time, Ack)>,
    pub record: bool,
    pub segment_fate: FateOf<Segment>,
    pub ack_fate: FateOf<Ack>,
    /// The marks that queues on the path would write into a segment that may be marked.
    pub marks: Box<dyn FnMut(&Segment) -> Marks>,
    /// Checked after every event.
    pub check: fn(&Sender<C>),
    events: BTreeMap<(Time, u64), Event>,
    order: u64,
    sender_wakeup: Time,
    receiver_wakeup: Time,
}

impl<C: Extras> Path<C> {
    pub fn new(sender: Sender<C>, receiver: Receiver, rtt: Span) -> Path<C> {
        Path {
            now: Time::ZERO,
            sender,
            receiver,
            delay: rtt / 2,
            sent: Vec::new(),
            acks: Vec::new(),
            record: true,
            segment_fate: Box::new(|_, _| arrives()),
            ack_fate: Box::new(|_, _| arrives()),
            marks: Box::new(|_| Marks::NONE),
            check: |_| {},
            events: BTreeMap::new(),
            order: 0,
            sender_wakeup: Time::MAX,
            receiver_wakeup: Time::MAX,
        }
    }

    fn at(&mut self, time: Time, event: Event) {
        self.order += 1;
        self.events.insert((time, self.order), event);
    }

    /// Runs until nothing is left to happen, the transfer is done, or `until`.
    pub fn run(&mut self, until: Time) {
        self.transmit();
        while !self.sender.is_done() {
            let Some(next) = self.events.first_entry().filter(|next| next.key().0 <= until) else { break };
            let ((time, _), event) = next.remove_entry();
            self.now = time;
            match event {
                Event::Segment(segment) => {
                    if let Some(ack) = self.receiver.on_segment(time, &segment) {
                        self.acknowledge(ack);
                    }
                }
                Event::Ack(ack) => self.sender.on_ack(time, &ack),
                // Skips a wake-up that was moved after it was set.
                Event::Sender if time == self.sender_wakeup => {
                    self.sender_wakeup = Time::MAX;
                    self.sender.on_wakeup(time);
                }
                Event::Sender => continue,
                Event::Receiver => {
                    self.receiver_wakeup = Time::MAX;
                    if let Some(ack) = self.receiver.on_wakeup(time) {
                        self.acknowledge(ack);
                    }
                }
            }
            self.transmit();
        }
    }

    fn acknowledge(&mut self, ack: Ack) {
        if self.record {
            self.acks.push((self.now, ack));
        }
        for extra in (self.ack_fate)(self.now, &ack) {
            self.at(self.now + self.delay + extra, Event::Ack(Box::new(ack)));
        }
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            if self.record {
                self.sent.push((self.now, segment));
            }
            let marks = if segment.ecn.is_capable() { (self.marks)(&segment) } else { Marks::NONE };
            for extra in (self.segment_fate)(self.now, &segment) {
                let segment = Segment { marks, ..segment };
                self.at(self.now + self.delay + extra, Event::Segment(segment));
            }
        }
        (self.check)(&self.sender);
        let due = self.sender.next_wakeup().max(self.now);
        if due < self.sender_wakeup {
            self.sender_wakeup = due;
            self.at(due, Event::Sender);
        }
        let ack_due = self.receiver.next_wakeup();
        if ack_due < self.receiver_wakeup {
            self.receiver_wakeup = ack_due;
            self.at(ack_due.max(self.now), Event::Receiver);
        }
    }
}

/// A small generator for fates (splitmix64).
#[derive(Clone)]
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
