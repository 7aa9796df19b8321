//! What the bottleneck carries where its rate changes, and what a policer drops, against arithmetic.

use super::{Run, able, number, received};
use std::fs;

/// A path with a round trip of 20 ms.
fn scenario(duration_ms: u32, path: &str, rest: &str) -> String {
    format!(
        "run = {{ duration = \"{duration_ms} ms\" }}\nreceiver = {{ delayed_ack = 1 }}\n\
         path = {{ delay = \"10 ms\", {path} }}\n{rest}\n"
    )
}

const CUBIC: &str = "flow = [{ controller = \"cubic\", packet = \"1500 B\" }]";
const TENTH: f64 = 1500.0 * 8.0 / 0.1;

#[test]
fn each_step_of_the_rate_is_what_the_path_carries() {
    let Some(()) = able() else { return };
    let path = "rate = \"20 Mbit/s\", buffer = \"40 packets\", \
                rate_steps = [[\"700 ms\", \"5 Mbit/s\"], [\"1100 ms\", \"0 bit/s\"], [\"1400 ms\", \"10 Mbit/s\"]]";
    let run = Run::of(&scenario(2_000, path, CUBIC));
    // The receiver is 10 ms behind the link. The step to nothing lets one packet through.
    for (from_s, to_s, rate_bps, more) in
        [(0.3, 0.7, 20e6, 1.0), (0.8, 1.1, 5e6, 1.0), (1.2, 1.4, 0.0, 0.0), (1.5, 2.0, 10e6, 1.0)]
    {
        let found = received(&run, "0", from_s, to_s);
        let near = |bps: &f64| (bps - rate_bps).abs() <= more * TENTH;
        assert!(!found.is_empty() && found.iter().all(near), "{found:?}, expected {rate_bps}");
    }
    // A packet that waits when the rate comes back does not wait for the old one to let it go: a tenth and 10 ms of way.
    let first = received(&run, "0", 1.4, 1.5);
    assert!((first[0] - 9e6).abs() <= 2.0 * TENTH, "{first:?}");
}

#[test]
fn a_packet_leaves_with_each_opportunity_of_a_trace() {
    let Some(()) = able() else { return };
    // For 400 ms one in 2 ms, for 200 ms none, for 200 ms two in each; and again.
    let mut times: Vec<u32> = (1..=200).map(|n| 2 * n).collect();
    times.extend((601..=800).flat_map(|ms| [ms, ms]));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.mahi");
    let lines: Vec<String> = times.iter().map(u32::to_string).collect();
    fs::write(&file, lines.join("\n") + "\n").expect("written");
    let path = format!("buffer = \"100 packets\", rate_trace = {{ file = \"{}\" }}", file.display());
    let run = Run::of(&scenario(1_600, &path, CUBIC));
    // In the first 200 ms slow start fills the queue. Then it is never empty but at 0.6 s, where a window of 60 packets meets 20 each 10 ms.
    let found = received(&run, "0", 0.2, 1.6);
    for (number, bps) in found.iter().enumerate() {
        let (from_ms, to_ms) = (100 * (number as u32 + 2) - 10, 100 * (number as u32 + 3) - 10);
        let within = |round_ms: u32| times.iter().filter(|at| (from_ms..to_ms).contains(&(*at + round_ms))).count();
        let opportunities = (within(0) + within(800)) as f64;
        assert!(bps / TENTH <= opportunities + 1.0, "{number}: {} of {opportunities} packets", bps / TENTH);
        if opportunities < 100.0 {
            assert!(bps / TENTH >= opportunities - 1.0, "{number}: {} of {opportunities} packets", bps / TENTH);
        }
    }
    assert!(found.iter().any(|bps| bps / TENTH > 100.0), "{found:?}");
}

#[test]
fn a_policer_drops_what_its_bucket_has_no_tokens_for() {
    let Some(()) = able() else { return };
    let policer =
        "rate = \"20 Mbit/s\", buffer = \"60 packets\", policer = { rate = \"5 Mbit/s\", bucket = \"15 kB\" }";
    let traffic = "flow = [{ controller = \"cubic\", packet = \"1500 B\", start = \"990 ms\" }]\n\
                   traffic = [{ kind = \"cbr\", rate = \"10 Mbit/s\", packet = \"1500 B\" }]";
    let run = Run::of(&scenario(1_000, policer, traffic));
    let traffic = &run.table("traffic.csv")[0];
    let [packets, dropped] = ["packets", "dropped_packets"].map(|column| number(traffic, column));
    // 10 Mbit/s are 833 packets; 5 Mbit/s and a full bucket let 417 and 10 through. The flow's first take some at the end.
    assert!((832.0..=834.0).contains(&packets), "{packets}");
    assert!((dropped - (packets - 427.0)).abs() <= 4.0, "{dropped} of {packets}");
}

#[test]
fn a_shaper_lets_its_bucket_through_and_then_its_rate() {
    let Some(()) = able() else { return };
    let path = "rate = \"20 Mbit/s\", buffer = \"100 packets\", shaper = { rate = \"4 Mbit/s\", bucket = \"150 kB\" }";
    let traffic = "flow = [{ controller = \"cubic\", packet = \"1500 B\", start = \"950 ms\" }]\n\
                   traffic = [{ kind = \"cbr\", rate = \"16 Mbit/s\", packet = \"1500 B\", stop = \"500 ms\" }]";
    let run = Run::of(&scenario(1_050, path, traffic));
    let traffic = &run.table("traffic.csv")[0];
    let [packets, dropped] = ["packets", "dropped_packets"].map(|column| number(traffic, column));
    // 16 Mbit/s for half a second are 667 packets. 100 of the bucket, 167 at the rate and 100 that wait have left by 0.8 s; a
    // packet behind the last that was dropped shows the drops.
    assert!((666.0..=668.0).contains(&packets), "{packets}");
    assert!((dropped - (packets - 367.0)).abs() <= 4.0, "{dropped} of {packets}");
}
