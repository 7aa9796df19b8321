//! Rapid on each kernel that this machine's user has fetched (`packetscale fetch kernel VERSION`); on Linux 6.1 always.
//!
//! The programs are loaded, both ends agree on arrivals, and packets are sent: the name of a connection's controller tells
//! where CUBIC has taken over.

use super::{Run, able, cache, number};
use std::fs;
use std::path::PathBuf;

/// 100 Mbit/s with a round trip of 20 ms and a buffer of one product of both: half a second, which Rapid takes to begin, and
/// a second.
const PATH: &str = r#"
    run = { duration = "1500 ms", warmup = "500 ms" }
    path = { rate = "100 Mbit/s", delay = "10 ms", buffer = "250 kB" }
    receiver = { delayed_ack = 1 }
    flow = [{ packet = "1514 B" }]
    compare = { controllers = ["rapid", "cubic"] }
"#;

/// The versions that were fetched, by their folders.
fn fetched() -> Vec<(String, PathBuf)> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = set("PACKETSCALE_CACHE").or_else(|| Some(set("HOME")?.join(".cache/packetscale")));
    let entries = cache.and_then(|cache| fs::read_dir(cache.join("kernels")).ok());
    let folders = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = folders
        .filter(|folder| folder.join("vmlinuz").is_file())
        .map(|folder| (folder.file_name().unwrap_or_default().to_string_lossy().into_owned(), folder))
        .filter(|(version, _)| version != "6.1")
        .collect();
    found.sort();
    found
}

#[test]
#[ignore = "long: make test-long"]
fn rapid_runs_on_every_kernel_that_was_fetched() {
    let Some(()) = able() else { return };
    let mut versions = vec!["6.1".to_string()];
    for (version, folder) in fetched() {
        let link = cache().join("kernels").join(&version);
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(folder, link).expect("a link to the kernel");
        versions.push(version);
    }
    for version in versions {
        let run = Run::on(&format!("linux-{version}"), PATH);
        let figures = run.table("runs.csv");
        let figure = |controller: &str, column| {
            let row = figures.iter().find(|row| row["controller"] == controller).expect("a run of each");
            number(row, column)
        };
        let [rapid, cubic] = ["rapid", "cubic"].map(|name| figure(name, "throughput_bps") / 1e6);
        let waits_ms = figure("rapid", "queue_delay_p95_s") * 1e3;
        println!(
            "linux-{version}: rapid {rapid:.1} Mbit/s, 95 % wait less than {waits_ms:.2} ms; cubic {cubic:.1} Mbit/s"
        );
        let controllers: Vec<String> = run.table("flows.csv").iter().map(|row| row["controller"].clone()).collect();
        assert_eq!(controllers, ["rapid", "cubic"], "linux-{version}");
        // The goals of scenarios/kernel/20ms.toml, for this path.
        assert!(rapid > 92.0 && waits_ms < 2.0, "linux-{version}: {rapid:.1} Mbit/s, {waits_ms:.2} ms");
        assert!(cubic > 92.0, "linux-{version}: {cubic:.1} Mbit/s of CUBIC");
    }
}
