//! The packet clock, the streams and the rings, whatever the law reads from them.

use super::*;

const PACKET: Bytes = Bytes::new(1500);

fn at(ns: u64) -> Time {
    Time::from_nanos(ns)
}

fn law(rtt: Span) -> Law {
    Law::new(&Params::new(PACKET), Time::ZERO, rtt, 1)
}

#[test]
fn a_flow_begins_with_ten_packets_per_handshake_rtt() {
    let law = law(Span::from_millis(30));
    // 10 x 1500 B in 30 ms is 4 Mbit/s.
    assert_eq!(law.rate().bps(), 4_000_000);
    assert_eq!(law.departure(), Time::ZERO);
}

#[test]
fn without_a_handshake_rtt_a_flow_begins_with_the_first() {
    let mut law = law(Span::ZERO);
    // 10 x 1500 B in 100 ms, and then in 30.
    assert_eq!(law.rate().bps(), 1_200_000);
    law.on_rtt(Span::from_millis(30));
    assert_eq!((law.rate().bps(), law.probe().min_rtt), (4_000_000, Span::from_millis(30)));
    law.on_rtt(Span::from_millis(20));
    assert_eq!(law.rate().bps(), 4_000_000);
}

#[test]
fn a_timeout_for_nothing_is_undone() {
    let mut law = law(Span::from_millis(30));
    let (rate, startup) = (law.rate(), law.probe().startup);
    law.on_timeout();
    assert_eq!((law.rate().bps(), law.probe().startup), (2_000_000, false));
    law.on_spurious_timeout(rate, startup);
    assert_eq!((law.rate(), law.probe().startup), (rate, true));
}

#[test]
fn a_mark_leaves_seven_tenths_of_the_rate() {
    let mut law = law(Span::from_millis(30));
    law.on_marked();
    // 0.7 in 1/65536, of 500 000 B/s.
    assert_eq!((law.rate().bps(), law.probe().startup), (45875 * 500_000 / 65536 * 8, false));
}

#[test]
fn packets_of_another_size_have_their_own_gap() {
    let mut law = law(Span::from_millis(30));
    law.set_packet(Bytes::new(600));
    law.on_sent(Time::ZERO, 0, Bytes::new(600), false);
    // 4800 bit at 4 Mbit/s.
    assert_eq!(law.departure(), at(1_200_000));
}

/// The window is cached until it may have changed: it equals that of a law which never computed it.
#[test]
fn the_window_is_up_to_date_after_every_event() {
    let (mut cached, mut fresh) = (law(Span::from_millis(30)), law(Span::from_millis(30)));
    let rate = cached.rate();
    let events: [&dyn Fn(&mut Law); 6] = [
        &|law| law.on_rtt(Span::from_millis(60)),
        &|law| law.set_packet(Bytes::new(600)),
        &|law| law.on_marked(),
        &|law| law.on_timeout(),
        &|law| law.on_spurious_timeout(rate, true),
        &|law| law.on_recovery(),
    ];
    let mut windows = vec![cached.window()];
    for event in events {
        event(&mut cached);
        event(&mut fresh);
        assert_eq!(cached.window(), fresh.clone().window());
        windows.push(cached.window());
    }
    assert!(windows.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 4, "{windows:?}");
}

#[test]
fn the_first_gap_is_a_packet_at_the_chirps_lowest_rate() {
    let mut law = law(Span::from_millis(30));
    law.on_sent(Time::ZERO, 0, PACKET, false);
    // 12 000 bit at 4 Mbit/s.
    assert_eq!(law.departure(), at(3_000_000));
}

