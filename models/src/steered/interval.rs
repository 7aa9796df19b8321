//! The measurements of a sender within one interval.

use crate::congestion::{AckSample, Loss, Sent};
use crate::units::{Bytes, Span, Time};
use alloc::vec::Vec;

/// Counts of the interval under way.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    since: Time,
    packet: Bytes,
    sent: u64,
    delivered: u64,
    lost: u64,
    /// Round trips in the order in which they were measured, in seconds.
    rtts_s: Vec<f64>,
    srtt: Span,
    min_rtt: Span,
}

/// An interval that has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// How long it was, in seconds; not zero.
    pub seconds: f64,
    /// Packets sent, retransmissions too.
    pub sent: u64,
    /// Packets newly known to have arrived.
    pub delivered: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Mean round trip in seconds, if one was measured.
    pub rtt_s: Option<f64>,
    /// Mean round trip of the second half of the samples minus that of the first, in seconds; 0 below two samples.
    pub rtt_rise_s: f64,
    /// Smoothed round trip at its end, in seconds.
    pub srtt_s: f64,
    /// Smallest round trip of the connection, in seconds.
    pub min_rtt_s: f64,
    /// Size of a full packet.
    pub packet: Bytes,
}

impl Interval {
    /// Packets that arrived in a second.
    pub fn delivered_per_s(&self) -> f64 {
        self.delivered as f64 / self.seconds
    }

    /// Packets lost in a second.
    pub fn lost_per_s(&self) -> f64 {
        self.lost as f64 / self.seconds
    }

    /// Of the packets with known fate, the part that was lost; 0 without such packets.
    pub fn loss_ratio(&self) -> f64 {
        self.lost as f64 / (self.lost + self.delivered).max(1) as f64
    }
}

impl Monitor {
    /// `handshake_rtt` counts until a round trip is measured.
    pub(crate) fn new(now: Time, packet: Bytes, handshake_rtt: Span) -> Monitor {
        let rtts_s = Vec::new();
        Monitor {
            since: now,
            packet,
            sent: 0,
            delivered: 0,
            lost: 0,
            rtts_s,
            srtt: handshake_rtt,
            min_rtt: handshake_rtt,
        }
    }

    pub(crate) fn on_sent(&mut self, _sent: &Sent) {
        self.sent += 1;
    }

    pub(crate) fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.delivered += u64::from(ack.delivered);
        self.rtts_s.extend(ack.rtt.map(Span::as_secs_f64));
        (self.srtt, self.min_rtt) = (ack.srtt, ack.min_rtt);
    }

    pub(crate) fn on_loss(&mut self, loss: &Loss<'_>) {
        self.lost += u64::from(loss.lost);
    }

    /// Ends the interval and begins the next.
    pub(crate) fn end(&mut self, now: Time) -> Interval {
        let (first, second) = self.rtts_s.split_at(self.rtts_s.len() / 2);
        let interval = Interval {
            seconds: now.saturating_since(self.since).max(Span::from_picos(1)).as_secs_f64(),
            sent: self.sent,
            delivered: self.delivered,
            lost: self.lost,
            rtt_s: mean(&self.rtts_s),
            rtt_rise_s: mean(first).map_or(0.0, |before| mean(second).unwrap_or(before) - before),
            srtt_s: self.srtt.as_secs_f64(),
            min_rtt_s: self.min_rtt.as_secs_f64(),
            packet: self.packet,
        };
        (self.since, self.sent, self.delivered, self.lost) = (now, 0, 0, 0);
        self.rtts_s.clear();
        interval
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
