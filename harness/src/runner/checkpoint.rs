//! Finished runs of an unfinished plan: one line per run in a file of the output folder. After an interruption,
//! the same plan resumes from there, in the same program or another copy of it. The file of a shard
//! begins with a line that describes the shard.

use crate::runner::head::Head;
use crate::runner::line::{self, line};
use experiment::results::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) const NAME: &str = "unfinished.ndjson";

/// The file, open for more.
pub struct Checkpoint {
    path: PathBuf,
    file: File,
    /// The folder, locked; `None` where the file itself is.
    _alone: Option<File>,
    planned: usize,
    done: Mutex<usize>,
}

/// The result of opening the file.
pub(crate) enum Opened {
    /// The file, and the runs that it holds.
    Checkpoint(Checkpoint, BTreeMap<String, Run>),
    /// The file belongs to another plan: nothing was changed.
    Foreign(String),
}

/// While it lives, no run is added.
pub struct Sealed<'a> {
    checkpoint: &'a Checkpoint,
    done: MutexGuard<'a, usize>,
}

impl Checkpoint {
    /// Opens the file in `folder` for a plan of this many runs. Returns its runs with these `ids`, which remain in it.
    /// Other runs, and a file that is not of packetscale, are dropped only to `replace` them; a line that was cut
    /// short or damaged is no run.
    ///
    /// # Errors
    /// The file cannot be read or written, or another command is running in this folder
    /// ([`io::ErrorKind::WouldBlock`]).
    pub(crate) fn open(folder: &Path, ids: &BTreeSet<&str>, planned: usize, replace: bool) -> io::Result<Opened> {
        let path = folder.join(NAME);
        let alone = alone_in(folder)?;
        let strange = is_no_file(&path);
        let content = if strange { Vec::new() } else { held(&path)? };
        if !replace && (strange || !line::any_begins(&content)) {
            let what = if strange { "is not a regular file" } else { "is not of packetscale" };
            return Ok(Opened::Foreign(format!("a file {NAME} that {what}")));
        }
        let lines = content.split(|byte| *byte == b'\n');
        let (kept, strangers): (Vec<_>, Vec<_>) =
            lines.filter_map(line::parse).partition(|(id, _)| ids.contains(id.as_str()));
        if !strangers.is_empty() && !replace {
            return Ok(Opened::Foreign(of_another(strangers.len())));
        }
        let kept: BTreeMap<String, Run> = kept.into_iter().collect();
        let lines = kept.iter().map(|(id, run)| line(id, run)).collect::<Result<Vec<String>, _>>()?;
        experiment::results::write_file(folder, NAME, |file| file.write_all(lines.concat().as_bytes()))?;
        let file = File::options().append(true).open(&path)?;
        let done = Mutex::new(kept.len());
        let checkpoint = Checkpoint { path, file, _alone: Some(alone), planned, done };
        Ok(Opened::Checkpoint(checkpoint, kept))
    }

    /// Opens the file of a shard, with `head` as first line, for the runs with these `ids`. Nothing in it is rewritten:
    /// runs are appended, after a last line that was cut short is removed. Other runs, or runs under another
    /// head, are dropped only to `replace` them.
    ///
    /// # Errors
    /// As [`Checkpoint::open`]; the file itself is locked, so that others can make other shards in its folder.
    pub(crate) fn append(path: &Path, head: &Head, ids: &BTreeSet<&str>, replace: bool) -> io::Result<Opened> {
        let mut file = File::options().read(true).append(true).create(true).open(path)?;
        lock(&file, "another command is running this shard")?;
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        content.truncate(content.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        let first = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let wrong = if content.is_empty() { None } else { head.wrong(first) };
        let (runs, changed) = match line::all(&content, 1) {
            Ok(runs) => (runs, None),
            Err(changed) => (Vec::new(), Some(changed)),
        };
        let (kept, strangers): (Vec<_>, Vec<_>) = runs.into_iter().partition(|(id, _)| ids.contains(id.as_str()));
        let mut kept: BTreeMap<String, Run> = kept.into_iter().collect();
        let foreign = wrong.or(changed).or_else(|| (!strangers.is_empty()).then(|| of_another(strangers.len())));
        let keep = match foreign {
            Some(found) if !replace => return Ok(Opened::Foreign(found)),
            Some(_) => {
                kept.clear();
                0
            }
            None => content.len() as u64,
        };
        file.set_len(keep)?;
        if keep == 0 {
            file.write_all(format!("{}\n", head.line()).as_bytes())?;
            file.sync_data()?;
        }
        let done = Mutex::new(kept.len());
        let checkpoint = Checkpoint { path: path.to_path_buf(), file, _alone: None, planned: ids.len(), done };
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
        if fs::metadata(&self.path).is_ok_and(|file| file.len() == 0) && self.remove().is_ok() {
            let _ = fs::remove_dir(self.folder());
        }
    }

    /// All is done and written: nothing to resume.
    pub(crate) fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
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
        self.checkpoint.folder()
    }
}

fn of_another(runs: usize) -> String {
    format!("{runs} finished runs of an interrupted plan that are not in this one")
}

/// Locks the folder until what is returned is dropped, or the process ends.
///
/// # Errors
/// The folder cannot be opened, or another command makes runs in it ([`io::ErrorKind::WouldBlock`]).
pub fn alone_in(folder: &Path) -> io::Result<File> {
    let open = File::open(folder)?;
    lock(&open, "another command is running in this folder")?;
    Ok(open)
}

/// Locks a file or folder; the error names `other` as the holder.
fn lock(open: &File, other: &str) -> io::Result<()> {
    match open.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(io::Error::new(io::ErrorKind::WouldBlock, other)),
        // A file system without locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the path is neither a file nor a folder, for example a pipe. Reading it may block for ever.
pub(crate) fn is_no_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The content of a file; empty if it does not exist.
fn held(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}
