//! The kernel tests, in virtual time: the lab's, those of Rapid in Linux TCP, and the command on real Linux TCP.
//!
//! This program builds the test programs, puts them into a machine with Debian's kernel 6.1 (`setup.sh test` downloads
//! it), and runs each test in a copy of that machine; those of queue disciplines have a machine with 7.3. There they are root, and
//! only instructions advance the clock: a busy machine makes them slower, and changes nothing else. Without the emulator or the
//! kernel everything is skipped with a message, and fails with `CI=true`; without 7.3 those of queue disciplines are skipped.
//! This program is also the machine's first process. Each test's output is stored in
//! `target/tmp/said`. A test that takes minutes of the machine's time reports each. The summary lists the tests that took most
//! processor time.
//!
//! `PACKETSCALE_TEST_KERNEL` names the folder of another kernel: `vmlinuz`, and modules (`*.ko`) below it.

use libtest_mimic::{Arguments, Failed, Trial};
use linux::virtual_time::{Bench, Errand, Kernel, Program, find};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tempfile::TempDir;

/// Programs of tests, by the names of their targets.
const GROUPS: [&str; 7] = ["lab", "killed", "stamps", "tcp", "in_real_time", "probed", "carried"];

/// Those that need a kernel which takes queue disciplines in BPF.
const NEWER: [&str; 2] = ["qdisc", "paced"];

/// Groups with a test that compiles what the others need, and stores it where this variable says.
const COMPILING: [&str; 2] = ["stamps", "tcp"];
const COMPILES: &str = "what_the_tests_need_compiles";
const COMPILED: &str = "PACKETSCALE_COMPILED";

/// Programs that the tests run, with their Debian packages.
const TOOLS: [(&str, &str); 3] = [("sysctl", "procps"), ("ethtool", "ethtool"), ("iperf3", "iperf3")];

/// If set, no test is ignored, and those that else try a part try everything: a thousand transfers, a death at every call. And how
/// long they may take.
const LONG: &str = "PACKETSCALE_LONG";
const LONG_S: u64 = 4000;
/// Environment variable passed on to the tests.
const SEED: &str = "PACKETSCALE_SOAK_SEED";

/// A number that changes random numbers and start times. Tests must pass for every draw. A build is a draw, too: it changes
/// instruction counts.
const DRAW: &str = "PACKETSCALE_DRAW";

/// Folder of the tests' outputs.
const SAID: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/said");

/// The longest that a test may take, in the machine's time.
const LIMIT_S: u64 = 120;

/// Interval of progress reports, in the machine's time.
const SAYS_S: u64 = 60;

