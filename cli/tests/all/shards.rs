//! A sweep by several commands, as people use them: shards, a kill, a merge, a batch system.

#[path = "engines/mod.rs"]
mod engines;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs of some tens of milliseconds, 6 to 9 in each of seven shards.
const SCENARIO: &str = r#"[run]
duration = "10 s"
replications = 2

[path]
rate = "100 Mbit/s"
delay = "5 ms"

[[flow]]
controller = "cubic"
start = { uniform = ["0 s", "1 s"] }

[compare]
controllers = ["cubic", "newreno", "rapid"]

[sweep]
"path.buffer" = ["10 packets", "20 packets", "40 packets", "80 packets"]
"path.delay" = ["1 ms", "2 ms"]

[record]
detail = false
"#;

/// A folder with a scenario in it.
fn folder(scenario: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("sweep.toml"), scenario).expect("written");
    folder
}

fn packetscale(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(words.split(' ')).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output(folder: &Path, words: &str) -> Output {
    packetscale(folder, words).output().expect("the command starts")
}

fn done(folder: &Path, words: &str) -> String {
    let output = output(folder, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Why a command ended with 2.
fn refused(folder: &Path, words: &str) -> String {
    let output = output(folder, words);
    assert_eq!(output.status.code(), Some(2), "{words}");
    String::from_utf8(output.stderr).expect("text")
}

/// PATH for programs that start `packetscale` by its name: the command's own folder first.
fn path() -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_packetscale")).parent().expect("a folder");
    format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default())
}

/// The files of results that do not depend on how long they took.
fn comparable(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let timed = |name: &str| name.starts_with("timing.") || name == "report.html" || name == "submit.sh";
    let paths = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<(String, Vec<u8>)> = paths
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path))
        .filter(|(name, _)| !timed(name))
        .map(|(name, path)| (name, fs::read(path).expect("read")))
        .collect();
    files.sort();
    files
}

fn same(one: &Path, other: &Path) {
    let (one, other) = (comparable(one), comparable(other));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    assert!(one.iter().any(|(name, bytes)| name == "runs.csv" && bytes.len() > 1000));
    for (one, other) in one.iter().zip(&other) {
        assert!(one.1 == other.1, "{}", one.0);
    }
}

