//! Results as a host would fill them, made from closed forms and a small generator. They resemble real curves enough to
//! judge a picture, and are the same on every call.
#![allow(dead_code, missing_docs)]

use experiment::results::reproduction::{
    Axis, Claim, Figure as PaperFigure, Line, Origin, Paper, Picture, Source, Value, Verdict,
};
use experiment::results::{
    CompletionResult, Environment, ExpectationOutcome, FlowResult, Histogram, HostLabel, LinkResult, Manifest, Results,
    Run, SCHEMA, SequenceRecord, Series, StreamGap, StreamRecord, Summary, TrafficResult,
};
use std::collections::BTreeMap;

const CONTROLLERS: [(&str, &str); 3] = [("rapid", "#0072b2"), ("cubic", "#d55e00"), ("newreno", "#009e73")];
const CAPACITY: f64 = 10e9;
const SCENARIO: &str = r#"[run]
duration = "60 s"
warmup = "5 s"
seed = 1
replications = 3

[path]
rate = "10 Gbit/s"
delay = "15 ms"
buffer = "1 bdp"
queue = { kind = "fifo" }
"#;

/// Noise in 0..1, by a linear congruential generator.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns three controllers, three replications, 60 s in steps of 10 ms, and three flows that enter one after the
/// other.
pub fn demo() -> Results {
    let runs = CONTROLLERS
        .iter()
        .flat_map(|(controller, colour)| (0..3).map(move |replication| run(controller, colour, replication, 6000)))
        .collect();
    wrap(runs)
}

/// Returns one run of one controller.
pub fn single() -> Results {
    wrap(vec![run("rapid", "#0072b2", 0, 1000)])
}

/// Returns two controllers over four buffers.
pub fn sweep() -> Results {
    let mut runs = Vec::new();
    for (controller, colour) in &CONTROLLERS[..2] {
        for (i, buffer) in [5, 10, 20, 40].into_iter().enumerate() {
            for replication in 0..3 {
                let mut run = run(controller, colour, replication, 600);
                run.params = BTreeMap::from([("path.buffer".to_string(), format!("{buffer} packets"))]);
                let kept = 1.0 - 0.3 / (i as f64 + 1.0) * if *controller == "cubic" { 1.0 } else { 0.2 };
                run.summary.available_share = run.summary.available_share.map(|share| share * kept);
                let buffer = f64::from(buffer) / 40.0;
                run.summary.queue_delay_p99_s = run.summary.queue_delay_p99_s.map(|delay| delay * buffer);
                runs.push(run);
            }
        }
    }
    wrap(runs)
}

/// Two controllers whose flows arrive, in three replications. At percentile p a flow of `rapid` takes (1 + p) ms,
/// of `cubic` twice as long; each later replication takes a quarter of a millisecond longer.
pub fn arrivals() -> Results {
    let one = |factor: f64, replication: u32| {
        let row = |from_bytes, to_bytes, arrived, slowdown: f64| CompletionResult {
            from_bytes,
            to_bytes,
            arrived,
            completed: arrived,
            slowdown_p50: Some(slowdown),
            slowdown_p99: Some(slowdown * 4.0),
            ..CompletionResult::default()
        };
        let took = |percent: u32| factor * f64::from(1 + percent) * 1e-3 + f64::from(replication) * 0.25e-3;
        let all = CompletionResult {
            completion_time_p50_s: Some(took(50)),
            completion_time_p99_s: Some(took(99)),
            completion_time_percentiles_s: (0..=100).map(took).collect(),
            ..row(None, None, 180, 1.5)
        };
        vec![
            all,
            row(Some(0), Some(10_000), 100, 1.0),
            row(Some(10_000), Some(100_000), 60, 2.0),
            CompletionResult { arrived: 0, completed: 0, ..row(Some(100_000), Some(10_000_000), 0, 1.0) },
            row(Some(10_000_000), None, 20, 4.0),
        ]
    };
    let mut results = demo();
    results.expectations.clear();
    results.runs.retain(|run| run.controller != "newreno");
    for run in &mut results.runs {
        run.completions = one(if run.controller == "rapid" { 1.0 } else { 2.0 }, run.replication);
        let all = run.completions[0].clone();
        run.summary.completion_time_p50_s = all.completion_time_p50_s;
        run.summary.completion_time_p99_s = all.completion_time_p99_s;
        run.summary.flows_arrived = Some(200);
        run.summary.flows_completed = Some(180);
        run.summary.slowdown_p50 = all.slowdown_p50;
    }
    results
}