fn main() -> ExitCode {
    if std::process::id() == 1 {
        linux::virtual_time::guest();
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let kernel = match kernel() {
        Ok(kernel) => kernel,
        Err(missing) => {
            eprintln!("skipped: {missing}");
            return if std::env::var_os("CI").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    let mut groups = vec![(kernel, GROUPS.to_vec())];
    match kernel_in(&target("debian-7.3")) {
        Ok(newer) => groups.push((newer, NEWER.to_vec())),
        Err(missing) => eprintln!("{NEWER:?} skipped: {missing}"),
    }
    match trials(groups) {
        Ok(trials) => {
            let conclusion = libtest_mimic::run(&arguments, trials);
            eprintln!("{}", dearest());
            conclusion.exit_code()
        }
        Err(failed) => {
            eprintln!("in_a_machine: {failed}");
            ExitCode::FAILURE
        }
    }
}

/// Seconds of processor time that each test took, with its name.
static COSTS: Mutex<Vec<(f64, String)>> = Mutex::new(Vec::new());

/// How many of the dearest tests are named.
const NAMED: usize = 10;

/// Total time of all tests, and the most expensive ones. Each test's time is written next to its output.
fn dearest() -> String {
    let mut costs = COSTS.lock().unwrap_or_else(PoisonError::into_inner);
    costs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all: f64 = costs.iter().map(|(cpu_s, _)| cpu_s).sum();
    let lines: Vec<String> = costs.iter().map(|(cpu_s, name)| format!("\n{cpu_s:7.1} s {name}")).collect();
    // Only informative.
    let _ = fs::write(Path::new(SAID).join("costs.txt"), lines.concat());
    let named = lines.iter().take(NAMED).map(String::as_str);
    format!("the machines took {all:.0} s of processor time; most of it:{}", named.collect::<String>())
}

/// The kernel to boot, or what is missing.
fn kernel() -> Result<Kernel, String> {
    let emulator = [("qemu-system-x86_64", "qemu-system-x86"), ("qemu-img", "qemu-utils")];
    let compilers = [("clang", "clang"), ("cc", "gcc")];
    for (program, package) in TOOLS.iter().chain(&emulator).chain(&compilers) {
        find(program, package).map_err(|error| error.to_string())?;
    }
    kernel_in(&std::env::var_os("PACKETSCALE_TEST_KERNEL").map_or_else(|| target("debian-6.1"), PathBuf::from))
}

fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(name)
}

fn kernel_in(folder: &Path) -> Result<Kernel, String> {
    if !folder.is_dir() {
        return Err(format!("{} has no kernel", folder.display()));
    }
    Kernel::own(&folder.join("vmlinuz"), Some(folder)).map_err(|error| error.to_string())
}

/// Runs a program to its end, here; returns its standard output.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Builds the programs of the tests, and the command that some of them run. Returns them by name.
fn built() -> Result<BTreeMap<String, PathBuf>, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    // All packages, so that they are built with the features that a test of all packages has just built.
    cargo.args(["test", "--workspace", "--no-run", "--locked"]);
    cargo.args(["--quiet", "--message-format", "json"]);
    cargo.args(GROUPS.iter().chain(&NEWER).flat_map(|group| ["--test", group]));
    let mut found = BTreeMap::new();
    for line in said(&mut cargo)?.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        if let (Some(name), Some(file)) = (message["target"]["name"].as_str(), message["executable"].as_str()) {
            found.insert(name.to_string(), PathBuf::from(file));
        }
    }
    Ok(found)
}

/// A machine, made when its first test runs.
struct Lazy {
    kernel: Kernel,
    own: PathBuf,
    programs: Vec<Program>,
    /// Holds some of the programs until then.
    _compiled: Arc<TempDir>,
    made: OnceLock<Result<Bench, String>>,
}

impl Lazy {
    fn bench(&self) -> Result<&Bench, &String> {
        let make = || Bench::new(&self.kernel, &self.own, &self.programs).map_err(|error| error.to_string());
        let made = self.made.get_or_init(|| {
            make().inspect(|bench| eprintln!("each test runs on Linux {}, in a machine of its own", bench.release()))
        });
        made.as_ref()
    }
}

/// Every test, each in its own machine.
fn trials(groups: Vec<(Kernel, Vec<&'static str>)>) -> Result<Vec<Trial>, String> {
    let built = built()?;
    let program = |name: &str| built.get(name).ok_or_else(|| format!("cargo has built no {name}"));
    let compiled = Arc::new(tempfile::tempdir().map_err(|error| error.to_string())?);
    for name in COMPILING {
        said(Command::new(program(name)?).args(["--exact", COMPILES]).env(COMPILED, compiled.path()))?;
    }
    let mut programs = tools_and(compiled.path())?;
    // The tests know the command by its place here.
    let command = program("packetscale")?;
    programs.push((command.display().to_string(), command.clone()));
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut trials = Vec::new();
    for (kernel, groups) in groups {
        let mut programs = programs.clone();
        for group in &groups {
            programs.push((format!("/tests/{group}"), program(group)?.clone()));
        }
        let _compiled = Arc::clone(&compiled);
        let bench = Arc::new(Lazy { kernel, own: own.clone(), programs, _compiled, made: OnceLock::new() });
        for group in groups {
            trials.extend(of_group(program(group)?, group, &bench)?);
        }
    }
    Ok(trials)
}

/// The tests of a group.
fn of_group(program: &Path, group: &'static str, bench: &Arc<Lazy>) -> Result<Vec<Trial>, String> {
    let listed = |which: &[&str]| -> Result<Vec<String>, String> {
        let text = said(Command::new(program).args(["--list", "--format", "terse"]).args(which))?;
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_string).collect())
    };
    let ignored = if std::env::var_os(LONG).is_some() { Vec::new() } else { listed(&["--ignored"])? };
    let trial = |test: String| {
        let (bench, name, long) = (Arc::clone(bench), format!("{group}::{test}"), ignored.contains(&test));
        Trial::test(name, move || run(bench.bench()?, group, &test)).with_ignored_flag(long)
    };
    Ok(listed(&[])?.into_iter().map(trial).collect())
}

