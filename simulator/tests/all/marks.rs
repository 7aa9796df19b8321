//! Queues that mark, and flows that answer.

use super::*;
use packetscale_models::queueing::find;

const RTT: Span = Span::from_millis(40);

fn threshold(n: u64) -> Setting {
    Setting::Packets(Packets::new(n))
}

/// Settings of TDQM with which it marks nothing.
fn off() -> [(&'static str, Setting); 4] {
    ["rho_min", "rho_max", "eta_min", "eta_max"].map(|name| (name, Setting::Ratio(Ratio::ONE)))
}

/// Marks every packet that finds this many queued.
fn step(at: u64) -> QueueSpec {
    let settings = [
        ("weight", Setting::Ratio(Ratio::ONE)),
        ("min", threshold(at)),
        ("max", threshold(at)),
        ("gentle", Setting::Switch(false)),
        ("mark_above", Setting::Switch(true)),
    ];
    queue("red", &settings)
}

/// Two flows over 20 Mbit/s: 100 packets of 1000 bytes on the way. Slow start overshoots, so the buffer holds six times
/// as many.
fn experiment(controller: &str, queue: QueueSpec, ecn: bool) -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(20), RTT / 2, packets(600), Span::from_secs(30));
    experiment.links[0].queue = queue;
    experiment.flows = vec![FlowSpec { ecn, ..flow(controller, 1000, RTT) }.into(); 2];
    experiment.warmup = Span::from_secs(10);
    experiment
}

fn run_of(controller: &str, queue: QueueSpec, ecn: bool) -> Run {
    run(&experiment(controller, queue, ecn))
}

/// The threshold is two round trips' worth of packets. What leaves while the queue comes down finds it above the threshold
/// still, so a flow answers twice: of 300 packets 75 are left, and 100 are on the way. The two grow back in 13 of some 110
/// round trips, the shortest ones, and miss an eighth of the link meanwhile: less than 2 % of it in all.
#[test]
fn ecn_flows_fill_a_marking_link_without_loss() {
    for controller in ["newreno", "cubic", "vegas"] {
        let run = run_of(controller, step(200), true);
        assert_eq!(run.summary.drop_ratio.unwrap(), 0.0, "{controller}");
        assert!(run.flows.iter().all(|flow| flow.recoveries == Some(0) && flow.timeouts == Some(0)), "{controller}");
        assert!(run.summary.utilisation.unwrap() > 0.97, "{controller}: {}", run.summary.utilisation.unwrap());
    }
    assert!(run_of("newreno", step(200), true).summary.mark_ratio.unwrap() > 0.0);
}

#[test]
fn drops_non_ecn_flows_where_others_are_marked() {
    for (controller, ecn) in [("newreno", false), ("bbr", true)] {
        let run = run_of(controller, step(20), ecn);
        assert_eq!(run.summary.mark_ratio.unwrap(), 0.0, "{controller}");
        assert!(run.summary.drop_ratio.unwrap() > 0.0, "{controller}");
    }
}

/// Wherever the marks come from, on a link before the last or after the first, they reach the sender.
#[test]
fn marks_of_every_link_arrive() {
    for marking in [0, 1] {
        let mut experiment = experiment("newreno", QueueSpec::named("fifo"), true);
        let mut wide = experiment.links[0].clone();
        (wide.name, wide.rate, wide.delay) = ("wide".to_string(), Rate::from_mbps(30), Span::ZERO);
        experiment.links.push(wide);
        experiment.links.swap(0, 1 - marking);
        experiment.bottleneck = usize::from(experiment.links[1].rate < experiment.links[0].rate);
        experiment.links[experiment.bottleneck].queue = step(200);
        experiment.flows.iter_mut().for_each(|flow| flow.route = vec![0, 1]);
        let run = run(&experiment);
        assert_eq!(run.summary.drop_ratio.unwrap(), 0.0);
        assert!(run.summary.mark_ratio.unwrap() > 0.0 && run.summary.utilisation.unwrap() > 0.97);
    }
}

/// A queue that marks nothing is drop-tail: the same run, packet by packet, in both forms.
#[test]
fn disciplines_that_choose_no_packet_are_drop_tail() {
    let expected = log(&experiment("newreno", QueueSpec::named("fifo"), true), Mode::Fused);
    assert!(expected.iter().any(was_dropped));
    let red = queue("red", &[("min", threshold(1000)), ("max", threshold(2000))]);
    for queue in [red, queue("tdqm", &off())] {
        assert!(find(&queue.kind).is_some());
        for mode in [Mode::Fused, Mode::Stepped] {
            let found = log(&experiment("newreno", queue.clone(), true), mode);
            assert!(found == expected, "{} {mode:?}", queue.kind);
        }
    }
}

