//! Identity of runs, and when they are repeated.

use crate::counting::Counting;
use experiment::scenario::Scenario;
use harness::runner::{Checkpoint, Error, Files, Host, Job, Keep, Made, Program, Progress, Refusal, Runner, Silent};
use packetscale_models::units::Span;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

const SCENARIO: &str = r#"
run = { duration = "200 ms", replications = 2 }
path = { rate = "10 Mbit/s", delay = "5 ms" }
flow = [{ controller = "newreno" }]
traffic = [{ kind = "trace", file = "packets.csv" }]
sweep = { "path.buffer" = ["10 packets", "20 packets"] }
"#;

static PROGRAM: Program = Program::new("1.2.3", Some("abc"));

/// A folder with a trace in it, and the scenario as if from that folder.
fn beside(trace: &str, scenario: &str) -> (tempfile::TempDir, Scenario) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("packets.csv"), trace).expect("written");
    let scenario = Scenario::parse(scenario, &folder.path().join("small.toml"), &[]);
    (folder, scenario.unwrap_or_else(|error| panic!("{error}")))
}

fn ids_by(scenario: &Scenario, host: &dyn Host, program: &Program, keep: Keep) -> Vec<String> {
    let plan = scenario.plan();
    let files = Files::of(&plan).unwrap_or_else(|error| panic!("{error}"));
    let jobs = Job::all(&plan, &files, host, program, keep).unwrap_or_else(|error| panic!("{error}"));
    jobs.into_iter().map(|job| job.id).collect()
}

fn ids(trace: &str, scenario: &str) -> Vec<String> {
    let (_folder, scenario) = beside(trace, scenario);
    ids_by(&scenario, &Counting::up_to(0), &PROGRAM, Keep::Everything)
}

const TRACE: &str = "time_ns,size_bytes\n0,1500\n1000,1500\n";

#[test]
fn a_runs_id_does_not_depend_on_its_folder() {
    let first = ids(TRACE, SCENARIO);
    assert_eq!(first.len(), 4);
    assert!(first.iter().all(|id| id.len() == 64), "{first:?}");
    assert_eq!(first, ids(TRACE, SCENARIO));
    let mut different = first.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 4);
}

#[test]
fn changed_file_content_changes_run_id() {
    let (one, other) = (ids(TRACE, SCENARIO), ids(&TRACE.replace("1000", "2000"), SCENARIO));
    assert!(one.iter().all(|id| !other.contains(id)));
}

#[test]
fn a_new_sweep_point_changes_no_other_run() {
    let (few, many) = (ids(TRACE, SCENARIO), ids(TRACE, &SCENARIO.replace("[\"10", "[\"5 packets\", \"10")));
    assert_eq!(few, many[2..]);
}

#[test]
fn a_runs_id_depends_on_host_program_and_detail() {
    let (_folder, scenario) = beside(TRACE, SCENARIO);
    let host = Counting::up_to(0);
    let first = |host: &dyn Host, program: &Program, keep| ids_by(&scenario, host, program, keep).remove(0);
    let all = [
        first(&host, &PROGRAM, Keep::Everything),
        first(&host, &PROGRAM, Keep::Figures),
        first(&Counting { name: "other", ..Counting::up_to(0) }, &PROGRAM, Keep::Everything),
        first(&host, &Program::new("1.2.3", Some("abd")), Keep::Everything),
        first(&host, &Program::new("1.2.4", Some("abc")), Keep::Everything),
        first(&host, &Program::new("1.2.3", None), Keep::Everything),
    ];
    for (at, id) in all.iter().enumerate() {
        assert!(!all[..at].contains(id), "number {at} is one of those before it");
    }
}

fn record(host: &Counting, scenario: &Scenario, folder: &Path) -> Result<usize, Error> {
    let runner = Runner { host, program: &PROGRAM, jobs: None, replace: false, progress: &Silent };
    let results = runner.record(scenario, &scenario.plan(), "small.toml".to_string(), folder, &mut Made::new());
    results.map(|results| results.runs.len())
}

/// Collects the runner's messages.
#[derive(Default)]
struct Messages(Mutex<Vec<String>>);

impl Progress for Messages {
    fn note(&self, line: &str) {
        self.0.lock().expect("one at a time").push(line.to_string());
    }
    fn begin(&self, _: &Arc<Checkpoint>) {}
    fn within(&self, _: usize, _: Span, _: Span) {}
    fn made(&self, _: usize) {}
    fn end(&self) {}
}

/// Records a whole plan. Returns the number of runs, and the messages.
fn record_as(scenario: &Scenario, folder: &Path, name: &str, replace: bool) -> (Result<usize, String>, String) {
    let messages = Messages::default();
    let host = Counting::up_to(100);
    let runner = Runner { host: &host, program: &PROGRAM, jobs: None, replace, progress: &messages };
    let results = runner.record(scenario, &scenario.plan(), name.to_string(), folder, &mut Made::new());
    let messages = messages.0.into_inner().expect("one at a time").join("\n");
    (results.map(|results| results.runs.len()).map_err(|error| error.to_string()), messages)
}

