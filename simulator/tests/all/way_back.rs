//! A bottleneck on the way back: acknowledgments queue there, are lost, and share it with data.

use super::*;

/// Packets of 1000 B take 0.8 ms at 10 Mbit/s, acknowledgments of 40 B 32 us.
const TEN_MBPS: &str = "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"unlimited\"\n";

fn experiment(path: &str, receiver: &str, flows: &str) -> Experiment {
    planned(&format!(
        "[run]\nduration = \"60 s\"\nwarmup = \"10 s\"\n[path]\n{path}\n[receiver]\n{receiver}\n\
         [record]\nlinks = true\n{flows}"
    ))
}

/// A path of 10 Mbit/s with this link back.
fn back_over(link: &str) -> String {
    format!("{TEN_MBPS}return = {{ {link} }}")
}

const EQUAL: &str = "rate = \"10 Mbit/s\", buffer = \"unlimited\"";

const FORWARD: &str = "[[flow]]\ncontroller = \"newreno\"\npacket = \"1000 B\"\n";
const BACK: &str = "[[flow]]\ncontroller = \"newreno\"\npacket = \"1000 B\"\ndirection = \"back\"\n";

/// H. Balakrishnan, V. Padmanabhan, R. Katz, "The effects of asymmetry on TCP performance", MobiCom 1997, section 2.1: the
/// ratio of the rates over the ratio of the sizes is k = (10 Mbit/s / 16 kbit/s) / (1000 B / 40 B) = 25, so that with an
/// acknowledgment for every d-th packet and no loss of them the way back limits the flow to d/25 of the path. In other
/// words: 16 kbit/s are 50 acknowledgments of 40 B in a second.
#[test]
fn the_rate_of_acknowledgments_limits_the_flow() {
    for (every, kbps) in [(1, 400.0), (2, 800.0)] {
        let path = back_over("rate = \"16 kbit/s\", buffer = \"unlimited\"");
        let receiver = format!("delayed_ack = {every}\nwindow = \"64 packets\"");
        let run = run(&experiment(&path, &receiver, FORWARD));
        let found = run.summary.throughput_bps.unwrap() / 1e3;
        // 2500 acknowledgments in the 50 s that count, one more or less at each end.
        assert!((found / kbps - 1.0).abs() < 0.002, "{found} instead of {kbps} kbit/s");
        assert!(run.links[1].utilisation.unwrap() > 0.999, "{:?}", run.links[1]);
        assert!((run.links[0].utilisation.unwrap() - f64::from(every) / 25.0).abs() < 0.001);
    }
}

/// With k below d the way back is no limit: 320 kbit/s are 1000 acknowledgments in a second, for 1250 packets.
#[test]
fn a_fast_enough_way_back_is_no_limit() {
    let path = back_over("rate = \"320 kbit/s\", buffer = \"unlimited\"");
    let run = run(&experiment(&path, "delayed_ack = 2\nwindow = \"64 packets\"", FORWARD));
    assert!((run.summary.utilisation.unwrap() - 1.0).abs() < 0.001, "{:?}", run.summary.utilisation);
}

/// Acknowledgments dropped at a full queue cost little: the next ones cover the same data.
#[test]
fn later_acknowledgments_cover_lost_ones() {
    let path = back_over("rate = \"16 kbit/s\", buffer = \"5 packets\"");
    let run = run(&experiment(&path, "delayed_ack = 1\nwindow = \"64 packets\"", FORWARD));
    assert!(run.links[1].dropped_packets > 0, "{:?}", run.links[1]);
    assert_eq!(run.flows[0].dropped_packets, 0);
    assert!(run.summary.throughput_bps.unwrap() > 800e3, "{:?}", run.summary.throughput_bps);
}

/// Two flows of 1000 packets, one each way: 1000 packets of data and 1000 acknowledgments on both links.
#[test]
fn data_and_acknowledgments_of_both_directions_cross_both_links() {
    let flows = format!("{FORWARD}size = \"1 MB\"\nstart = \"11 s\"\n{BACK}size = \"1 MB\"\nstart = \"11 s\"\n");
    let run = run(&experiment(&back_over(EQUAL), "delayed_ack = 1\nwindow = \"64 packets\"", &flows));
    for link in &run.links {
        assert_eq!((link.packets, link.dropped_packets), (2000, 0), "{link:?}");
        // 1000 * (1000 + 40) B in the 50 s after the warm-up.
        assert!((link.throughput_bps.unwrap() - 1000.0 * 1040.0 * 8.0 / 50.0).abs() < 1e-6, "{link:?}");
    }
}

