//! What the default law promises, on one exact bottleneck.

mod bottleneck;

use bottleneck::{Bottleneck, Path, ms};
use packetscale_rapid::Params;
use units::{Bytes, Rate, Span, Time};

/// Round trips until the rate reaches 95 % of the path.
fn round_trips_to_95(net: &mut Bottleneck, rtt: Span) -> f64 {
    let target = net.path.rate.bps() * 95 / 100;
    let step = rtt / 20;
    let mut at = Time::ZERO;
    while net.flows[0].law.rate().bps() < target && at < Time::ZERO + rtt * 200 {
        at += step;
        net.run_until(at);
    }
    at.since(Time::ZERO).as_secs_f64() / rtt.as_secs_f64()
}

#[test]
#[ignore = "prints"]
fn idle_path_table() {
    for (rate, packet, rtt_ms, run_ms) in [
        (Rate::from_mbps(10), 1500, 30, 6000),
        (Rate::from_gbps(1), 1500, 30, 2000),
        (Rate::from_gbps(10), 9000, 30, 2000),
        (Rate::from_gbps(10), 1500, 30, 1000),
        (Rate::from_gbps(100), 9000, 30, 700),
        (Rate::from_gbps(400), 9000, 30, 600),
        (Rate::from_gbps(400), 1500, 30, 500),
    ] {
        let rtt = Span::from_millis(rtt_ms);
        let mut net =
            Bottleneck::new(Path::new(rate, rtt)).flow(&Params::new(Bytes::new(packet)), rtt, Time::ZERO);
        let round_trips = round_trips_to_95(&mut net, rtt);
        let from = Span::from_millis(rtt_ms * 12);
        net.run_until(Time::ZERO + from);
        let drops = net.drops;
        net.clear();
        net.run_until(ms(run_ms));
        let span = ms(run_ms).since(Time::ZERO + from);
        let time = rate.time_for(Bytes::new(packet)).as_secs_f64();
        println!(
            "{rate} {packet} B: 95 % after {round_trips:.1} RTT, then {:.2} %, drops {drops}+{}, p50 {:.1} p99 {:.1} packets, {} memory",
            100.0 * net.utilisation(span),
            net.drops,
            net.wait(0.5).as_secs_f64() / time,
            net.wait(0.99).as_secs_f64() / time,
            net.flows[0].law.memory_in_use(),
        );
    }
}
