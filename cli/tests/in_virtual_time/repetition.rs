//! A run is known by what it is made from: made again, it has the same bytes, however busy this machine is.
//!
//! With `PACKETSCALE_LONG` every path of `scenarios/kernel` is tried, 2.1 s of each controller, the second time beside eight
//! busy loops. `PACKETSCALE_SCENARIOS` (words separated by commas) leaves those whose file names have one of them.

use super::{Run, SMALL, able, keep, packetscale};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::Instant;

const BUSY_LOOPS: usize = 8;

/// The paths, shortened: one run of each controller. The last of a thousand connections starts after 2 s.
const SHORTER: [&str; 6] =
    ["--set", "run.replications=1", "--set", "run.duration=\"2100 ms\"", "--set", "run.warmup=\"1 s\""];

#[test]
fn repeated_run_is_identical_on_busy_machine() {
    let Some(()) = able() else { return };
    if std::env::var_os("PACKETSCALE_LONG").is_some() {
        return every_path_is_the_same_bytes_beside_busy_loops();
    }
    let place = tempfile::tempdir().expect("a temporary folder");
    fs::write(place.path().join("small.toml"), SMALL).expect("written");
    for out in ["first", "second"] {
        let output = packetscale(place.path(), &["run", "small.toml", "--on", "linux-6.1", "--out", out]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_same(&place.path().join("first"), &place.path().join("second"));
    // From 10 packets, slow start fills the path (25 kB) within one round trip. The buffer holds two such products: when it
    // overflows the window is three of them, and half of that still fills the path.
    let utilisation = Run { place: keep(place, "first") }.figure("utilisation");
    assert!((0.99..1.01).contains(&utilisation), "{utilisation}");
}

fn every_path_is_the_same_bytes_beside_busy_loops() {
    let wanted = std::env::var("PACKETSCALE_SCENARIOS").unwrap_or_default();
    let of = |file: &PathBuf| wanted.split(',').any(|word| file.to_string_lossy().contains(word));
    let tried: Vec<PathBuf> = paths().into_iter().filter(of).collect();
    assert!(!tried.is_empty(), "no path has a name with {wanted}");
    for file in tried {
        let place = tempfile::tempdir().expect("a temporary folder");
        let run = |out: &str| {
            let name = file.to_string_lossy();
            let words = [["run", &name, "--on", "linux-6.1", "--out", out].as_slice(), &SHORTER].concat();
            let began = Instant::now();
            let output = packetscale(place.path(), &words);
            // 1: a goal of the scenario was missed, as it may be in 2 s.
            assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
            began.elapsed().as_secs_f64()
        };
        let alone_s = run("first");
        let busy = Busy::of(BUSY_LOOPS);
        let beside_s = run("second");
        drop(busy);
        let (files, bytes) = assert_same(&place.path().join("first"), &place.path().join("second"));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        println!("{name}: the same {files} files, {bytes} bytes, after {alone_s:.0} s and after {beside_s:.0} s");
    }
}

/// The files of `scenarios/kernel`.
fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/kernel");
    let entries = fs::read_dir(folder).expect("the folder").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

/// Threads that compute until this value ends.
struct Busy {
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    fn of(count: usize) -> Busy {
        let ends = Arc::new(AtomicBool::new(false));
        let one = || {
            let ends = Arc::clone(&ends);
            spawn(move || while !ends.load(Ordering::Relaxed) {})
        };
        Busy { threads: std::iter::repeat_with(one).take(count).collect(), ends }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Two folders have the same files with the same bytes. Returns how many of each.
fn assert_same(first: &Path, second: &Path) -> (usize, usize) {
    let (one, other) = (content(first), content(second));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{} differs between two runs", name.display());
    }
    assert!(one.contains_key(Path::new("runs.csv")));
    (one.len(), one.values().map(Vec::len).sum())
}

/// The files below a folder, by their place in it.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("results").flatten() {
        let (path, name) = (entry.path(), PathBuf::from(entry.file_name()));
        if path.is_dir() {
            found.extend(content(&path).into_iter().map(|(inner, bytes)| (name.join(inner), bytes)));
        } else {
            found.insert(name, fs::read(&path).expect("a result"));
        }
    }
    found
}
