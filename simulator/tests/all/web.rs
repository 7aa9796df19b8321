//! Browsing users, against schedules by hand. A file of 1460 B is one packet of 1500 B, 1.5 ms on a path of 8 Mbit/s.
//! With a round trip of 10 ms a connection takes one, its request half a one, the data 5 ms to the link: 21.5 ms.

use super::*;
use experiment::results::TrafficResult;

/// One user of files of 1460 B.
const ONE: &str = "users = 1\nrtt = [\"10 ms\", \"10 ms\"]\nparse = { most = \"0 s\" }\n\
    size = { median = \"1460 B\", sigma = 1e-9, tail = 0.0 }\n";
/// Pages of three files, except one in a hundred.
const THREE: &str = "objects = { shape = 0.01, most = 3 }\n";
/// Pages of one file.
const SINGLE: &str = "objects = { most = 1 }\n";

fn experiment(duration: &str, web: &str) -> Experiment {
    planned(&format!(
        "run = {{ duration = \"{duration}\" }}\nreceiver = {{ delayed_ack = 1 }}\nrecord = {{ detail = false }}\n\
         path = {{ rate = \"8 Mbit/s\", delay = \"0 ms\", buffer = \"unlimited\" }}\n\
         [[traffic]]\nkind = \"web\"\n{web}"
    ))
}

fn traffic(duration: &str, web: &[&str]) -> TrafficResult {
    run(&experiment(duration, &web.concat())).traffic.remove(0)
}

/// Durations are resolved to a thousandth.
fn is(found: Option<f64>, expected_ms: f64) {
    let found_ms = found.expect("a duration") * 1e3;
    assert!((found_ms / expected_ms - 1.0).abs() < 2e-3, "{found_ms} ms instead of {expected_ms}");
}

#[test]
fn a_file_takes_connection_request_and_data_time() {
    is(traffic("60 s", &[ONE, SINGLE]).file_p50_s, 21.5);
}

#[test]
fn page_times_follow_the_number_of_connections() {
    for (why, keys, expected_ms) in [
        ("one after the other, each over a new connection", "parallel = 1\n", 3.0 * 21.5),
        // Half a round trip there, the data back.
        ("those over a persistent connection save connecting", "parallel = 1\npersistent = true\n", 21.5 + 2.0 * 11.5),
        // 12 ms to leave the servers. The first file: 10 + 5 + 12 + 5 + 1.5. Of the others the second waits for the first.
        ("the servers of a copy share a card of 1 Mbit/s", "parallel = 2\naccess = \"1 Mbit/s\"\n", 33.5 + 45.5),
    ] {
        println!("{why}");
        is(traffic("60 s", &[ONE, THREE, keys]).page_p50_s, expected_ms);
    }
}

#[test]
fn the_distribution_counts_files_by_duration() {
    let traffic = traffic("60 s", &[ONE, SINGLE]);
    let bins = traffic.file_duration;
    let full = bins.count.iter().position(|count| *count > 0).expect("a file");
    assert_eq!((bins.count[full], bins.upper_s.len()), (traffic.files_fetched.expect("a count"), full + 1));
    // Bins grow by 10^(1/40), 5.9 %.
    assert!(bins.upper_s[full - 1] < 0.0215 && 0.0215 <= bins.upper_s[full] * 1.001, "{:?}", bins.upper_s);
}

/// Bounded at 100 s, thinking lasts 3 (1 - 100^-0.5) / (1 - 100^-1.5) = 2.703 s on the average, with a deviation of 4.4 s
/// (second moment 3 (10 - 1) / 0.999 = 27.0), and a file 21.5 ms. 200 users request 7341 pages in 100 s, with a deviation
/// of sqrt(7341) * 4.4 / 2.72 = 139.
#[test]
fn users_think_between_pages_from_the_beginning() {
    let many = ONE.replace("users = 1\n", "users = 200\n");
    let asked = traffic("100 s", &[&many, SINGLE]).files_asked.expect("a count") as f64;
    assert!((asked - 200.0 * 100.0 / 2.7245).abs() < 3.0 * 139.0, "{asked}");
}

const MANY: &str = "users = 30\ncopies = 2\naccess = \"10 Mbit/s\"\n";

#[test]
fn users_are_the_same_fused_and_stepped() {
    for kept in ["persistent = false\n", "persistent = true\n"] {
        same_in_both_modes(&experiment("10 s", &[MANY, kept].concat()), 1001);
    }
}

/// What left the link when users had it to themselves enters it when they do not respond.
#[test]
fn unresponsive_users_send_as_on_an_empty_path() {
    let log = |responsive: &str| log(&experiment("10 s", &[MANY, responsive].concat()), Mode::Fused);
    let end = Time::from_picos(10_000_000_000_000);
    let left = log("responsive = true\n").into_iter().map(|served| served.departure);
    let mut left: Vec<Time> = left.filter(|at| *at < end).collect();
    let mut entered: Vec<Time> = log("responsive = false\n").into_iter().map(|served| served.arrival).collect();
    left.sort_unstable();
    entered.sort_unstable();
    entered.truncate(left.len());
    // The last packet to enter may not leave before the end.
    assert!(entered.len() + 1 >= left.len() && left.len() > 1000);
    assert_eq!(left[..entered.len()], entered[..]);
}

/// Two equal sources have different users: they request other files.
#[test]
fn two_unresponsive_sources_draw_different_files() {
    let mut experiment = experiment("5 s", &[MANY, "responsive = false\n"].concat());
    let again = experiment.traffic[0].clone();
    experiment.traffic.push(again);
    let run = run(&experiment);
    let [first, second] = [0, 1].map(|source| (run.traffic[source].packets, run.traffic[source].mean_rate_bps));
    assert!(first.0 > 0 && second.0 > 0);
    assert_ne!(first, second);
}

/// A connection that uses the place of another draws for itself. Half of the acknowledgments are lost at random, so each
/// file takes another time; one user's files all use one place.
#[test]
fn connections_that_follow_each_other_draw_differently() {
    let size = "size = { median = \"30 kB\", sigma = 1e-9, tail = 0.0 }\n";
    let web = ONE.replace("size = { median = \"1460 B\", sigma = 1e-9, tail = 0.0 }\n", size);
    let mut experiment = experiment("300 s", &[web.as_str(), SINGLE].concat());
    experiment.receiver.ack_loss = Ratio::of(1, 2);
    let run = run(&experiment);
    let [fastest, slowest] = [run.traffic[0].file_p05_s, run.traffic[0].file_p95_s].map(|time| time.expect("files"));
    assert!(slowest > 1.02 * fastest, "{fastest} to {slowest} s");
}
