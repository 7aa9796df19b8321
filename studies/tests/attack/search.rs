//! Whole searches, on a host whose runs are a formula: the weaknesses are known exactly.

use crate::counting::Counting;
use experiment::results::{Run, Summary};
use experiment::scenario::{Experiment, Scenario};
use harness::runner::{Clock, Host, Program};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use studies::attack::{Against, Asked, Attack, Effort, Figure, Means, Watch};

static PROGRAM: Program = Program::new("1.2.3", Some("abc"));

/// Cubic gets the whole rate. Vegas does, too, unless the delay grows: then it gets four packets per added delay, by its law.
/// A negative seed has no effect.
fn formula() -> Counting {
    let of = |experiment: &Experiment| {
        let link = &experiment.links[experiment.bottleneck];
        let rate = link.rate.bps() as f64;
        let grown = link.impairments.delay_steps.iter().map(|(_, delay)| *delay - link.delay);
        let grown_s = grown.map(|span| span.as_secs_f64()).fold(0.0, f64::max);
        let left = if experiment.controller == "vegas" && grown_s > 0.0 { 48_000.0 / grown_s } else { rate };
        Run { summary: Summary { throughput_bps: Some(left.min(rate)), ..Summary::default() }, ..Run::default() }
    };
    Counting { of, clock: Clock::Virtual, ..Counting::up_to(usize::MAX) }
}

/// Limits a search to this number of paths.
struct Until {
    most: u64,
    ends: AtomicBool,
}

impl Until {
    fn paths(most: u64) -> Until {
        Until { most, ends: AtomicBool::new(false) }
    }
}

impl Watch for Until {
    fn judged(&self, evaluations: u64, _: Option<(&'static str, f64)>) {
        self.ends.fetch_or(evaluations >= self.most, Ordering::SeqCst);
    }
    fn shrinks(&self, _: usize, _: usize) {}
    fn ends(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }
}

fn asked(against: &Against) -> Asked<'_> {
    let effort = Effort::Evaluations(1200);
    Asked { controller: "vegas", against, figure: Figure::Share, effort, seed: 3, on: None }
}

fn attacked(host: &Counting, jobs: u16, watch: &Until, folder: &Path) -> Attack {
    let against = Against::Controller("cubic".to_string());
    let means = Means { host, program: &PROGRAM, jobs: Some(jobs), watch };
    asked(&against).answer(&means, folder).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn finds_and_writes_only_weakness() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let host = formula();
    // An earlier search found something else.
    let earlier = r#"{"attack":{"figure":"share","findings":[{"name":"vegas-share-loss"}]}}"#;
    std::fs::write(folder.path().join("attack.json"), earlier).expect("written");
    std::fs::write(folder.path().join("vegas-share-loss.toml"), "").expect("written");
    let found = attacked(&host, 2, &Until::paths(u64::MAX), folder.path());
    assert!(!folder.path().join("vegas-share-loss.toml").exists());
    assert_eq!((found.evaluations, found.interrupted), (1200, false));
    let names: Vec<&str> = found.findings.iter().map(|finding| finding.name.as_str()).collect();
    assert_eq!(names, ["vegas-share-delay"], "nothing but a delay that grows is of any harm");
    let finding = &found.findings[0];
    assert!(finding.confirmed && finding.simplest);
    assert_eq!((finding.genes["round_trip_ms"], finding.genes["buffer_bdp"]), (40.0, 1.0), "they do not matter");
    // The table's maximum: (50 + 0.5) over (48 / 300 + 0.5); three quarters of that may be left.
    assert!(finding.times_worse > 0.7 * 76.5, "{}", finding.times_worse);
    // The file is a scenario of four seeds and two controllers that expects what was found.
    let file = folder.path().join("vegas-share-delay.toml");
    let scenario = Scenario::read(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
    let runs = scenario.plan().into_iter().map(|experiment| {
        let run = host.run(&experiment).expect("a run");
        Run { controller: experiment.controller.clone(), replication: experiment.replication, ..run }
    });
    let runs: Vec<Run> = runs.collect();
    assert_eq!((runs.len(), scenario.expectations().len()), (8, 2));
    assert!(scenario.expectations().iter().all(|expectation| expectation.check(&runs).met));
    // And it is missed where vegas has become as good as cubic.
    let mended = runs.iter().map(|run| Run { summary: runs[7].summary.clone(), ..run.clone() });
    let mended: Vec<Run> = mended.collect();
    assert!(scenario.expectations().iter().any(|expectation| !expectation.check(&mended).met));
}

#[test]
fn same_seed_finds_same_with_any_jobs() {
    let found = |jobs| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        attacked(&formula(), jobs, &Until::paths(u64::MAX), folder.path())
    };
    assert_eq!(found(1), found(4));
}

#[test]
fn interrupted_search_keeps_findings_and_resumes() {
    let (folder, whole) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let first = formula();
    let ended = attacked(&first, 2, &Until::paths(800), folder.path());
    assert!(ended.interrupted && !ended.findings.is_empty());
    assert!(ended.findings.iter().all(|finding| !finding.confirmed));
    let (second, alone) = (formula(), formula());
    let resumed = attacked(&second, 2, &Until::paths(u64::MAX), folder.path());
    let at_once = attacked(&alone, 2, &Until::paths(u64::MAX), whole.path());
    assert_eq!(resumed, at_once);
    let [first, second, alone] = [first, second, alone].map(|host| host.made.into_inner());
    // Two threads may make one run twice.
    assert!(first > 800 && second + first <= alone + 20, "{first} and {second} runs, {alone} at once");
    let left = std::fs::read_dir(folder.path()).expect("the folder").flatten();
    assert!(left.filter(|file| file.file_name().to_string_lossy().starts_with("judged")).count() == 0);
}

#[test]
fn refuses_missing_controller_and_self_comparison() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refusal = |controller: &str, against: Against| {
        let host = formula();
        let means = Means { host: &host, program: &PROGRAM, jobs: Some(1), watch: &Until::paths(1) };
        let asked = Asked { controller, ..asked(&against) };
        asked.answer(&means, folder.path()).map_or_else(|error| error.to_string(), |_| panic!("it was taken"))
    };
    let of = |name: &str| Against::Controller(name.to_string());
    assert!(refusal("cubic", of("cubic")).starts_with("--against: found cubic, which is attacked itself"));
    assert!(
        refusal("vegaz", of("cubic"))
            .starts_with("judge attack vegaz: found the unknown controller \"vegaz\", perhaps")
    );
    assert!(refusal("vegas", of("cubik")).starts_with("judge attack --against cubik: found"));
    assert!(refusal("vegaz", Against::Bound).starts_with("judge attack vegaz: found"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0, "nothing is left of what was refused");
    let _other = harness::runner::alone_in(folder.path()).expect("the folder is locked");
    assert!(refusal("vegas", of("cubic")).contains("another command is running in this folder"));
}