/// One run with recorded packets, over four links.
pub fn packets() -> Results {
    let mut results = single();
    let run = &mut results.runs[0];
    let sequence = |flow: u32| SequenceRecord {
        flow,
        sent: (0..2000).map(|packet| (packet as f64 * 0.03, packet)).collect(),
        sent_again: vec![(30.0, 990), (30.1, 992)],
        acknowledged: (0..2000).map(|packet| (packet as f64 * 0.03 + 0.2, packet)).collect(),
        lost: vec![(29.75, 990), (29.8, 992)],
        in_flight: (0..2000).map(|at| (at as f64 * 0.03, at % 50)).collect(),
    };
    run.sequences = vec![sequence(0), sequence(1)];
    for losses in run.series.iter_mut().filter(|series| series.metric == "losses") {
        losses.values[500] = Some(2.0);
    }
    let queue = run.series.iter().find(|series| series.metric == "queue_delay").cloned().unwrap_or_default();
    run.links = ["access", "west", "a link with a long name", "east"]
        .into_iter()
        .enumerate()
        .map(|(number, name)| {
            let values = queue.values.iter().map(|delay| delay.map(|delay| delay * number as f32)).collect();
            LinkResult {
                link: number as u32,
                name: name.to_string(),
                queue_delay: Series { values, ..queue.clone() },
                ..LinkResult::default()
            }
        })
        .collect();
    results
}

/// Returns results without any run.
pub fn empty() -> Results {
    let mut results = wrap(Vec::new());
    results.manifest = Manifest::default();
    results.expectations.clear();
    results
}

/// Returns the demo, with names that try to break out of their place in the page.
pub fn hostile() -> Results {
    let bad = "</script><script>throw 1</script><b onclick='x'>\"&\u{2028}";
    let mut results = sweep();
    results.manifest.scenario_name = bad.into();
    results.manifest.scenario = format!("# {bad}\n{SCENARIO}");
    results.manifest.version = bad.into();
    results.expectations[0].why = bad.into();
    results.host = HostLabel { name: bad.into(), badge: bad.into(), about: bad.into(), ..HostLabel::default() };
    for run in &mut results.runs {
        run.controller = format!("{bad}{}", run.controller);
        run.colour = "red;}</style>".into();
        run.params = BTreeMap::from([(bad.to_string(), bad.to_string())]);
        run.flows.iter_mut().for_each(|f| f.controller = bad.into());
        run.traffic.iter_mut().for_each(|t| t.kind = bad.into());
        run.series.push(Series { metric: bad.into(), unit: bad.into(), values: vec![Some(1.0)], ..Series::default() });
        run.summary.throughput_bps = None;
        run.summary.queue_delay_p99_s = Some(f64::INFINITY);
    }
    results
}

fn wrap(runs: Vec<Run>) -> Results {
    let expectation = |metric: &str, bound: &str, found, met, why: &str| ExpectationOutcome {
        metric: metric.into(),
        selected: "controller = rapid".into(),
        bound: bound.into(),
        found,
        met,
        why: why.into(),
    };
    Results {
        schema: SCHEMA,
        host: HostLabel { name: "simulator".to_string(), ..HostLabel::default() },
        manifest: Manifest {
            version: "0.1.0".into(),
            commit: Some("0123abcd".into()),
            scenario_name: "example-10g.toml".into(),
            scenario: SCENARIO.into(),
            seeds: vec![1, 2, 3],
            conditions: Vec::new(),
            environment: Environment {
                system: "Linux 6.1".into(),
                processor: "example".into(),
                cores: 2,
                inputs: vec![],
            },
        },
        runs,
        expectations: vec![
            expectation("available_share", "at least 0.88", Some(0.93), true, "example of a bound that is met"),
            expectation("queue_delay_p99_s", "at most 0.00001", Some(0.0008), false, "example of one that is missed"),
        ],
    }
}

