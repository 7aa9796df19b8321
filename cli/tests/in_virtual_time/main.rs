//! Real kernels in virtual time, by the command. Needs the emulator and Debian's kernel 6.1, which `setup.sh test` fetches;
//! without them each test that needs them says that it is skipped.

mod kernels;
mod paths;
mod rates;
mod refusals;
mod repetition;
mod sending;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// 400 ms of a path of 20 Mbit/s with a round trip of 10 ms.
const SMALL: &str = r#"
    run = { duration = "400 ms", warmup = "100 ms" }
    path = { rate = "20 Mbit/s", delay = "5 ms", buffer = "50 kB" }
    receiver = { delayed_ack = 1 }
    flow = [{ controller = "newreno", packet = "1514 B" }]
"#;

/// The command in this folder.
fn packetscale(place: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(words).current_dir(place).env("PACKETSCALE_CACHE", cache());
    command.output().expect("the command starts")
}

/// One cache for all tests: one machine for all their runs.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Puts the kernel into the cache, once, and removes machines of other builds. `None` where the tests cannot run; says why.
fn able() -> Option<()> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let missing = MISSING.get_or_init(|| {
        let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debian-6.1");
        let programs = ["qemu-system-x86_64", "qemu-img"];
        if let Some(program) = programs.iter().find(|name| Command::new(name).arg("--version").output().is_err()) {
            return Some(format!("{program} is missing"));
        }
        let Some(kernel) = kernel.canonicalize().ok().filter(|folder| folder.join("vmlinuz").is_file()) else {
            return Some(format!("{} has no kernel", kernel.display()));
        };
        let kernels = cache().join("kernels");
        fs::create_dir_all(&kernels).expect("a folder for the cache");
        let _ = fs::remove_file(kernels.join("6.1"));
        std::os::unix::fs::symlink(kernel, kernels.join("6.1")).expect("a link to the kernel");
        let cleaned = packetscale(&cache(), &["fetch", "clean"]);
        assert!(cleaned.status.success(), "{}", String::from_utf8_lossy(&cleaned.stderr));
        None
    });
    match missing {
        Some(missing) => {
            eprintln!("skipped: {missing}");
            None
        }
        None => Some(()),
    }
}

/// A run on the kernel of the cache: its tables.
struct Run {
    place: tempfile::TempDir,
}

impl Run {
    /// Makes it, on Linux 6.1.
    fn of(scenario: &str) -> Run {
        Run::on("linux-6.1", scenario)
    }

    /// Makes it on a kernel of the cache, with a seed of its own for each `PACKETSCALE_DRAW`: what is true of one is to be true of all.
    fn on(kernel: &str, scenario: &str) -> Run {
        let place = tempfile::tempdir().expect("a temporary folder");
        let draw =
            std::env::var("PACKETSCALE_DRAW").map(|draw| draw.parse::<u64>().expect("PACKETSCALE_DRAW is a number"));
        let seed = draw.map_or(String::new(), |draw| format!("seed = {}, ", 1 + draw));
        let scenario = scenario.replacen("run = { ", &format!("run = {{ {seed}"), 1);
        fs::write(place.path().join("a.toml"), scenario).expect("written");
        let output = packetscale(place.path(), &["run", "a.toml", "--on", kernel, "--out", "out", "--no-page"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        Run { place }
    }

    /// The rows of a table, each by the names of its columns.
    fn table(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        let text = fs::read_to_string(self.place.path().join("out").join(name)).expect(name);
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_string));
        let names: Vec<String> = lines.next().expect("a header").collect();
        lines.map(|line| names.iter().cloned().zip(line).collect()).collect()
    }

    /// A figure of the run.
    fn figure(&self, column: &str) -> f64 {
        number(&self.table("runs.csv")[0], column)
    }
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {:?}", row[column]))
}

/// What a flow's receiver got in each tenth of a second between two times, in bit/s.
fn received(run: &Run, flow: &str, from_s: f64, to_s: f64) -> Vec<f64> {
    let rows = run.table("series.csv");
    let of = |row: &&BTreeMap<String, String>| {
        row["metric"] == "throughput" && row["flow"] == flow && (from_s..to_s).contains(&number(row, "time_s"))
    };
    rows.iter().filter(of).map(|row| number(row, "value")).collect()
}

/// The folder, with this result as `out`.
fn keep(place: tempfile::TempDir, result: &str) -> tempfile::TempDir {
    fs::rename(place.path().join(result), place.path().join("out")).expect("renamed");
    place
}

#[test]
fn the_cache_lists_its_kernel_and_the_machine_that_runs_begin_from() {
    let Some(()) = able() else { return };
    Run::of(SMALL);
    let said = String::from_utf8(packetscale(&cache(), &["fetch", "list"]).stdout).expect("text");
    assert!(said.lines().any(|line| line.starts_with("kernel   6.1 ")), "{said}");
    assert!(said.lines().any(|line| line.starts_with("machine  6.1.") && line.contains("linux-6.1 begin")), "{said}");
}
