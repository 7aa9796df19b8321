//! What is done of a plan that is under way: one line per run in a file of the output folder. After an interruption,
//! whoever asks for the same runs takes them from there: the same program again, or another copy of it.

use results::Run;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) const NAME: &str = "unfinished.ndjson";

/// A run, and what it is known by.
#[derive(Serialize, Deserialize)]
struct Line<R> {
    id: String,
    run: R,
}

/// The file, open for more.
pub struct Checkpoint {
    folder: PathBuf,
    file: File,
    /// The folder, locked.
    _alone: File,
    planned: usize,
    done: Mutex<usize>,
}

/// What opening the file gives.
pub(crate) enum Opened {
    /// The file, and the runs that it holds.
    Checkpoint(Checkpoint, BTreeMap<String, Run>),
    /// So many runs in it are none of the plan: nothing was changed.
    Strangers(usize),
}

/// While it lives, no run is added.
pub struct Sealed<'a> {
    checkpoint: &'a Checkpoint,
    done: MutexGuard<'a, usize>,
}

impl Checkpoint {
    /// Opens the file in `folder` for a plan of this many runs. What it holds of the runs with these `ids` is kept and
    /// returned. Other runs are dropped only to `replace` them; a line that was cut short or damaged is no run.
    ///
    /// # Errors
    /// The file cannot be read or written, or another command makes runs in this folder
    /// ([`io::ErrorKind::WouldBlock`]).
    pub(crate) fn open(folder: &Path, ids: &BTreeSet<&str>, planned: usize, replace: bool) -> io::Result<Opened> {
        let path = folder.join(NAME);
        let alone = alone_in(folder)?;
        let content = held(&path)?;
        let lines = content.split(|byte| *byte == b'\n');
        let runs = lines.filter_map(|line| serde_json::from_slice::<Line<Run>>(line).ok());
        let (kept, strangers): (Vec<_>, Vec<_>) = runs.partition(|line| ids.contains(line.id.as_str()));
        if !strangers.is_empty() && !replace {
            return Ok(Opened::Strangers(strangers.len()));
        }
        let kept: BTreeMap<String, Run> = kept.into_iter().map(|line| (line.id, line.run)).collect();
        let lines = kept.iter().map(|(id, run)| line(id, run)).collect::<Result<Vec<String>, _>>()?;
        results::write_file(folder, NAME, |file| file.write_all(lines.concat().as_bytes()))?;
        let file = File::options().append(true).open(&path)?;
        let done = Mutex::new(kept.len());
        let checkpoint = Checkpoint { folder: folder.to_path_buf(), file, _alone: alone, planned, done };
        Ok(Opened::Checkpoint(checkpoint, kept))
    }

    /// Keeps a run. When this returns, the run is on the disk.
    pub(crate) fn add(&self, id: &str, run: &Run) -> io::Result<()> {
        let line = line(id, run)?;
        {
            let mut done = self.done();
            (&self.file).write_all(line.as_bytes())?;
            *done += 1;
        }
        self.file.sync_data()
    }

    /// Waits until no line is being written, and allows none any more while what it returns lives.
    pub fn seal(&self) -> Sealed<'_> {
        Sealed { checkpoint: self, done: self.done() }
    }

    /// Removes the file if it holds no run, and then the folder if it holds nothing else.
    pub(crate) fn remove_if_empty(&self) {
        if fs::metadata(self.path()).is_ok_and(|file| file.len() == 0) && self.remove().is_ok() {
            let _ = fs::remove_dir(&self.folder);
        }
    }

    /// All is done and written: nothing to resume.
    pub(crate) fn remove(&self) -> io::Result<()> {
        fs::remove_file(self.path())
    }

    fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    fn done(&self) -> MutexGuard<'_, usize> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sealed<'_> {
    /// Runs of the plan.
    pub fn planned(&self) -> usize {
        self.checkpoint.planned
    }

    /// Runs that the file holds.
    pub fn done(&self) -> usize {
        *self.done
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.checkpoint.folder
    }
}

/// Locks the folder until what is returned is dropped, or the process ends.
fn alone_in(folder: &Path) -> io::Result<File> {
    let open = File::open(folder)?;
    match open.try_lock() {
        Ok(()) => Ok(open),
        Err(TryLockError::WouldBlock) => {
            let message = "another command makes runs in this folder";
            Err(io::Error::new(io::ErrorKind::WouldBlock, message))
        }
        // A file system without locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(open),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// What the file holds; nothing where it is not there.
fn held(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

fn line(id: &str, run: &Run) -> io::Result<String> {
    Ok(serde_json::to_string(&Line { id: id.to_string(), run })? + "\n")
}
