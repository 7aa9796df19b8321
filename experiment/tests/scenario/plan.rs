//! The plans that scenarios unfold to.

use crate::support::{plan, read, refusal};
use experiment::scenario::{Buffer, Experiment, GapModel, Scenario, Shaper, Size, Start, TraceSource, TrafficKind};
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span, Time};
use std::path::{Path, PathBuf};

fn dumbbell(rest: &str) -> Vec<Experiment> {
    plan(&format!("[path]\nrate = \"10 Gbit/s\"\ndelay = \"15 ms\"\n{rest}"))
}

const FLOW: &str = "[[flow]]\ncontroller = \"rapid\"\n";

#[test]
fn a_flow_may_have_an_application_and_marks_of_its_own() {
    let flows = &dumbbell(&format!(
        "[sender]\necn = true\n{FLOW}application = {{ kind = \"on-off\", on = \"10 ms\", off = \"1 s\", rate = \"5 Mbit/s\" }}\n{FLOW}ecn = false"
    ))[0]
    .flows;
    let bursts = TrafficKind::OnOff { on: Span::from_millis(10), off: Span::from_secs(1), rate: Rate::from_mbps(5) };
    assert_eq!(flows.iter().map(|flow| flow.application.clone()).collect::<Vec<_>>(), [Some(bursts), None]);
    assert_eq!(flows.iter().map(|flow| flow.ecn).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_bdp_is_the_rate_times_twice_the_delay() {
    // 10 Gbit/s for 30 ms are 37.5 MB; a tenth of that is 3.75 MB.
    let buffer = |text: &str| dumbbell(&format!("buffer = \"{text}\"\n{FLOW}"))[0].links[0].buffer;
    assert_eq!(buffer("1 bdp"), Buffer::Bytes(Bytes::new(37_500_000)));
    assert_eq!(buffer("2bdp"), Buffer::Bytes(Bytes::new(75_000_000)));
    assert_eq!(buffer("0.5 bdp"), Buffer::Bytes(Bytes::new(18_750_000)));
    assert_eq!(buffer("100 packets"), Buffer::Packets(Packets::new(100)));
    assert_eq!(buffer("2 MB"), Buffer::Bytes(Bytes::new(2_000_000)));
    assert_eq!(buffer("unlimited"), Buffer::Unlimited);
}

#[test]
fn a_chain_is_measured_where_data_cross_it() {
    let links = |flow: &str| {
        plan(&format!(
            r#"
            link = [
              {{ name = "one", rate = "20 Mbit/s", delay = "2 ms" }},
              {{ name = "two", rate = "10 Mbit/s", delay = "2 ms" }},
              {{ name = "back", rate = "100 kbit/s", delay = "2 ms", buffer = "9 kB" }},
            ]
            flow = [{{ controller = "cubic", {flow} }}]"#
        ))[0]
            .bottleneck
    };
    assert_eq!(links(r#"route = ["one", "two"], back = ["back"]"#), 1, "only acknowledgments cross the slowest");
    assert_eq!(links(r#"route = ["one"]"#), 0);
    assert_eq!(links(""), 2);
}

#[test]
fn a_bdp_in_a_chain_takes_the_longest_round_trip_that_crosses_the_link() {
    let experiment = &plan(
        r#"
        link = [
          { name = "a", rate = "1 Gbit/s", delay = "2 ms" },
          { name = "b", rate = "100 Mbit/s", delay = "3 ms" },
        ]
        flow = [
          { controller = "rapid", rtt = "40 ms", route = ["a"] },
          { controller = "cubic" },
        ]"#,
    )[0];
    assert_eq!(experiment.flows[1].rtt, Span::from_millis(10));
    assert_eq!(experiment.flows[1].route, [0, 1]);
    // 1 Gbit/s for 40 ms are 5 MB; 100 Mbit/s for 10 ms are 125 kB.
    assert_eq!(experiment.links[0].buffer, Buffer::Bytes(Bytes::new(5_000_000)));
    assert_eq!(experiment.links[1].buffer, Buffer::Bytes(Bytes::new(125_000)));
    assert_eq!(experiment.bottleneck, 1);
    assert_eq!(experiment.controller, "rapid + cubic");
}

#[test]
fn counts_unfold_with_a_round_trip_and_a_start_each() {
    let flows = &dumbbell(
        "[[flow]]\ncontroller = \"cubic\"\ncount = 2\nrtt = [\"30 ms\", \"100 ms\"]\nstart = [\"0 s\", \"5 s\"]\nsize = \"1 MB\"",
    )[0]
    .flows;
    assert_eq!(flows.iter().map(|flow| flow.rtt).collect::<Vec<_>>(), [Span::from_millis(30), Span::from_millis(100)]);
    let starts = [Start::At(Time::ZERO), Start::At(Time::ZERO + Span::from_secs(5))];
    assert_eq!(flows.iter().map(|flow| flow.start).collect::<Vec<_>>(), starts);
    assert!(flows.iter().all(|flow| flow.size == Size::Bytes(Bytes::new(1_000_000))));
}

#[test]
fn keys_with_commas_between_them_are_swept_together() {
    let plan = plan(
        r#"
        link = [
          { name = "a", rate = "1 Gbit/s", delay = "2 ms", buffer = "9 packets" },
          { name = "b", rate = "1 Gbit/s", delay = "3 ms", buffer = "9 packets" },
        ]
        flow = [{ controller = "rapid" }]
        [sweep]
        "link.0.buffer, link.1.buffer" = ["1 packets", "2 packets"]
        "flow.0.count" = [1, 2]"#,
    );
    let buffers: Vec<_> = plan.iter().map(|run| (run.links[0].buffer, run.links[1].buffer)).collect();
    let both = |packets| (Buffer::Packets(Packets::new(packets)), Buffer::Packets(Packets::new(packets)));
    assert_eq!(buffers, [both(1), both(1), both(2), both(2)]);
}

#[test]
fn case_sets_values_and_names_point() {
    let text = r#"
        [path]
        rate = "10 Gbit/s"
        delay = "15 ms"
        [[flow]]
        controller = "rapid"
        [sweep]
        host = [
            { case = "as it is", receiver = {}, sender = {} },
            { case = "slow clock", receiver = { stamp_granularity = "1 ms" }, sender = { pacing = "100 %" } },
        ]
        traffic = [
            { case = "none", traffic = [] },
            { case = "steady", traffic = [{ kind = "cbr", rate = "1 Gbit/s" }] },
        ]"#;
    let found: Vec<_> = plan(text)
        .iter()
        .map(|run| {
            let clock = run.receiver.stamp_granularity;
            (run.params["host"].clone(), run.params["traffic"].clone(), clock, run.traffic.len())
        })
        .collect();
    let at = |host: &str, traffic: &str, clock, sources| (host.to_string(), traffic.to_string(), clock, sources);
    let (nanosecond, millisecond) = (Span::from_nanos(1), Span::from_millis(1));
    let expected = [
        at("as it is", "none", nanosecond, 0),
        at("as it is", "steady", nanosecond, 1),
        at("slow clock", "none", millisecond, 0),
        at("slow clock", "steady", millisecond, 1),
    ];
    assert_eq!(found, expected);
}

#[test]
fn controllers_and_sweep_points_share_seeds() {
    let plan = dumbbell(&format!(
        "{FLOW}[run]\nreplications = 3\n[compare]\ncontrollers = [\"rapid\", \"cubic\"]\n\
        [sweep]\n\"path.loss\" = [0.0, 0.01]\npath.buffer = [\"1 bdp\", \"2 bdp\", \"3 bdp\"]\n"
    ));
    assert_eq!(plan.len(), 3 * 2 * 2 * 3);
    let seeds: Vec<u64> = plan[..3].iter().map(|experiment| experiment.seed).collect();
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2]);
    for runs in plan.chunks(3) {
        assert_eq!(runs.iter().map(|run| run.seed).collect::<Vec<_>>(), seeds);
        assert_eq!(runs.iter().map(|run| run.replication).collect::<Vec<_>>(), [0, 1, 2]);
    }
}

#[test]
fn the_last_swept_key_runs_fastest_and_controllers_within_each_point() {
    let plan = dumbbell(&format!(
        "{FLOW}[compare]\ncontrollers = [\"rapid\", {{ kind = \"cubic\", label = \"other\" }}]\n\
        [sweep]\n\"path.loss\" = [0.0, 1e-2]\n\"flow.0.count\" = [1, 2]\n"
    ));
    let seen: Vec<(&str, &str, &str, usize)> = plan
        .iter()
        .map(|run| {
            let param = |key: &str| run.params[key].as_str();
            (param("path.loss"), param("flow.0.count"), run.controller.as_str(), run.flows.len())
        })
        .collect();
    let expected = [
        ("0.0", "1", "rapid", 1),
        ("0.0", "1", "other", 1),
        ("0.0", "2", "rapid", 2),
        ("0.0", "2", "other", 2),
        ("1e-2", "1", "rapid", 1),
        ("1e-2", "1", "other", 1),
        ("1e-2", "2", "rapid", 2),
        ("1e-2", "2", "other", 2),
    ];
    assert_eq!(seen, expected);
    assert_eq!(plan[1].flows[0].controller.kind, "cubic");
    assert_eq!(plan[7].links[0].loss, Ratio::from_f64(0.01));
}

#[test]
fn hosts_are_read_in_all_their_forms() {
    let gaps = |text: &str| dumbbell(&format!("{FLOW}[sender]\ngaps = {text}\n"))[0].gaps;
    assert_eq!(gaps("\"perfect\""), GapModel::Perfect);
    assert_eq!(gaps("{ kind = \"noise\", up_to = \"0.4 us\" }"), GapModel::Noise(Span::from_nanos(400)));
    assert_eq!(gaps("{ kind = \"timer\", granularity = \"1 us\" }"), GapModel::Timer(Span::from_micros(1)));
    assert_eq!(gaps("{ kind = \"batch\", packets = 4 }"), GapModel::Batch(4));
    let experiment = &dumbbell(&format!(
        "access = \"40 Gbit/s\"\n{FLOW}[sender]\npacing = \"120 %\"\n[receiver]\n\
        coalescing = {{ time = \"120 us\" }}\nwindow = \"64 packets\"\nstamps = false\n"
    ))[0];
    assert_eq!(experiment.flows[0].pacing_percent, 120);
    assert_eq!(experiment.flows[0].access, Some(Rate::from_gbps(40)));
    assert_eq!(experiment.receiver.coalescing.time, Span::from_micros(120));
    assert_eq!(experiment.receiver.window, Packets::new(64));
    assert!(!experiment.receiver.stamps);
}

#[test]
fn trace_path_is_relative_to_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = "[path]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
        [[traffic]]\nkind = \"trace\"\nfile = \"Cargo.toml\"\nrate = \"5 Mbit/s\"\ncopies = 3\n";
    let scenario = Scenario::parse(text, &folder.join("test.toml"), &[]).unwrap_or_else(|error| panic!("{error}"));
    let source = &scenario.plan()[0].traffic[0];
    let file = folder.join("Cargo.toml");
    assert_eq!(source.kind, TrafficKind::Trace { file, source: TraceSource::Csv, rate: Some(Rate::from_mbps(5)) });
    assert_eq!((source.copies, source.stop), (3, Time::ZERO + Span::from_secs(60)));
}

#[test]
fn traffic_accepts_token_bucket() {
    let text = |shaper: &str| {
        format!(
            "[path]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
            [[traffic]]\nkind = \"poisson\"\nrate = \"5 Mbit/s\"\nshaper = {{ {shaper} }}\n"
        )
    };
    let shaped = plan(&text("rate = \"289 Mbit/s\", bucket = \"300 kB\""))[0].traffic[0].shaper;
    assert_eq!(shaped, Some(Shaper { rate: Rate::from_mbps(289), bucket: Bytes::new(300_000) }));
    let refused = refusal(&text("rate = \"289 Mbit/s\""), &[]);
    assert!(refused.contains("traffic.0.shaper.bucket: found nothing"), "{refused}");
}

#[test]
fn a_change_of_the_command_line_reaches_every_kind_of_key() {
    let text = format!("[path]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n{FLOW}");
    let changes = ["path.rate=2 Gbit/s", "flow.0.count=3", "receiver.coalescing.time=\"5 us\"", "record.detail=false"];
    let experiment = read(&text, &changes).unwrap_or_else(|error| panic!("{error}")).plan().remove(0);
    assert_eq!((experiment.links[0].rate, experiment.flows.len()), (Rate::from_gbps(2), 3));
    assert_eq!(experiment.receiver.coalescing.time, Span::from_micros(5));
    assert!(!experiment.record.detail);
}

#[test]
fn scenario_name_defaults_to_file_name() {
    let nameless = "[path]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[flow]]\ncontroller = \"rapid\"\n";
    let name = |text: &str| {
        let scenario = Scenario::parse(text, Path::new("folder/a day's work.toml"), &[]);
        scenario.unwrap_or_else(|error| panic!("{error}")).name().to_string()
    };
    assert_eq!(name(nameless), "a-day-s-work");
    assert_eq!(name(&format!("[run]\nname = \"other\"\n{nameless}")), "other");
}

/// Scenarios of the project, where this one is built inside it.
#[test]
fn every_scenario_of_the_project_loads() {
    let folders =
        ["tests/scenario/files", "../scenarios"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    let scenarios: Vec<_> = files.iter().filter(|file| file.extension().is_some_and(|end| end == "toml")).collect();
    assert!(!scenarios.is_empty());
    for file in scenarios {
        let scenario = Scenario::read(file, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(!scenario.plan().is_empty(), "{}", file.display());
    }
}

#[test]
fn a_flow_is_replaced_whole_by_its_number() {
    let text = "[run]\nduration = \"1 s\"\n[path]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\n\
                [[flow]]\ncontroller = \"cubic\"\nstart = \"0.1 s\"\n[[flow]]\ncontroller = \"rapid\"\n";
    let change = "flow.1={controller=\"bbr\"}".to_string();
    let plan = Scenario::parse(text, Path::new("a.toml"), &[change]).expect("a scenario").plan();
    let names: Vec<&str> = plan[0].controllers().map(|controller| &*controller.kind).collect();
    assert_eq!(names, ["cubic", "bbr"]);
}
