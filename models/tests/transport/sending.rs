//! What limits a sender, and what it reports to its controller.

use super::*;
use packetscale_models::congestion::LossResponse;

const RTT: Span = Span::from_millis(100);

fn sender(params: SenderParams, controller: Scripted) -> Sender<Scripted> {
    Sender::new(params, controller, Time::ZERO)
}

fn endless(window: u32) -> Sender<Scripted> {
    sender(sender_params(Transfer::Unlimited, RTT), Scripted::new(window))
}

/// Sends everything that may leave now, and returns it.
fn burst(sender: &mut Sender<Scripted>, now: Time) -> Vec<u64> {
    core::iter::from_fn(|| sender.poll_transmit(now)).map(|segment| segment.sequence).collect()
}

fn transfer(params: SenderParams, receiver: ReceiverParams, controller: Scripted) -> Path<Scripted> {
    Path::new(sender(params, controller), Receiver::new(receiver), RTT)
}

#[test]
fn the_window_bounds_what_is_in_flight() {
    let mut sender = endless(3);
    assert_eq!(burst(&mut sender, at(0)), [0, 1, 2]);
    sender.on_ack(at(100), &Ack::plain(2, 0, 100));
    assert_eq!(burst(&mut sender, at(100)), [3, 4]);
    assert_eq!(sender.in_flight(), 3);
}

#[test]
fn the_last_packet_may_be_short() {
    let mut path =
        transfer(sender_params(Transfer::Sized(Bytes::new(2300)), RTT), receiver_params(), Scripted::new(10));
    path.run(at(1000));
    let sizes: Vec<_> = path.sent.iter().map(|(_, segment)| segment.size.get()).collect();
    assert_eq!(sizes, [1000, 1000, 300]);
    assert!(path.sender.is_done());
    assert_eq!(path.sender.next_wakeup(), Time::MAX);
    let limited: Vec<_> = path.sender.controller().sent.iter().map(|sent| sent.app_limited).collect();
    assert_eq!(limited, [false, false, true]);
}

#[test]
fn empty_transfer_is_complete_at_once() {
    let mut sender = sender(sender_params(Transfer::Sized(Bytes::ZERO), RTT), Scripted::new(10));
    assert!(sender.is_done() && sender.next_wakeup() == Time::MAX && sender.poll_transmit(at(0)).is_none());
}

#[test]
fn the_receiver_window_bounds_what_is_outstanding() {
    let mut sender = endless(10);
    assert_eq!(burst(&mut sender, at(0)).len(), 10);
    sender.on_ack(at(100), &Ack::plain(10, 9, 4));
    assert_eq!(burst(&mut sender, at(100)), [10, 11, 12, 13]);
    sender.on_ack(at(200), &Ack::plain(12, 11, 4));
    assert_eq!(burst(&mut sender, at(200)), [14, 15]);
}

#[test]
fn the_handshakes_window_limits_the_first_flight() {
    for (window, leave) in [(4, 4), (10, 10), (11, 10), (0, 1)] {
        let params = SenderParams { handshake_window: window, ..sender_params(Transfer::Unlimited, RTT) };
        assert_eq!(burst(&mut sender(params, Scripted::new(10)), at(0)).len(), leave, "a window of {window}");
    }
}

/// RTO = 100 + 200 ms after the window closed; then twice that.
#[test]
fn a_closed_receiver_window_is_probed() {
    let mut sender = endless(2);
    burst(&mut sender, at(0));
    sender.on_ack(at(100), &Ack::plain(2, 1, 0));
    assert!(burst(&mut sender, at(100)).is_empty());
    let probe = sender.next_wakeup();
    assert!(probe < at(400) + Span::from_millis(1), "{probe:?}");
    sender.on_wakeup(probe);
    assert_eq!(burst(&mut sender, probe), [2]);
    assert_eq!(sender.counters().timeouts, 0, "no packet timed out");
}

#[test]
fn a_departure_time_holds_back_every_transmission() {
    let controller = Scripted { departure: at(7), ..Scripted::new(10) };
    let mut sender = sender(sender_params(Transfer::Unlimited, RTT), controller);
    assert!(sender.poll_transmit(at(0)).is_none());
    assert_eq!(sender.next_wakeup(), at(7));
    assert_eq!(burst(&mut sender, at(7)).len(), 10);

    // Everything is lost; the timer expires, and the controller delays the retransmission.
    let expiry = sender.next_wakeup();
    sender.controller_mut().departure = expiry + RTT;
    sender.on_wakeup(expiry);
    assert!(sender.poll_transmit(expiry).is_none());
    assert_eq!(sender.next_wakeup(), expiry + RTT);
    assert_eq!(sender.poll_transmit(expiry + RTT).map(|segment| segment.sequence), Some(0));
}

