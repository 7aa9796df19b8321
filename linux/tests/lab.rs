//! The whole lab: compares real packets with arithmetic. Needs root; without it, each test says that it is skipped.

use experiment::results::Run;
use experiment::scenario::{Experiment, QueueSpec, Scenario};
use linux::lab::{self, Draws, Packets};
use packetscale_models::units::{Bytes, Rate, Serialiser, Span, Time};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// One run at a time: the runs share the machine.
static MACHINE: Mutex<()> = Mutex::new(());

/// Reserves the machine; `None` where the tests cannot run.
fn machine() -> Option<MutexGuard<'static, ()>> {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: network namespaces need root");
        return None;
    }
    Some(MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn plan(text: &str) -> Vec<Experiment> {
    Scenario::parse(text, Path::new("test.toml"), &[]).expect("a scenario").plan()
}

/// Returns a path of 50 Mbit/s with a buffer of 100 kB, and something that crosses it for 2 s after a warm-up of 0.5 s.
fn experiment(delay: &str, loss: f64, rest: &str) -> Experiment {
    let text = format!(
        "[run]\nduration = \"2.5 s\"\nwarmup = \"0.5 s\"\n\
         [path]\nrate = \"50 Mbit/s\"\ndelay = \"{delay}\"\nbuffer = \"100 kB\"\nloss = {loss}\n\
         [receiver]\ndelayed_ack = 1\n{rest}"
    );
    plan(&text).remove(0)
}

const CUBIC: &str = "[[flow]]\ncontroller = \"cubic\"\npacket = \"1514 B\"\n";

/// Makes a run. Repeats it if the lab refuses it because other programs held the processors. Returns `None`, with a
/// message, where the lab refuses all runs and the clock shows why.
fn run(experiment: &Experiment, traffic: impl Fn() -> Vec<Packets>) -> Option<Run> {
    let starts = || vec![Time::ZERO; experiment.flows.len()];
    run_with(|| Draws { starts: starts(), traffic: traffic(), ..Draws::default() }, experiment)
}

/// The same, with everything that is decided before.
fn run_with(draws: impl Fn() -> Draws, experiment: &Experiment) -> Option<Run> {
    let once = || lab::run(experiment, draws());
    const TRIES: usize = 4;
    let busy = |error: &lab::LabError| error.to_string().contains("this machine was too busy");
    let refused = |error| if busy(&error) { once() } else { Err(error) };
    match (1..TRIES).fold(once(), |last, _| last.or_else(refused)) {
        Err(error) if busy(&error) && clock_is_late() => {
            eprintln!("skipped: {error}, and one sleep in a hundred is late by more than the path's bucket holds");
            None
        }
        last => Some(last.expect("a run")),
    }
}

/// Whether one sleep of 200 us in a hundred ends later than two packets take at 50 Mbit/s. A token bucket that wakes as
/// late loses tokens, whatever the lab does.
fn clock_is_late() -> bool {
    let lateness = |_| {
        let before = std::time::Instant::now();
        std::thread::sleep(std::time::Duration::from_micros(200));
        before.elapsed().as_micros().saturating_sub(200)
    };
    let mut late: Vec<u128> = (0..2000).map(lateness).collect();
    late.sort_unstable();
    late[1980] > 2 * 1514 * 8 / 50
}

/// Packets of 1514 B at equal distances.
fn constant(mbps: u64, seconds: u64) -> Packets {
    let mut spacing = Serialiser::new(Rate::from_mbps(mbps));
    let mut at = Time::ZERO;
    let packets = std::iter::from_fn(move || {
        let packet = (at, Bytes::new(1_514));
        at += spacing.next(Bytes::new(1_514));
        Some(packet)
    });
    Box::new(packets.take_while(move |(at, _)| *at < Time::ZERO + Span::from_secs(seconds)))
}

fn assert_within(found: f64, least: f64, most: f64, what: &str) {
    assert!((least..=most).contains(&found), "{what}: found {found}, expected {least} to {most}");
}

#[test]
fn full_buffer_delays_by_size_over_rate() {
    let Some(_machine) = machine() else { return };
    let traffic = "[[traffic]]\nkind = \"cbr\"\nrate = \"75 Mbit/s\"\npacket = \"1514 B\"\n";
    let Some(run) = run(&experiment("0 s", 0.0, traffic), || vec![constant(75, 3)]) else { return };
    // 66 packets of 1514 B fit 100 kB. One that is queued waits for the 65 before it and for its own tokens, 66 * 1514
    // * 8 / 50e6 = 15.99 ms, less the time since the last dequeue, up to one gap of 75 Mbit/s: 15.83 ms to 15.99 ms. On a
    // busy machine the median crossing to the next host is some tens of microseconds above the least.
    assert_within(run.summary.queue_delay_p50_s.expect("served"), 0.0158, 0.0161, "median wait");
    assert_within(run.summary.utilisation.expect("served"), 0.89, 1.005, "utilisation");
    let sent = run.traffic[0].packets as f64;
    // The dropped share: the part of 75 Mbit/s that the link did not carry after the warm-up, except the 66 packets
    // that the buffer holds.
    let dropped = 1.0 - run.summary.utilisation.expect("served") * 50.0 / 75.0;
    assert_within(run.traffic[0].dropped_packets as f64 / sent, dropped - 0.02, dropped + 0.02, "drops");
    assert_within(run.traffic[0].mean_rate_bps.expect("a rate"), 74e6, 76e6, "rate offered");
}

#[test]
fn underloaded_queue_is_empty() {
    let Some(_machine) = machine() else { return };
    let traffic = "[[traffic]]\nkind = \"cbr\"\nrate = \"10 Mbit/s\"\npacket = \"1514 B\"\n";
    // A virtual machine that was paused for 0.1 s sends more packets at once than the buffer holds. That will not
    // happen four times in a row.
    for _ in 0..4 {
        let Some(run) = run(&experiment("0 s", 0.0, traffic), || vec![constant(10, 3)]) else { return };
        if run.traffic[0].dropped_packets == 0 {
            assert_within(run.summary.queue_delay_p50_s.expect("served"), 0.0, 0.0001, "median wait");
            assert_within(run.summary.utilisation.expect("served"), 0.198, 0.202, "utilisation");
            return;
        }
    }
    panic!("no run in which nothing was dropped");
}

#[test]
fn cubic_fills_buffer_and_retransmits_drops() {
    let Some(_machine) = machine() else { return };
    let Some(run) = run(&experiment("0 s", 0.0, CUBIC), Vec::new) else { return };
    // It cannot be less: the lab refuses a run whose bottleneck carries less than 90 % while packets wait.
    assert_within(run.summary.utilisation.expect("a rate"), 0.88, 1.005, "utilisation");
    let wait = run.summary.queue_delay_p50_s.expect("packets");
    assert_within(wait, 0.008, 0.0165, "median wait, between half a buffer and a full one");
    let flow = &run.flows[0];
    assert!(flow.dropped_packets > 0, "a buffer that is filled overflows");
    // The records count drops; the kernel counts retransmissions. The last drops are not repaired yet.
    assert_within(flow.retransmitted_packets as f64, 0.5 * flow.dropped_packets as f64, 1e9, "retransmissions");
    assert_within(
        flow.rtt_mean_s.expect("measured"),
        run.summary.queue_delay_mean_s.expect("served") * 0.8,
        0.02,
        "round trip, mostly the queue",
    );
}

/// CoDel's target is 5 ms (RFC 8289). A FIFO would hold 8 ms and more here.
#[test]
#[ignore = "long: make test-long"]
fn kernel_queue_holds_its_target() {
    let Some(_machine) = machine() else { return };
    let mut experiment = experiment("5 ms", 0.0, CUBIC);
    experiment.links[0].queue = QueueSpec::named("codel");
    let Some(run) = run(&experiment, Vec::new) else { return };
    let wait = run.summary.queue_delay_p50_s.expect("packets");
    assert_within(wait, 0.0005, 0.007, "median wait");
    assert_within(run.summary.utilisation.expect("a rate"), 0.85, 1.005, "utilisation");
    let flow = &run.flows[0];
    // The records count drops; the kernel counts retransmissions.
    assert!(flow.dropped_packets > 0, "CoDel drops before the buffer is full");
    assert_within(flow.retransmitted_packets as f64, 0.5 * flow.dropped_packets as f64, 1e9, "retransmissions");
}

#[test]
#[ignore = "long: make test-long"]
fn follows_rate_steps_in_real_time() {
    let Some(_machine) = machine() else { return };
    let text = "[run]\nduration = \"2.5 s\"\n[path]\nrate = \"40 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"100 kB\"\n\
                rate_steps = [[\"1.2 s\", \"10 Mbit/s\"]]\n[receiver]\ndelayed_ack = 1\n";
    let experiment = &plan(&format!("{text}{CUBIC}"))[0];
    let Some(run) = run_with(|| lab::draws(experiment, |_, _| Ok(Vec::new())).expect("drawn"), experiment) else {
        return;
    };
    let curve = run.series.iter().find(|series| series.metric == "throughput").expect("a curve");
    let mean = |from: usize, to: usize| {
        let values: Vec<f64> = curve.values[from..to].iter().flatten().map(|bps| f64::from(*bps)).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    // In tenths of a second. A late timer wastes what exceeds the bucket.
    assert_within(mean(4, 12), 0.85 * 40e6, 1.01 * 40e6, "before the step");
    assert_within(mean(13, 25), 0.85 * 10e6, 1.02 * 10e6, "after it");
}

#[test]
fn delay_line_delays_both_directions() {
    let Some(_machine) = machine() else { return };
    let Some(run) = run(&experiment("5 ms", 0.0, CUBIC), Vec::new) else { return };
    // The kernel's own least round-trip time: 10 ms, and the time for five hosts and four wake-ups.
    assert_within(run.flows[0].base_rtt_s, 0.010, 0.0115, "base round trip");
    assert_within(run.summary.utilisation.expect("served"), 0.85, 1.005, "utilisation");
}

#[test]
#[ignore = "long: make test-long"]
fn random_loss_matches_setting_and_is_retransmitted() {
    let Some(_machine) = machine() else { return };
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    if !available.is_ok_and(|names| names.contains("bbr")) {
        eprintln!("skipped: this kernel has no bbr, which losses do not slow down");
        return;
    }
    let Some(run) = run(&experiment("1 ms", 0.02, &CUBIC.replace("cubic", "bbr")), Vec::new) else { return };
    let flow = &run.flows[0];
    let crossed = flow.sent_packets as f64 - flow.dropped_packets as f64;
    let (mean, deviation) = (crossed * 0.02, (crossed * 0.02 * 0.98).sqrt());
    assert!(crossed > 2_000.0, "{crossed} packets are too few to judge");
    assert_within(flow.lost_packets as f64, mean - 5.0 * deviation, mean + 5.0 * deviation, "losses, binomial");
    let gone = (flow.lost_packets + flow.dropped_packets) as f64;
    assert_within(flow.retransmitted_packets as f64, 0.9 * gone - 20.0, 1.1 * gone + 20.0, "retransmissions");
}

#[test]
fn finite_flow_completes_behind_bottleneck() {
    let Some(_machine) = machine() else { return };
    let Some(run) = run(&experiment("0 s", 0.0, &format!("{CUBIC}size = \"5 MB\"\n")), Vec::new) else { return };
    // 5 MB at 50 Mbit/s: 0.8 s, and the repair of what slow start overran.
    assert_within(run.flows[0].completion_s.expect("it is done"), 0.79, 1.2, "completion");
}

#[test]
#[ignore = "long: make test-long"]
fn refuses_rate_beyond_machine_with_reached_rate() {
    let Some(_machine) = machine() else { return };
    let fast = format!("[path]\nrate = \"400 Gbit/s\"\ndelay = \"0 s\"\nbuffer = \"5 MB\"\n{CUBIC}");
    let message = lab::check(&plan(&fast)).expect_err("it is refused").to_string();
    assert!(message.starts_with("path.rate: this machine cannot create 400 Gbit/s"), "{message}");
    assert!(message.contains("a timer of 1 ms is late by"), "{message}");
}

#[test]
fn refuses_unsupported_keys() {
    let path = "[path]\nrate = \"50 Mbit/s\"\ndelay = \"1 ms\"\n";
    let two_links = "[[link]]\nname = \"a\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
                     [[link]]\nname = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n";
    let cases = [
        (format!("{path}[receiver]\ncoalescing = {{ time = \"100 us\" }}\n{CUBIC}"), "receiver.coalescing: "),
        (format!("{path}[receiver]\ndelayed_ack = 8\n{CUBIC}"), "receiver.delayed_ack: "),
        (format!("{path}[receiver]\nwindow = \"100 packets\"\n{CUBIC}"), "receiver.window: "),
        (format!("{path}[sender]\ngaps = {{ kind = \"noise\", up_to = \"1 us\" }}\n{CUBIC}"), "sender.gaps: "),
        (format!("{path}access = \"1 Gbit/s\"\n{CUBIC}"), "flow.0.access: "),
        (format!("{two_links}{CUBIC}"), "link: "),
    ];
    for (text, key) in cases {
        let message = lab::accept(&plan(&text)).expect_err(key).to_string();
        assert!(message.starts_with(key) && message.contains("; expected "), "{message}");
    }
}

/// At 8 Mbit/s the bucket of 160 us is smaller than two packets, which take 3 ms: ten times that is the least step.
#[test]
fn refuses_rate_steps_faster_than_packets() {
    let path = |lasts: &str| {
        let steps = format!("rate_steps = [[\"{lasts}\", \"1 Gbit/s\"]]\nrate_repeat = \"1 s\"");
        format!("[path]\nrate = \"8 Mbit/s\"\ndelay = \"1 ms\"\n{steps}\n{CUBIC}").replace("1514 B", "1500 B")
    };
    let message = lab::accept(&plan(&path("100 us"))).expect_err("it is refused").to_string();
    let expected = "path.rate_steps: found a step of \"100 us\" at \"8 Mbit/s\"; expected \"30 ms\" or longer at this \
                    rate: each change lets 3 kB through at once";
    assert!(message.starts_with(expected), "{message}");
    assert!(lab::accept(&plan(&path("30 ms"))).is_ok());
}

#[test]
fn refuses_missing_controller_and_lists_available() {
    let Some(_machine) = machine() else { return };
    // Kernels lack Copa.
    let text = format!("[path]\nrate = \"50 Mbit/s\"\ndelay = \"1 ms\"\n{}", CUBIC.replace("cubic", "copa"));
    let message = lab::check(&plan(&text)).expect_err("it is refused").to_string();
    assert!(message.starts_with("this kernel has no controller \"copa\"; it has "), "{message}");
    assert!(message.contains("cubic"), "{message}");
}
