//! What the default law promises, on one exact bottleneck, with one set of parameters. The numbers in the tests are
//! the goals; a goal that is not met has no test here, and is named in `envelope.h`.

use super::*;

const RTT: Span = Span::from_millis(30);

fn params(packet: u64) -> Params {
    Params::new(Bytes::new(packet))
}

/// Runs until the rate is `part` of `rate`; the time it took in round trips, or 200.
fn round_trips_to(net: &mut Bottleneck, rate: f64, rtt: Span) -> f64 {
    let from = net.now;
    for step in 1..4000 {
        net.run_until(from + rtt / 20 * step);
        if net.flows[0].law.rate().bps() as f64 >= rate {
            return step as f64 / 20.0;
        }
    }
    200.0
}

/// One flow alone: 95 % within 10 round trips, then 97 % with an empty queue and without a drop.
fn alone(rate: Rate, packet: u64, run_ms: u64, queue_packets: f64) {
    let mut net = Bottleneck::new(Path::new(rate, RTT)).flow(&params(packet), RTT, Time::ZERO);
    let round_trips = round_trips_to(&mut net, 0.95 * rate.bps() as f64, RTT);
    assert!(round_trips <= 10.0, "{rate}: {round_trips} round trips");
    net.run_until(ms(360));
    assert_eq!(net.drops, 0, "{rate}: drops in start-up");
    net.clear();
    net.run_until(ms(run_ms));
    let utilisation = net.utilisation(ms(run_ms).since(ms(360)));
    assert!(utilisation > 0.968, "{rate}: {utilisation}");
    assert_eq!(net.drops, 0, "{rate}: drops");
    let queue = net.wait(0.99).as_secs_f64() / rate.time_for(Bytes::new(packet)).as_secs_f64();
    assert!(queue < queue_packets, "{rate}: 99 % of packets wait {queue} packet times");
}

#[test]
fn fills_idle_paths_of_10_mbit_to_400_gbit() {
    for (mbps, packet, run_ms, queue_packets) in [
        (10, 1500, 6000, 16.0),
        (1000, 1500, 1500, 16.0),
        (10_000, 9000, 1500, 16.0),
        (10_000, 1500, 700, 16.0),
        (100_000, 9000, 500, 16.0),
        (400_000, 9000, 450, 16.0),
        // 30 ns a packet: a level of 5 us is 170 of them, and raises the queue by 22.
        (400_000, 1500, 400, 24.0),
    ] {
        alone(Rate::from_mbps(mbps), packet, run_ms, queue_packets);
    }
}

#[test]
fn fills_slow_paths_with_streams_longer_than_an_rtt() {
    for mbps in [1, 2, 5] {
        let mut net = Bottleneck::new(Path::new(Rate::from_mbps(mbps), RTT)).flow(&params(1500), RTT, Time::ZERO);
        let utilisation = net.between(ms(3000), ms(9000));
        assert!(utilisation > 0.95, "{mbps} Mbit/s: {utilisation}");
    }
}

#[test]
fn takes_new_capacity_within_4_rtts() {
    for rtt in [5, 30, 100].map(Span::from_millis) {
        let end = Time::ZERO + rtt * 60;
        let mut net = Bottleneck::new(Path::new(Rate::from_gbps(10), rtt))
            .flow(&params(9000), rtt, Time::ZERO)
            .cross(Cross::steady(Rate::from_gbps(3), Bytes::new(9000), Time::ZERO, end));
        net.run_until(end);
        let round_trips = round_trips_to(&mut net, 9e9, rtt);
        assert!(round_trips <= 4.0, "{rtt}: {round_trips}");
        assert_eq!(net.drops, 0);
    }
}

#[test]
fn gives_up_lost_capacity_within_4_rtts_and_drains() {
    for rtt in [5, 30, 100].map(Span::from_millis) {
        let step = Time::ZERO + rtt * 40;
        let mut net = Bottleneck::new(Path::new(Rate::from_gbps(10), rtt))
            .flow(&params(9000), rtt, Time::ZERO)
            .cross(Cross::steady(Rate::from_gbps(3), Bytes::new(9000), step, Time::MAX));
        net.run_until(step + rtt * 4);
        let rate = net.flows[0].law.rate().bps() as f64 / 7e9;
        assert!((0.84..1.1).contains(&rate), "{rtt}: {rate} of what is left");
        let utilisation = net.between(step + rtt * 12, step + rtt * 24) / 0.7;
        assert!(utilisation > 0.93, "{rtt}: {utilisation} of what is left");
        let wait = net.wait(0.9);
        assert!(wait < rtt / 20, "{rtt}: {wait} of queue");
        assert_eq!(net.drops, 0);
    }
}