fn run(controller: &str, colour: &str, replication: u32, values: usize) -> Run {
    let mut noise = Noise(u64::from(replication) * 7919 + controller.len() as u64);
    let step = 60.0 / values as f64;
    let probes = controller == "rapid";
    let share = if probes { 0.94 } else { 0.55 + 0.3 * f64::from(u8::from(controller == "cubic")) };
    let time = |i: usize| (i as f64 + 0.5) * step;
    let traffic: Vec<f64> = (0..values).map(|i| traffic_at(time(i), &mut noise)).collect();
    let available: Vec<f64> = traffic.iter().map(|t| (CAPACITY - t).max(0.0)).collect();
    let active = |t: f64| [0.0, 20.0, 40.0].iter().filter(|start| t >= **start).count() as f64;
    let mut series =
        vec![series("traffic", None, "bps", step, &traffic), series("available", None, "bps", step, &available)];
    let mut queue = Vec::new();
    let mut total_loss = 0.0;
    let mut losses = Vec::new();
    for (i, room) in available.iter().enumerate() {
        let phase = sawtooth(time(i), if probes { 0.0 } else { 7.0 });
        let spike = if noise.next() < 0.02 { noise.next() * if probes { 6e-4 } else { 9e-3 } } else { 0.0 };
        let standing = if probes { 2e-5 * noise.next() } else { 0.024 * (phase - 0.5).max(0.0) };
        queue.push(standing + spike * (1.0 - room / CAPACITY));
        let lost = if !probes && phase > 1.0 - step.max(0.035) / 7.0 { (noise.next() * 90.0).floor() } else { 0.0 };
        total_loss += lost;
        losses.push(lost);
    }
    for flow in 0..3u32 {
        let start = f64::from(flow) * 20.0;
        let rate = |i: usize| {
            let t = time(i);
            if t < start {
                return None;
            }
            let ramp = 1.0 - (-(t - start) / if probes { 0.15 } else { 3.0 }).exp();
            let phase = sawtooth(t + f64::from(flow), if probes { 0.0 } else { 7.0 });
            Some(available[i] * share / active(t) * ramp * (0.7 + 0.3 * phase))
        };
        let mut noisy = |rate: Option<f64>| {
            let factor = 0.97 + 0.06 * noise.next();
            rate.map(|rate| rate * factor)
        };
        let rates: Vec<Option<f64>> = (0..values).map(|i| noisy(rate(i))).collect();
        let rtts: Vec<f64> = queue.iter().map(|q| 0.030 + q + 1e-5).collect();
        let windows: Vec<Option<f64>> =
            rates.iter().zip(&rtts).map(|(rate, rtt)| rate.map(|rate| rate * rtt / 72_000.0)).collect();
        series.push(self::series("throughput", Some(flow), "bps", step, &rates));
        series.push(self::series("rtt", Some(flow), "s", step, &rtts));
        if probes {
            let own: Vec<Option<f64>> = (0..values).map(rate).collect();
            series.push(self::series("rate", Some(flow), "bps", step, &own));
        }
        series.push(self::series("window", Some(flow), "packets", step, &windows));
    }
    series.push(self::series("queue_delay", None, "s", step, &queue));
    let longest: Vec<f64> = queue.iter().map(|q| q * 1.2 + 5e-6).collect();
    series.push(self::series("queue_delay_max", None, "s", step, &longest));
    series.push(self::series("losses", None, "packets", step, &losses));
    let mean_available = available.iter().sum::<f64>() / values as f64;
    let throughput = mean_available * share * (0.99 + 0.02 * noise.next());
    Run {
        controller: controller.into(),
        colour: colour.into(),
        seed: u64::from(replication) + 1,
        replication,
        summary: Summary {
            throughput_bps: Some(throughput),
            utilisation: Some((throughput + CAPACITY - mean_available) / CAPACITY),
            available_share: Some(throughput / mean_available),
            loss_ratio: Some(total_loss / 5e6),
            drop_ratio: Some(total_loss / 5e6),
            queue_delay_mean_s: Some(queue.iter().sum::<f64>() / values as f64),
            queue_delay_p50_s: Some(percentile(&queue, 0.5)),
            queue_delay_p95_s: Some(percentile(&queue, 0.95)),
            queue_delay_p99_s: Some(percentile(&queue, 0.99)),
            rtt_mean_s: Some(0.030 + queue.iter().sum::<f64>() / values as f64),
            fairness_jain: Some(if probes { 0.992 } else { 0.87 } + 0.004 * noise.next()),
            fairness_jain_after_entry: Some(if probes { 0.981 } else { 0.62 }),
            convergence_s: probes.then_some(0.42),
            convergence_rtts: probes.then_some(14.0),
            packets_delivered: 4_123_456,
            packet_hops: Some(24_740_736),
            events: Some(9_000_000),
            cpu_s: Some(1.2),
            ..Summary::default()
        },
        flows: (0..3).map(|flow| flow_result(controller, flow, throughput, probes)).collect(),
        traffic: vec![TrafficResult {
            kind: "pcap".into(),
            mean_rate_bps: Some(CAPACITY - mean_available),
            rate_p05_bps: Some(percentile(&traffic, 0.05)),
            rate_p95_bps: Some(percentile(&traffic, 0.95)),
            burstiness_bps: Some(percentile(&traffic, 0.95) - percentile(&traffic, 0.05)),
            packets: 12_345_678,
            dropped_packets: 17,
            ..TrafficResult::default()
        }],
        series,
        queue_delay: histogram(&queue),
        streams: if probes { (0..6).map(|i| stream(f64::from(i) * 9.5 + 1.0, &mut noise)).collect() } else { vec![] },
        ..Run::default()
    }
}

