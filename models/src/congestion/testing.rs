//! Events by hand, for the tests of single controllers.

use super::contract::{AckSample, Loss, Sent, Setup};
use crate::units::{Bytes, Span, Time};

/// A flow that begins at time zero.
pub(crate) fn setup(packet: u64, handshake_rtt: Span, initial_window: u32) -> Setup {
    Setup { now: Time::ZERO, packet: Bytes::new(packet), handshake_rtt, initial_window, seed: 1 }
}

/// This many packets, acknowledged in order; the window limits the flow.
pub(crate) fn ack(now: Time, packets: u32, rtt: Span) -> AckSample<'static> {
    AckSample {
        now,
        delivered: packets,
        cumulative: packets,
        prior_in_flight: 10,
        in_flight: 10,
        rtt: Some(rtt),
        srtt: rtt,
        min_rtt: rtt,
        next_unacked: 0,
        next_unsent: 0,
        window_limited: true,
        in_recovery: false,
        arrivals: &[],
        rate: None,
    }
}

/// One packet lost, with which recovery begins.
pub(crate) fn loss(now: Time, srtt: Span) -> Loss<'static> {
    Loss { now, transmissions: &[], flights: &[], lost: 1, enters_recovery: true, prior_in_flight: 10, srtt }
}

pub(crate) fn sent(now: Time, packet: u64) -> Sent {
    let size = Bytes::new(packet);
    Sent { now, paced_from: now, transmission: 0, size, in_flight: 1, app_limited: false, retransmission: false }
}
