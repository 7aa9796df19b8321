//! Flows that share the measured link: phases, shares, and the capacity that is left.
//!
//! At 8 Mbit/s a packet of 1000 B takes 1 ms, so that packets per second are shares of the link.

use crate::{ms, planned};
use experiment::results::Run;
use experiment::scenario::Experiment;
use harness::measure::{FlowSeen, Owner, Recorder, Seen};
use packetscale_models::congestion::StreamTrace;
use packetscale_models::units::{Bytes, Rate, Span, Time};

const PACKET: Bytes = Bytes::new(1000);

/// One run of 20 s on 8 Mbit/s, with these flows and this warm-up.
fn experiment(flows: &str, warmup: &str) -> Experiment {
    planned(&format!(
        "run = {{ duration = \"20 s\", warmup = \"{warmup}\" }}\n\
         path = {{ rate = \"8 Mbit/s\", delay = \"5 ms\", buffer = \"10 kB\" }}\nflow = [{flows}]\n"
    ))
}

/// The link serves these packets: the flow, and the millisecond in which the last bit leaves and is received.
fn served(experiment: &Experiment, starts: &[u64], packets: &[(usize, u64)], completed: &[Option<u64>]) -> Run {
    let starts: Vec<Time> = starts.iter().map(|start| ms(*start)).collect();
    let mut recorder = Recorder::new(experiment, &starts, Some(Span::from_millis(10)));
    for (flow, at) in packets {
        recorder.served(Owner::Flow(*flow), PACKET, ms(at - 1), ms(at - 1), ms(*at));
        recorder.delivered(*flow, PACKET, ms(*at));
    }
    let flows = completed.iter().map(|done| FlowSeen { completed: done.map(ms), ..FlowSeen::default() }).collect();
    recorder.finish(experiment, Seen { flows, ..Seen::default() })
}

const ENDLESS: &str = "{ controller = \"rapid\", packet = \"1000 B\" }";
const EARLY: &str = "{ controller = \"rapid\", packet = \"1000 B\", size = \"100 kB\" }";
const SHORT: &str = "{ controller = \"cubic\", packet = \"1000 B\", size = \"100 kB\", start = \"1 s\" }";

/// From 1 s on the short flow gets one packet in four, until its hundredth has left at 1.4 s.
fn one_in_four() -> Vec<(usize, u64)> {
    (1..=20_000u64).map(|at| (usize::from((1_001..=1_400).contains(&at) && at % 4 == 0), at)).collect()
}

#[test]
fn jains_index_ends_with_the_first_flow() {
    let run =
        served(&experiment(&format!("{ENDLESS}, {SHORT}"), "0 s"), &[0, 1_000], &one_in_four(), &[None, Some(1_410)]);
    // 300 packets against 100: 400^2 / (2 (300^2 + 100^2)). Over the whole run it would be 0.505.
    assert_eq!(run.summary.fairness_jain, Some(0.8));
    // No other flow is active in the windows that begin five seconds after an entry.
    assert_eq!(run.summary.fairness_jain_after_entry, None);
}

