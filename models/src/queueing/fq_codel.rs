//! FQ-CoDel: a queue per flow, served in turns by bytes, each under CoDel.
//!
//! ```text
//! arrival:    bucket = hash(flow, seed) mod flows.  A bucket on neither list joins the end of `new`: credit = quantum
//! full:       half of the packets of the bucket with most bytes, at most 64, are dropped from its head
//! departure:  the first bucket of `new`; of `old` if that is empty
//!             credit <= 0:            credit += quantum, to the end of `old`; again
//!             CoDel gives a packet:   credit -= its size; it leaves
//!             CoDel gives none:       from `new` to the end of `old`, from `old` off the lists; again
//! ```
//!
//! A flow that sends less than a quantum per turn is always new, and goes before the others.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet Scheduler
//! and Active Queue Management Algorithm", RFC 8290, 2018: sections 4.1 and 4.2. Its constants: 1024 buckets and a
//! quantum of 1514 bytes (section 5.2). CoDel: [`codel`](crate::queueing::codel).
//!
//! Deviations:
//! 1. The limit is the link's buffer, not 10 240 packets (section 5.2.3).
//! 2. A flow is the simulator's flow or traffic source, not the hash of five header fields. The seed is the run's.
//! 3. One arrival may take several batches of drops, until the buffer holds no more than its limit.

use crate::queueing::codel::{self, Codel, Params};
use crate::queueing::contract::{Packet, Queue, Setup, Verdict};
use crate::queueing::timed::{Occupancy, Timed};
use crate::settings::{Parameter, Parameters, SettingError, Settings, above_zero, check_names};
use crate::units::{Bytes, Packets, Random, Time};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

const FLOWS: Parameter<u32> = Parameter::new("flows", 1024, 1..=65_536, "number of hash buckets, one queue each");
const QUANTUM: Parameter<Bytes> =
    Parameter::new("quantum", Bytes::new(1514), above_zero(), "data that a queue may send per round");

/// The settings.
pub const PARAMETERS: Parameters = &[&codel::TARGET, &codel::INTERVAL, &FLOWS, &QUANTUM];

/// Most packets dropped in a batch (RFC 8290, section 4.1).
const MOST_IN_BATCH: u64 = 64;

/// The queue of one bucket of flows.
#[derive(Clone, Debug)]
struct Bucket<P> {
    waiting: Timed<P>,
    codel: Codel,
    /// Bytes that it may still send in this turn.
    credit: i64,
    /// Whether it is on a list.
    listed: bool,
}

/// The discipline; the head of this file explains it.
#[derive(Clone, Debug)]
pub struct FqCodel<P> {
    params: Params,
    quantum: i64,
    seed: u64,
    buckets: Vec<Bucket<P>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    held: Occupancy,
    dropped: VecDeque<Packet<P>>,
}

impl<P> FqCodel<P> {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<FqCodel<P>, SettingError> {
        check_names(settings, PARAMETERS)?;
        let bucket = |_| Bucket { waiting: Timed::new(), codel: Codel::default(), credit: 0, listed: false };
        Ok(FqCodel {
            params: Params::read(setup, settings)?,
            quantum: i64::try_from(QUANTUM.read(settings)?.get()).unwrap_or(i64::MAX / 2),
            seed: setup.seed,
            buckets: (0..FLOWS.read(settings)?).map(bucket).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            held: Occupancy::new(setup.limit),
            dropped: VecDeque::new(),
        })
    }

    fn bucket_of(&self, flow: u32) -> usize {
        let hash = Random::new(self.seed ^ (u64::from(flow) << 32)).bits();
        (hash % self.buckets.len() as u64) as usize
    }

    /// Drops a batch from the bucket with most bytes.
    fn make_space(&mut self) {
        let fattest = self.buckets.iter_mut().max_by_key(|bucket| bucket.waiting.bytes());
        let Some(bucket) = fattest.filter(|bucket| bucket.waiting.packets() > 0) else { return };
        for _ in 0..bucket.waiting.packets().div_ceil(2).min(MOST_IN_BATCH) {
            if let Some((_, packet)) = bucket.waiting.pop() {
                self.held.remove(packet.size);
                self.dropped.push_back(packet);
            }
        }
    }
}