/// A window of ten per round trip of 100 ms, twice, and a receive window of four, once.
#[test]
fn pacing_spreads_the_smaller_window_over_the_rtt() {
    for (pacing_percent, handshake_window, packets, gap_ms) in [(200, u64::MAX, 10, 5), (100, 4, 4, 25)] {
        let params = SenderParams { pacing_percent, handshake_window, ..sender_params(Transfer::Unlimited, RTT) };
        let mut sender = sender(params, Scripted::new(10));
        for i in 0..packets {
            assert_eq!(burst(&mut sender, at(gap_ms * i)), [i], "{pacing_percent} % paced");
            assert!(i + 1 == packets || sender.next_wakeup() == at(gap_ms * (i + 1)), "{pacing_percent} % paced");
        }
        assert!(burst(&mut sender, at(gap_ms * packets)).is_empty(), "the window is full");
    }
}

#[test]
fn messages_do_not_share_packets() {
    let params = sender_params(Transfer::Offered, RTT);
    let mut sender = sender(params, Scripted::new(10));
    assert_eq!(sender.offer_message(2, Bytes::new(300)), 2);
    assert_eq!(sender.offer_message(1, PACKET), 3);
    assert_eq!(sender.offer_message(2, Bytes::new(500)), 5);
    let sizes: Vec<Bytes> = std::iter::from_fn(|| sender.poll_transmit(at(0))).map(|segment| segment.size).collect();
    assert_eq!(sizes, [PACKET, Bytes::new(300), PACKET, PACKET, Bytes::new(500)]);
}

#[test]
fn a_flow_is_window_limited_only_by_its_own_window() {
    // The sender learns of the receiver's window with the first acknowledgment, a round trip after it filled its own.
    for (receive_window, until_ms, least, skipped, limited) in
        [(1 << 40, 1500, 50, 0, true), (4, 100_000, 90, 20, false)]
    {
        let params = sender_params(Transfer::Sized(PACKET * 200), RTT);
        let mut path =
            transfer(params, ReceiverParams { window: receive_window, ..receiver_params() }, Scripted::new(10));
        path.run(at(until_ms));
        let reports = &path.sender.controller().reports;
        let found = reports.iter().map(|report| matches!(report, Report::Ack { window_limited: true, .. }));
        assert!(reports.len() > least && found.skip(skipped).all(|found| found == limited), "{reports:?}");
    }
}

/// Packets 3 and 4 are lost and repeated. Each transmission that arrived is reported once, in order
/// within each acknowledgment, with its arrival 50 ms after it left. The lost transmissions are reported, too.
#[test]
fn reports_arrivals_and_losses_on_request() {
    let controller = Scripted { wants_arrivals: true, response: LossResponse::OwnWindow, ..Scripted::new(10) };
    let receiver = ReceiverParams { stamps: true, ..receiver_params() };
    let mut path = transfer(sender_params(Transfer::Sized(PACKET * 60), RTT), receiver, controller);
    path.segment_fate = Box::new(|_, s| if [3, 4].contains(&s.transmission) { dropped() } else { arrives() });
    path.run(at(100_000));
    let (mut arrived, mut lost) = (Vec::new(), Vec::new());
    for reports in &path.sender.controller().reports {
        match reports {
            Report::Arrivals(arrivals) => {
                assert!(arrivals.is_sorted_by_key(|(transmission, _)| *transmission));
                arrived.extend_from_slice(arrivals);
            }
            Report::Loss { transmissions, .. } => lost.extend_from_slice(transmissions),
            _ => {}
        }
    }
    arrived.sort_unstable();
    let sent = path.sent.iter().map(|(time, segment)| (segment.transmission, Some(*time + RTT / 2)));
    assert_eq!(arrived, sent.filter(|(transmission, _)| ![3, 4].contains(transmission)).collect::<Vec<_>>());
    assert_eq!(lost, [3, 4]);
}

/// In recovery the host leaves the window to such a controller: five, which is half, not the ten from which
/// proportional rate reduction would start.
#[test]
fn a_controller_with_its_own_window_keeps_it_in_recovery() {
    let controller = Scripted { response: LossResponse::OwnWindow, ..Scripted::new(10) };
    let mut path = transfer(sender_params(Transfer::Sized(PACKET * 60), RTT), receiver_params(), controller);
    path.segment_fate = Box::new(|_, s| if s.transmission == 2 { dropped() } else { arrives() });
    path.run(at(100_000));
    let recovering = path.sender.controller().sent.iter().filter(|sent| sent.transmission > 14 && sent.now < at(200));
    assert!(recovering.map(|sent| sent.in_flight).all(|in_flight| in_flight <= 5));
}