/// Flow 0 lasts, flow 1 starts at 4 s, flow 2 is stopped at 12 s. Of four packets each millisecond serves one.
#[test]
fn shares_are_counted_within_phases() {
    let flows = "{ controller = { kind = \"rapid\", label = \"a\" }, packet = \"1000 B\" }, \
                 { controller = { kind = \"cubic\", label = \"b\" }, packet = \"1000 B\", start = \"4 s\" }, \
                 { controller = { kind = \"bbr\", label = \"c\" }, packet = \"1000 B\", stop = \"12 s\" }";
    let whose = |at: u64| match at {
        1..=4_000 => [0, 2, 2, 2][(at % 4) as usize],
        4_001..=12_000 => [0, 1, 2, 2][(at % 4) as usize],
        _ => [0, 0, 0, 1][(at % 4) as usize],
    };
    let packets: Vec<(usize, u64)> = (1..=20_000).map(|at| (whose(at), at)).collect();
    let run = served(&experiment(flows, "2 s"), &[0, 4_000, 0], &packets, &[None, None, Some(12_000)]);
    let times: Vec<(f64, f64, u64)> = run.phases.iter().map(|phase| (phase.from_s, phase.to_s, phase.flows)).collect();
    assert_eq!(times, [(2.0, 4.0, 2), (4.0, 12.0, 3), (12.0, 20.0, 2)]);
    let shares: Vec<(Option<u32>, &str, f64)> =
        run.shares.iter().map(|share| (share.phase, &*share.controller, share.share.expect("a share"))).collect();
    let by_hand =
        [(0, "a", 0.25), (0, "c", 0.75), (1, "a", 0.25), (1, "b", 0.25), (1, "c", 0.5), (2, "a", 0.75), (2, "b", 0.25)];
    assert_eq!(shares, by_hand.map(|(phase, name, share)| (Some(phase), name, share)));
    // (1 + 3)^2 / (2 (1 + 9)), (1 + 1 + 2)^2 / (3 (1 + 1 + 4)), and the first again.
    assert_eq!(
        run.phases.iter().map(|phase| phase.fairness_jain).collect::<Vec<_>>(),
        [Some(0.8), Some(16.0 / 18.0), Some(0.8)]
    );
    assert_eq!(run.phases.iter().map(|phase| phase.throughput_bps).collect::<Vec<_>>(), [Some(8e6); 3]);
    // The windows five seconds after 0 s and 4 s, up to 4 s and 12 s: the one that leaves counts.
    assert_eq!(run.summary.fairness_jain_after_entry, Some(16.0 / 18.0));
}

/// Its hundredth packet, of four each millisecond, leaves at 1.4 s.
#[test]
fn a_flow_that_completes_ends_a_phase() {
    let run =
        served(&experiment(&format!("{ENDLESS}, {SHORT}"), "0 s"), &[0, 1_000], &one_in_four(), &[None, Some(1_410)]);
    let times: Vec<(f64, f64, u64)> = run.phases.iter().map(|phase| (phase.from_s, phase.to_s, phase.flows)).collect();
    assert_eq!(times, [(0.0, 1.0, 1), (1.0, 1.4, 2), (1.4, 20.0, 1)]);
    assert_eq!((run.phases[1].fairness_jain, run.phases[2].fairness_jain), (Some(0.8), None));
}

#[test]
fn a_flow_stopped_within_the_warm_up_is_in_no_phase() {
    let flows = format!("{ENDLESS}, {ENDLESS}, {}", "{ controller = \"bbr\", packet = \"1000 B\", stop = \"3 s\" }");
    let packets: Vec<(usize, u64)> = (1..=20_000).map(|at| ((at % 2) as usize, at)).collect();
    let run = served(&experiment(&flows, "5 s"), &[0, 0, 0], &packets, &[None, None, Some(3_000)]);
    assert_eq!(run.phases.iter().map(|phase| phase.flows).collect::<Vec<_>>(), [2]);
    assert!(run.shares.iter().all(|share| share.controller != "bbr"), "{:?}", run.shares);
}

#[test]
fn disjoint_and_single_flows_have_no_index() {
    let packets: Vec<(usize, u64)> = (1..=100).map(|at| (0, at)).chain((1_001..=1_100).map(|at| (1, at))).collect();
    let apart =
        served(&experiment(&format!("{EARLY}, {SHORT}"), "0 s"), &[0, 1_000], &packets, &[Some(110), Some(1_110)]);
    assert_eq!(apart.summary.fairness_jain, None);
    let alone = served(&experiment(ENDLESS, "0 s"), &[0], &[(0, 5)], &[None]);
    assert_eq!((alone.summary.fairness_jain, alone.shares.len()), (None, 0));
}

#[test]
fn throughput_is_over_the_flows_lifetime() {
    // 100 packets of 8000 bit between 1 s and 1.4 s, when it is done: 2 Mbit/s, in the warm-up or not.
    for warmup in ["0 s", "2 s"] {
        let experiment = experiment(&format!("{ENDLESS}, {SHORT}"), warmup);
        let run = served(&experiment, &[0, 1_000], &one_in_four(), &[None, Some(1_400)]);
        assert_eq!(run.flows[1].throughput_bps, Some(2e6), "{warmup}");
    }
}