/// Every packet that a receiver gets makes one acknowledgment, and each of them is served or dropped: whatever is lost.
#[test]
fn every_acknowledgment_is_accounted_for() {
    let path = "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"20 packets\"\n\
        return = { rate = \"3 Mbit/s\", buffer = \"15 packets\", loss = 0.01 }";
    let flows = format!("{FORWARD}size = \"5 MB\"\n{BACK}size = \"3 MB\"\n");
    let mut experiment = experiment(path, "delayed_ack = 1", &flows);
    assert!(run(&experiment).flows.iter().all(|flow| flow.completion_s.is_some()), "both have to end in time");
    let lossy = same_in_both_modes(&experiment, 1);
    assert!(lossy.iter().any(|s| s.acknowledgment && was_dropped(s)), "no acknowledgment was dropped");
    // A loss on a wire has no entry in the log. What the wire without loss served was received.
    experiment.links[1].loss = Ratio::ZERO;
    let clean = log(&experiment, Mode::Fused);
    for (log, link) in [(&lossy, 0), (&clean, 0), (&clean, 1)] {
        let served = log.iter().filter(|s| s.link == link && !s.acknowledgment && !was_dropped(s)).count();
        let acknowledged = log.iter().filter(|s| s.link != link && s.acknowledgment).count();
        assert_eq!(acknowledged, served, "data of link {link}");
    }
}

/// L. Zhang, S. Shenker, D. Clark, "Observations on the dynamics of a congestion control algorithm: the effects of two-way
/// traffic", SIGCOMM 1991: with fixed windows, one-way traffic has a steady queue, and its acknowledgments keep the
/// spacing of the data. With two-way traffic acknowledgments that have queued behind data leave as fast as the link takes
/// them (compression), and the queues swing. These figures were chosen before the run.
#[test]
fn two_way_traffic_compresses_acknowledgments() {
    let receiver = "delayed_ack = 1\nwindow = \"50 packets\"";
    let of = |flows: &str| {
        let log = log(&experiment(&back_over(EQUAL), receiver, flows), Mode::Fused);
        let steady = |served: &&Served| served.owner == 0 && served.arrival > ms(10_000);
        let data: Vec<&Served> = log.iter().filter(|s| steady(s) && !s.acknowledgment).collect();
        let at_link: Vec<u64> = data.iter().map(|s| s.departure.since(s.arrival).nanos() / 1000).collect();
        let swing_us = at_link.iter().max().unwrap() - at_link.iter().min().unwrap();
        let left: Vec<Time> = log.iter().filter(|s| steady(s) && s.acknowledgment).map(|s| s.departure).collect();
        let close = left.windows(2).filter(|two| two[1].since(two[0]) == Span::from_micros(32)).count();
        (swing_us, close as f64 / left.len() as f64)
    };
    let (steady_us, spaced) = of(FORWARD);
    assert!(steady_us <= 800, "{steady_us} us: more than a packet");
    assert_eq!(spaced, 0.0);
    let (swing_us, compressed) = of(&format!("{FORWARD}{BACK}start = \"1 s\"\n"));
    assert!(swing_us > 10 * 800, "{swing_us} us");
    assert!(compressed > 0.5, "{compressed}");
}

#[test]
fn a_longer_way_back_makes_a_longer_round_trip() {
    let path = back_over("rate = \"10 Mbit/s\", delay = \"30 ms\"");
    let run = run(&experiment(&path, "delayed_ack = 1", &format!("{FORWARD}size = \"1 kB\"\n")));
    assert_eq!(run.flows[0].base_rtt_s, 0.040);
    // 0.8 ms to transmit the packet, 32 us its acknowledgment.
    assert!((run.flows[0].rtt_mean_s.unwrap() - 0.040832).abs() < 1e-9, "{:?}", run.flows[0].rtt_mean_s);
}