#[test]
fn replaces_results_of_another_scenario_only_on_request() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let out = folder.path().join("out");
    assert_eq!(record_as(&scenario, &out, "small.toml", false), (Ok(4), String::new()));
    // The same again, and the same file with other settings.
    assert_eq!(record_as(&scenario, &out, "small.toml", false), (Ok(4), String::new()));
    let (_folder, changed) = beside(TRACE, &SCENARIO.replace("200 ms", "300 ms"));
    let shown = out.display();
    let earlier = format!("{shown}: replaces results of small.toml with other settings");
    assert_eq!(record_as(&changed, &out, "small.toml", false), (Ok(4), earlier));
    let before = fs::read(out.join("manifest.json")).expect("the manifest");
    let refused = format!("{shown}: found results of small.toml; expected an empty folder, or one of this plan");
    assert_eq!(record_as(&scenario, &out, "other.toml", false), (Err(refused), String::new()));
    assert_eq!(fs::read(out.join("manifest.json")).expect("the manifest"), before);
    let messages = format!("{shown}: replaces results of small.toml");
    assert_eq!(record_as(&scenario, &out, "other.toml", true), (Ok(4), messages));
    let manifest = fs::read_to_string(out.join("manifest.json")).expect("the manifest");
    let elsewhere = manifest.replace("\"host\": {\n    \"name\": \"\"", "\"host\": {\n    \"name\": \"kernel\"");
    assert_ne!(elsewhere, manifest);
    fs::write(out.join("manifest.json"), elsewhere).expect("written");
    let refused =
        format!("{shown}: found results of other.toml with --on kernel; expected an empty folder, or one of this plan");
    assert_eq!(record_as(&scenario, &out, "other.toml", false), (Err(refused), String::new()));
}

#[test]
fn replaces_runs_of_a_changed_scenario_only_on_request() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let out = folder.path().join("out");
    record(&Counting::up_to(3), &scenario, &out).expect_err("the host is tired");
    let (_folder, changed) = beside(TRACE, &SCENARIO.replace("200 ms", "300 ms"));
    let refused = record_as(&changed, &out, "small.toml", false).0.expect_err("stored runs");
    assert!(refused.contains("found 3 finished runs of an interrupted plan that are not in this one"), "{refused}");
    // They were not removed, and the next command resumes from them.
    let (made, messages) = record_as(&scenario, &out, "small.toml", false);
    assert_eq!((made, messages), (Ok(4), format!("{}: resumes; 3 of 4 runs are already done", out.display())));
    record(&Counting::up_to(0), &scenario, &folder.path().join("other")).expect_err("the host is tired");
    fs::remove_dir_all(&out).expect("removed");
    record(&Counting::up_to(3), &scenario, &out).expect_err("the host is tired");
    assert_eq!(record_as(&changed, &out, "small.toml", true).0, Ok(4));
}

#[test]
fn an_interrupted_plan_resumes_from_whole_lines() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    for (why, damage, made_again) in [
        ("lines as they were left", (|_| {}) as fn(&mut Vec<u8>), 1),
        ("the last line cut short", |lines| lines.truncate(lines.len() - 20), 2),
        ("a line that is no text", |lines| lines.extend(b"\xff\xfe not text\n"), 1),
    ] {
        let out = folder.path().join(why);
        let error = record(&Counting::up_to(3), &scenario, &out).expect_err("the host is tired");
        assert!(matches!(&error, Error::Refused(Refusal::Machine(why)) if why == "tired"), "{why}: {error}");
        let unfinished = out.join("unfinished.ndjson");
        let mut lines = fs::read(&unfinished).expect("stored runs");
        assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), 3, "{why}");
        damage(&mut lines);
        fs::write(&unfinished, lines).expect("written");
        let fresh = Counting::up_to(10);
        assert_eq!(record(&fresh, &scenario, &out).expect("finished"), 4, "{why}");
        assert_eq!(fresh.made.into_inner(), made_again, "{why}");
        assert!(!unfinished.exists() && out.join("runs.csv").is_file(), "{why}");
    }
}

#[test]
fn failed_first_run_leaves_no_folder() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let out = folder.path().join("out");
    record(&Counting::up_to(0), &scenario, &out).expect_err("the host is tired");
    assert!(!out.exists());
}

#[test]
fn a_repeated_run_is_made_once() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let plan = [scenario.plan(), scenario.plan()].concat();
    let host = Counting::up_to(100);
    let runner = Runner { host: &host, program: &PROGRAM, jobs: None, replace: false, progress: &Silent };
    let files = Files::of(&plan).expect("read");
    let finished = runner.finish(&plan, &files, Keep::Figures, folder.path(), &mut Made::new()).expect("finished");
    assert_eq!((finished.runs.len(), host.made.into_inner()), (8, 4));
}

#[test]
fn a_run_is_not_stored_if_its_file_changed() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let trace = folder.path().join("packets.csv");
    let spoils = Some((trace.clone(), TRACE.replace("1500", "900")));
    let host = Counting { spoils, ..Counting::up_to(10) };
    let error = record(&host, &scenario, &folder.path().join("out")).expect_err("the file changed").to_string();
    assert!(error.starts_with(&format!("{}: found content changed", trace.display())), "{error}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn two_commands_do_not_share_a_folder() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let other = fs::File::open(folder.path()).expect("the folder");
    other.lock().expect("locked");
    let error = record(&Counting::up_to(10), &scenario, folder.path()).expect_err("locked").to_string();
    assert!(error.contains("another command is running in this folder"), "{error}");
}