/// Busy periods read from the log of services, each from its arrival to its end, with the area under its unfinished
/// work: every packet adds s W + s^2 / 2. A packet takes 177.78 us here, so that remainders count.
#[test]
fn tdqm_measures_the_links_busy_periods() {
    let measures = [("shortest", Setting::Ratio(Ratio::ZERO)), ("delay", Setting::Word("unfinished".to_string()))];
    let mut experiment = dumbbell(Rate::from_mbps(45), RTT / 2, packets(240), Span::from_secs(5));
    experiment.links[0].queue = queue("tdqm", &[&off()[..], &measures].concat());
    let poisson = |mbps, size| TrafficSpec {
        stop: ms(4900),
        ..traffic(TrafficKind::Poisson { rate: Rate::from_mbps(mbps) }, size, 1)
    };
    experiment.traffic = vec![poisson(36, 1000), poisson(2, 77)];

    let mut log = log(&experiment, Mode::Fused);
    log.sort_by_key(|served| (served.arrival, served.departure));
    let mut etas = Vec::new();
    let (mut start, mut free, mut area) = (Time::ZERO, Time::ZERO, 0.0);
    for served in &log {
        if served.arrival > free {
            let length = free.since(start).as_secs_f64();
            etas.push(area / (length * length / 2.0));
            (start, area) = (served.arrival, 0.0);
        }
        let begins = served.arrival.max(free);
        let (wait, service) =
            (begins.since(served.arrival).as_secs_f64(), served.departure.since(begins).as_secs_f64());
        area += service * wait + service * service / 2.0;
        free = served.departure;
    }
    // The first entry ends nothing, and the last period is not known to have ended.
    let etas = &etas[1..];
    let expected = etas.iter().sum::<f64>() / etas.len() as f64;
    let found = run(&experiment).summary.burstiness_eta.expect("measured");
    assert!(etas.len() > 3000, "only {} busy periods", etas.len());
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected} over {}", etas.len());
}

/// The log has every packet that passed: its wait is its time at the link less 0.4 ms of transmission.
#[test]
fn reports_waiting_times_by_controller() {
    let mut experiment = dumbbell(Rate::from_mbps(20), RTT / 2, packets(600), Span::from_secs(10));
    experiment.links[0].queue = QueueSpec::named("dualpi2");
    experiment.flows = ["prague", "cubic"].map(|controller| flow(controller, 1000, RTT).into()).to_vec();
    experiment.warmup = Span::from_secs(2);
    let run = simulator::run_in(&experiment, Mode::Stepped).unwrap();
    let log = log(&experiment, Mode::Stepped);
    let (warm, end) = (Time::ZERO + experiment.warmup, Time::ZERO + experiment.duration);
    for (owner, share) in run.shares.iter().enumerate() {
        let own = log.iter().filter(|one| one.owner == owner as u32 && one.departure > warm && one.departure <= end);
        let mut waits: Vec<u64> = own.map(|one| one.departure.since(one.arrival).nanos() - 400_000).collect();
        waits.sort_unstable();
        let quantile = |q: f64| waits[(waits.len() as f64 * q) as usize] as f64 * 1e-9;
        for (found, q) in [(share.queue_delay_p50_s, 0.5), (share.queue_delay_p99_s, 0.99)] {
            let (found, expected) = (found.expect("measured"), quantile(q));
            assert!((found - expected).abs() <= 0.005 * expected, "{} {q}: {found} {expected}", share.controller);
        }
    }
    let p99 = |flow: usize| run.shares[flow].queue_delay_p99_s.expect("measured");
    assert!(p99(0) < p99(1) / 4.0, "the queue of Prague is short: {} {}", p99(0), p99(1));
}

#[test]
fn measurements_of_a_discipline_become_curves() {
    let curve = |run: &Run, metric: &str| run.series.iter().find(|series| series.metric == metric).cloned();
    let red = run_of("newreno", step(50), true);
    assert!(curve(&red, "queue_average").is_some() && curve(&red, "queue_eta").is_none());
    let tdqm = run_of("newreno", QueueSpec::named("tdqm"), true);
    let rho = curve(&tdqm, "queue_rho").expect("a curve");
    assert!(rho.values.iter().flatten().all(|rho| (0.0..=1.0).contains(rho)));
    assert!(curve(&tdqm, "queue_eta").is_some() && tdqm.summary.burstiness_eta.is_some());
    assert_eq!(red.summary.burstiness_eta, None);
}