#[test]
fn a_chirp_rises_by_half_octaves_to_16_times_the_rate() {
    let mut law = law(Span::from_millis(30));
    let mut gaps = Vec::new();
    for number in 0..19 {
        let now = law.departure();
        law.on_sent(now, number, PACKET, false);
        gaps.push(law.departure().since(now).nanos());
    }
    // Two packets in each of nine levels, one more in the last; then back to the plain rate.
    for level in 0..9u32 {
        let expected = 3_000_000.0 / 2f64.powf(f64::from(level) / 2.0);
        for gap in &gaps[2 * level as usize..2 * level as usize + 2] {
            assert!((*gap as f64 - expected).abs() < 3.0 + expected * 1e-4, "{gap} in level {level}");
        }
    }
    assert!((gaps[18] as f64 - 187_500.0).abs() < 30.0);
    let now = law.departure();
    law.on_sent(now, 19, PACKET, false);
    assert_eq!(law.departure().since(now).nanos(), 3_000_000);
}

#[test]
fn parts_of_a_nanosecond_are_carried() {
    // 10 x 1500 B in 7 us: a gap of 700 ns, and in 1/1024 ns no packet is lost to rounding.
    let mut law = Law::new(&Params::new(Bytes::new(1499)), Time::ZERO, Span::from_nanos(7001), 1);
    law.on_timeout(); // leaves start-up: probe streams, with an exact mean rate
    let rate = law.rate().bps() as f64;
    let packets = 40_000u64;
    for number in 0..packets {
        law.on_sent(law.departure(), number, Bytes::new(1499), false);
    }
    let took = law.departure().nanos() as f64;
    let expected = packets as f64 * 1499.0 * 8e9 / rate;
    assert!((took - expected).abs() < 1e-4 * expected, "{took} ns, not {expected}");
}

#[test]
fn makes_up_for_lateness_up_to_half_a_gap() {
    let mut law = law(Span::from_millis(30));
    law.on_sent(at(1_400_000), 0, PACKET, false);
    assert_eq!(law.departure(), at(3_000_000));
}

#[test]
fn forgives_more_lateness_without_a_burst() {
    let mut law = law(Span::from_millis(30));
    let mut now = 50_000_000;
    for number in 0..10 {
        law.on_sent(at(now), number, PACKET, false);
        let next = law.departure().nanos();
        assert!(next >= now + 180_000, "packet {number} would follow after {} ns", next - now);
        now = next + 50_000_000;
    }
}

#[test]
fn the_next_gap_pays_for_an_early_packet() {
    let mut law = law(Span::from_millis(30));
    law.on_sent(Time::ZERO, 0, PACKET, false);
    law.on_sent(Time::ZERO, 1, PACKET, false);
    assert_eq!(law.departure(), at(6_000_000));
}

#[test]
fn a_short_packet_has_a_short_gap() {
    let mut law = law(Span::from_millis(30));
    law.on_sent(Time::ZERO, 0, Bytes::new(150), false);
    assert_eq!(law.departure(), at(300_000));
}

#[test]
fn a_new_flow_is_small() {
    let law = law(Span::from_millis(30));
    assert!(law.memory_in_use() <= Bytes::new(2048), "{}", law.memory_in_use());
}

/// Sends `packets`, then acknowledges all of them after `rtt`.
fn fly(law: &mut Law, packets: u64) {
    let mut sent = Vec::new();
    for number in 0..packets {
        let now = law.departure();
        law.on_sent(now, number, PACKET, false);
        sent.push(now);
    }
    let end = *sent.last().expect("a packet") + Span::from_millis(30);
    for (number, sent) in sent.iter().enumerate() {
        law.on_arrival(end, number as u64, *sent + Span::from_millis(15));
    }
}

#[test]
fn rings_grow_and_lose_nothing() {
    let mut law = law(Span::from_millis(30));
    fly(&mut law, 5000);
    let probe = law.probe();
    // A chirp of 19 packets, then plain streams of 16; the chirp's answer ends the one being sent.
    assert_eq!(probe.streams, 1 + (5000 - 19u64).div_ceil(16));
}

#[test]
fn a_packet_in_flight_takes_less_than_64_bytes() {
    let mut law = law(Span::from_millis(30));
    law.on_timeout();
    let before = law.memory_in_use().get();
    for number in 0..4096 {
        law.on_sent(law.departure(), number, PACKET, false);
    }
    let per_packet = (law.memory_in_use().get() - before) as f64 / 4096.0;
    assert!(per_packet < 64.0, "{per_packet:.1} bytes per packet in flight");
}

