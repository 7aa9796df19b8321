//! One exact FIFO drop-tail bottleneck, greedy flows, exact propagation. Packets reach the queue the moment they leave, and
//! a departure from the queue is known on arrival; events of one flow come in order, so the next event is the smallest of
//! a few heads. A dropped packet is declared lost when its acknowledgment would have come.

use packetscale_models::rapid::{Law, LawParams, Params};
use packetscale_models::units::{Bytes, Rate, Serialiser, Span, Time};
use std::collections::VecDeque;

/// After which a receiver acknowledges at the latest.
const TIMER: Span = Span::from_millis(40);

#[derive(Clone)]
pub struct Path {
    pub rate: Rate,
    pub buffer: Bytes,
    /// The receiver raises an interrupt this long after the first packet it has not reported.
    pub coalescing: Span,
    /// Only every n-th packet is acknowledged, with those before it; of these, the newest `stamps` carry stamps. The
    /// receiver waits for 40 ms at most.
    pub delayed_ack: u64,
    pub stamps: u64,
    /// How much faster the receiver's clock runs, in parts per million, from the first time to the second.
    pub skew_ppm: i64,
    pub skewed: (Time, Time),
    /// The steps in which that clock advances; zero: none.
    pub tick: Span,
    /// Random loss after the bottleneck, in parts per million.
    pub loss_ppm: u64,
    /// A token bucket before the queue, of this rate and depth: what exceeds it is dropped, until then.
    pub policer: Option<(Rate, Bytes, Time)>,
    /// For the first span of each period, which is the second, all packets are lost.
    pub dark: Option<(Span, Span)>,
    /// Sends are late by up to this, and the law knows the actual times.
    pub lateness: Span,
}

impl Path {
    pub fn new(rate: Rate, rtt: Span) -> Path {
        Path {
            rate,
            buffer: rate.amount_in(rtt),
            coalescing: Span::ZERO,
            delayed_ack: 1,
            stamps: 1,
            skew_ppm: 0,
            skewed: (Time::ZERO, Time::MAX),
            tick: Span::ZERO,
            loss_ppm: 0,
            policer: None,
            dark: None,
            lateness: Span::ZERO,
        }
    }
}

/// Constant-gap cross traffic that is on in `[from, until)`, or in the first half of each `period`.
#[derive(Clone)]
pub struct Cross {
    pub rate: Rate,
    pub packet: Bytes,
    pub from: Time,
    pub until: Time,
    pub on: Span,
    pub off: Span,
}

impl Cross {
    pub fn steady(rate: Rate, packet: Bytes, from: Time, until: Time) -> Cross {
        Cross { rate, packet, from, until, on: Span::MAX, off: Span::ZERO }
    }
}

struct Source {
    cross: Cross,
    next: Time,
    wire: Serialiser,
}

enum Fate {
    /// Sent then, arrived then.
    Arrived(Time, Time),
    Unstamped,
    Lost,
}

impl Path {
    /// What the receiver's clock reads.
    fn read(&self, at: Time) -> Time {
        let skewed = at.min(self.skewed.1).saturating_since(self.skewed.0).picos() as i128;
        let read = (at.picos() as i128 + skewed * self.skew_ppm as i128 / 1_000_000) as u64;
        Time::from_picos(read - read % self.tick.picos().max(1))
    }
}

pub struct Flow<P: LawParams = Params> {
    pub law: Law<P>,
    pub rtt: Span,
    packet: Bytes,
    start: Time,
    next: Time,
    transmission: u64,
    feedback: VecDeque<(Time, u64, Fate)>,
    outstanding: u32,
    recovery_until: u64,
    batch_until: Time,
    /// Arrived and not acknowledged: number, sent, arrived.
    held: Vec<(u64, Time, Time)>,
    held_since: Option<Time>,
    pub delivered: Bytes,
    pub sent: u64,
    pub lost: u64,
}

impl<P: LawParams> Flow<P> {
    /// Acknowledges what has arrived. The sender receives it at `heard`.
    fn acknowledge(&mut self, heard: Time, stamps: u64) {
        let covered = self.held.len();
        self.held_since = None;
        for (i, (number, sent, read)) in self.held.drain(..).enumerate() {
            let stamped = (covered - i) as u64 <= stamps;
            let fate = if stamped { Fate::Arrived(sent, read) } else { Fate::Unstamped };
            self.feedback.push_back((heard, number, fate));
        }
    }

    /// The receiver's timer expires.
    fn acknowledge_late(&mut self, now: Time, stamps: u64) {
        if let Some(since) = self.held_since {
            self.acknowledge((since + TIMER + self.rtt / 2).max(now), stamps);
        }
    }