/// From 1 s to 1.41 s, and from 0 s to 0.11 s: 410 and 110 ms.
#[test]
fn completion_times_need_a_size_for_every_flow() {
    let run = |flows: &str, done| served(&experiment(flows, "0 s"), &[0, 1_000], &[], done).summary;
    let both = run(&format!("{EARLY}, {SHORT}"), &[Some(110), Some(1_410)]);
    let near = |found: Option<f64>, ms: f64| assert!((found.expect("a time") - ms * 1e-3).abs() < 1e-9, "{found:?}");
    near(both.completion_time_mean_s, 260.0);
    near(both.completion_time_p50_s, 110.0);
    near(both.completion_time_p99_s, 410.0);
    assert_eq!(both.flows_arrived, None);
    let late = run(&format!("{EARLY}, {SHORT}"), &[Some(110), None]);
    let endless = run(&format!("{EARLY}, {ENDLESS}"), &[Some(110), Some(1_410)]);
    assert_eq!((late.completion_time_mean_s, endless.completion_time_mean_s), (None, None));
}

/// The flow from `B` to `C` does not cross the slower link, which is measured.
#[test]
fn rtts_are_longest_on_the_measured_link() {
    let text = "run = { duration = \"1 s\" }\n\
        [[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\n\
        [[link]]\nfrom = \"B\"\nto = \"C\"\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\n";
    let flow = |from: &str, to: &str, rtt: u64| {
        format!("[[flow]]\ncontroller = \"cubic\"\nfrom = \"{from}\"\nto = \"{to}\"\nrtt = \"{rtt} ms\"\n")
    };
    let flows = flow("A", "B", 20) + &flow("A", "C", 40) + &flow("B", "C", 80);
    let experiment = planned(&(text.to_string() + &flows));
    let longest = harness::measure::longest(&experiment, |flow| Some(experiment.flows[flow].rtt));
    assert_eq!(longest, Some(Span::from_millis(40)));
    let run = served(&experiment, &[0; 3], &[], &[None; 3]);
    let routes: Vec<&str> = run.flows.iter().map(|flow| flow.route.as_str()).collect();
    assert_eq!((routes, run.measured.as_str()), (vec!["A-B", "A-B, B-C", "B-C"], "A-B"));
}

#[test]
fn controllers_of_a_mix_have_shares_and_one_colour() {
    let mixed = format!("{ENDLESS}, {{ controller = \"cubic\", packet = \"1000 B\", count = 2 }}");
    // Of four packets the first flow gets one, the second one, the third two.
    let packets: Vec<(usize, u64)> = (1..=20_000u64).map(|at| ([0, 1, 2, 2][at as usize % 4], at)).collect();
    let run = served(&experiment(&mixed, "10 s"), &[0, 0, 0], &packets, &[None; 3]);
    let shares: Vec<_> =
        run.shares.iter().map(|s| (s.controller.as_str(), s.flows, s.throughput_bps, s.share)).collect();
    assert_eq!(shares, [("rapid", 1, Some(2e6), Some(0.25)), ("cubic", 2, Some(6e6), Some(0.75))]);
    // Halfway between #D55E00 and #E69F00.
    assert_eq!(run.colour, "#DD7E00");
    assert_eq!(served(&experiment(ENDLESS, "0 s"), &[0], &[], &[None]).colour, "#D55E00");
}

#[test]
fn probe_truth_leaves_out_concurrent_flows() {
    let experiment = experiment(&format!("{ENDLESS}, {ENDLESS}"), "0 s");
    let mut recorder = Recorder::new(&experiment, &[Time::ZERO; 2], Some(Span::from_millis(10)));
    recorder.samples.watch();
    // While the stream passes, in 10 ms: two packets of the stream, three of the other flow, and one more that is refused.
    for (flow, arrives) in [(1, 99), (0, 100), (1, 101), (1, 102), (1, 103), (0, 109), (1, 111)] {
        recorder.served(Owner::Flow(flow), PACKET, ms(arrives), ms(arrives), ms(arrives + 1));
    }
    recorder.refused(Owner::Flow(1), ms(104), PACKET);
    let trace = StreamTrace { start: ms(95), rate: Rate::from_mbps(4), estimate: None, gaps: Vec::new() };
    recorder.samples.traced(0, trace, ms(100), ms(110));
    let run = recorder.finish(&experiment, Seen { flows: vec![FlowSeen::default(); 2], ..Seen::default() });
    // 4000 B in 10 ms are 3.2 Mbit/s.
    assert_eq!(run.streams[0].available_bps, Some(4.8e6));
}
