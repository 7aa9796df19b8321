//! What a path does to real packets, against arithmetic.

use super::{Run, able, number};
use std::collections::BTreeMap;

/// Bits of the frames.
const PACKET: f64 = 1514.0 * 8.0;
const RATE: f64 = 20e6;

/// A path of 20 Mbit/s with a round trip of 20 ms.
fn scenario(duration_ms: u32, buffer: &str, path: &str, rest: &str) -> String {
    format!(
        "run = {{ duration = \"{duration_ms} ms\", warmup = \"300 ms\" }}\nreceiver = {{ delayed_ack = 1 }}\n\
         path = {{ rate = \"20 Mbit/s\", delay = \"10 ms\", buffer = \"{buffer}\"{path} }}\n{rest}\n"
    )
}

fn flow(controller: &str, more: &str) -> String {
    format!("{{ controller = \"{controller}\", packet = \"1514 B\"{more} }}")
}

fn flows(all: &[String]) -> String {
    format!("flow = [{}]", all.join(", "))
}

/// Five runs, which differ in their seeds: for queues that draw.
fn five(scenario: &str) -> Run {
    Run::of(&scenario.replacen("run = { ", "run = { replications = 5, ", 1))
}

/// The middle one of a figure's values in five runs. One that a run does not have counts as endless: in one build one run of five
/// had no wait; the next build's 29 had one, so why was not seen.
fn middle(five: &Run, table: &str, column: &str) -> f64 {
    let value = |row: &BTreeMap<String, String>| match row[column].as_str() {
        "" => f64::INFINITY,
        _ => number(row, column),
    };
    let mut values: Vec<f64> = five.table(table).iter().map(value).collect();
    assert_eq!(values.len(), 5);
    values.sort_by(f64::total_cmp);
    values[2]
}

/// The round trips of the run's flow as TCP has smoothed them, between two times, are this and at most a wait for 4 packets
/// and the time to send one.
fn assert_round_trips(run: &Run, from_s: f64, to_s: f64, round_trip_s: f64) {
    let rows = run.table("series.csv");
    let within = |time_s: f64| time_s > from_s && time_s < to_s;
    let rtts = rows.iter().filter(|row| row["metric"] == "rtt" && within(number(row, "time_s")));
    let found: Vec<f64> = rtts.map(|row| number(row, "value")).collect();
    assert!(!found.is_empty(), "no round trips from {from_s} s");
    // TCP counts in microseconds, and a host takes some.
    let expected = round_trip_s - 2e-6..round_trip_s + 5.0 * PACKET / RATE + 1e-4;
    assert!(found.iter().all(|rtt| expected.contains(rtt)), "{found:?}, expected {expected:?}");
}

#[test]
fn each_step_of_the_delay_reaches_the_round_trip() {
    let Some(()) = able() else { return };
    let steps = ", delay_steps = [[\"600 ms\", \"30 ms\"], [\"1200 ms\", \"5 ms\"]]";
    let run = Run::of(&scenario(1_800, "4 packets", steps, &flows(&[flow("newreno", "")])));
    // The way back keeps its 10 ms. The smoothed round trip follows within some round trips.
    for (from_s, to_s, round_trip_s) in [(0.3, 0.6, 0.020), (1.0, 1.2, 0.040), (1.55, 1.8, 0.015)] {
        assert_round_trips(&run, from_s, to_s, round_trip_s);
    }
}

#[test]
fn late_packets_are_late_by_the_time_of_those_that_overtake_them() {
    let Some(()) = able() else { return };
    // Nearly all: 30 packets of 1514 B take 18.2 ms.
    let path = ", reorder = { share = 0.9999, packets = 30 }";
    let run = Run::of(&scenario(900, "4 packets", path, &flows(&[flow("newreno", "")])));
    assert_round_trips(&run, 0.5, 0.9, 0.020 + 30.0 * PACKET / RATE);
}

#[test]
fn packets_sent_during_outage_are_lost() {
    let Some(()) = able() else { return };
    // The buffer holds two products of rate and round trip, so the link stays busy: 16.5 packets leave it in 10 ms.
    let outage = ", outages = [[\"500 ms\", \"510 ms\"]]";
    let run = Run::of(&scenario(700, "100 kB", outage, &flows(&[flow("newreno", "")])));
    let lost = number(&run.table("flows.csv")[0], "lost_packets");
    assert!((16.0..=17.0).contains(&lost), "{lost} packets");
}