fn traffic_at(t: f64, noise: &mut Noise) -> f64 {
    let slow = 3e9 + 1.2e9 * (t / 5.0).sin() + 0.6e9 * (t / 1.3).sin();
    let burst = if noise.next() < 0.06 { 2.5e9 * noise.next() } else { 0.0 };
    slow + burst + 0.8e9 * (noise.next() - 0.5)
}

/// Rises from 0 to 1 over `period`; always 1 if the period is zero.
fn sawtooth(t: f64, period: f64) -> f64 {
    if period == 0.0 { 1.0 } else { (t % period) / period }
}

fn series<V: Copy + Into<Option<f64>>>(metric: &str, flow: Option<u32>, unit: &str, step: f64, values: &[V]) -> Series {
    Series {
        metric: metric.into(),
        flow,
        unit: unit.into(),
        start_s: step / 2.0,
        step_s: step,
        values: values.iter().map(|value| (*value).into().map(|value| value as f32)).collect(),
    }
}

fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

fn histogram(values: &[f64]) -> Histogram {
    let upper_s: Vec<f64> = (0..120).map(|i| 1e-7 * 10f64.powf(f64::from(i) / 20.0)).collect();
    let mut count = vec![0; upper_s.len()];
    for value in values {
        let bin = upper_s.partition_point(|u| u < value).min(upper_s.len() - 1);
        count[bin] += 100;
    }
    Histogram { upper_s, count }
}

fn flow_result(controller: &str, flow: u32, throughput: f64, probes: bool) -> FlowResult {
    FlowResult {
        flow,
        controller: controller.into(),
        start_s: f64::from(flow) * 20.0,
        throughput_bps: Some(throughput / 3.0),
        base_rtt_s: 0.030,
        rtt_mean_s: Some(0.0304),
        sent_packets: 1_400_000,
        retransmitted_packets: if probes { 0 } else { 812 },
        dropped_packets: if probes { 0 } else { 812 },
        recoveries: Some(if probes { 0 } else { 9 }),
        streams: probes.then_some(21_000),
        unusable_streams: probes.then_some(140),
        ..FlowResult::default()
    }
}

/// Four levels of sixteen gaps; beyond the available rate the received gaps stretch and the delay rises.
fn stream(start: f64, noise: &mut Noise) -> StreamRecord {
    let (bits, available) = (72_000.0, 6.1e9 + 0.9e9 * noise.next());
    let mut delay = 0.0;
    let gaps = (0..64)
        .map(|i| {
            let rate = [4.2e9, 5.5e9, 7.2e9, 9.4e9][i / 16];
            let intended = bits / rate;
            let created = intended + 4e-7 * (noise.next() - 0.5);
            let burst = if noise.next() < 0.12 { 2.0e-6 * noise.next() } else { 0.0 };
            let growth = (bits / available - bits / rate).max(if delay > 0.0 { -delay } else { 0.0 }) + burst;
            delay = (delay + growth - if rate < available { burst * 0.7 } else { 0.0 }).max(0.0);
            StreamGap {
                intended_s: intended,
                created_s: created,
                received_s: (i != 40).then_some(created + growth),
                denoised_s: (i != 40).then_some(intended.max(bits / available)),
                delay_s: (i != 40).then_some(delay),
                rate_bps: rate,
                size_bytes: 9000,
            }
        })
        .collect();
    StreamRecord {
        flow: 0,
        start_s: start,
        rate_bps: 6.0e9,
        estimate_bps: Some(available * 0.97),
        available_bps: Some(available),
        gaps,
    }
}

