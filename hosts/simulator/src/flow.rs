//! One flow: its sender, its receiver, and the hosts they live on.

use crate::connections::HEADERS;
use crate::gaps::Gaps;
use crate::headers::Headers;
use crate::lines::Line;
use crate::traffic::{AnySource, Source};
use crate::transit::{Transit, Usual};
use crate::wire::Return;
use congestion::AnyController;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use scenario::Coalescing;
use transport::{Receiver, Sender};
use units::{Bytes, Rate, Serialiser, Span, Time};

/// A flow with everything that belongs to it alone. What the packet path touches stands first.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) sender: Sender<AnyController>,
    pub(crate) receiver: Receiver,
    /// Packets on their way to the first link.
    pub(crate) access: Line,
    /// Its sender's network card among [`crate::network::Network::cards`], when that has a rate.
    pub(crate) card: Option<u32>,
    /// From the sender to the first link.
    pub(crate) access_delay: Span,
    /// From the receiver back to the sender.
    pub(crate) return_delay: Span,
    /// Which ring its acknowledgments travel in.
    pub(crate) ack_lane: u32,
    /// Window that its receiver always advertises.
    pub(crate) receive_window: u64,
    /// Its route, as an index into [`crate::network::Network::routes`].
    pub(crate) route: u32,
    /// Each packet is acknowledged the instant it arrives: its reception needs no event.
    pub(crate) immediate: bool,
    /// Its sender's timer in the schedule; [`Time::MAX`]: none.
    pub(crate) armed: Time,
    /// The wake-up that timer stands for, before the host's error.
    pub(crate) due: Time,
    /// How its sending host errs; `None`: it does not.
    pub(crate) gaps: Option<Box<Gaps>>,
    /// Interrupt coalescence at its receiver; `None`: none.
    pub(crate) coalescer: Option<Box<Coalescer>>,
    /// What makes its receiver's stamps late; `None`: nothing.
    pub(crate) processing: Option<Box<Processing>>,
    /// Rate headers of its packets under way; `None`: its sender takes no rates from routers.
    pub(crate) headers: Option<Box<Headers>>,
    /// What hands packets to its sender; `None`: it always has some.
    pub(crate) application: Option<Box<Application>>,
    /// What happens to its acknowledgments; `None`: they are only delayed.
    pub(crate) back: Option<Box<Return>>,
    /// Its delayed acknowledgment's timer in the schedule.
    pub(crate) ack_armed: Time,
    pub(crate) start: Time,
    pub(crate) completed: Option<Time>,
}

impl Flow {
    /// When its application hands over the next packet; [`Time::MAX`]: never, or it has no such application.
    #[inline]
    pub(crate) fn next_offer(&self) -> Time {
        self.application.as_ref().map_or(Time::MAX, |application| application.next)
    }

    /// Hands over what its application has by now.
    pub(crate) fn offer(&mut self, now: Time) {
        if let Some(application) = &mut self.application {
            self.sender.offer(application.take(now));
        }
    }

    /// Hands over a message of so much data, in packets of this size. Answers the packets handed over so far: it has
    /// arrived when they have.
    pub(crate) fn offer_data(&mut self, data: Bytes, packet: Bytes) -> u64 {
        let most = packet - HEADERS;
        let packets = data.packets_of(most).get();
        self.sender.offer_message(packets, data - most * (packets - 1) + HEADERS)
    }

    /// What an acknowledgment says that leaves the receiver at `at`, usually.
    #[inline]
    pub(crate) fn usual(&self, at: Time, granularity: Span) -> Usual {
        Usual { window: self.receive_window, stamp: stamped(at, granularity) }
    }
}

/// An instant as a clock of this granularity shows it; zero: exactly.
#[inline]
pub(crate) fn stamped(at: Time, granularity: Span) -> Time {
    if granularity == Span::ZERO { at } else { at - Span::from_picos(at.picos()) % granularity }
}

