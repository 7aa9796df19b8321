//! Flows that arrive, and flows that stop.

use super::*;
use experiment::results::{CompletionResult, TransferResult};

fn experiment(flow: &str) -> Experiment {
    planned(&format!(
        "run = {{ duration = \"20 s\" }}\n\
         path = {{ rate = \"8 Mbit/s\", delay = \"10 ms\", buffer = \"unlimited\" }}\n\
         receiver = {{ delayed_ack = 1 }}\n\
         record = {{ transfers = true }}\n\
         [[flow]]\ncontroller = \"newreno\"\npacket = \"1000 B\"\n{flow}"
    ))
}

fn run_of(flow: &str) -> Run {
    run(&experiment(flow))
}

fn starts(run: &Run) -> Vec<f64> {
    run.transfers.iter().map(|flow| flow.start_s).collect()
}

fn is(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
}

/// 1000 B take 1 ms at 8 Mbit/s, and the way is 10 ms. Ten packets are the initial window: 20 ms. Of 25 packets ten leave
/// at once; from 21 ms on each acknowledgment lets two more go, twice as many as the link takes, so that the link is busy
/// from then on. The first of the other fifteen starts at 21 ms, the last ends at 36 ms and arrives at 46 ms. Idle: 35 ms.
#[test]
fn completion_time_on_an_idle_path_is_counted_by_hand() {
    let run = run_of("size = \"10 kB\"\narrivals = { kind = \"times\", times = [\"1 s\"] }\n");
    let flow = &run.transfers[0];
    is(flow.completion_time_s, 0.020);
    is(flow.idle_time_s, 0.020);
    let run = run_of("size = \"25 kB\"\narrivals = { kind = \"times\", times = [\"1 s\"] }\n");
    let flow = &run.transfers[0];
    assert_eq!((flow.start_s, flow.size_bytes), (1.0, 25_000));
    is(flow.completion_time_s, 0.046);
    is(flow.idle_time_s, 0.035);
    is(flow.slowdown, 46.0 / 35.0);
    assert_eq!((run.summary.flows_arrived, run.summary.flows_completed), (Some(1), Some(1)));
    is(run.summary.slowdown_p99.unwrap(), 46.0 / 35.0);
}

#[test]
fn a_list_of_arrivals_gives_exactly_these_starts() {
    let times = "[\"7 s\", \"500 ms\", \"500 ms\", \"2 s\"]";
    let run = run_of(&format!("size = \"3 kB\"\narrivals = {{ kind = \"times\", times = {times} }}\n"));
    assert_eq!(starts(&run), [0.5, 0.5, 2.0, 7.0]);
    // Two at a time share the link packet by packet behind each other: 13 ms alone, 16 ms for the later one.
    let took: Vec<u64> = run.transfers.iter().map(|flow| (flow.completion_time_s * 1e6).round() as u64).collect();
    assert_eq!(took, [13_000, 16_000, 13_000, 13_000]);
}

#[test]
fn arrivals_stay_between_start_and_stop() {
    let within = "start = \"4 s\"\nstop = \"6 s\"\n";
    let starts =
        starts(&run_of(&format!("size = \"3 kB\"\n{within}arrivals = {{ kind = \"poisson\", every = \"10 ms\" }}\n")));
    assert!(starts.iter().all(|start| (4.0..6.0).contains(start)));
    // 200 are expected, with a deviation of 14: four of them.
    assert!((140..260).contains(&starts.len()), "{}", starts.len());
}

/// One client without a pause: each flow of 13 ms begins when the last has ended.
#[test]
fn a_client_requests_its_next_flow_after_the_last() {
    let run = run_of("size = \"3 kB\"\nstop = \"1 s\"\narrivals = { kind = \"requests\" }\n");
    let ends = run.transfers.iter().map(|flow| flow.start_s + flow.completion_time_s);
    for (end, next) in ends.zip(&run.transfers[1..]) {
        is(next.start_s, end);
    }
    assert_eq!(run.transfers.len(), 77, "0, 13, ..., 988 ms");
}

