//! The window, by hand: two products of rate and round trip, and slack.

use super::*;

/// Without start-up a flow has five packets in each round trip of 100 ms: ten, which the timeout halves.
const RTT: Span = Span::from_millis(100);

/// A flow in which a timeout has ended start-up, and with a smoothed round trip of five times the smallest.
fn queued<P: LawParams>(params: &P) -> Law<P> {
    let mut law = Law::new(params, Time::ZERO, RTT, 1);
    law.on_timeout();
    for _ in 0..100 {
        law.on_rtt(RTT * 5);
    }
    law
}

#[test]
fn few_packets_do_not_count_the_queue() {
    // The window's rate is still ten packets per round trip. Of 400 ms of queue 5/256 counts: 20 x 1.078, and slack of five.
    let window = queued(&Params::new(PACKET)).window();
    assert!((25..=27).contains(&window), "{window}");
}

#[test]
fn many_packets_count_all_of_it() {
    // 9000 packets of 64 B for ten of 57 600 B: the same rate, and far more than 256 packets per round trip.
    let mut law = queued(&Params::new(Bytes::new(57_600)));
    law.set_packet(Bytes::new(64));
    let window = 2 * 9000 * 5 + 64;
    assert!((window - 1..=window).contains(&law.window()), "{}", law.window());
}

#[test]
fn the_dissertations_law_counts_all_of_it_always() {
    let law = queued(&ThesisParams::new(PACKET));
    // Two products of ten packets per round trip, five round trips of delay, and a stream.
    assert!((163..=164).contains(&law.window()), "{}", law.window());
}

/// The window of a flow with streams that miss the stamps of their last half-level, behind a queue of 60 ms on the way back after the
/// first streams; the receiver's clock is ahead by this many seconds.
fn with_holes(clock_s: i64) -> Vec<u32> {
    let start = Time::ZERO + Span::from_secs(100);
    let mut law = Law::new(&Params::new(PACKET), start, RTT, 1);
    law.on_timeout();
    let (mut now, mut windows) = (start, Vec::new());
    for number in 0..160 {
        now = now.max(law.departure());
        law.on_sent(now, number, PACKET, false);
        let queue = if number < 48 { Span::ZERO } else { Span::from_millis(60) };
        let (arrived, heard) = (now + RTT / 2, now + RTT + queue);
        law.on_rtt(RTT + queue);
        if number % 16 < 14 {
            let reported = arrived.nanos().checked_add_signed(clock_s * 1_000_000_000).expect("after the clock's zero");
            law.on_arrival(heard, number, Time::from_nanos(reported));
        } else {
            law.on_acked_without_stamp(heard, number);
        }
        windows.push(law.window());
    }
    windows
}

#[test]
fn the_receivers_clock_does_not_decide_whether_a_stream_is_quiet() {
    assert_eq!(with_holes(-50), with_holes(50));
}

/// The window check mostly uses a bound that holds while neither rate nor round trip changes; both change here.
#[test]
fn another_packet_is_allowed_only_below_the_window() {
    let start = Time::ZERO + Span::from_secs(100);
    let mut law = Law::new(&Params::new(PACKET), start, RTT, 1);
    let mut now = start;
    for number in 0..2000u64 {
        now = now.max(law.departure());
        law.on_sent(now, number, PACKET, false);
        let queue = Span::from_micros(number / 100 % 5 * 7_000 + number % 7 * 40);
        law.on_acked(now + RTT + queue, RTT + queue, number, now + RTT / 2 + queue);
        if number % 500 == 499 {
            law.on_timeout();
        }
        for in_flight in [0, 1, 2, 3, 5, 10, 100, 1000, 100_000] {
            let (room, window) = (law.has_room(in_flight), law.clone().window());
            assert_eq!(room, in_flight < window, "{in_flight} in flight, window {window}, packet {number}");
        }
        let window = law.clone().window();
        assert!(law.has_room(window - 1) && !law.has_room(window), "packet {number}: {window}");
    }
}