/// Programs that the tests run, and what they need of this folder.
fn tools_and(compiled: &Path) -> Result<Vec<Program>, String> {
    let mut programs: Vec<Program> = Vec::new();
    for (tool, package) in TOOLS {
        programs.push((format!("/bin/{tool}"), find(tool, package).map_err(|error| error.to_string())?));
    }
    let entries = fs::read_dir(compiled).map_err(|error| error.to_string())?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    // The same files in the same order make the same machine.
    files.sort();
    let inside = |file: &Path| format!("/compiled/{}", file.file_name().unwrap_or_default().to_string_lossy());
    programs.extend(files.into_iter().map(|file| (inside(&file), file)));
    Ok(programs)
}

/// Runs one test in a machine.
fn run(bench: &Bench, group: &str, test: &str) -> Result<(), Failed> {
    let program = format!("/tests/{group}");
    let words = [&program, "--exact", test, "--include-ignored", "--nocapture", "--test-threads", "1"];
    let environment = [(COMPILED, "/compiled"), ("RUST_BACKTRACE", "0")];
    let mut environment = environment.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
    let long = std::env::var(LONG).ok();
    let limit_s = long.as_ref().map_or(LIMIT_S, |_| LONG_S);
    environment.extend(long.map(|word| (LONG.to_string(), word)));
    environment.extend(std::env::var(SEED).ok().map(|word| (SEED.to_string(), word)));
    let draw = std::env::var(DRAW).map_or(Ok(0), |word| word.parse()).map_err(|_| format!("{DRAW} is not a number"))?;
    let errand = Errand { words: words.map(str::to_string).to_vec(), environment, limit_s, draw };
    let name = format!("{group}::{test}");
    let (began, says_s) = (Instant::now(), AtomicU64::new(SAYS_S));
    let ended = bench.run(&errand, &|reached| {
        let reached_s = reached.as_secs_f64() as u64;
        if reached_s >= says_s.load(Ordering::Relaxed) {
            says_s.store((reached_s / SAYS_S + 1) * SAYS_S, Ordering::Relaxed);
            eprintln!("{name}: {reached_s} s of the machine's time after {} s", began.elapsed().as_secs());
        }
    })?;
    COSTS.lock().unwrap_or_else(PoisonError::into_inner).push((ended.cpu_s, name));
    let kept = Path::new(SAID).join(format!("{group}.{}.txt", test.replace("::", ".")));
    fs::create_dir_all(SAID)
        .and_then(|()| fs::write(&kept, &ended.output))
        .map_err(|error| format!("{}: {error}", kept.display()))?;
    if ended.code != Some(0) {
        let how = ended.code.map_or(format!("did not end within {limit_s} s"), |code| format!("ended with {code}"));
        return Err(format!("{how}:\n{}", ended.output).into());
    }
    // All that a test may need is there.
    if !ended.output.contains("1 passed") || ended.output.contains("skipped") {
        return Err(format!("it did not run:\n{}", ended.output).into());
    }
    Ok(())
}
