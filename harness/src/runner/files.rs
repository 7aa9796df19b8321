//! The files that runs read in addition to their scenario.

use crate::runner::digest::{Hash, of_file};
use crate::runner::host::Refusal;
use experiment::scenario::Experiment;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The files of a plan, each read once: sizes and digests of what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<PathBuf, (u64, String)>);

impl Files {
    /// Reads all files that a plan mentions.
    ///
    /// # Errors
    /// The file that cannot be read.
    pub fn of(plan: &[Experiment]) -> Result<Files, Refusal> {
        let names: BTreeSet<&Path> = plan.iter().flat_map(Experiment::files).collect();
        let read = |name: &Path| match of_file(name) {
            Ok(found) => Ok((name.to_path_buf(), found)),
            Err(error) => Err(Refusal::Input(format!("{}: {error}", name.display()))),
        };
        names.into_iter().map(read).collect::<Result<_, _>>().map(Files)
    }

    /// Digests of what an experiment reads, in the order in which it mentions the files.
    pub(crate) fn digests<'a>(&'a self, experiment: &'a Experiment) -> impl Iterator<Item = Option<&'a str>> {
        experiment.files().map(|name| self.0.get(name).map(|(_, digest)| digest.as_str()))
    }

    /// A digest of a plan on any machine: its resolved experiments, and the content of the files that they read.
    ///
    /// # Errors
    /// An experiment that is no JSON.
    pub fn plan_digest(&self, plan: &[Experiment]) -> Result<String, Refusal> {
        let mut hash = Hash::default();
        for experiment in plan {
            let files: Vec<_> = self.digests(experiment).collect();
            let written = serde_json::to_writer(BufWriter::new(&mut hash), &(experiment, files));
            written.map_err(|error| Refusal::Machine(error.to_string()))?;
        }
        Ok(hash.hex())
    }

    /// Refuses a run with files that changed since they were read: their content belongs to no digest.
    ///
    /// # Errors
    /// The file that changed, or cannot be read any more.
    pub(crate) fn unchanged(&self, experiment: &Experiment) -> Result<(), Refusal> {
        for name in experiment.files() {
            let now = of_file(name).map_err(|error| Refusal::Input(format!("{}: {error}", name.display())))?;
            if self.0.get(name).is_some_and(|then| *then != now) {
                let changed = "found content changed since the runs began; expected an unchanged file";
                return Err(Refusal::Input(format!("{}: {changed}; run the command again", name.display())));
            }
        }
        Ok(())
    }

    /// One line for each, in order of their names: for the manifest.
    pub fn described(&self) -> Vec<String> {
        let line = |(name, (size, digest)): (&PathBuf, &(u64, String))| {
            format!("{} {size} bytes sha256:{digest}", name.display())
        };
        self.0.iter().map(line).collect()
    }
}
