//! The machine, for the manifest: never part of what must be the same everywhere.

use experiment::results::Environment;
use std::fs;

pub(crate) fn environment(inputs: Vec<String>) -> Environment {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    Environment { system: system(), processor: processor(), cores: u32::try_from(cores).unwrap_or(u32::MAX), inputs }
}

/// Operating system, kernel release and processor family, as in `Linux 6.12.1 x86_64`.
pub fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let name = fs::read_to_string("/proc/sys/kernel/ostype").unwrap_or_else(|_| std::env::consts::OS.to_string());
    [name.trim(), release.trim(), std::env::consts::ARCH]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The machine in one line: for runs that depend on it.
pub(crate) fn machine() -> String {
    format!("{}, {}", system(), processor())
}

fn processor() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    model.and_then(|line| line.split(':').nth(1)).map_or(String::from("unknown"), |name| name.trim().to_string())
}
