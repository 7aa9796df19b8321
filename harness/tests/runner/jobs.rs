//! What a run is known by, and what is made again.

use experiment::results::{HostLabel, Run};
use experiment::scenario::{Experiment, Scenario};
use harness::runner::{
    Checkpoint, Clock, Error, Files, Host, Job, Keep, Made, Program, Progress, Refusal, Runner, Silent,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes empty runs, as many as it is allowed to.
struct Counting {
    name: &'static str,
    /// Changed while the first run is made.
    spoils: Option<PathBuf>,
    made: AtomicUsize,
    most: usize,
}

impl Counting {
    fn up_to(most: usize) -> Counting {
        Counting { name: "counting", spoils: None, made: AtomicUsize::new(0), most }
    }
}

impl Host for Counting {
    fn name(&self) -> &'static str {
        self.name
    }
    fn summary(&self) -> &'static str {
        "Makes empty runs"
    }
    fn label(&self) -> HostLabel {
        HostLabel::default()
    }
    fn ability(&self) -> Result<String, String> {
        Ok("always".to_string())
    }
    fn clock(&self) -> Clock {
        Clock::Real
    }
    fn check(&self, _: &[Experiment]) -> Result<Vec<String>, Refusal> {
        Ok(vec!["nothing is sent".to_string()])
    }
    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        if self.made.fetch_add(1, Ordering::SeqCst) >= self.most {
            return Err(Refusal::Machine("tired".to_string()));
        }
        if let Some(file) = &self.spoils {
            fs::write(file, TRACE.replace("1500", "900")).expect("written");
        }
        Ok(Run {
            controller: experiment.controller.clone(),
            seed: experiment.seed,
            replication: experiment.replication,
            params: experiment.params.clone(),
            ..Run::default()
        })
    }
}

const SCENARIO: &str = r#"[run]
duration = "200 ms"
replications = 2

[path]
rate = "10 Mbit/s"
delay = "5 ms"

[[flow]]
controller = "newreno"

[[traffic]]
kind = "trace"
file = "packets.csv"

[sweep]
"path.buffer" = ["10 packets", "20 packets"]
"#;

static PROGRAM: Program = Program::new("1.2.3", Some("abc"));

/// A folder with a trace in it, and the scenario as if it stood there.
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
fn the_same_run_has_the_same_id_wherever_its_files_lie() {
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
fn another_content_of_a_file_is_another_run() {
    let (one, other) = (ids(TRACE, SCENARIO), ids(&TRACE.replace("1000", "2000"), SCENARIO));
    assert!(one.iter().all(|id| !other.contains(id)));
}

#[test]
fn a_point_more_in_a_sweep_changes_no_other_run() {
    let (few, many) = (ids(TRACE, SCENARIO), ids(TRACE, &SCENARIO.replace("[\"10", "[\"5 packets\", \"10")));
    assert_eq!(few, many[2..]);
}

#[test]
fn host_program_and_what_is_kept_are_part_of_what_a_run_is() {
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

/// What the runner says, line by line.
#[derive(Default)]
struct Said(std::sync::Mutex<Vec<String>>);

impl Progress for Said {
    fn say(&self, line: &str) {
        self.0.lock().expect("one at a time").push(line.to_string());
    }
    fn begin(&self, _: &std::sync::Arc<Checkpoint>) {}
    fn within(&self, _: usize, _: packetscale_models::units::Span, _: packetscale_models::units::Span) {}
    fn made(&self, _: usize) {}
    fn end(&self) {}
}

fn record_as(
    host: &Counting,
    scenario: &Scenario,
    folder: &Path,
    name: &str,
    replace: bool,
) -> (Result<usize, String>, String) {
    let said = Said::default();
    let runner = Runner { host, program: &PROGRAM, jobs: None, replace, progress: &said };
    let results = runner.record(scenario, &scenario.plan(), name.to_string(), folder, &mut Made::new());
    let said = said.0.into_inner().expect("one at a time").join("\n");
    (results.map(|results| results.runs.len()).map_err(|error| error.to_string()), said)
}

#[test]
fn results_of_another_scenario_are_lost_only_where_that_is_asked_for() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let out = folder.path().join("out");
    let all = Counting::up_to(100);
    assert_eq!(record_as(&all, &scenario, &out, "small.toml", false), (Ok(4), String::new()));
    // The same again, and the same file with other settings.
    assert_eq!(record_as(&all, &scenario, &out, "small.toml", false), (Ok(4), String::new()));
    let (_folder, changed) = beside(TRACE, &SCENARIO.replace("200 ms", "300 ms"));
    let shown = out.display();
    let earlier = format!("{shown}: replaces results of small.toml with other settings");
    assert_eq!(record_as(&all, &changed, &out, "small.toml", false), (Ok(4), earlier));
    let before = fs::read(out.join("manifest.json")).expect("the manifest");
    let refused = format!("{shown}: found results of small.toml; expected an empty folder, or one of this plan");
    assert_eq!(record_as(&all, &scenario, &out, "other.toml", false), (Err(refused), String::new()));
    assert_eq!(fs::read(out.join("manifest.json")).expect("the manifest"), before);
    let said = format!("{shown}: replaces results of small.toml");
    assert_eq!(record_as(&all, &scenario, &out, "other.toml", true), (Ok(4), said));
    let manifest = fs::read_to_string(out.join("manifest.json")).expect("the manifest");
    let elsewhere = manifest.replace("\"host\": {\n    \"name\": \"\"", "\"host\": {\n    \"name\": \"kernel\"");
    assert_ne!(elsewhere, manifest);
    fs::write(out.join("manifest.json"), elsewhere).expect("written");
    let refused =
        format!("{shown}: found results of other.toml with --on kernel; expected an empty folder, or one of this plan");
    assert_eq!(record_as(&all, &scenario, &out, "other.toml", false), (Err(refused), String::new()));
}

#[test]
fn kept_runs_of_a_changed_scenario_are_lost_only_where_that_is_asked_for() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let out = folder.path().join("out");
    record(&Counting::up_to(3), &scenario, &out).expect_err("the host is tired");
    let (_folder, changed) = beside(TRACE, &SCENARIO.replace("200 ms", "300 ms"));
    let refused = record_as(&Counting::up_to(100), &changed, &out, "small.toml", false).0.expect_err("kept runs");
    assert!(refused.contains("found 3 finished runs of an interrupted plan that are none of this one"), "{refused}");
    // They are still there, and what goes on from them says so.
    let (made, said) = record_as(&Counting::up_to(100), &scenario, &out, "small.toml", false);
    assert_eq!((made, said), (Ok(4), format!("{}: goes on; 3 of 4 runs were kept", out.display())));
    record(&Counting::up_to(0), &scenario, &folder.path().join("other")).expect_err("the host is tired");
    fs::remove_dir_all(&out).expect("removed");
    record(&Counting::up_to(3), &scenario, &out).expect_err("the host is tired");
    assert_eq!(record_as(&Counting::up_to(100), &changed, &out, "small.toml", true).0, Ok(4));
}