#[test]
fn flows_have_their_own_round_trips_beside_traffic() {
    let Some(()) = able() else { return };
    let rtts = [0.020, 0.035, 0.060];
    let all = rtts.map(|rtt| flow("newreno", &format!(", rtt = \"{} ms\"", rtt * 1000.0)));
    let traffic = "\ntraffic = [{ kind = \"poisson\", rate = \"5 Mbit/s\", packet = \"1000 B\" }]";
    let run = Run::of(&scenario(900, "50 kB", "", &(flows(&all) + traffic)));
    for (row, rtt) in run.table("flows.csv").iter().zip(rtts) {
        // A SYN is 66 bytes; at most a packet of each is ahead of it.
        let base = number(row, "base_rtt_s");
        assert!((rtt..rtt + 4.0 * PACKET / RATE).contains(&base), "{base} s, of {rtt} s");
    }
    assert!(run.figure("utilisation") > 0.95);
}

#[test]
#[ignore = "long: make test-long"]
fn fair_queues_give_a_flow_its_half_beside_traffic_that_does_not_respond() {
    let Some(()) = able() else { return };
    let traffic = "\ntraffic = [{ kind = \"cbr\", rate = \"15 Mbit/s\", packet = \"1514 B\" }]";
    // PIE drops packets of the flow too, so that it has none at times.
    for (queue, least) in [("fq-codel", 9.0e6), ("cake", 9.0e6), ("fq", 9.0e6), ("fq-pie", 6.0e6)] {
        let path = format!(", queue = \"{queue}\"");
        let scenario = scenario(1_500, "200 kB", &path, &(flows(&[flow("cubic", "")]) + traffic));
        let throughput_bps = middle(&five(&scenario), "flows.csv", "throughput_bps");
        // Deficit round robin: 10 Mbit/s each, as both have packets. A FIFO would leave the flow 5, and so would a queue
        // that does not know whose packets it has. One run in 1024 is such a queue: FQ-CoDel and FQ-PIE may hash both into
        // the same of their 1024. So the middle one of five counts.
        assert!((least..10.3e6).contains(&throughput_bps), "{queue}: {throughput_bps} bit/s");
    }
}

#[test]
#[ignore = "long: make test-long"]
fn red_keeps_the_average_between_its_limits() {
    let Some(()) = able() else { return };
    let queue = ", queue = { kind = \"red\", min = \"5 packets\", max = \"15 packets\", max_p = 0.1, \
                 weight = 0.0078125, gentle = false }";
    let runs = five(&scenario(3_000, "200 kB", queue, &flows(&[flow("newreno", ""), flow("newreno", "")])));
    let [wait, used] = ["queue_delay_p50_s", "utilisation"].map(|column| middle(&runs, "runs.csv", column));
    // 15 packets of 1514 B take 9 ms. A buffer that fills would have 80 ms.
    assert!((0.0005..15.0 * PACKET / RATE).contains(&wait), "{wait} s");
    // Where both flows halve at once while the queue is short, half of the path is left. RED draws who does: of 24 seeds one used
    // 0.17 of it (a timer), the others 0.62 to 0.94.
    assert!(used > 0.5, "{used} of the path");
}

#[test]
#[ignore = "long: make test-long"]
fn codel_marks_packets_that_ask_for_it_and_drops_others() {
    let Some(()) = able() else { return };
    let queue = ", queue = { kind = \"codel\", target = \"2 ms\", interval = \"20 ms\" }";
    let run = |ecn: bool| {
        let all = flows(&[flow("newreno", &format!(", ecn = {ecn}"))]);
        Run::of(&scenario(1_500, "200 kB", queue, &all))
    };
    let (marking, dropping) = (run(true), run(false));
    assert_eq!(marking.figure("loss_ratio"), 0.0);
    assert!(marking.figure("mark_ratio") > 0.0);
    assert_eq!(dropping.figure("mark_ratio"), 0.0);
    assert!(dropping.figure("loss_ratio") > 0.0);
    // The sender answers: the queue stays short of the buffer's 80 ms.
    assert!(marking.figure("queue_delay_p50_s") < 0.008 && marking.figure("utilisation") > 0.8);
}

#[test]
fn dctcp_and_its_receiver_agree_on_marks() {
    let Some(()) = able() else { return };
    let queue = ", queue = { kind = \"codel\", target = \"1 ms\", interval = \"10 ms\" }";
    let run = Run::of(&scenario(1_500, "200 kB", queue, &flows(&[flow("dctcp", ", ecn = true")])));
    // Without the receiver's part, the kernel does not negotiate ECN, and CoDel drops.
    assert_eq!(run.figure("loss_ratio"), 0.0);
    assert!(run.figure("utilisation") > 0.95, "{}", run.figure("utilisation"));
}

#[test]
fn pie_holds_its_target() {
    let Some(()) = able() else { return };
    let queue = ", queue = { kind = \"pie\", target = \"5 ms\", update = \"4 ms\" }";
    let run = Run::of(&scenario(3_000, "200 kB", queue, &flows(&[flow("cubic", ""), flow("cubic", "")])));
    // A buffer that fills would have 80 ms.
    let wait = run.figure("queue_delay_p50_s");
    assert!((0.001..0.010).contains(&wait) && run.figure("utilisation") > 0.9, "{wait} s");
}