#[test]
fn feedback_counts_once_and_only_for_sent_packets() {
    let mut law = law(Span::from_millis(30));
    for number in 0..19 {
        law.on_sent(law.departure(), number, PACKET, false);
    }
    law.on_arrival(at(40_000_000), 7_000_000, at(1));
    for _ in 0..100 {
        law.on_arrival(at(40_000_000), 3, at(20_000_000));
        law.on_lost(at(40_000_000), 3);
    }
    assert_eq!(law.probe().streams, 0);
    assert_eq!(law.envelope().loss.q32(), 0);
}

/// Sends packets `pause` apart at least, each of which arrives 15 ms later. Idle: the application had nothing to send.
fn slowly(law: &mut Law, packets: u64, pause: Span, idle: bool) {
    let mut now = Time::ZERO;
    for number in 0..packets {
        now = if idle { now.max(law.departure()) + pause } else { law.departure().max(now + pause) };
        law.on_sent(now, number, PACKET, idle);
        law.on_arrival(now + Span::from_millis(30), number, now + Span::from_millis(15));
    }
}

#[test]
fn streams_of_an_idle_application_do_not_move_the_rate() {
    for timeout in [true, false] {
        let mut law = law(Span::from_millis(30));
        if timeout {
            law.on_timeout();
        }
        let rate = law.rate();
        slowly(&mut law, 200, Span::from_millis(20), true);
        assert_eq!(law.rate(), rate, "after a timeout: {timeout}");
        if timeout {
            assert!(law.probe().streams > 5);
            assert_eq!(law.probe().unusable, law.probe().streams);
        }
    }
}

/// The sender sends a packet each 2 ms at most: 6 Mbit/s.
#[test]
fn a_slow_sender_leaves_start_up_at_its_own_limit() {
    let (mut new, mut after_timeout) = (law(Span::from_millis(30)), law(Span::from_millis(30)));
    after_timeout.on_timeout();
    for law in [&mut new, &mut after_timeout] {
        slowly(law, 3000, Span::from_millis(2), false);
        assert!(law.rate().bps() < 8_000_000, "{}", law.rate());
    }
    assert!(!new.probe().startup && new.rate().bps() >= 4_000_000, "{}", new.rate());
}

#[test]
fn a_trace_holds_a_whole_stream() {
    let mut law = law(Span::from_millis(30));
    law.on_timeout();
    law.arm_trace();
    fly(&mut law, 64);
    let trace = law.take_trace().expect("a trace");
    assert_eq!(trace.packets.len(), 16);
    assert!(trace.estimate.is_some());
    for packet in &trace.packets[1..] {
        assert_eq!(packet.received, Some(packet.created), "nothing stretched the gaps");
        assert_eq!(packet.delay, Some(Span::ZERO));
        let (a, b) = (packet.created.nanos(), packet.intended.nanos());
        assert!(a.abs_diff(b) <= 1, "created {a} ns, intended {b}");
        assert_eq!(packet.denoised, Some(packet.created));
        // The gap's own rate, at the ends of levels too: in the gap's time it sends the packet before.
        let sent_bits = packet.rate.bps() as f64 * packet.intended.as_secs_f64();
        assert!((sent_bits / (packet.size.get() * 8) as f64 - 1.0).abs() < 1e-3, "{sent_bits} bits in a gap");
    }
    let rates: Vec<f64> = trace.packets.iter().map(|p| p.rate.bps() as f64 / trace.rate.bps() as f64).collect();
    // Span 1.3, as the law's table has it.
    for (level, x) in [0.881, 0.962, 1.050, 1.146].iter().enumerate() {
        let gap = 4 * level + 1;
        assert!((rates[gap] - x).abs() < 1e-3, "{} is not {x}", rates[gap]);
    }
    assert!(law.take_trace().is_none(), "a trace is taken once");
}
