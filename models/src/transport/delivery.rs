//! How fast the path delivers, packet by packet (draft-ietf-ccwg-bbr, section "Delivery Rate Samples").
//!
//! Every transmission records how much had been delivered when it left, and when. Its acknowledgment closes an interval
//! over which the amount delivered is known:
//!
//! ```text
//! send_elapsed = P.sent - P.first_sent            how long the packets of the sample took to leave
//! ack_elapsed  = now - P.delivered_time           how long they took to be acknowledged
//! interval     = max(send_elapsed, ack_elapsed)   compressed acknowledgments do not raise the rate
//! delivered    = C.delivered - P.delivered
//! ```
//!
//! Deviation: a retransmission gives no sample where the echo shows that an older transmission arrived. Its interval would begin
//! when it left, just before the original arrived: the draft and Linux (`tcp_rate_gen`) accept the rate that is too high.
//!
//! These records are separate from the scoreboard's: a flow keeps none unless its controller needs them.

use crate::congestion::{LostFlight, RateSample};
use crate::units::{Span, Time};

use crate::transport::covered::{CoveredList, Delivered};
use crate::transport::ring::Ring;
use crate::transport::scoreboard::Coverage;

/// The connection as it was when a packet left, in half a cache line. When that was, the scoreboard knows.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Snapshot {
    first_sent: Time,
    delivered: u64,
    delivered_time: Time,
    /// Only the last bits: what is lost while a packet is outstanding is no more than these can count.
    lost: u32,
    /// The packets in flight, and [`Snapshot::APP_LIMITED`].
    flight: u32,
}

impl Snapshot {
    /// More packets than ever are in flight.
    const APP_LIMITED: u32 = 1 << 31;
    const EMPTY: Snapshot =
        Snapshot { first_sent: Time::ZERO, delivered: 0, delivered_time: Time::ZERO, lost: 0, flight: 0 };

    fn in_flight(&self) -> u32 {
        self.flight & !Snapshot::APP_LIMITED
    }

    fn is_app_limited(&self) -> bool {
        self.flight & Snapshot::APP_LIMITED != 0
    }
}

/// The delivery rate estimator; the head of this file explains it.
#[derive(Clone, Debug)]
pub(crate) struct DeliverySampler {
    /// One per outstanding packet, for its newest transmission.
    snapshots: Ring<Snapshot>,
    /// The first packet with a snapshot, and the first after the last.
    base: u64,
    next: u64,
    delivered: u64,
    delivered_time: Time,
    /// When the newest packet left that the last acknowledgment delivered.
    first_sent: Time,
    lost: u64,
    /// Samples are limited by the application until this many packets have been delivered.
    app_limited_until: u64,
    /// The newest transmission that the current acknowledgment covers.
    newest: Option<(Delivered, Snapshot)>,
}

impl DeliverySampler {
    pub fn new(now: Time) -> DeliverySampler {
        DeliverySampler {
            snapshots: Ring::new(Snapshot::EMPTY),
            base: 0,
            next: 0,
            delivered: 0,
            delivered_time: now,
            first_sent: now,
            lost: 0,
            app_limited_until: 0,
            newest: None,
        }
    }

    /// A packet left; `in_flight` counts it.
    #[inline]
    pub fn on_sent(&mut self, now: Time, sequence: u64, in_flight: u32) {
        if in_flight == 1 {
            self.first_sent = now;
            self.delivered_time = now;
        }
        let snapshot = Snapshot {
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            lost: self.lost as u32,
            flight: in_flight | if self.delivered < self.app_limited_until { Snapshot::APP_LIMITED } else { 0 },
        };
        if sequence >= self.next {
            self.snapshots.reserve(self.base, self.next);
            self.next = sequence + 1;
        }
        *self.snapshots.get_mut(sequence) = snapshot;
    }

