//! A plan that several commands make.

use crate::counting::Counting;
use experiment::results::Results;
use experiment::scenario::Scenario;
use harness::runner::{
    Clock, Error, Files, Job, Keep, Made, Program, Runner, Shard, ShardDone, Shards, Silent, Swept, divide, shard_file,
    shards_of,
};
use packetscale_models::units::Span;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

const SCENARIO: &str = r#"
run = { duration = "200 ms", replications = 4 }
path = { rate = "10 Mbit/s", delay = "5 ms" }
flow = [{ controller = "newreno" }]
compare = { controllers = ["newreno", "cubic"] }
sweep = { "path.buffer" = ["5 packets", "10 packets", "20 packets"] }
"#;

/// Runs of [`SCENARIO`].
const RUNS: usize = 4 * 2 * 3;

static PROGRAM: Program = Program::new("1.2.3", Some("abc"));
static LATER: Program = Program::new("1.2.3", Some("def"));

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, Path::new("small.toml"), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// What one command does, on a host that counts.
struct Command {
    host: Counting,
    program: &'static Program,
    scenario: Scenario,
    replace: bool,
}

impl Command {
    fn new() -> Command {
        let host = Counting { clock: Clock::Virtual, ..Counting::up_to(usize::MAX) };
        Command { host, program: &PROGRAM, scenario: scenario(SCENARIO), replace: false }
    }

    fn with<T>(&self, what: impl FnOnce(&Runner<'_>, &Swept<'_>) -> T) -> T {
        let (program, replace) = (self.program, self.replace);
        let runner = Runner { host: &self.host, program, jobs: None, replace, progress: &Silent };
        let plan = self.scenario.plan();
        what(&runner, &Swept { scenario: &self.scenario, plan: &plan, file: Path::new("small.toml"), changes: &[] })
    }

    fn shard(&self, shard: &str, folder: &Path, made: &Made) -> Result<ShardDone, Error> {
        self.with(|runner, swept| runner.shard(swept, shard.parse().expect("a shard"), folder, made))
    }

    /// A shard that is made, without a cache.
    fn made(&self, shard: &str, folder: &Path) -> ShardDone {
        self.shard(shard, folder, &Made::new()).expect("made")
    }

    fn merge(&self, folder: &Path) -> Result<Results, Error> {
        let shards = Shards::read(folder, self.program)?;
        self.with(|runner, swept| runner.merge(swept, shards, folder))
    }

    fn alone(&self, folder: &Path) -> Results {
        let record = |runner: &Runner<'_>, swept: &Swept<'_>| {
            runner.record(swept.scenario, swept.plan, swept.name(), folder, &mut Made::new())
        };
        self.with(record).expect("recorded")
    }
}

/// Every file of a folder, the folders in it left out.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = entries
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("read")))
        .collect();
    files.sort();
    files
}

#[test]
fn merged_shards_equal_one_commands_bytes() {
    let [one, several] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    Command::new().alone(one.path());
    for shard in ["4/5", "1/5", "5/5", "3/5", "2/5"] {
        let done = Command::new().made(shard, several.path());
        assert_eq!((done.made, done.planned), (done.runs, RUNS));
    }
    let merging = Command::new();
    merging.merge(several.path()).expect("merged");
    assert_eq!(merging.host.made.into_inner(), 0);
    assert_eq!(files(one.path()), files(several.path()));
    assert!(files(one.path()).iter().any(|(name, bytes)| name == "runs.csv" && bytes.len() > 1000));
}

#[test]
fn a_truncated_shard_loses_only_its_last_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Command::new().made("2/3", folder.path());
    let path = shard_file(folder.path(), Shard::new(2, 3).expect("a shard"));
    let whole = fs::read(&path).expect("the shard");
    fs::write(&path, &whole[..whole.len() - 20]).expect("cut");
    let again = Command::new().made("2/3", folder.path());
    assert_eq!((again.runs, again.made), (first.runs, 1));
    let lines = |bytes: &[u8]| {
        let mut lines: Vec<String> = String::from_utf8_lossy(bytes).lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&fs::read(&path).expect("the shard")), lines(&whole));
    // Cut within its first line, it holds nothing.
    fs::write(&path, &whole[..20]).expect("cut");
    assert_eq!(Command::new().made("2/3", folder.path()).made, first.runs);
}

