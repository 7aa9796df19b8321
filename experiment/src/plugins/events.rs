//! Events of the contract, as the interface says them.

use packetscale_controller::abi;
use packetscale_models::congestion::{AckSample, Arrival, Loss, LostFlight, Marked, RateSample, Sent, Setup, Timeout};
use packetscale_models::units::{Span, Time};
use std::ptr::{from_ref, null};

pub(crate) fn setup(setup: &Setup, settings: &[u64]) -> abi::Setup {
    abi::Setup {
        now_ps: setup.now.picos(),
        packet_bytes: setup.packet.get(),
        handshake_rtt_ps: setup.handshake_rtt.picos(),
        seed: setup.seed,
        settings: settings.as_ptr(),
        initial_window_packets: setup.initial_window,
        reserved: 0,
    }
}

pub(crate) fn sent(sent: &Sent) -> abi::Sent {
    abi::Sent {
        now_ps: sent.now.picos(),
        transmission: sent.transmission,
        size_bytes: sent.size.get(),
        in_flight_packets: sent.in_flight,
        app_limited: sent.app_limited.into(),
        retransmission: sent.retransmission.into(),
    }
}

pub(crate) fn arrival(arrival: &Arrival) -> abi::Arrival {
    abi::Arrival { transmission: arrival.transmission, arrived_ps: arrival.arrived.map_or(abi::NONE, Time::picos) }
}

pub(crate) fn rate_sample(sample: &RateSample) -> abi::RateSample {
    abi::RateSample {
        delivered_packets: sample.delivered,
        interval_ps: sample.interval.picos(),
        prior_delivered_packets: sample.prior_delivered,
        lost_packets: sample.lost,
        tx_in_flight_packets: sample.tx_in_flight,
        app_limited: sample.is_app_limited.into(),
    }
}

/// With the lists that the controller asked for.
#[inline]
pub(crate) fn ack(ack: &AckSample<'_>, arrivals: &[abi::Arrival], rate: Option<&abi::RateSample>) -> abi::Ack {
    abi::Ack {
        now_ps: ack.now.picos(),
        rtt_ps: ack.rtt.map_or(abi::NONE, Span::picos),
        srtt_ps: ack.srtt.picos(),
        min_rtt_ps: ack.min_rtt.picos(),
        next_unacked: ack.next_unacked,
        next_unsent: ack.next_unsent,
        arrivals: arrivals.as_ptr(),
        rate_sample: rate.map_or(null(), from_ref),
        arrivals_count: count(arrivals),
        delivered_packets: ack.delivered,
        cumulative_packets: ack.cumulative,
        prior_in_flight_packets: ack.prior_in_flight,
        in_flight_packets: ack.in_flight,
        window_limited: ack.window_limited.into(),
        in_recovery: ack.in_recovery.into(),
    }
}

pub(crate) fn flight(flight: &LostFlight) -> abi::LostFlight {
    abi::LostFlight {
        sequence: flight.sequence,
        lost_packets: flight.lost,
        tx_in_flight_packets: flight.tx_in_flight,
        app_limited: flight.is_app_limited.into(),
    }
}

pub(crate) fn loss(loss: &Loss<'_>, flights: &[abi::LostFlight]) -> abi::Loss {
    abi::Loss {
        now_ps: loss.now.picos(),
        srtt_ps: loss.srtt.picos(),
        transmissions: loss.transmissions.as_ptr(),
        flights: flights.as_ptr(),
        transmissions_count: count(loss.transmissions),
        flights_count: count(flights),
        lost_packets: loss.lost,
        prior_in_flight_packets: loss.prior_in_flight,
        enters_recovery: loss.enters_recovery.into(),
        reserved: 0,
    }
}

pub(crate) fn mark(marked: &Marked) -> abi::Mark {
    abi::Mark {
        now_ps: marked.now.picos(),
        srtt_ps: marked.srtt.picos(),
        congestion_packets: marked.congestion,
        burstiness_packets: marked.burstiness,
        answer: marked.answer.into(),
        reserved: 0,
    }
}

pub(crate) fn timeout(timeout: &Timeout) -> abi::Timeout {
    abi::Timeout { now_ps: timeout.now.picos(), in_flight_packets: timeout.in_flight, first: timeout.first.into() }
}

/// The length of a list. No event is about 2^32 packets; of more, the first are reported.
fn count<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}