/// Flows that enter one after another, then the state `after_ms` later, over two seconds.
fn company(rate: Rate, packet: u64, rtts: &[u64], entry_ms: u64, after_ms: u64) -> Bottleneck {
    let longest = Span::from_millis(*rtts.iter().max().expect("a flow"));
    let mut net = Bottleneck::new(Path::new(rate, longest));
    for (i, rtt) in rtts.iter().enumerate() {
        net = net.flow(&params(packet), Span::from_millis(*rtt), ms(entry_ms * i as u64));
    }
    let from = ms(entry_ms * (rtts.len() as u64 - 1) + after_ms);
    net.between(from, from + Span::from_secs(2));
    net
}

fn shares_fairly(net: &Bottleneck, jain: f64) {
    let utilisation = net.utilisation(Span::from_secs(2));
    let rtts: Vec<Span> = net.flows.iter().map(|flow| flow.rtt).collect();
    assert!(net.jain() >= jain, "Jain {} of {rtts:?} at {}", net.jain(), net.path.rate);
    assert!(utilisation >= 0.96, "{utilisation} of {rtts:?} at {}", net.path.rate);
    assert_eq!(net.drops, 0, "{rtts:?} at {}", net.path.rate);
}

#[test]
fn flows_share_fairly_across_round_trips() {
    for (gbps, packet, rtts_ms, entry_ms, jain) in [
        (1, 1500, &[30, 30][..], 500, 0.99),
        (10, 9000, &[30, 30], 500, 0.99),
        (1, 1500, &[30, 30, 30], 500, 0.99),
        (1, 1500, &[100, 100], 1000, 0.97),
        (1, 1500, &[10, 100], 1000, 0.97),
        (10, 9000, &[10, 10, 100, 100], 500, 0.985),
    ] {
        shares_fairly(&company(Rate::from_gbps(gbps), packet, rtts_ms, entry_ms, 5000), jain);
    }
}

#[test]
fn ten_flows_share_without_a_common_empty_queue() {
    // Entering one second apart, the last have seen nothing but a queue. What the first remember drains it.
    let net = company(Rate::from_gbps(1), 1500, &[30; 10], 1000, 5000);
    shares_fairly(&net, 0.95);
    assert!(net.wait(0.5) < Span::from_millis(1), "median queue {}", net.wait(0.5));
}

/// One flow under a nuisance, after 20 round trips.
fn under(path: Path, packet: u64) -> Bottleneck {
    let mut net = Bottleneck::new(path).flow(&params(packet), RTT, Time::ZERO);
    net.between(ms(600), ms(1600));
    net
}

#[test]
fn random_loss_is_not_taken_for_congestion() {
    for (ppm, least) in [(1, 0.968), (100, 0.968), (1000, 0.967), (10_000, 0.955), (30_000, 0.93)] {
        let net = under(Path { loss_ppm: ppm, ..Path::new(Rate::from_gbps(10), RTT) }, 9000);
        let utilisation = net.utilisation(Span::from_secs(1));
        assert!(utilisation >= least, "{ppm} ppm: {utilisation}");
        assert_eq!(net.drops, 0);
    }
}

#[test]
fn coalesced_interrupts_cost_a_few_points_only() {
    for packet in [9000, 1500] {
        let path = Path { coalescing: Span::from_micros(120), ..Path::new(Rate::from_gbps(10), RTT) };
        let net = under(path, packet);
        let utilisation = net.utilisation(Span::from_secs(1));
        assert!(utilisation >= 0.92, "{packet} B: {utilisation}");
        assert!(net.wait(0.99) < Span::from_micros(60), "{packet} B: {}", net.wait(0.99));
    }
}

/// Delays then fall over every chirp, by a fortieth to a twelfth of a round trip: no queue drains. A flow that waits for that for ever stays
/// at ten packets per round trip, 4 % of the path.
#[test]
fn synchronous_interrupts_do_not_stop_start_up() {
    for micros in [750, 1500, 2500] {
        let path = Path { coalescing: Span::from_micros(micros), ..Path::new(Rate::from_mbps(100), RTT) };
        let utilisation = under(path, 1500).utilisation(Span::from_secs(1));
        assert!(utilisation >= 0.5, "{micros} us: {utilisation}");
    }
}

#[test]
fn a_stamp_for_every_second_packet_is_enough() {
    for (rate, packet) in [(Rate::from_gbps(10), 9000), (Rate::from_mbps(10), 1500)] {
        let net = under(Path { delayed_ack: 2, ..Path::new(rate, RTT) }, packet);
        let utilisation = net.utilisation(Span::from_secs(1));
        assert!(utilisation >= 0.96, "{rate}: {utilisation}");
    }
}

