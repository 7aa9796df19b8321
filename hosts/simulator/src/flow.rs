//! One flow: its sender, its receiver, and the hosts they live on.

use crate::connections::HEADERS;
use crate::gaps::Gaps;
use crate::headers::Headers;
use crate::lines::Line;
use crate::transit::{Transit, Usual};
use crate::wire::Return;
use congestion::{AnyController, Controller};
use measure::{FlowSample, FlowSeen, Marked, RoundTrips};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use scenario::{Coalescing, Moderation};
use traffic::Application;
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
        self.application.as_ref().map_or(Time::MAX, |application| application.next())
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

    /// What it says of itself.
    pub(crate) fn sample(&self, now: Time) -> FlowSample {
        if self.start > now || self.completed.is_some() {
            return FlowSample::default();
        }
        let controller = self.sender.controller();
        FlowSample {
            rate: controller.rate(),
            rtt: Some(self.sender.rtt().0),
            window: Some(u64::from(controller.decision().window).min(self.receive_window)),
        }
    }

    /// What is known of it at the end of a run. `base_rtt`: without any queue.
    pub(crate) fn seen(&self, base_rtt: Span) -> FlowSeen {
        let (counters, marked) = (self.sender.counters(), self.receiver.marked());
        let controller = self.sender.controller();
        FlowSeen {
            remark: None,
            completed: self.completed,
            base_rtt,
            round_trips: RoundTrips { sum: counters.rtt_sum, count: counters.rtt_samples },
            sent: counters.sent,
            retransmitted: counters.retransmitted,
            marked: Some(Marked { congestion: marked.congestion, burstiness: marked.burstiness }),
            timeouts: Some(counters.timeouts),
            recoveries: Some(counters.recoveries),
            undone: Some(counters.undone),
            streams: controller.probing().map(|probing| (probing.probe().streams, probing.probe().unusable)),
            has_rate: controller.rate().is_some(),
        }
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

/// Interrupt coalescence: packets of a batch wait until the card interrupts, or the batch holds enough frames.
///
/// Source of the three kinds: Q. Yin, "TCP RAPID: from theory to practice", section 6.3. `Timer` and `Spacing` are the two
/// ways to read "the minimum time delay between interrupts" of its first card; `Adaptive` is the second, which honours a
/// time up to 12 us and counts frames beyond. Figure 6.9 shows how widely its batches vary but prints no numbers: here
/// they have 1 to 2 `frames` - 1 packets, each as likely, and one that no packet joins for as long as `time` is handed over.
#[derive(Clone, Debug)]
pub(crate) struct Coalescer {
    setting: Coalescing,
    /// The time alone counts, and frames as a limit.
    timed: bool,
    batch: Vec<Transit>,
    /// When the interrupt fires; [`Time::MAX`]: none pending.
    pub(crate) due: Time,
    /// The last interrupt.
    last: Time,
    /// Packets that fill this batch; 0: none do.
    frames: u32,
    random: Pcg64Mcg,
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
    pub(crate) fn new(setting: Coalescing, seed: u64) -> Option<Box<Coalescer>> {
        let adaptive = setting.kind == Moderation::Adaptive;
        let timed = !adaptive || setting.time <= Coalescing::HONOURED || setting.frames == 0;
        let setting = if adaptive && timed { Coalescing { frames: 0, ..setting } } else { setting };
        let off = setting.time == Span::ZERO || setting.frames == 1;
        (!off).then(|| {
            let random = Pcg64Mcg::seed_from_u64(seed);
            let (due, last, frames) = (Time::MAX, Time::ZERO, setting.frames);
            Box::new(Coalescer { setting, timed, batch: Vec::new(), due, last, frames, random })
        })
    }

    pub(crate) fn receive(&mut self, now: Time, transit: Transit) -> Interrupt {
        self.batch.push(transit);
        let first = self.batch.len() == 1;
        if first && !self.timed {
            self.frames = self.random.random_range(1..=2 * self.setting.frames - 1);
        }
        let spaced = self.setting.kind == Moderation::Spacing;
        let due = match first {
            true if spaced => now.max(self.last + self.setting.time),
            false if self.timed => self.due,
            _ => now + self.setting.time,
        };
        if self.frames > 0 && self.batch.len() >= self.frames as usize || due == now {
            self.last = now;
            return Interrupt::Now;
        }
        if due == self.due {
            return Interrupt::Pending;
        }
        self.due = due;
        Interrupt::Set
    }

    /// The batch, handed over.
    pub(crate) fn take(&mut self) -> Vec<Transit> {
        if self.due != Time::MAX {
            self.last = self.last.max(self.due);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    /// Packets of each batch, and when it was handed over, for packets that arrive at these microseconds.
    fn batches(setting: Coalescing, arrivals_us: impl IntoIterator<Item = u64>) -> Vec<(usize, u64)> {
        let mut card = Coalescer::new(setting, 1).expect("packets wait");
        let mut batches = Vec::new();
        for at in arrivals_us {
            let now = Time::from_nanos(at * 1000);
            if card.due < now {
                let due = card.due;
                batches.push((card.take().len(), due.nanos() / 1000));
            }
            if card.receive(now, Transit::of_traffic(0, at, Bytes::new(9000), now)) == Interrupt::Now {
                batches.push((card.take().len(), at));
            }
        }
        batches
    }

    fn setting(kind: Moderation, time_us: u64, frames: u32) -> Coalescing {
        Coalescing { kind, time: Span::from_micros(time_us), frames }
    }

    #[test]
    fn a_timer_runs_from_the_first_packet_of_a_batch() {
        let found = batches(setting(Moderation::Timer, 10, 0), [0, 4, 8, 12, 30, 39, 50]);
        assert_eq!(found, [(3, 10), (1, 22), (2, 40)]);
    }

    #[test]
    fn spaced_interrupts_wait_for_the_last_one_only() {
        let found = batches(setting(Moderation::Spacing, 10, 0), [20, 24, 28, 32, 60, 61, 80]);
        assert_eq!(found, [(1, 20), (2, 30), (1, 40), (1, 60), (1, 70), (1, 80)]);
    }

    #[test]
    fn an_adaptive_card_does_not_count_frames_up_to_12_us() {
        let arrivals = [0, 4, 8, 12, 16, 40];
        let adaptive = batches(setting(Moderation::Adaptive, 12, 2), arrivals);
        assert_eq!(adaptive, batches(setting(Moderation::Timer, 12, 0), arrivals));
    }

    #[test]
    fn an_adaptive_card_counts_frames_beyond_12_us_and_varies() {
        let found = batches(setting(Moderation::Adaptive, 100, 10), (0..20_000).map(|i| 8 * i));
        let (least, most) = (found.iter().map(|b| b.0).min(), found.iter().map(|b| b.0).max());
        assert_eq!((least, most), (Some(1), Some(19)));
        // 20 000 packets over a mean of 10; the standard error of the mean is sqrt(30 / 2000) = 0.12.
        let mean = 20_000.0 / found.len() as f64;
        assert!((mean - 10.0).abs() < 0.5, "{mean}");
    }
}
