//! What every link does with every packet, read from the log of services.

use super::contenders;
use super::path::{dumbbell, link, run, traffic};
use experiment::scenario::{Buffer, Experiment, FlowSpec, TrafficKind};
use packetscale_models::units::{Packets, Rate, Ratio, Span, Time};
use simulator::{Mode, Served};
use std::collections::BTreeSet;

/// Every packet has this size, and so takes 100 us on the wire.
const PACKET: u64 = 1000;
const ON_THE_WIRE: Span = Span::from_micros(100);
const BUFFER: u64 = 30;

/// One flow and bursts of traffic over 80 Mbit/s: queues, drops, losses and idle times.
fn bursts(flow: FlowSpec) -> Experiment {
    let mut wire = link(Rate::from_mbps(80), Span::from_millis(5), Buffer::Packets(Packets::new(BUFFER)));
    wire.loss = Ratio::of(1, 100);
    let mut experiment = dumbbell(wire, Span::from_secs(5));
    experiment.flows = vec![flow.into()];
    let (on, off) = (Span::from_millis(30), Span::from_millis(170));
    experiment.traffic = vec![traffic(TrafficKind::ExponentialOnOff { on, off, rate: Rate::from_mbps(120) }, PACKET)];
    experiment
}

/// Returns, in words, the rule that a wrong log breaks. `None`: a single server made the log, took packets in order,
/// and never rested while a packet waited.
fn broken(log: &[Served]) -> Option<String> {
    let served: Vec<&Served> = log.iter().filter(|served| served.departure != Time::MAX).collect();
    for pair in served.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let begins = after.departure - ON_THE_WIRE;
        if after.arrival < before.arrival {
            return Some(format!("not in order of arrival: {before:?}, {after:?}"));
        }
        if begins < before.departure {
            return Some(format!("two at once on the wire: {before:?}, {after:?}"));
        }
        if begins > before.departure && begins > after.arrival {
            return Some(format!("the link rests while a packet waits: {before:?}, {after:?}"));
        }
        if begins < after.arrival {
            return Some(format!("leaves before it came: {after:?}"));
        }
    }
    None
}

#[test]
fn a_link_serves_in_order_at_exactly_its_rate() {
    for (name, flow) in contenders(PACKET, Span::from_millis(20)) {
        for mode in [Mode::Fused, Mode::Stepped] {
            let log = simulator::log(&bursts(flow.clone()), mode).unwrap();
            assert!(log.len() > 5000, "{name}: only {} services", log.len());
            assert!(log.iter().any(|served| served.departure == Time::MAX), "{name}: nothing was dropped");
            assert_eq!(broken(&log), None, "{name}, {mode:?}");
        }
    }
}

#[test]
fn a_wrong_link_is_refused() {
    let served = |number: u64, arrival_us: u64, departure_us: u64| Served {
        link: 0,
        owner: 0,
        acknowledgment: false,
        transmission: number,
        arrival: Time::from_nanos(arrival_us * 1000),
        departure: Time::from_nanos(departure_us * 1000),
    };
    assert_eq!(broken(&[served(0, 0, 100), served(1, 50, 200), served(2, 300, 400)]), None);
    let wrong = [
        ("order", [served(0, 50, 150), served(1, 0, 250)]),
        ("two at once", [served(0, 0, 100), served(1, 50, 199)]),
        ("rests", [served(0, 0, 100), served(1, 50, 201)]),
        ("before it came", [served(0, 0, 100), served(1, 350, 400)]),
    ];
    for (what, log) in wrong {
        assert!(broken(&log).is_some_and(|text| text.contains(what)), "{what}: {:?}", broken(&log));
    }
}

/// A packet is dropped if and only if it finds the buffer full: that many earlier packets have not left.
#[test]
fn packets_are_dropped_exactly_when_the_buffer_is_full() {
    for (name, flow) in contenders(PACKET, Span::from_millis(20)) {
        let mut log = simulator::log(&bursts(flow), Mode::Fused).unwrap();
        log.sort_by_key(|served| served.arrival);
        // Packets that wait at the end are not in the log. They came after the last that left.
        let last = log.iter().filter(|served| served.departure != Time::MAX).map(|served| served.arrival).max();
        let mut held: Vec<Time> = Vec::new();
        for (at, served) in log.iter().enumerate().take_while(|(_, served)| Some(served.arrival) <= last) {
            held.retain(|departure| *departure > served.arrival);
            // The log does not give the order of packets that arrive at the same instant, so they are not judged.
            let tied = |other: Option<&Served>| other.is_some_and(|other| other.arrival == served.arrival);
            if !tied(log.get(at + 1)) && !tied(at.checked_sub(1).and_then(|before| log.get(before))) {
                let full = held.len() as u64 >= BUFFER;
                assert_eq!(served.departure == Time::MAX, full, "{name}: {} held, {served:?}", held.len());
            }
            if served.departure != Time::MAX {
                held.push(served.departure);
            }
        }
    }
}

/// Transmissions of a flow are numbered in order: each reaches the link once, and none is missing.
#[test]
fn no_packet_is_created_or_comes_twice() {
    for (name, flow) in contenders(PACKET, Span::from_millis(20)) {
        let log = simulator::log(&bursts(flow), Mode::Fused).unwrap();
        let numbers: Vec<u64> = log.iter().filter(|s| s.owner == 0).map(|s| s.transmission).collect();
        let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
        assert_eq!(distinct.len(), numbers.len(), "{name}: a transmission came twice");
        let (first, last) = (distinct.first().unwrap(), distinct.last().unwrap());
        // Packets that wait at the end are not in the log.
        let missing = last - first + 1 - distinct.len() as u64;
        assert!(missing <= BUFFER, "{name}: {missing} transmissions never came");
    }
}

/// What was sent was delivered, dropped, lost, or is under way; what is under way fits into the path and its buffer.
#[test]
fn what_is_sent_is_accounted_for() {
    for (name, flow) in contenders(PACKET, Span::from_millis(20)) {
        let run = run(&bursts(flow));
        let flow = &run.flows[0];
        assert!(flow.dropped_packets > 0 && flow.lost_packets > 0, "{name}: the path is too kind");
        let gone = run.summary.packets_delivered + flow.dropped_packets + flow.lost_packets;
        let under_way = flow.sent_packets.checked_sub(gone);
        // 10 ms one way at 100 us per packet, and the buffer; bursts can be in the access delay of 5 ms at any density.
        let most = 2 * (100 + BUFFER);
        assert!(under_way.is_some_and(|packets| packets <= most), "{name}: {under_way:?} under way of {flow:?}");
    }
}

#[test]
fn throughput_never_exceeds_capacity() {
    for (name, flow) in contenders(PACKET, Span::from_millis(20)) {
        let run = run(&bursts(flow));
        assert!(run.summary.utilisation.unwrap() <= 1.0, "{name}: {}", run.summary.utilisation.unwrap());
        assert!(run.summary.throughput_bps.unwrap() <= 80e6, "{name}: {}", run.summary.throughput_bps.unwrap());
    }
}
