//! A host of one's own: one trait, one line in the list of hosts. The command then runs on it, with its table, its files,
//! its page and its resumption.
//!
//! A test of the command needs a program whose standard output it can read: this file is both. With [`AS_COMMAND`] in
//! its environment it is the command, else the tests.

use experiment::results::{HostLabel, Run};
use experiment::scenario::Experiment;
use harness::measure::{FlowSeen, Owner, Recorder, Seen};
use harness::runner::{Clock, Host, Refusal};
use libtest_mimic::{Arguments, Failed, Trial};
use packetscale_models::units::{Bytes, Span, Time};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

const AS_COMMAND: &str = "PACKETSCALE_ANOTHER_HOST";

/// Packets of two flows as somebody recorded them at a bottleneck: flow, arrival and departure in microseconds.
const RECORDED: [(usize, u64, u64); 5] = [(0, 0, 100), (1, 50, 200), (0, 120, 300), (1, 300, 400), (0, 400, 500)];

/// The size of each, and how long 100 Mbit/s take for it.
const SIZE: Bytes = Bytes::new(1250);
const SERVICE: Span = Span::from_micros(100);

/// Replays them, whatever is asked; at most the number of runs that [`AS_COMMAND`] says.
struct Toy;

impl Host for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }
    fn summary(&self) -> &'static str {
        "Replays what was recorded"
    }
    fn label(&self) -> HostLabel {
        let about = "This page shows five packets & nothing else.".to_string();
        HostLabel { name: self.name().to_string(), badge: "replayed: a toy".to_string(), about, path_unknown: false }
    }
    fn ability(&self) -> Result<String, String> {
        Ok("always".to_string())
    }
    fn clock(&self) -> Clock {
        Clock::Virtual
    }
    fn check(&self, _: &[Experiment]) -> Result<Vec<String>, Refusal> {
        Ok(vec!["the same packets whatever the scenario says".to_string()])
    }
    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        let most: u32 = std::env::var(AS_COMMAND).ok().and_then(|most| most.parse().ok()).unwrap_or(0);
        if experiment.replication >= most {
            return Err(Refusal::Machine("the toy is worn out".to_string()));
        }
        Ok(replayed(experiment, f64::from(most)))
    }
}

/// The record as a run. `cpu_s` says which command made it.
fn replayed(experiment: &Experiment, cpu_s: f64) -> Run {
    let base_rtt = experiment.flows[0].rtt;
    let mut recorder = Recorder::new(experiment, &[Time::ZERO; 2], Some(base_rtt));
    for (flow, arrival_us, departure_us) in RECORDED {
        let [arrival, departs] = [arrival_us, departure_us].map(|us| Time::ZERO + Span::from_micros(us));
        recorder.served(Owner::Flow(flow), SIZE, arrival, departs - SERVICE, departs);
        recorder.delivered(flow, SIZE, departs);
    }
    let sent = |flow| RECORDED.iter().filter(|packet| packet.0 == flow).count() as u64;
    let flow = |flow| FlowSeen { base_rtt, sent: sent(flow), ..FlowSeen::default() };
    let seen = Seen { flows: vec![flow(0), flow(1)], transmissions: true, cpu_s: Some(cpu_s), ..Seen::default() };
    recorder.finish(experiment, seen)
}

const SCENARIO: &str = r#"
run = { duration = "1 ms", replications = 3 }
path = { rate = "100 Mbit/s", delay = "5 ms" }
flow = [{ controller = "newreno", count = 2 }]
expect = [{ metric = "throughput_bps", at_least = 1, why = "a test" }]
"#;

fn main() -> ExitCode {
    if std::env::var_os(AS_COMMAND).is_some() {
        let hosts = [packetscale_cli::hosts(), vec![&Toy]].concat();
        return packetscale_cli::main_with(&hosts, std::env::args_os());
    }
    let trials = vec![
        Trial::test("json_table_files_and_page_come_without_code_of_their_own", everything_is_written),
        Trial::test("a_plan_that_stopped_is_resumed", a_plan_is_resumed),
        Trial::test("the_host_is_listed_and_a_slip_of_the_pen_is_answered", the_host_is_listed),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("small.toml"), SCENARIO).expect("written");
    folder
}

/// The command in this folder, whose toy makes as many replications.
fn packetscale(folder: &Path, replications: u32, words: &[&str]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(words).current_dir(folder).env(AS_COMMAND, replications.to_string());
    command.output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn everything_is_written() -> Result<(), Failed> {
    let folder = folder();
    let output = packetscale(folder.path(), 3, &["run", "small.toml", "--on", "toy", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let object: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(object["host"], "toy");
    assert_eq!(object["runs"].as_array().map(Vec::len), Some(3));
    // Five packets of 10 000 bits in a millisecond of 100 Mbit/s. Two of them wait, 50 and 80 us. Three are of one flow,
    // two of the other: Jain's index is 5^2 / (2 (3^2 + 2^2)). Nobody measured a round trip.
    let figures = &object["runs"][2];
    assert_eq!((&figures["throughput_bps"], &figures["utilisation"]), (&json!(5e7), &json!(0.5)));
    let close = |name: &str, expected: f64| (figures[name].as_f64().unwrap_or_default() - expected).abs() < 1e-9;
    assert!(close("queue_delay_mean_s", 130e-6 / 5.0) && close("fairness_jain", 25.0 / 26.0), "{figures}");
    assert_eq!((&figures["loss_ratio"], &figures["rtt_mean_s"]), (&json!(0.0), &Value::Null));

    let out = folder.path().join("out/small");
    let flows = fs::read_to_string(out.join("flows.csv"))?;
    assert_eq!(flows.lines().count(), 1 + 3 * 2, "{flows}");
    assert!(fs::read_to_string(out.join("manifest.json"))?.contains("the same packets whatever"));
    let page = fs::read_to_string(out.join("report.html"))?;
    assert!(page.contains("replayed: a toy") && page.contains("five packets &amp; nothing else"));

    let table = text(&packetscale(folder.path(), 3, &["run", "small.toml", "--on", "toy"]).stdout);
    assert!(table.contains("newreno") && table.contains("met: throughput_bps at least 1"), "{table}");
    Ok(())
}

fn a_plan_is_resumed() -> Result<(), Failed> {
    let folder = folder();
    let words = ["run", "small.toml", "--on", "toy", "--jobs", "1"];
    let stopped = packetscale(folder.path(), 2, &words);
    assert_eq!(stopped.status.code(), Some(3));
    assert_eq!(text(&stopped.stderr), "the toy is worn out\n");
    assert_eq!(packetscale(folder.path(), 3, &words).status.code(), Some(0));
    let timing = fs::read_to_string(folder.path().join("out/small/timing.csv"))?;
    let times: Vec<&str> = timing.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!(times, ["2.0", "2.0", "3.0"], "the first two were made by the first command");
    Ok(())
}

fn the_host_is_listed() -> Result<(), Failed> {
    let folder = folder();
    let doctor = text(&packetscale(folder.path(), 3, &["doctor"]).stdout);
    assert!(doctor.contains("yes  toy        always\n"), "{doctor}");
    let help = text(&packetscale(folder.path(), 3, &["run", "--help"]).stdout);
    assert!(help.contains("toy:") && help.contains("Replays what was recorded"), "{help}");
    assert!(help.contains("[default: simulator]"), "{help}");
    let wrong = packetscale(folder.path(), 3, &["run", "small.toml", "--on", "toi"]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = text(&wrong.stderr);
    assert!(said.contains("simulator, linux, ") && said.contains(", toy") && said.contains("'toy'"), "{said}");
    Ok(())
}
