//! DualPI2 and Prague: the low delay that L4S promises, and the shares that the coupling is made for (RFC 9332, section
//! 2.1; ns-3 3.37 has neither).

mod path;

use experiment::results::Run;
use experiment::scenario::{Buffer, Experiment, FlowSpec, QueueSpec};
use packetscale_models::units::{Packets, Rate, Span};
use path::{dumbbell, flow, link, run};
use rayon::prelude::*;

const PACKET: u64 = 1500;

/// These flows over 100 Mbit/s with this base round trip, behind DualPI2, for 60 s after 20 s of warm-up.
fn experiment(flows: &[(&str, bool)], rtt: Span) -> Experiment {
    let mut wire = link(Rate::from_mbps(100), rtt / 2, Buffer::Packets(Packets::new(2000)));
    wire.queue = QueueSpec::named("dualpi2");
    let one = |(controller, ecn): &(&str, bool)| FlowSpec { ecn: *ecn, ..flow(controller, PACKET, rtt) };
    let mut experiment = dumbbell(wire, Span::from_secs(80));
    experiment.warmup = Span::from_secs(20);
    experiment.flows = flows.iter().map(one).map(Into::into).collect();
    experiment.record.detail = true;
    experiment
}

fn throughput(run: &Run, flow: usize) -> f64 {
    run.flows[flow].throughput_bps.expect("it sent")
}

/// The aim of L4S: below 1 ms at the 99th percentile, with a full link.
#[test]
fn prague_alone_fills_the_link_with_under_1_ms_of_queue() {
    for rtt_ms in [5, 10, 20, 40] {
        let run = run(&experiment(&[("prague", true)], Span::from_millis(rtt_ms)));
        let (used, p99) = (run.summary.utilisation.unwrap(), run.summary.queue_delay_p99_s.unwrap());
        println!("{rtt_ms} ms: used {used:.4}, p99 {:.3} ms", 1e3 * p99);
        assert!(p99 < 1e-3, "{rtt_ms} ms: 99th percentile {p99} s");
        assert!(used > 0.98, "{rtt_ms} ms: {used}");
        assert_eq!(run.flows[0].dropped_packets, 0);
    }
}

/// The coupling makes shares equal in order of magnitude: between a half and two, with CUBIC marked or dropped.
#[test]
fn prague_and_cubic_share_the_link() {
    let cases: Vec<(bool, u64)> =
        [false, true].into_iter().flat_map(|ecn| [5, 10, 20, 40].map(|rtt_ms| (ecn, rtt_ms))).collect();
    let share = |(ecn, rtt_ms): (bool, u64)| {
        let run = run(&experiment(&[("prague", true), ("cubic", ecn)], Span::from_millis(rtt_ms)));
        (format!("ecn {ecn}, {rtt_ms} ms"), throughput(&run, 0) / throughput(&run, 1))
    };
    let shares: Vec<(String, f64)> = cases.into_par_iter().map(share).collect();
    shares.iter().for_each(|(case, share)| println!("{case}: {share:.2}"));
    assert!(shares.iter().all(|(_, share)| (0.5..=2.0).contains(share)), "{shares:?}");
}

/// Round trips below 25 ms act as if they were that long: 5 and 20 ms share as one to two at most, where DCTCP's law
/// gives one to four.
#[test]
fn short_rtts_take_little_more_than_long_ones() {
    let mut both = experiment(&[("prague", true), ("prague", true)], Span::from_millis(20));
    both.links[0].delay = Span::from_micros(2500);
    both.flows[0].rtt = Span::from_millis(5);
    let run = run(&both);
    let share = throughput(&run, 0) / throughput(&run, 1);
    println!("5 ms over 20 ms: {share:.2}");
    assert!((0.5..=2.0).contains(&share), "{share}");
}