    /// Where acknowledgments and the sender's window wait for each other, the timer expires before anything else.
    fn acknowledge_for_window(&mut self, now: Time, stamps: u64) {
        if self.feedback.is_empty() && self.outstanding >= self.law.window() {
            self.acknowledge_late(now, stamps);
        }
    }
}

pub struct Bottleneck<P: LawParams = Params> {
    pub path: Path,
    pub flows: Vec<Flow<P>>,
    sources: Vec<Source>,
    wire: Serialiser,
    busy_until: Time,
    filled: Time,
    pub now: Time,
    random: u64,
    /// Waiting times of flow packets since `clear`.
    pub waits: Vec<u64>,
    pub drops: u64,
}

impl<P: LawParams> Bottleneck<P> {
    pub fn new(path: Path) -> Bottleneck<P> {
        let wire = Serialiser::new(path.rate);
        Bottleneck {
            path,
            flows: Vec::new(),
            sources: Vec::new(),
            wire,
            busy_until: Time::ZERO,
            filled: Time::ZERO,
            now: Time::ZERO,
            random: 0x9E37_79B9_7F4A_7C15,
            waits: Vec::new(),
            drops: 0,
        }
    }

    pub fn flow(mut self, params: &P, rtt: Span, start: Time) -> Bottleneck<P> {
        let seed = 1000 + self.flows.len() as u64;
        self.flows.push(Flow {
            law: Law::new(params, start, rtt, seed),
            rtt,
            packet: params.packet(),
            start,
            next: start,
            transmission: 0,
            feedback: VecDeque::new(),
            outstanding: 0,
            recovery_until: 0,
            batch_until: Time::ZERO,
            held: Vec::new(),
            held_since: None,
            delivered: Bytes::ZERO,
            sent: 0,
            lost: 0,
        });
        self
    }