#[test]
fn what_was_made_before_a_failure_is_not_made_again() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let out = folder.path().join("out");
    let tired = Counting::up_to(3);
    let error = record(&tired, &scenario, &out).expect_err("the host is tired");
    assert!(matches!(&error, Error::Refused(Refusal::Machine(why)) if why == "tired"), "{error}");
    let kept = fs::read_to_string(out.join("unfinished.ndjson")).expect("kept runs").lines().count();
    assert_eq!(kept, 3);
    let fresh = Counting::up_to(10);
    assert_eq!(record(&fresh, &scenario, &out).expect("finished"), 4);
    assert_eq!(fresh.made.into_inner(), 1);
    assert!(!out.join("unfinished.ndjson").exists() && out.join("runs.csv").is_file());
}

#[test]
fn a_last_line_cut_short_is_dropped_and_the_lines_before_it_are_kept() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let unfinished = folder.path().join("unfinished.ndjson");
    record(&Counting::up_to(3), &scenario, folder.path()).expect_err("the host is tired");
    let lines = fs::read_to_string(&unfinished).expect("kept runs");
    fs::write(&unfinished, &lines[..lines.len() - 20]).expect("written");
    let fresh = Counting::up_to(10);
    assert_eq!(record(&fresh, &scenario, folder.path()).expect("finished"), 4);
    assert_eq!(fresh.made.into_inner(), 2);
}

#[test]
fn a_host_that_makes_nothing_leaves_nothing() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let out = folder.path().join("out");
    record(&Counting::up_to(0), &scenario, &out).expect_err("the host is tired");
    assert!(!out.exists());
}

#[test]
fn a_run_that_a_plan_has_twice_is_made_once() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let plan = [scenario.plan(), scenario.plan()].concat();
    let host = Counting::up_to(100);
    let runner = Runner { host: &host, program: &PROGRAM, jobs: None, replace: false, progress: &Silent };
    let files = Files::of(&plan).expect("read");
    let finished = runner.finish(&plan, &files, Keep::Figures, folder.path(), &mut Made::new()).expect("finished");
    assert_eq!((finished.runs.len(), host.made.into_inner()), (8, 4));
}

#[test]
fn a_damaged_line_costs_its_own_run_and_no_other() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let unfinished = folder.path().join("unfinished.ndjson");
    record(&Counting::up_to(3), &scenario, folder.path()).expect_err("the host is tired");
    let mut lines = fs::read(&unfinished).expect("kept runs");
    lines.extend(b"\xff\xfe not text\n");
    fs::write(&unfinished, lines).expect("written");
    let fresh = Counting::up_to(10);
    assert_eq!(record(&fresh, &scenario, folder.path()).expect("finished"), 4);
    assert_eq!(fresh.made.into_inner(), 1);
}

#[test]
fn a_run_whose_file_changed_meanwhile_is_neither_kept_nor_told() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let trace = folder.path().join("packets.csv");
    let host = Counting { spoils: Some(trace.clone()), ..Counting::up_to(10) };
    let error = record(&host, &scenario, &folder.path().join("out")).expect_err("the file changed").to_string();
    assert!(error.starts_with(&format!("{}: found other content", trace.display())), "{error}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn two_commands_do_not_share_a_folder() {
    let (folder, scenario) = beside(TRACE, SCENARIO);
    let _other = {
        let open = fs::File::open(folder.path()).expect("the folder");
        open.lock().expect("locked");
        open
    };
    let error = record(&Counting::up_to(10), &scenario, folder.path()).expect_err("locked").to_string();
    assert!(error.contains("another command makes runs in this folder"), "{error}");
}