#[test]
fn ignores_an_acknowledgment_of_unsent_data() {
    let mut sender = endless(2);
    burst(&mut sender, at(0));
    sender.on_ack(at(100), &Ack::plain(5, 1, 100));
    assert_eq!((sender.in_flight(), sender.counters().delivered), (2, 0));
}

/// Packet 0 leaves at 0 ms, packet 1 at 290 ms. At 300 ms the timer expires: packet 1 has had no time to arrive and stays
/// in flight, and packet 0 leaves again although that fills the window of one twice.
#[test]
fn a_timeout_spares_packets_that_have_just_left() {
    let mut sender = endless(2);
    assert_eq!(sender.poll_transmit(at(0)).map(|segment| segment.sequence), Some(0));
    sender.controller_mut().departure = at(290);
    assert_eq!(burst(&mut sender, at(290)), [1]);
    assert_eq!(sender.next_wakeup(), at(300));
    sender.on_wakeup(at(300));
    assert_eq!(burst(&mut sender, at(300)), [0]);
    assert_eq!((sender.in_flight(), sender.counters().lost), (2, 1));
}

/// Packets 0 and 1 leave 20 ms apart and are acknowledged together at 140 ms. The estimator takes the 140 ms of the first
/// (RFC 7323): 100 + 40/8 = 105 ms; the controller receives the 120 ms of the second.
#[test]
fn a_delayed_acknowledgment_is_timed_by_its_first_packet() {
    let mut sender = endless(1);
    burst(&mut sender, at(0));
    sender.controller_mut().window = 2;
    burst(&mut sender, at(20));
    sender.on_ack(at(140), &Ack::plain(2, 0, 100));
    assert_eq!(sender.rtt().0, Span::from_millis(105));
    let reports = sender.controller().reports.last();
    assert!(
        matches!(reports, Some(Report::Ack { rtt: Some(rtt), .. }) if *rtt == Span::from_millis(120)),
        "{reports:?}"
    );
}

/// Packets leave 10 ms apart, and every second one is acknowledged; the first acknowledgment is lost. The next covers 4 at
/// 140 ms and echoes packet 2, the first that the receiver had not acknowledged (RFC 7323, section 4.3), of 20 ms. Its
/// round trip is 120 ms: SRTT = 100 + (120 - 100) / 8 = 102.5 ms. Packet 0 would give 105, packet 3 101.25.
#[test]
fn rtt_comes_from_the_echo_after_a_lost_acknowledgment() {
    let mut sender = endless(10);
    for ms in [0, 10, 20, 30] {
        sender.controller_mut().departure = at(ms + 10);
        sender.poll_transmit(at(ms + 10));
    }
    sender.on_ack(at(150), &Ack::plain(4, 2, 100));
    assert_eq!(sender.rtt().0, Span::from_micros(102_500));
}

/// What a controller with a window of `window` packets, and RTO of 300 ms (RFC 6298: 100 ms + 4 times 50 ms), sends at once, `idle`
/// after its ten first packets left.
fn sent_after_idle(name: &str, restarts: bool, idle: u64) -> usize {
    let params = SenderParams { slow_start_after_idle: restarts, ..sender_params(Transfer::Offered, RTT) };
    let mut sender = Sender::new(params, controller(name, &params, &[]), Time::ZERO);
    let burst = |sender: &mut Sender<AnyController>, now: Time, packets: u64| {
        sender.offer(packets);
        core::iter::from_fn(|| sender.poll_transmit(now)).count()
    };
    let mut next = 0;
    // Three flights, each as large as the window: 10, 20, 40.
    for flight in 0..3u64 {
        let now = at(100 * flight);
        let sent = burst(&mut sender, now, 10 << flight) as u64;
        assert_eq!(sent, 10 << flight, "{name}");
        for _ in 0..sent / 2 {
            next += 2;
            sender.on_ack(now + RTT, &Ack::plain(next, next - 2, 1000));
        }
    }
    burst(&mut sender, at(200 + idle), 1000)
}

/// 70 packets were delivered, so that slow start has opened the window to 80. RFC 5681, section 4.1: more than a timeout
/// later no more than the restart window, the ten of RFC 6928, may leave at once; Linux gets there by halves.
#[test]
fn an_idle_flow_restarts_with_at_most_the_initial_window() {
    for name in
        ["newreno", "dctcp", "bic", "highspeed", "scalable", "illinois", "htcp", "westwood", "veno", "lp", "yeah"]
    {
        assert_eq!(sent_after_idle(name, true, 5000), 10, "{name}");
        assert_eq!(sent_after_idle(name, true, 150), 80, "{name}: not idle");
        assert_eq!(sent_after_idle(name, false, 5000), 80, "{name}: switched off");
    }
}