#[test]
fn a_late_timer_is_harmless_with_recorded_departures() {
    for (lateness, least) in [(Span::from_micros(5), 0.96), (Span::from_micros(20), 0.945)] {
        let net = under(Path { lateness, ..Path::new(Rate::from_mbps(200), RTT) }, 1500);
        let utilisation = net.utilisation(Span::from_secs(1));
        assert!(utilisation >= least, "{lateness}: {utilisation}");
    }
}

#[test]
fn everything_at_once_costs_five_points() {
    let path = Path {
        lateness: Span::from_nanos(400),
        delayed_ack: 2,
        coalescing: Span::from_micros(120),
        ..Path::new(Rate::from_gbps(10), RTT)
    };
    let utilisation = under(path, 9000).utilisation(Span::from_secs(1));
    assert!(utilisation >= 0.92, "{utilisation}");
}

#[test]
fn a_standing_queue_is_drained() {
    // A burst leaves 3, 10 or 30 ms of queue; the first bound is the burst's own drain at full load plus 2 RTT.
    for (queue_ms, within_ms) in [(3, 60), (10, 110), (30, 220)] {
        let rate = Rate::from_gbps(1);
        let path = Path { buffer: rate.amount_in(Span::from_millis(100)), ..Path::new(rate, RTT) };
        let burst = ms(1000) + Span::from_micros(10 * queue_ms);
        let mut net = Bottleneck::new(path).flow(&params(1500), RTT, Time::ZERO).cross(Cross::steady(
            Rate::from_gbps(100),
            Bytes::new(1500),
            ms(1000),
            burst,
        ));
        net.between(ms(1000 + within_ms), ms(1020 + within_ms));
        assert!(net.wait(0.5) < Span::from_micros(500), "{queue_ms} ms: {} are left", net.wait(0.5));
    }
}

#[test]
fn bursts_of_others_leave_the_rest_to_be_used() {
    // Ten sources of 1 Gbit/s, on for 1 of 4 ms and a bit: 7.6 Gbit/s are left on average, in a buffer of 1 MB.
    let path = Path { buffer: Bytes::new(1_000_000), ..Path::new(Rate::from_gbps(10), RTT) };
    let mut net = Bottleneck::new(path).flow(&params(9000), RTT, Time::ZERO);
    let mut left = 10.0;
    for i in 0..10u64 {
        let off = Span::from_micros(3000 + 113 * i);
        left -= 1.0 / (1.0 + off.as_secs_f64() * 1e3);
        net = net.cross(Cross {
            rate: Rate::from_gbps(1),
            packet: Bytes::new(1500),
            from: Time::ZERO + Span::from_micros(137 * i * i),
            until: Time::MAX,
            on: Span::from_millis(1),
            off,
        });
    }
    let part = net.between(ms(600), ms(1600)) * 10.0 / left;
    assert!(part > 0.85, "{part} of what is left");
    let sent: u64 = net.flows.iter().map(|f| f.sent).sum();
    assert!(net.drops * 2000 < sent, "{} drops of {sent}", net.drops);
}

#[test]
fn a_longer_path_is_not_taken_for_a_queue() {
    // One millisecond is drained against, gently, until it is forgotten; more is recognised.
    for (longer, least) in [(31, 0.95), (34, 0.96), (40, 0.96), (90, 0.96)] {
        let longer = Span::from_millis(longer);
        let mut path = Path::new(Rate::from_gbps(1), RTT);
        path.buffer = path.rate.amount_in(RTT * 3);
        let mut net = Bottleneck::new(path).flow(&params(1500), RTT, Time::ZERO);
        net.run_until(ms(1000));
        net.flows[0].rtt = longer;
        net.run_until(ms(1000) + longer * 20);
        net.clear();
        let from = net.now;
        net.run_until(from + Span::from_secs(1));
        let utilisation = net.utilisation(Span::from_secs(1));
        assert!(utilisation > least, "{longer}: {utilisation}");
        assert!(net.wait(0.99) < Span::from_micros(200), "{longer}: {}", net.wait(0.99));
    }
}

#[test]
fn simultaneous_starters_notice_each_other() {
    // Two packets per round trip for each, and as many in the buffer. Until the first feedback each sends twenty.
    let rtt = Span::from_millis(40);
    let params = Params::new(Bytes::new(1500));
    let begin = |net: Bottleneck, i: u64| net.flow(&params, rtt, ms(3 * i));
    let mut net = (0..30).fold(Bottleneck::new(Path::new(Rate::from_mbps(20), rtt)), begin);
    net.run_until(ms(2000));
    let sent: u64 = net.flows.iter().map(|flow| flow.sent).sum();
    let dropped = net.drops as f64 / sent as f64;
    eprintln!("{dropped:.3} of {sent} packets dropped in two seconds");
    assert!(dropped < 0.35, "{dropped:.3} of {sent} packets dropped in two seconds");
}