/// 8 Mbit/s are 1000 packets of 1000 B in a second; the load is that of the slowest link.
#[test]
fn a_load_is_the_share_of_the_slowest_link() {
    let run =
        run_of("size = { kind = \"exponential\", mean = \"20 kB\" }\narrivals = { kind = \"poisson\", load = 0.5 }\n");
    // 500 flows in 20 s; a sum of 500 exponential sizes of exponential gaps deviates by sqrt(2 / 500) = 6 %: three of them.
    let utilisation = run.summary.utilisation.unwrap();
    assert!((utilisation - 0.5).abs() < 0.095, "{utilisation}");
    let of = |row: &CompletionResult| (row.from_bytes, row.to_bytes, row.arrived);
    let (rows, all) = (&run.completions[1..], &run.completions[0]);
    assert_eq!(all.arrived, rows.iter().map(|row| row.arrived).sum::<u64>());
    assert_eq!(all.completed, run.transfers.len() as u64);
    // 1 - exp(-0.5) of them are not above 10 kB: 39 %, with a deviation of 2.2 %.
    assert_eq!((of(&rows[0]).0, of(&rows[0]).1), (Some(0), Some(10_000)));
    let small = rows[0].arrived as f64 / all.arrived as f64;
    assert!((small - 0.393).abs() < 0.07, "{small}");
    assert!(run.transfers.iter().all(|flow| flow.slowdown >= 1.0));
}

/// Fifteen thousand flows, most of which take the place of an earlier one: each arrives whole, at its own time.
#[test]
fn reused_flow_slot_has_fresh_state() {
    let mut experiment = experiment("size = \"500 B\"\narrivals = { kind = \"poisson\", every = \"1333 us\" }\n");
    let clean = run(&experiment);
    let flows = clean.transfers.len() as u64;
    assert!(flows > 14_000);
    assert_eq!(clean.summary.loss_ratio, Some(0.0));
    assert!(clean.transfers.iter().all(|flow: &TransferResult| flow.completion_time_s >= 0.0105));
    // The same with one in twenty packets lost: every flow ends that had the time for it, later or not.
    experiment.links[0].loss = Ratio::from_f64(0.05);
    let lossy = run(&experiment);
    assert_eq!(lossy.summary.flows_arrived, clean.summary.flows_arrived);
    let late = |flow: &TransferResult| flow.start_s > 15.0;
    let ended = |run: &Run| run.transfers.iter().filter(|flow| !late(flow)).count();
    assert_eq!(ended(&lossy), ended(&clean));
    assert!(lossy.transfers.iter().all(|flow| flow.completion_time_s >= 0.0105));
}

#[test]
fn arriving_flows_are_the_same_fused_and_stepped() {
    let flow = "size = { kind = \"pareto\", least = \"1 kB\", most = \"1 MB\", shape = 1.2 }\n\
        arrivals = { kind = \"poisson\", load = 0.7 }\n[[flow]]\ncontroller = \"cubic\"\nstop = \"9 s\"\n";
    let mut experiment = experiment(flow);
    experiment.links[0].buffer = packets(20);
    assert!(same_in_both_modes(&experiment, 10_001).iter().any(was_dropped));
}

/// The link is busy until the flow stops at 5 s; then at most a window is under way, and it is done.
#[test]
fn a_flow_that_stops_sends_nothing_new() {
    let mut experiment = experiment("stop = \"5 s\"\n");
    experiment.links[0].buffer = packets(20);
    let run = run(&experiment);
    let done = run.flows[0].completion_s.unwrap();
    // 20 packets of 1 ms wait at most, and a round trip is 20 ms.
    assert!((5.0..5.1).contains(&done), "{done}");
    let sent = run.flows[0].sent_packets as f64;
    assert!((4_500.0..5_050.0).contains(&sent), "{sent}");
    assert!(log(&experiment, Mode::Fused).iter().all(|served| served.arrival <= ms(5_100)));
}

/// A flow every microsecond, none of which ends: the 65 537th finds no place. The run stops then, not after a minute.
#[test]
fn refuses_more_than_65536_concurrent_flows() {
    let text = "[run]\nduration = \"1 min\"\n[path]\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n[sender]\ninitial_window = 1\n\
        [[flow]]\ncontroller = \"newreno\"\n[[flow]]\ncontroller = \"newreno\"\nsize = \"1 MB\"\n\
        arrivals = { kind = \"poisson\", every = \"1 us\" }\n";
    let error = simulator::run(&planned(text)).map(drop).unwrap_err().to_string();
    assert_eq!(error, "flow.1.arrivals: found more than 65536 flows at a time; expected fewer, or shorter ones");
}

/// Acknowledgments that come in bunches of 5 s outlive their flow: another has its place when they arrive.
#[test]
fn late_acknowledgments_do_not_disturb_the_next_flow() {
    let text = "run = { duration = \"20 s\" }\n\
                path = { rate = \"1 Gbit/s\", delay = \"10 ms\", buffer = \"100 packets\" }\n\
                receiver = { delayed_ack = 1, ack_bunching = \"5 s\" }\n\
                record = { transfers = true }\n\
                [[flow]]\ncontroller = \"newreno\"\nsize = \"3 kB\"\narrivals = { kind = \"poisson\", every = \"10 ms\" }\n";
    let arrived = run(&planned(text)).transfers.len();
    assert!(arrived > 1000, "{arrived}");
}