#[test]
fn reports_missing_runs_by_shard() {
    let folder = tempfile::tempdir().expect("a folder");
    for shard in ["1/4", "3/4"] {
        Command::new().made(shard, folder.path());
    }
    let Err(Error::Missing { runs, planned, shards, .. }) = Command::new().merge(folder.path()) else {
        panic!("two shards are missing");
    };
    assert_eq!((runs > 0, planned), (true, RUNS));
    assert_eq!(shards.iter().map(ToString::to_string).collect::<Vec<_>>(), ["2/4", "4/4"]);
    assert!(!folder.path().join("runs.csv").exists());
}

#[test]
fn refuses_shards_of_different_commits() {
    let folder = tempfile::tempdir().expect("a folder");
    let later = Command { program: &LATER, ..Command::new() };
    Command::new().made("1/2", folder.path());
    // Made elsewhere, and copied into the folder.
    let elsewhere = tempfile::tempdir().expect("a folder");
    later.made("2/2", elsewhere.path());
    let second = "shards/2.ndjson";
    fs::copy(elsewhere.path().join(second), folder.path().join(second)).expect("copied");
    let message = Command::new().merge(folder.path()).expect_err("two commits").to_string();
    let file = folder.path().join("shards/2.ndjson");
    let (found, expected) = ("runs by packetscale 1.2.3 def", "runs by packetscale 1.2.3 abc");
    assert_eq!(message, format!("{}: found {found}; expected {expected}", file.display()));
    // All by one commit, but merged by another.
    fs::remove_file(file).expect("removed");
    Command::new().made("2/2", folder.path());
    let message = later.merge(folder.path()).expect_err("another commit").to_string();
    assert_eq!(message, format!("{}: found {expected}; expected {found}", folder.path().join("shards").display()));
}

#[test]
fn replaces_another_shard_only_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    Command::new().made("1/2", folder.path());
    let changed = || Command { scenario: scenario(&SCENARIO.replace("200 ms", "300 ms")), ..Command::new() };
    let refused = |command: &Command, shard: &str| {
        let error = command.shard(shard, folder.path(), &Made::new()).expect_err("something else");
        error.to_string().split("found ").nth(1).map(str::to_string).unwrap_or_default()
    };
    let tail = "; expected an empty folder, or one of this plan";
    assert_eq!(refused(&changed(), "1/2"), format!("runs of small.toml with other settings{tail}"));
    assert_eq!(refused(&Command::new(), "1/3"), format!("shard 1/2{tail}"));
    assert_eq!(refused(&changed(), "2/2"), format!("runs of small.toml with other settings{tail}"), "beside 1/2");
    let replacing = Command { replace: true, ..changed() };
    replacing.shard("2/2", folder.path(), &Made::new()).expect("a separate file");
    let message = Command::new().merge(folder.path()).expect_err("two scenarios").to_string();
    assert!(message.contains("2.ndjson: found runs of small.toml with other settings"), "{message}");
    let done = replacing.shard("1/2", folder.path(), &Made::new()).expect("replaced");
    assert_eq!(done.made, done.runs);
    assert_eq!(changed().merge(folder.path()).expect("merged").runs.len(), RUNS);
}