/// A paper of two figures: values, claims, and pictures of every kind of line.
pub fn paper() -> Paper {
    let value = |what: &str, ours, verdict| Value {
        what: what.to_string(),
        unit: "packets".to_string(),
        place: "section V".to_string(),
        published: 25.0,
        ours: Some(ours),
        half_width: Some(2.5),
        ratio: Some(ours / 25.0),
        origin: Origin::Computed,
        verdict,
        ..Value::default()
    };
    let claim = Claim {
        words: "The loss is near 30 %.".to_string(),
        place: "section VII".to_string(),
        bound: "loss_ratio at most 0.4".to_string(),
        selected: "rcp, flow.0.count = 600".to_string(),
        found: Some(0.45),
        origin: Origin::Simulated,
        verdict: Verdict::Differs,
        because: "another interval".to_string(),
        ..Claim::default()
    };
    let figure = |name: &str, values, claims, pictures| PaperFigure {
        name: name.to_string(),
        title: format!("Figure {name}"),
        place: "section V".to_string(),
        says: "Less load, less queue.".to_string(),
        sources: vec![Source {
            name: "exact".to_string(),
            origin: Origin::Computed,
            recipe: "packetscale theory multiplexing --flows 1000".to_string(),
            count: 1,
            unanswered: vec!["unstable".to_string()],
        }],
        values,
        claims,
        pictures,
        notes: vec!["A note.".to_string()],
        ..PaperFigure::default()
    };
    let values = vec![value("Queue of the top 1 %", 24.7, Verdict::Kept), value("Another", 50.0, Verdict::Unexpected)];
    Paper {
        name: "example".to_string(),
        title: "A paper about queues".to_string(),
        authors: vec!["A. Author".to_string(), "B. Author".to_string()],
        published: "Here, 2007".to_string(),
        about: "It asks how little queue there can be.".to_string(),
        figures: vec![
            figure("9", values, vec![claim], vec![picture(false)]),
            figure("10", Vec::new(), Vec::new(), vec![picture(true)]),
        ],
    }
}

fn picture(log: bool) -> Picture {
    let line = |name: &str, origin, dense, count: u32| Line {
        name: name.to_string(),
        origin,
        colour: None,
        dense,
        points: (1..=count).map(|i| (f64::from(i), Some(f64::from(i * i)), (i > 1).then_some(0.5))).collect(),
    };
    let mut holed = line("with a hole", Origin::Computed, true, 300);
    holed.points[100].1 = None;
    Picture {
        title: "Queue".to_string(),
        caption: "By load.".to_string(),
        x: Axis { label: "Load".to_string(), log, ..Axis::default() },
        y: Axis { label: "Queue".to_string(), unit: "packets".to_string(), log, ..Axis::default() },
        lines: vec![
            line("rcp", Origin::Simulated, false, 6),
            holed,
            line("theirs", Origin::Published, false, 3),
            line("nothing", Origin::Simulated, false, 0),
        ],
    }
}

/// Returns a paper in which every text tries to become markup.
pub fn hostile_paper() -> Paper {
    const EVIL: &str = "</script></style><b onclick=\"x\">&'";
    let mut paper = paper();
    for text in [&mut paper.title, &mut paper.published, &mut paper.about, &mut paper.authors[0]] {
        text.push_str(EVIL);
    }
    for figure in &mut paper.figures {
        for text in [&mut figure.name, &mut figure.title, &mut figure.says, &mut figure.notes[0]] {
            text.push_str(EVIL);
        }
        figure.sources[0].recipe.push_str(EVIL);
        figure.pictures[0].title.push_str(EVIL);
        figure.pictures[0].lines[0].name.push_str(EVIL);
        figure.pictures[0].lines[0].colour = Some(EVIL.to_string());
        figure.values.iter_mut().for_each(|value| value.what.push_str(EVIL));
        for claim in &mut figure.claims {
            claim.words.push_str(EVIL);
            claim.unit.push_str(EVIL);
        }
    }
    paper
}