impl<P> Queue<P> for FqCodel<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Verdict {
        let index = self.bucket_of(packet.flow);
        let bucket = &mut self.buckets[index];
        if !bucket.listed {
            bucket.listed = true;
            bucket.credit = self.quantum;
            self.new.push_back(index);
        }
        self.held.add(packet.size);
        bucket.waiting.push(now, packet);
        while self.held.is_over() && self.buckets.iter().any(|bucket| bucket.waiting.packets() > 0) {
            self.make_space();
        }
        Verdict::Queued
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        let FqCodel { params, quantum, buckets, new, old, held, dropped, .. } = self;
        loop {
            let is_new = !new.is_empty();
            let list = if is_new { &mut *new } else { &mut *old };
            let index = *list.front()?;
            let bucket = &mut buckets[index];
            if bucket.credit <= 0 {
                bucket.credit = bucket.credit.saturating_add(*quantum);
                list.pop_front();
                old.push_back(index);
                continue;
            }
            let packet = bucket.codel.dequeue(params, now, &mut bucket.waiting, |packet| {
                held.remove(packet.size);
                dropped.push_back(packet);
            });
            if let Some(packet) = packet {
                bucket.credit -= packet.size.get() as i64;
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                old.push_back(index);
            } else {
                bucket.listed = false;
            }
        }
    }

    fn take_dropped(&mut self) -> Option<Packet<P>> {
        self.dropped.pop_front()
    }

    fn departed(&mut self, _now: Time, size: Bytes) {
        self.held.remove(size);
    }

    fn length(&self) -> (Packets, Bytes) {
        self.held.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::contract::Limit;
    use crate::settings::Setting;
    use crate::units::{Rate, Span};

    fn built(limit: u64, settings: &[(&str, Setting)]) -> FqCodel<u32> {
        let limit = Limit::Packets(Packets::new(limit));
        let setup = Setup { rate: Rate::from_mbps(8), limit, packet: Bytes::new(1500), seed: 7 };
        let settings = settings.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        FqCodel::build(&setup, &settings).expect("valid settings")
    }

    fn packet(flow: u32, size: u64) -> Packet<u32> {
        Packet::new(flow, Bytes::new(size), 0)
    }

    /// Sends until the queue is empty or `most` packets have left, all at one instant. Returns their flows.
    fn order(queue: &mut FqCodel<u32>, most: usize) -> Vec<u32> {
        let next = || {
            let packet = queue.dequeue(Time::ZERO)?;
            queue.departed(Time::ZERO, packet.size);
            Some(packet.flow)
        };
        core::iter::from_fn(next).take(most).collect()
    }

    /// Flows 1 and 2 in different buckets, packets of a quantum each. Each spends its first quantum exactly, so a turn
    /// is one packet.
    #[test]
    fn two_flows_take_turns() {
        let mut queue = built(100, &[]);
        assert_ne!(queue.bucket_of(1), queue.bucket_of(2));
        for flow in [1, 1, 1, 1, 2, 2, 2, 2] {
            queue.enqueue(Time::ZERO, packet(flow, 1514));
        }
        assert_eq!(order(&mut queue, 8), [1, 2, 1, 2, 1, 2, 1, 2]);
    }

    /// Deficit round robin is fair by bytes: over 200 packets of 1500 B and many of 300 B the shares differ by less than
    /// a quantum and a packet.
    #[test]
    fn shares_are_equal_in_bytes_whatever_the_size() {
        let mut queue = built(100_000, &[]);
        for _ in 0..2000 {
            queue.enqueue(Time::ZERO, packet(1, 1500));
            queue.enqueue(Time::ZERO, packet(2, 300));
        }
        let flows = order(&mut queue, 1200);
        let sent = |flow: u32, size: u64| size * flows.iter().filter(|sent| **sent == flow).count() as u64;
        assert!(sent(1, 1500).abs_diff(sent(2, 300)) < 1514 + 1500, "{} {}", sent(1, 1500), sent(2, 300));
    }

    /// A flow that comes while another has a long queue goes first.
    #[test]
    fn a_new_flow_goes_before_old_ones() {
        let mut queue = built(100, &[]);
        (0..10).for_each(|_| {
            queue.enqueue(Time::ZERO, packet(1, 1514));
        });
        assert_eq!(order(&mut queue, 2), [1, 1]);
        queue.enqueue(Time::ZERO, packet(2, 1514));
        assert_eq!(order(&mut queue, 4), [2, 1, 1, 1]);
    }

    /// Ten packets of flow 1 and one of flow 2 fill the buffer of 11. Another of flow 2 costs flow 1, the fattest, half
    /// of its ten.
    #[test]
    fn a_full_buffer_drops_from_the_largest_flow() {
        let mut queue = built(11, &[]);
        (0..10).for_each(|_| {
            queue.enqueue(Time::ZERO, packet(1, 1500));
        });
        queue.enqueue(Time::ZERO, packet(2, 1500));
        assert!(queue.take_dropped().is_none());
        assert_eq!(queue.enqueue(Time::ZERO, packet(2, 1500)), Verdict::Queued);
        let dropped: Vec<u32> = core::iter::from_fn(|| queue.take_dropped()).map(|packet| packet.flow).collect();
        assert_eq!(dropped, [1; 5]);
        assert_eq!(queue.length(), (Packets::new(7), Bytes::new(7 * 1500)));
    }

    /// Both flows wait for 200 ms; CoDel strikes in each bucket for itself, once per bucket at that instant.
    #[test]
    fn every_bucket_has_a_separate_codel() {
        let mut queue = built(1000, &[]);
        for _ in 0..100 {
            queue.enqueue(Time::ZERO, packet(1, 1500));
            queue.enqueue(Time::ZERO, packet(2, 1500));
        }
        let mut dropped = [0, 0];
        for ms in 0..=110 {
            let now = Time::ZERO + Span::from_millis(ms);
            let sent = queue.dequeue(now).expect("it is backlogged");
            queue.departed(now, sent.size);
            while let Some(packet) = queue.take_dropped() {
                dropped[packet.flow as usize - 1] += 1;
            }
        }
        assert_eq!(dropped, [1, 1]);
    }

    #[test]
    fn the_seed_decides_which_flows_share_a_bucket() {
        let one = built(10, &[("flows", Setting::Integer(16))]);
        let other = FqCodel { seed: 8, ..one.clone() };
        let buckets = |queue: &FqCodel<u32>| (0..50).map(|flow| queue.bucket_of(flow)).collect::<Vec<_>>();
        assert_ne!(buckets(&one), buckets(&other));
        assert!(buckets(&one).iter().all(|bucket| *bucket < 16));
    }
}