fn lines(file: &Path) -> usize {
    fs::read(file).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

/// Starts a shard and ends it with SIGKILL as soon as it has made a run. Returns the lines of its file.
fn killed(folder: &Path, words: &str, file: &Path) -> usize {
    let mut child = packetscale(folder, words).spawn().expect("the command starts");
    let began = Instant::now();
    while lines(file) < 2 {
        assert!(began.elapsed() < Duration::from_secs(120), "no run was made");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("killed");
    assert!(!child.wait().expect("ended").success(), "it was done before it was killed");
    lines(file)
}

#[test]
fn seven_shards_in_any_order_after_a_kill_are_the_bytes_of_one_command() {
    let folder = folder(SCENARIO);
    let out = folder.path().join("seven");
    done(folder.path(), "run sweep.toml --out one");
    let planned = done(folder.path(), "sweep plan sweep.toml --shards 7");
    let of_four = planned.lines().filter(|line| line.ends_with("\"shard\":4}")).count();
    assert_eq!(planned.lines().count(), 48);
    let file = out.join("shards/4.ndjson");
    let shard = |number: usize| format!("run sweep.toml --shard {number}/7 --out seven --jobs 1");
    let before = killed(folder.path(), &shard(4), &file);
    assert!(before <= of_four, "{before} of {of_four} and the first line");
    // As a write that was cut short leaves it.
    let text = fs::read_to_string(&file).expect("the shard");
    fs::write(&file, format!("{text}{{\"id\":\"12")).expect("written");
    for number in [6, 2, 7, 1] {
        done(folder.path(), &shard(number));
    }
    let missing = refused(folder.path(), "sweep merge seven");
    assert!(missing.starts_with("seven: ") && missing.contains(" of 48 runs are missing"), "{missing}");
    // The commands that it names make what is missing: the shard that was killed goes on.
    let commands: Vec<&str> = missing.lines().filter(|line| line.starts_with("  packetscale run")).collect();
    assert_eq!(commands.len(), 3, "{missing}");
    let made = commands.iter().map(|command| {
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", command]).current_dir(folder.path()).env("PATH", path()).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).expect("text")
    });
    let said = made.collect::<String>();
    assert!(said.contains(&format!("4.ndjson: goes on; {} of {of_four} runs were kept", before - 1)), "{said}");
    done(folder.path(), "sweep merge seven");
    same(&folder.path().join("one"), &out);
}

#[test]
fn shards_of_two_programs_are_refused_with_one_message() {
    let folder = folder(SCENARIO);
    for shard in ["1/2", "2/2"] {
        done(folder.path(), &format!("run sweep.toml --set run.replications=1 --shard {shard} --out two"));
    }
    let file = folder.path().join("two/shards/2.ndjson");
    let text = fs::read_to_string(&file).expect("the shard");
    let program = text.split("\"program\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a program");
    fs::write(&file, text.replacen(program, "0.0.9 abcdef", 1)).expect("written");
    let message = refused(folder.path(), "sweep merge two");
    let expected = format!("found runs by packetscale 0.0.9 abcdef; expected runs by packetscale {program}\n");
    assert_eq!(message, format!("two/shards/2.ndjson: {expected}"));
    assert!(!folder.path().join("two/runs.csv").exists());
}

/// Found at the merge, it would be the work of hours.
#[test]
fn a_shard_of_another_seed_is_refused_before_its_first_run() {
    let folder = folder(SCENARIO);
    let shard = |seed: u32, shard: &str| {
        format!("run sweep.toml --set run.replications=1 --set run.seed={seed} --shard {shard} --out two")
    };
    done(folder.path(), &shard(1, "1/2"));
    let message = refused(folder.path(), &shard(2, "2/2"));
    let found =
        "two/shards/1.ndjson: found runs of sweep.toml with other settings; expected an empty folder, or one of this";
    assert!(message.starts_with(found), "{message}");
    assert!(!folder.path().join("two/shards/2.ndjson").exists());
    // One after the other, all can be replaced.
    for number in ["2/2", "1/2"] {
        done(folder.path(), &format!("{} --replace", shard(2, number)));
    }
    done(folder.path(), "sweep merge two");
}

#[test]
fn a_merge_that_cannot_write_all_leaves_nothing_but_the_shards() {
    let folder = folder(SCENARIO);
    done(folder.path(), "run sweep.toml --set run.replications=1 --shard 1/1 --out out");
    let out = folder.path().join("out");
    // A folder in the place of the last file of the results, then of the page.
    for file in ["manifest.json", "report.html"] {
        fs::create_dir(out.join(file)).expect("a folder");
        let message = refused(folder.path(), "sweep merge out");
        assert!(message.contains("cannot be written"), "{message}");
        fs::remove_dir(out.join(file)).expect("removed");
        let left: Vec<_> =
            fs::read_dir(&out).expect("the folder").map(|entry| entry.expect("one").file_name()).collect();
        assert_eq!(left, ["shards"]);
    }
    done(folder.path(), "sweep merge out");
    assert!(out.join("runs.csv").is_file() && out.join("report.html").is_file());
}

/// The shard of another program names a scenario that cannot be resolved: it is not asked for.
#[test]
fn of_another_program_s_shards_the_scenario_is_not_resolved() {
    let folder = folder(SCENARIO);
    done(folder.path(), "run sweep.toml --set run.replications=1 --shard 1/1 --out out");
    let file = folder.path().join("out/shards/1.ndjson");
    let text = fs::read_to_string(&file).expect("the shard");
    let scenario = text.replacen("controller = \\\"cubic\\\"", "controller = \\\"nobody\\\"", 1);
    assert_ne!(scenario, text);
    fs::write(&file, &scenario).expect("written");
    let resolved = refused(folder.path(), "sweep merge out");
    assert!(resolved.contains("nobody"), "{resolved}");
    let program = text.split("\"program\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a program");
    fs::write(&file, scenario.replacen(program, "0.0.9 abcdef", 1)).expect("written");
    let message = refused(folder.path(), "sweep merge out");
    assert!(message.contains("found runs by packetscale 0.0.9 abcdef"), "{message}");
}

#[test]
fn a_script_has_no_more_commands_than_its_own() {
    let folder = folder(SCENARIO);
    for engine in ["slurm", "hyperqueue", "here"] {
        let mut command = packetscale(folder.path(), &format!("sweep submit {engine} sweep.toml --shards 2"));
        let output = command.args(["--dry-run", "--out", "lo\ntouch PWNED\n"]).output().expect("the command starts");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{engine}");
        assert!(message.contains("expected a path in UTF-8 without line breaks"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    fs::copy(folder.path().join("sweep.toml"), folder.path().join("{merge}.toml")).expect("copied");
    let script = done(folder.path(), "sweep submit here {merge}.toml --shards 2 --out out --dry-run");
    assert!(script.contains("/{merge}.toml' --on"), "{script}");
}

#[test]
fn the_cache_gives_a_wider_sweep_the_runs_that_it_has() {
    let folder = folder(SCENARIO);
    let count = || {
        let inner = fs::read_dir(folder.path().join("cache")).expect("the cache");
        inner.map(|entry| fs::read_dir(entry.expect("an entry").path()).expect("a folder").count()).sum::<usize>()
    };
    done(folder.path(), "run sweep.toml --out one --cache cache --set run.replications=1");
    assert_eq!(count(), 24);
    done(folder.path(), "run sweep.toml --out two --cache cache");
    done(folder.path(), "run sweep.toml --out three");
    assert_eq!(count(), 48);
    same(&folder.path().join("two"), &folder.path().join("three"));
}

#[test]
fn submit_here_makes_shards_and_merges_them() {
    let folder = folder(SCENARIO);
    let script = done(folder.path(), "sweep submit here sweep.toml --shards 3 --out here --dry-run");
    assert!(script.contains("-le 3 ]") && !folder.path().join("here").exists(), "{script}");
    let said = done(folder.path(), "sweep submit here sweep.toml --shards 3 --out here");
    assert!(said.contains("Written to "), "{said}");
    done(folder.path(), "run sweep.toml --out one");
    same(&folder.path().join("one"), &folder.path().join("here"));
}

#[test]
fn scripts_for_batch_systems_have_what_was_asked_for() {
    let folder = folder(SCENARIO);
    let asked = "sweep.toml --shards 7 --out out --dry-run --jobs 4 --cache cache -- --partition=short";
    let slurm = done(folder.path(), &format!("sweep submit slurm {asked}"));
    for line in ["#SBATCH --array=1-7", "#SBATCH --cpus-per-task=4", "#SBATCH --partition=short"] {
        assert!(slurm.lines().any(|found| found == line), "{line}: {slurm}");
    }
    assert!(slurm.contains("--jobs 4 --cache ") && slurm.contains(" --shard task/7\n"), "{slurm}");
    assert!(slurm.contains("--dependency afterany:JOB"), "{slurm}");
    let hyperqueue = done(folder.path(), &format!("sweep submit hyperqueue {asked}"));
    assert!(hyperqueue.contains("#HQ --array=1-7\n") && hyperqueue.contains("#HQ --partition=short\n"), "{hyperqueue}");
    let message = refused(folder.path(), &format!("sweep submit here {asked}"));
    assert!(message.contains("expected no options"), "{message}");
    let task = refused(folder.path(), "run sweep.toml --shard task/7");
    assert!(task.contains("neither SLURM_ARRAY_TASK_ID nor HQ_TASK_ID"), "{task}");
}

/// The page's scenario, and each of its blocks of commands, in order, in one folder.
#[test]
fn the_commands_of_the_page_run() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/sweeps.md")).expect("the page");
    let blocks = |language: &str| -> Vec<String> {
        let start = format!("```{language}\n");
        page.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_string()).collect()
    };
    let folder = folder(&blocks("toml")[0]);
    let commands = blocks("sh");
    assert!(commands.len() >= 3, "{}", commands.len());
    for block in commands {
        let mut shell = Command::new("sh");
        let output = shell.args(["-e", "-c", &block]).current_dir(folder.path()).env("PATH", path()).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{block}{}", String::from_utf8_lossy(&output.stderr));
    }
}
