//! Finished runs, kept while a plan is under way: one line per run in a file of the output folder. After an
//! interruption the same command takes them from there. A run is taken up again only if nothing has changed: its key
//! is a digest of the whole experiment, of its host, of the files it reads and of the program.

use crate::args::On;
use crate::machine::digest;
use results::Run;
use scenario::Experiment;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const NAME: &str = "unfinished.ndjson";

#[derive(Serialize, Deserialize)]
struct Line<R> {
    key: String,
    run: R,
}

/// What identifies a run.
pub fn key(on: On, experiment: &Experiment, inputs: &[String]) -> String {
    let program = std::env::current_exe().and_then(fs::metadata).map(|file| (file.len(), file.modified().ok()));
    digest(&format!("{} {:?} {on:?} {inputs:?} {experiment:?}", env!("CARGO_PKG_VERSION"), program.ok()))
}

/// The file, open for more.
pub struct Finished {
    path: PathBuf,
    lines: Mutex<Lines>,
}

/// The open file and how many runs it holds.
pub struct Lines {
    file: File,
    pub runs: usize,
}

impl Finished {
    /// Opens the file in `folder`; what it holds of the runs of `keys` is kept and returned, all else is dropped.
    pub fn open(folder: &Path, keys: &[String]) -> io::Result<(Finished, BTreeMap<String, Run>)> {
        let path = folder.join(NAME);
        let keys: BTreeSet<&String> = keys.iter().collect();
        let kept: BTreeMap<String, Run> = fs::read_to_string(&path)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| serde_json::from_str::<Line<Run>>(line).ok())
            .filter(|line| keys.contains(&line.key))
            .map(|line| (line.key, line.run))
            .collect();
        let lines = kept.iter().map(|(key, run)| line(key, run)).collect::<Result<Vec<String>, _>>()?;
        results::write_file(folder, NAME, |file| file.write_all(lines.concat().as_bytes()))?;
        let file = File::options().append(true).open(&path)?;
        Ok((Finished { path, lines: Mutex::new(Lines { file, runs: kept.len() }) }, kept))
    }

    /// Keeps a run.
    pub fn add(&self, key: &str, run: &Run) -> io::Result<()> {
        let line = line(key, run)?;
        let mut lines = self.lock();
        lines.runs += 1;
        lines.file.write_all(line.as_bytes())
    }

    /// Waits until no line is being written, and allows none any more while the guard lives.
    pub fn lock(&self) -> std::sync::MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Removes the file if it holds no run, and then the folder if it holds nothing else.
    pub fn remove_if_empty(&self) {
        if fs::metadata(&self.path).is_ok_and(|file| file.len() == 0) && self.remove().is_ok() {
            let _ = self.path.parent().map(fs::remove_dir);
        }
    }

    /// All is done and written: nothing to resume.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

fn line(key: &str, run: &Run) -> io::Result<String> {
    Ok(serde_json::to_string(&Line { key: key.to_string(), run })? + "\n")
}
