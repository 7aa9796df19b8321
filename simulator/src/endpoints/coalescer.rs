//! Interrupt coalescence: packets of a batch wait until the card interrupts, or the batch holds enough frames.
//!
//! Source of the three kinds: Q. Yin, "TCP RAPID: from theory to practice", section 6.3. `Timer` and `Spacing` are the two
//! ways to read "the minimum time delay between interrupts" of its first card; `Adaptive` is the second, which honours a
//! time up to 12 us and counts frames beyond. Figure 6.9 shows how widely its batches vary but prints no numbers: here
//! they have 1 to 2 `frames` - 1 packets, each as likely, and a packet that no other joins is handed over after `time`.

use crate::transit::Transit;
use experiment::scenario::{Coalescing, Moderation};
use packetscale_models::units::{Span, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The receiving card of one host.
#[derive(Clone, Debug)]
pub(crate) struct Coalescer {
    setting: Coalescing,
    /// The time alone counts, and frames as a limit.
    timed: bool,
    batch: Vec<Transit>,
    /// When the interrupt fires; [`Time::MAX`]: none pending.
    due: Time,
    /// The last interrupt.
    last: Time,
    /// Packets that fill this batch; 0: none do.
    frames: u32,
    random: Pcg64Mcg,
}

/// The card's decision on a packet.
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
            true if spaced => now.max(self.last + self.wait()),
            false if self.timed => self.due,
            _ => now + self.wait(),
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

    /// How long this interrupt is put off.
    fn wait(&mut self) -> Span {
        let Coalescing { time, jitter, .. } = self.setting;
        if jitter == Span::ZERO {
            return time;
        }
        let (least, most) = (time.picos() - jitter.picos(), time.picos() + jitter.picos());
        Span::from_picos(self.random.random_range(least..=most))
    }

    /// When the interrupt fires; [`Time::MAX`]: none pending.
    pub(crate) fn due(&self) -> Time {
        self.due
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
    pub(super) fn reuse(&mut self, mut batch: Vec<Transit>) {
        if self.batch.is_empty() {
            batch.clear();
            self.batch = batch;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packetscale_models::units::Bytes;

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
        Coalescing { kind, time: Span::from_micros(time_us), frames, ..Coalescing::NONE }
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
    fn an_adaptive_card_ignores_its_frame_limit_up_to_12_us() {
        let arrivals = [0, 4, 8, 12, 16, 40];
        let adaptive = batches(setting(Moderation::Adaptive, 12, 2), arrivals);
        assert_eq!(adaptive, batches(setting(Moderation::Timer, 12, 0), arrivals));
    }

    #[test]
    fn jitter_bounds_each_wait() {
        let setting = Coalescing { jitter: Span::from_micros(4), ..setting(Moderation::Timer, 10, 0) };
        let waits: Vec<u64> =
            batches(setting, (0..4000).map(|i| 100 * i)).iter().map(|(_, at_us)| at_us % 100).collect();
        let (least, most) = (waits.iter().min(), waits.iter().max());
        assert_eq!((least, most), (Some(&6), Some(&13)), "whole microseconds, cut");
        // Uniform over 6 to 14 us, cut: a mean of 9.5, with a standard error of 8 / sqrt(12 * 4000) = 0.04.
        let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64;
        assert!((mean - 9.5).abs() < 0.15, "{mean}");
    }

    #[test]
    fn an_adaptive_card_limits_frames_beyond_12_us_and_varies() {
        let found = batches(setting(Moderation::Adaptive, 100, 10), (0..20_000).map(|i| 8 * i));
        let (least, most) = (found.iter().map(|b| b.0).min(), found.iter().map(|b| b.0).max());
        assert_eq!((least, most), (Some(1), Some(19)));
        // 20 000 packets over a mean of 10; the standard error of the mean is sqrt(30 / 2000) = 0.12.
        let mean = 20_000.0 / found.len() as f64;
        assert!((mean - 10.0).abs() < 0.5, "{mean}");
    }
}
