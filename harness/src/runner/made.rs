//! Runs that are made already: in memory, and in a folder that commands share.

use crate::runner::line::{self, line};
use experiment::results::Run;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Runs already made, by their ids. In memory are those without detail, which are small. In the folder each run is a
/// file named by its id; commands may use one folder at the same time.
#[derive(Default)]
pub struct Made {
    runs: BTreeMap<String, Run>,
    cache: Option<PathBuf>,
}

impl Made {
    /// None yet.
    pub fn new() -> Made {
        Made::default()
    }

    /// Runs of this folder, which is made with the first run.
    pub fn in_folder(cache: &Path) -> Made {
        Made { cache: Some(cache.to_path_buf()), ..Made::default() }
    }

    /// These.
    pub(crate) fn of(runs: BTreeMap<String, Run>) -> Made {
        Made { runs, cache: None }
    }

    /// The run of this id. A file that is damaged or was changed is ignored.
    pub(crate) fn get(&self, id: &str) -> Option<Run> {
        let in_cache = || {
            let content = fs::read(file(self.cache.as_ref()?, id)).ok()?;
            line::parse(&content).filter(|(found, _)| found == id).map(|(_, run)| run)
        };
        self.runs.get(id).cloned().or_else(in_cache)
    }

    /// Remembers runs that are small.
    pub(crate) fn remember(&mut self, runs: impl Iterator<Item = (String, Run)>) {
        self.runs.extend(runs);
    }

    /// Stores a run in the folder, if any. The file appears whole or not at all, also where two commands make the
    /// same run.
    pub(crate) fn keep(&self, id: &str, run: &Run) -> Result<(), (PathBuf, io::Error)> {
        let Some(cache) = &self.cache else { return Ok(()) };
        let file = file(cache, id);
        let folder = file.parent().unwrap_or(cache);
        let write = || {
            fs::create_dir_all(folder)?;
            let mut partial = tempfile::NamedTempFile::new_in(folder)?;
            partial.write_all(line(id, run)?.as_bytes())?;
            partial.as_file().sync_data()?;
            partial.persist(&file).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|error| (cache.clone(), error))
    }
}

/// Path of a stored run: in one of 256 folders, since some file systems are slow with many files in one.
fn file(cache: &Path, id: &str) -> PathBuf {
    cache.join(&id[..2.min(id.len())]).join(format!("{id}.json"))
}