/// An application that is not always ready to send.
#[derive(Debug)]
pub(crate) struct Application {
    source: AnySource,
    /// From the start of its flow, on whose clock the source counts.
    start: Time,
    /// When it hands over its next packet; [`Time::MAX`]: never.
    next: Time,
}

impl Application {
    pub(crate) fn new(source: AnySource, start: Time) -> Application {
        let mut application = Application { source, start, next: Time::MAX };
        application.advance();
        application
    }

    /// Packets handed over by `now` and not before.
    pub(crate) fn take(&mut self, now: Time) -> u64 {
        let mut packets = 0;
        while self.next <= now && self.next != Time::MAX {
            packets += 1;
            self.advance();
        }
        packets
    }

    fn advance(&mut self) {
        let next = self.source.next().map(|packet| self.start.saturating_add(packet.at.since(Time::ZERO)));
        self.next = next.unwrap_or(Time::MAX);
    }
}

/// A network card with a rate: packets leave it one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    wire: Serialiser,
    pub(crate) free: Time,
}

impl Card {
    pub(crate) fn new(rate: Rate) -> Card {
        Card { wire: Serialiser::new(rate), free: Time::ZERO }
    }

    /// When a packet that is handed over now has left.
    #[inline]
    pub(crate) fn leaves(&mut self, now: Time, size: Bytes) -> Time {
        self.free = now.max(self.free) + self.wire.next(size);
        self.free
    }
}

/// Processing between a packet's arrival and its stamp: a uniform draw. Stamps keep their order.
#[derive(Debug)]
pub(crate) struct Processing {
    most: Span,
    last: Time,
    random: Pcg64Mcg,
}

impl Processing {
    /// `None` when stamps are not late.
    pub(crate) fn new(most: Span, seed: u64) -> Option<Box<Processing>> {
        let random = Pcg64Mcg::seed_from_u64(seed);
        (most > Span::ZERO).then(|| Box::new(Processing { most, last: Time::ZERO, random }))
    }

    pub(crate) fn stamp(&mut self, arrived: Time) -> Time {
        let drawn = arrived + Span::from_picos(self.random.random_range(0..=self.most.picos()));
        self.last = self.last.max(drawn);
        self.last
    }
}

/// Interrupt coalescence: the first packet of a batch starts a timer; the batch is handed over when it expires, or
/// when the batch holds enough frames.
#[derive(Clone, Debug)]
pub(crate) struct Coalescer {
    setting: Coalescing,
    batch: Vec<Transit>,
    /// When the interrupt fires; [`Time::MAX`]: none pending.
    pub(crate) due: Time,
}

/// What the card does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// The batch waits; an interrupt is pending.
    Pending,
    /// A timer must be set for [`Coalescer::due`].
    Set,
    /// The batch is full.
    Now,
}

impl Coalescer {
    /// `None` when packets do not wait at all.
    pub(crate) fn new(setting: Coalescing) -> Option<Box<Coalescer>> {
        let off = setting.time == Span::ZERO || setting.frames == 1;
        (!off).then(|| Box::new(Coalescer { setting, batch: Vec::new(), due: Time::MAX }))
    }

    pub(crate) fn receive(&mut self, now: Time, transit: Transit) -> Interrupt {
        self.batch.push(transit);
        let full = self.setting.frames > 0 && self.batch.len() >= self.setting.frames as usize;
        if full {
            return Interrupt::Now;
        }
        if self.batch.len() > 1 {
            return Interrupt::Pending;
        }
        self.due = now + self.setting.time;
        Interrupt::Set
    }

    /// The batch, handed over.
    pub(crate) fn take(&mut self) -> Vec<Transit> {
        self.due = Time::MAX;
        std::mem::take(&mut self.batch)
    }

    /// Gives the batch's memory back for the next one.
    pub(crate) fn reuse(&mut self, mut batch: Vec<Transit>) {
        if self.batch.is_empty() {
            batch.clear();
            self.batch = batch;
        }
    }
}