#[test]
fn a_cached_run_is_not_repeated_in_any_shard() {
    let [cache, first, second, third] = [(); 4].map(|()| tempfile::tempdir().expect("a folder"));
    let made = || Made::in_folder(cache.path());
    for shard in ["1/2", "2/2"] {
        Command::new().shard(shard, first.path(), &made()).expect("made");
    }
    for shard in ["1/3", "2/3", "3/3"] {
        assert_eq!(Command::new().shard(shard, second.path(), &made()).expect("made").made, 0);
    }
    for folder in [first.path(), second.path()] {
        Command::new().merge(folder).expect("merged");
    }
    assert_eq!(files(first.path()), files(second.path()));
    // A damaged file is no run, and a run of another program neither.
    let of = |command: &Command| {
        command.with(|runner, swept| {
            runner.record(swept.scenario, swept.plan, swept.name(), third.path(), &mut made()).expect("recorded");
        });
        command.host.made.load(Ordering::SeqCst)
    };
    let a_file = fs::read_dir(cache.path()).expect("folders").next().expect("one").expect("an entry").path();
    let a_file = fs::read_dir(a_file).expect("files").next().expect("one").expect("an entry").path();
    fs::write(a_file, "{").expect("damaged");
    assert_eq!(of(&Command::new()), 1);
    assert_eq!(of(&Command { program: &LATER, ..Command::new() }), RUNS);
}

#[test]
fn rejects_modified_lines_of_shards_and_cache() {
    let [cache, folder, again] = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let made = || Made::in_folder(cache.path());
    Command::new().shard("1/1", folder.path(), &made()).expect("made");
    let path = shard_file(folder.path(), Shard::new(1, 1).expect("a shard"));
    let text = fs::read_to_string(&path).expect("the shard");
    fs::write(&path, text.replacen("\"replication\":3", "\"replication\":2", 1)).expect("changed");
    let number = 1 + text.lines().position(|line| line.contains("\"replication\":3")).expect("one");
    let found = format!("{}: found line {number} changed since it was written; expected ", path.display());
    for message in [
        Command::new().merge(folder.path()).expect_err("changed").to_string(),
        Command::new().shard("1/1", folder.path(), &Made::new()).expect_err("changed").to_string(),
    ] {
        assert!(message.starts_with(&found), "{message}");
    }
    // Without the line, the run is repeated.
    let without =
        text.lines().enumerate().filter(|(index, _)| index + 1 != number).map(|(_, line)| format!("{line}\n"));
    fs::write(&path, without.collect::<String>()).expect("removed");
    assert_eq!(Command::new().made("1/1", folder.path()).made, 1);
    Command::new().merge(folder.path()).expect("merged");
    let entry = |path: &Path| fs::read_dir(path).expect("a folder").next().expect("one").expect("an entry").path();
    let entry = entry(&entry(cache.path()));
    let text = fs::read_to_string(&entry).expect("an entry of the cache");
    fs::write(&entry, text.replacen("\"replication\":", "\"replication\":1", 1)).expect("changed");
    assert_eq!(Command::new().shard("1/1", again.path(), &made()).expect("made").made, 1);
}

#[test]
fn runs_go_to_the_least_loaded_shard() {
    let (scenario, host) = (scenario(SCENARIO), Counting::up_to(0));
    let plan = scenario.plan();
    let files = Files::of(&plan).expect("no files");
    let jobs = Job::all(&plan, &files, &host, &PROGRAM, Keep::Everything).expect("jobs");
    // Six runs of 1, 2, 3 and 4 s each: 60 s, which four shards halve and halve again.
    let mut loads = [0; 4];
    for (job, number) in jobs.iter().zip(divide(&jobs, 4)) {
        loads[number.expect("each once") as usize - 1] += job.experiment.replication + 1;
    }
    assert_eq!(loads, [15; 4]);
    assert_eq!(divide(&jobs, 4), divide(&jobs, 4));
    assert_eq!(shards_of(&jobs, Span::from_secs(20)), 3);
    assert_eq!(shards_of(&jobs, Span::from_secs(59)), 2);
    assert_eq!(shards_of(&jobs, Span::from_secs(600)), 1);
    assert_eq!(shards_of(&jobs, Span::from_millis(1)), RUNS as u32);
}

#[test]
fn rejects_shard_numbers_out_of_range() {
    let shard = |text: &str| text.parse::<Shard>().map(|shard| (shard.number(), shard.of())).ok();
    assert_eq!(shard("3/7"), Some((3, 7)));
    assert_eq!(["0/7", "8/7", "3", "3/", "/7", "-1/7", "1/100001", "1/0"].map(shard), [None; 8]);
}