    /// The window has space, but no data is available.
    pub fn on_nothing_to_send(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// An acknowledgment has delivered these packets, and everything before `first` is acknowledged cumulatively.
    #[inline]
    pub fn on_acknowledged(&mut self, now: Time, list: &CoveredList<'_>, first: u64) {
        list.packets().iter().for_each(|packet| self.on_delivered(now, packet.sequence, packet.this));
        self.forget_before(first);
    }

    /// A packet has arrived: this transmission of it, its newest.
    #[inline]
    fn on_delivered(&mut self, now: Time, sequence: u64, this: Delivered) {
        self.delivered += 1;
        self.delivered_time = now;
        if self.newest.is_none_or(|(newest, _)| newest.transmission < this.transmission) {
            self.newest = Some((this, *self.snapshots.get(sequence)));
        }
    }

    fn lost_since(&self, snapshot: &Snapshot) -> u64 {
        (self.lost as u32).wrapping_sub(snapshot.lost).into()
    }

    /// A packet was declared lost.
    pub fn on_lost(&mut self, sequence: u64) -> LostFlight {
        self.lost += 1;
        let snapshot = self.snapshots.get(sequence);
        LostFlight {
            sequence,
            tx_in_flight: snapshot.in_flight(),
            lost: self.lost_since(snapshot),
            is_app_limited: snapshot.is_app_limited(),
        }
    }

    /// Everything before `first` was acknowledged cumulatively.
    fn forget_before(&mut self, first: u64) {
        self.base = self.base.max(first);
    }

    /// Returns the sample of the current acknowledgment. An interval below `min_rtt` is too short to be plausible, and gives none;
    /// nor does a packet that left again since.
    pub fn take_sample(&mut self, min_rtt: Span, coverage: &Coverage) -> Option<RateSample> {
        let (Delivered { sent, transmission }, newest) = self.newest.take()?;
        let arrived = coverage.may_have_arrived(transmission);
        self.first_sent = self.first_sent.max(sent);
        let send_elapsed = sent.saturating_since(newest.first_sent);
        let ack_elapsed = self.delivered_time.saturating_since(newest.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        Some(RateSample {
            delivered: self.delivered - newest.delivered,
            interval: if interval < min_rtt || !arrived { Span::ZERO } else { interval },
            prior_delivered: newest.delivered,
            is_app_limited: newest.is_app_limited(),
            tx_in_flight: newest.in_flight(),
            lost: self.lost_since(&newest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ops::{Deref, DerefMut};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A sampler, and the scoreboard's part: when each packet's newest transmission left.
    struct Driven(DeliverySampler, [Delivered; 20]);

    impl Driven {
        fn new(now: Time) -> Driven {
            Driven(DeliverySampler::new(now), [Delivered { transmission: 0, sent: now }; 20])
        }

        fn on_sent(&mut self, now: Time, sequence: u64, transmission: u64, in_flight: u32) {
            self.1[sequence as usize] = Delivered { transmission, sent: now };
            self.0.on_sent(now, sequence, in_flight);
        }

        fn on_delivered(&mut self, now: Time, sequence: u64) {
            self.0.on_delivered(now, sequence, self.1[sequence as usize]);
        }
    }

    impl Driven {
        /// Whatever was covered has arrived.
        fn take_sample(&mut self, min_rtt: Span) -> Option<RateSample> {
            self.0.take_sample(min_rtt, &Coverage { echo_sent: Some(at(0)), ..Coverage::new(0) })
        }
    }

    impl Deref for Driven {
        type Target = DeliverySampler;
        fn deref(&self) -> &DeliverySampler {
            &self.0
        }
    }

    impl DerefMut for Driven {
        fn deref_mut(&mut self) -> &mut DeliverySampler {
            &mut self.0
        }
    }

    /// Packets 0 to 3 leave 1 ms apart. From 10 ms on they are acknowledged 2 ms apart. Packet 4 leaves at 10 ms.
    /// Its sample is 4 packets, delivered from 10 ms to 18 ms.
    #[test]
    fn a_sample_spans_deliveries_since_its_packet_left() {
        let mut sampler = Driven::new(at(0));
        (0..4).for_each(|n| sampler.on_sent(at(n), n, n, n as u32 + 1));
        sampler.on_delivered(at(10), 0);
        sampler.forget_before(1);
        let first = sampler.take_sample(Span::from_millis(10)).expect("a sample");
        assert_eq!((first.delivered, first.interval, first.prior_delivered), (1, Span::from_millis(10), 0));
        sampler.on_sent(at(10), 4, 4, 4);
        for n in 1..4 {
            sampler.on_delivered(at(10 + 2 * n), n);
            sampler.forget_before(n + 1);
            sampler.take_sample(Span::from_millis(10));
        }
        sampler.on_delivered(at(20), 4);
        let last = sampler.take_sample(Span::from_millis(10)).expect("a sample");
        assert_eq!((last.delivered, last.interval, last.prior_delivered), (4, Span::from_millis(10), 1));
        assert_eq!((last.tx_in_flight, last.lost, last.is_app_limited), (4, 0, false));
    }

    /// Ten packets leave over 9 ms; one acknowledgment covers all of them at 10 ms: 10 packets in 10 ms. The next ten
    /// leave over 27 ms and are acknowledged within 10 ms of the first of them: the send time bounds the rate.
    #[test]
    fn compressed_acknowledgments_do_not_raise_the_rate() {
        let mut sampler = Driven::new(at(0));
        (0..10).for_each(|n| sampler.on_sent(at(3 * n), n, n, n as u32 + 1));
        sampler.on_delivered(at(30), 0);
        sampler.take_sample(Span::ZERO);
        (1..10).for_each(|n| sampler.on_delivered(at(31), n));
        let sample = sampler.take_sample(Span::ZERO).expect("a sample");
        assert_eq!((sample.delivered, sample.interval), (10, Span::from_millis(31)));
        sampler.forget_before(10);
        (10..20).for_each(|n| sampler.on_sent(at(31 + 3 * (n - 10)), n, n, n as u32 - 9));
        (10..20).for_each(|n| sampler.on_delivered(at(59), n));
        assert_eq!(
            sampler.take_sample(Span::ZERO).map(|s| (s.delivered, s.interval)),
            Some((10, Span::from_millis(28)))
        );
    }

    /// Two packets leave at 0 ms, the first again at 330 ms. At 385 ms an acknowledgment of both echoes transmission 0. Two
    /// packets in the 55 ms since the retransmission would be seven times the rate.
    #[test]
    fn a_needless_retransmission_gives_no_rate() {
        let mut sampler = Driven::new(at(0));
        (0..2).for_each(|n| sampler.on_sent(at(0), n, n, n as u32 + 1));
        sampler.on_sent(at(330), 0, 2, 1);
        (0..2).for_each(|n| sampler.on_delivered(at(385), n));
        let coverage = Coverage { newest_likely: Some(Delivered { transmission: 1, sent: at(0) }), ..Coverage::new(0) };
        assert_eq!(sampler.0.take_sample(Span::from_millis(10), &coverage).map(|s| s.interval), Some(Span::ZERO));
    }

    #[test]
    fn rejects_an_interval_below_the_round_trip() {
        let mut sampler = Driven::new(at(0));
        sampler.on_sent(at(0), 0, 0, 1);
        sampler.on_delivered(at(5), 0);
        assert_eq!(sampler.take_sample(Span::from_millis(6)).map(|s| s.interval), Some(Span::ZERO));
    }

    /// Two packets are in flight when nothing is left to send. What leaves before both are delivered is marked as
    /// limited by the application.
    #[test]
    fn samples_are_app_limited_until_the_gap_has_passed() {
        let mut sampler = Driven::new(at(0));
        sampler.on_sent(at(0), 0, 0, 1);
        sampler.on_sent(at(0), 1, 1, 2);
        sampler.on_nothing_to_send(2);
        sampler.on_sent(at(1), 2, 2, 3);
        (0..2).for_each(|n| sampler.on_delivered(at(10), n));
        sampler.take_sample(Span::ZERO);
        sampler.on_sent(at(10), 3, 3, 2);
        sampler.on_delivered(at(11), 2);
        assert_eq!(sampler.take_sample(Span::ZERO).map(|s| s.is_app_limited), Some(true));
        sampler.on_delivered(at(20), 3);
        assert_eq!(sampler.take_sample(Span::ZERO).map(|s| s.is_app_limited), Some(false));
    }

    #[test]
    fn a_loss_reports_flight_and_losses_since() {
        let mut sampler = Driven::new(at(0));
        (0..5).for_each(|n| sampler.on_sent(at(n), n, n, n as u32 + 1));
        sampler.on_lost(1);
        sampler.on_sent(at(9), 1, 5, 5);
        assert_eq!(sampler.on_lost(3), LostFlight { sequence: 3, tx_in_flight: 4, lost: 2, is_app_limited: false });
        sampler.on_delivered(at(20), 1);
        assert_eq!(sampler.take_sample(Span::ZERO).map(|s| (s.lost, s.tx_in_flight)), Some((1, 5)));
    }
}
