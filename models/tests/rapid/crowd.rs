//! A flow among so many that two packets per round trip of each are too much (`queue.h`, `envelope.h`).

use super::*;

const RTT: Span = Span::from_millis(40);

/// One packet in this many is lost, apparently at random.
fn one_of(packets: u64, number: u64) -> bool {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(packets)
}

fn a_quarter(number: u64) -> bool {
    one_of(4, number)
}

/// One of many flows: it has lost packets of every stream for long.
fn crowded(loses: fn(u64) -> bool) -> ScriptedFlow {
    let mut flow = ScriptedFlow::new(&Params::new(PACKET), RTT);
    flow.loses = loses;
    flow.run(RTT * 200);
    flow
}

#[test]
fn a_quarter_lost_lowers_the_floor_to_one_packet() {
    // 2 x 12 % / 25 % is 0.96 packets per round trip: less than the least.
    let mut flow = crowded(a_quarter);
    let sent = flow.sent;
    flow.run(RTT * 200);
    let packets = (flow.sent - sent) as f64 / 200.0;
    // Where a stream loses nothing by chance, the next has two.
    assert!((0.95..=1.2).contains(&packets), "{packets} packets per round trip");
}

#[test]
fn a_stream_that_loses_nothing_gives_the_floor_back() {
    let mut flow = crowded(a_quarter);
    flow.loses = |_| false;
    // What is under way has lost some; the next stream of eight packets takes eight round trips, and is back after one more.
    let back =
        flow.run_until(RTT * 20, |law| law.rate().bps() as f64 * RTT.as_secs_f64() / PACKET.bits() as f64 >= 1.99);
    assert!(back, "{} packets per round trip", flow.packets_per_round());
}

#[test]
fn losing_everything_is_an_outage_and_keeps_the_floor() {
    let mut flow = ScriptedFlow::new(&Params::new(PACKET), RTT);
    flow.run(RTT * 10);
    flow.loses = |_| true;
    flow.run(RTT * 100);
    let loss = flow.law.envelope().loss.as_f64();
    // Whole streams were lost; of those that the outage cut through, half, once or twice.
    assert!(loss < 0.08, "{loss}");
}

#[test]
fn streams_of_a_flow_that_loses_packets_are_half_as_long() {
    let streams_in = |loses: fn(u64) -> bool| {
        let mut flow = ScriptedFlow::new(&Params::new(PACKET), RTT);
        (0..20).for_each(|_| flow.law.on_timeout());
        flow.loses = loses;
        flow.run(RTT * 20);
        let before = flow.law.probe().streams;
        let sent = flow.sent;
        flow.run(RTT * 100);
        (flow.sent - sent) as f64 / (flow.law.probe().streams - before) as f64
    };
    let lossy = streams_in(a_quarter);
    assert!((7.5..=8.5).contains(&lossy), "{lossy} packets");
}

/// A late flow, when it has raised its rate for the first time. Others add this delay once it has sent for 5 ms, some four packets of
/// the nineteen of its first chirp.
fn late_flow_with_queue(queue: Span) -> ScriptedFlow {
    let mut flow = ScriptedFlow::new(&Params::new(PACKET), RTT);
    flow.run(Span::from_millis(5));
    flow.queue = queue;
    let first = flow.packets_per_round();
    let raised =
        flow.run_until(RTT * 4, |law| law.rate().bps() as f64 * RTT.as_secs_f64() / PACKET.bits() as f64 > first * 1.5);
    assert!(raised, "{} packets per round trip", flow.packets_per_round());
    flow
}

#[test]
fn a_late_flow_alone_raises_its_rate_eightfold() {
    // 0.1 ms of 40 is less than 1/256: others that send little.
    for micros in [0, 100] {
        let packets = late_flow_with_queue(Span::from_micros(micros)).packets_per_round();
        assert!((79.0..=81.0).contains(&packets), "{packets} packets per round trip");
    }
}

#[test]
fn a_late_flow_among_others_doubles_as_slow_start() {
    // RFC 5681, 3.1: at most a packet more for each that is acknowledged, so ten become twenty.
    for micros in [300, 1000, 10_000] {
        let packets = late_flow_with_queue(Span::from_micros(micros)).packets_per_round();
        assert!((19.0..=21.0).contains(&packets), "{packets} packets per round trip, {micros} us");
    }
}
