//! The machine, for the manifest: never part of what must be the same everywhere.

use results::Environment;
use scenario::{ConnectionSource, Experiment, TrafficKind};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

pub fn environment(inputs: Vec<String>) -> Environment {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    Environment { system: system(), processor: processor(), cores: u32::try_from(cores).unwrap_or(u32::MAX), inputs }
}

/// `Linux 6.12.1 x86_64`.
pub fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let name = fs::read_to_string("/proc/sys/kernel/ostype").unwrap_or_else(|_| std::env::consts::OS.to_string());
    [name.trim(), release.trim(), std::env::consts::ARCH]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn processor() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    model.and_then(|line| line.split(':').nth(1)).map_or(String::from("unknown"), |name| name.trim().to_string())
}

/// Files that the runs read, with their sizes and SHA-256, in order of their names.
///
/// # Errors
/// The file that cannot be read.
pub fn inputs(plan: &[Experiment]) -> Result<Vec<String>, String> {
    let sources = plan.iter().flat_map(|experiment| &experiment.traffic);
    let files: BTreeSet<&Path> = sources
        .filter_map(|source| match &source.kind {
            TrafficKind::Trace { file, .. } => Some(file.as_path()),
            TrafficKind::Connections(connections) => match &connections.source {
                ConnectionSource::Vectors(file) => Some(file.as_path()),
                ConnectionSource::Drawn(_) => None,
            },
            _ => None,
        })
        .collect();
    files.into_iter().map(|file| described(file).map_err(|error| format!("{}: {error}", file.display()))).collect()
}

fn described(file: &Path) -> io::Result<String> {
    let mut hash = Hash(Sha256::new());
    let size = io::copy(&mut fs::File::open(file)?, &mut hash)?;
    Ok(format!("{} {size} bytes sha256:{}", file.display(), hash.hex()))
}

/// SHA-256 as something to write to.
struct Hash(Sha256);

impl Hash {
    fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// SHA-256 of a text.
pub fn digest(text: &str) -> String {
    let mut hash = Hash(Sha256::new());
    hash.0.update(text);
    hash.hex()
}