    pub fn cross(mut self, cross: Cross) -> Bottleneck<P> {
        self.sources.push(Source { next: cross.from, wire: Serialiser::new(cross.rate), cross });
        self
    }

    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }

    /// Forgets what was measured.
    pub fn clear(&mut self) {
        self.waits.clear();
        self.drops = 0;
        for flow in &mut self.flows {
            flow.delivered = Bytes::ZERO;
            flow.sent = 0;
            flow.lost = 0;
        }
    }

    pub fn run_until(&mut self, end: Time) {
        loop {
            let mut at = end;
            let mut what = (0, 0);
            for (i, flow) in self.flows.iter().enumerate() {
                if let Some((time, ..)) = flow.feedback.front()
                    && *time < at
                {
                    (at, what) = (*time, (1, i));
                }
                if flow.next < at && flow.outstanding < flow.law.window() {
                    (at, what) = (flow.next, (2, i));
                }
            }
            for (i, source) in self.sources.iter().enumerate() {
                if source.next < at {
                    (at, what) = (source.next, (3, i));
                }
            }
            self.now = self.now.max(at);
            match what {
                (1, i) => self.acknowledge(i),
                (2, i) => self.send(i),
                (3, i) => self.cross_packet(i),
                _ => return,
            }
        }
    }

    /// Whether a policer or a dark line takes a packet.
    fn takes(&mut self, size: Bytes) -> bool {
        if let Some((dark, period)) = self.path.dark
            && self.now.since(Time::ZERO) % period < dark
        {
            return true;
        }
        let Some((rate, depth, until)) = self.path.policer else { return false };
        // Tokens are stored as the time in which they came: a bucket that is full has filled for as long as it takes.
        let full = self.now - rate.time_for(depth).min(self.now.since(Time::ZERO));
        self.filled = self.filled.max(full);
        let exceeds = rate.amount_in(self.now.saturating_since(self.filled)) < size;
        if !exceeds {
            self.filled += rate.time_for(size);
        }
        exceeds && self.now < until
    }

    /// Queues a packet: when it reaches the far end of the wire, unless it is dropped.
    fn queue(&mut self, size: Bytes) -> Option<(Time, Span)> {
        let wait = self.busy_until.saturating_since(self.now);
        if self.path.rate.amount_in(wait) + size > self.path.buffer {
            return None;
        }
        self.busy_until = self.now.max(self.busy_until) + self.wire.next(size);
        Some((self.busy_until, wait))
    }

    fn send(&mut self, i: usize) {
        let now = self.now;
        let size = self.flows[i].packet;
        let random_loss = self.path.loss_ppm > 0 && self.random() % 1_000_000 < self.path.loss_ppm;
        let queued = if self.takes(size) { None } else { self.queue(size) };
        let backlog = self.busy_until.saturating_since(now);
        let late = if self.path.lateness == Span::ZERO {
            Span::ZERO
        } else {
            Span::from_picos(self.random() % self.path.lateness.picos())
        };
        let (coalescing, every, stamps) = (self.path.coalescing, self.path.delayed_ack, self.path.stamps);
        let path = &self.path;
        let flow = &mut self.flows[i];
        let number = flow.transmission;
        flow.transmission += 1;
        flow.sent += 1;
        flow.outstanding += 1;
        flow.law.on_sent(now, number, size, false);
        flow.next = flow.law.departure().max(now) + late;
        let half = flow.rtt / 2;
        match queued {
            Some((leaves, wait)) if !random_loss => {
                self.waits.push(wait.picos());
                let mut arrival = leaves + half;
                if coalescing > Span::ZERO {
                    if arrival > flow.batch_until {
                        flow.batch_until = arrival + coalescing;
                    }
                    arrival = flow.batch_until;
                }
                if flow.held_since.is_some_and(|since| arrival > since + TIMER) {
                    flow.acknowledge_late(now, stamps);
                }
                flow.held_since.get_or_insert(arrival);
                flow.held.push((number, now, path.read(arrival)));
                if flow.held.len() as u64 == every {
                    flow.acknowledge(arrival + half, stamps);
                }
                flow.acknowledge_for_window(now, stamps);
            }
            queued => {
                if queued.is_none() {
                    self.drops += 1;
                }
                flow.lost += 1;
                let due = now + flow.rtt + backlog;
                let due = flow.feedback.back().map_or(due, |(last, ..)| due.max(*last));
                flow.feedback.push_back((due, number, Fate::Lost));
            }
        }
    }

    fn acknowledge(&mut self, i: usize) {
        let flow = &mut self.flows[i];
        let (now, number, fate) = flow.feedback.pop_front().expect("an event");
        flow.outstanding -= 1;
        match fate {
            Fate::Arrived(sent, arrival) => {
                flow.delivered += flow.packet;
                flow.law.on_rtt(now.since(sent));
                flow.law.on_arrival(now, number, arrival);
            }
            Fate::Unstamped => {
                flow.delivered += flow.packet;
                flow.law.on_acked_without_stamp(now, number);
            }
            Fate::Lost => {
                if number >= flow.recovery_until {
                    flow.recovery_until = flow.transmission;
                    flow.law.on_recovery();
                }
                flow.law.on_lost(now, number);
            }
        }
        flow.acknowledge_for_window(now, self.path.stamps);
        // The law may have moved its schedule up.
        if flow.law.departure() < flow.next && self.path.lateness == Span::ZERO {
            flow.next = flow.law.departure().max(now).max(flow.start);
        }
    }

    fn cross_packet(&mut self, i: usize) {
        let size = self.sources[i].cross.packet;
        if self.queue(size).is_none() {
            self.drops += 1;
        }
        let source = &mut self.sources[i];
        source.next += source.wire.next(size);
        let cross = &source.cross;
        if cross.on < Span::MAX && (source.next.since(cross.from) % (cross.on + cross.off)) >= cross.on {
            let into = source.next.since(cross.from) % (cross.on + cross.off);
            source.next += (cross.on + cross.off) - into;
        }
        if source.next >= cross.until {
            source.next = Time::MAX;
        }
    }

    /// Runs, and measures from one time to another; the share of the bottleneck that the flows got then.
    pub fn between(&mut self, from: Time, until: Time) -> f64 {
        self.run_until(from);
        self.clear();
        self.run_until(until);
        self.utilisation(until.since(from))
    }

    /// Share of the bottleneck that the flows got in `span`.
    pub fn utilisation(&self, span: Span) -> f64 {
        let total: u64 = self.flows.iter().map(|f| f.delivered.get()).sum();
        total as f64 / self.path.rate.amount_in(span).get() as f64
    }

    pub fn jain(&self) -> f64 {
        let x: Vec<f64> = self.flows.iter().map(|f| f.delivered.get() as f64).collect();
        let (sum, squares) = (x.iter().sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>());
        sum * sum / (x.len() as f64 * squares)
    }

    /// Waiting time not exceeded by `part` of the packets.
    pub fn wait(&self, part: f64) -> Span {
        let mut waits = self.waits.clone();
        if waits.is_empty() {
            return Span::ZERO;
        }
        waits.sort_unstable();
        Span::from_picos(waits[((waits.len() - 1) as f64 * part) as usize])
    }
}

pub fn ms(n: u64) -> Time {
    Time::from_picos(Span::from_millis(n).picos())
}
