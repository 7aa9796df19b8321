//! Sweeps by several commands: each makes one shard, the last one merges them.
//!
//! A shard is a file `shards/K.ndjson` of the folder: a line that describes it ([`Head`]), and a line for each run. No
//! command writes into the file of another, so that nothing has to be shared but the folder, and that may as well be put
//! together from several machines. An executor of any other kind does the same: [`Runner::shard`] in each of its tasks,
//! then [`Shards::read`] and [`Runner::merge`].

use crate::runner::checkpoint::{Checkpoint, Opened};
use crate::runner::execute::{Error, Runner};
use crate::runner::files::Files;
use crate::runner::head::Head;
use crate::runner::host::Refusal;
use crate::runner::job::{Job, Keep};
use crate::runner::line;
use crate::runner::made::Made;
use crate::runner::program::Program;
use crate::runner::shard::{Shard, divide};
use experiment::results::{Results, Run};
use experiment::scenario::{Experiment, Scenario};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of the shards, in that of the results.
const FOLDER: &str = "shards";

/// A scenario with runs that several commands make.
pub struct Swept<'a> {
    /// The plan.
    pub scenario: &'a Scenario,
    /// [`Scenario::plan`].
    pub plan: &'a [Experiment],
    /// The file that it was read from.
    pub file: &'a Path,
    /// The changes of keys with which it was read.
    pub changes: &'a [String],
}

impl Swept<'_> {
    /// The file's name, without its folder.
    pub fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Progress of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardDone {
    /// Runs of the shard, all of which are done.
    pub runs: usize,
    /// Runs of the shard that this command made.
    pub made: usize,
    /// Runs of the whole plan.
    pub planned: usize,
}

/// The content of a folder's shards.
pub struct Shards {
    /// The head of one of them; all agree except in number and place.
    pub head: Head,
    /// The runs, by their ids.
    runs: BTreeMap<String, Run>,
    /// The numbers of those that are parts of another division than this one.
    pub divided_otherwise: BTreeSet<u32>,
}

/// The file of a shard.
pub fn file(folder: &Path, shard: Shard) -> PathBuf {
    folder.join(FOLDER).join(format!("{}.ndjson", shard.number()))
}

impl Runner<'_> {
    /// Makes the runs of one shard that its file does not hold yet. Each is on the disk as soon as it is made.
    ///
    /// # Errors
    /// As [`Runner::record`]; a file that holds another shard, or one of another program, host or scenario; the same in the
    /// first file next to it.
    pub fn shard(&self, swept: &Swept<'_>, shard: Shard, folder: &Path, made: &Made) -> Result<ShardDone, Error> {
        let files = Files::of(swept.plan)?;
        self.host.check(swept.plan)?;
        let jobs = Job::all(swept.plan, &files, self.host, self.program, Keep::Everything).map_err(Refusal::Machine)?;
        let own = shard.jobs(&jobs);
        let ids: BTreeSet<&str> = own.iter().map(|job| job.id.as_str()).collect();
        let path = file(folder, shard);
        fs::create_dir_all(folder.join(FOLDER)).map_err(Error::unwritable(folder))?;
        let head = self.head(swept, shard)?;
        if let Some((folder, found)) = stranger(&head, &path).filter(|_| !self.replace) {
            return Err(Error::Occupied { folder, found });
        }
        let opened = Checkpoint::append(&path, &head, &ids, self.replace).map_err(Error::unwritable(&path))?;
        let (checkpoint, kept) = match opened {
            Opened::Checkpoint(checkpoint, runs) => (Arc::new(checkpoint), runs),
            Opened::Foreign(found) => return Err(Error::Occupied { folder: path, found }),
        };
        if !kept.is_empty() {
            self.progress.note(&format!(
                "{}: resumes; {} of {} runs are already done",
                path.display(),
                kept.len(),
                ids.len()
            ));
        }
        self.progress.begin(&checkpoint);
        let missing: Vec<&Job<'_>> = own.iter().filter(|job| !kept.contains_key(&job.id)).copied().collect();
        let known = |job: &&&Job<'_>| made.get(&job.id).map(|run| checkpoint.add(&job.id, &run));
        let mut fresh = Vec::new();
        for job in &missing {
            match known(&job) {
                Some(added) => added.map_err(Error::unwritable(&path))?,
                None => fresh.push(*job),
            }
        }
        let runs = self.make(&fresh, &files, &checkpoint, &path, made);
        self.progress.end();
        Ok(ShardDone { runs: ids.len(), made: runs?.len(), planned: swept.plan.len() })
    }

    fn head(&self, swept: &Swept<'_>, shard: Shard) -> Result<Head, Error> {
        Ok(Head {
            shard,
            program: self.program.identity().map_err(Refusal::Machine)?,
            host: self.host.name().to_string(),
            scenario_name: swept.name(),
            scenario: swept.scenario.to_toml(),
            file: std::path::absolute(swept.file).map_err(Error::unwritable(swept.file))?,
            changes: swept.changes.to_vec(),
        })
    }

    /// Writes the results of a plan whose runs are all in shards: the files that one command would have written.
    ///
    /// # Errors
    /// [`Error::Missing`]: the shards that lack runs. [`Error::Apart`]: shards of another program, or with runs that are not
    /// of this plan. As [`Runner::record`].
    pub fn merge(&self, swept: &Swept<'_>, shards: Shards, folder: &Path) -> Result<Results, Error> {
        let of = shards.head.shard.of();
        let own = self.head(swept, shards.head.shard)?;
        if let Some((found, expected)) = shards.head.apart(&own) {
            return Err(Error::Apart { file: folder.join(FOLDER), found, expected });
        }
        let files = Files::of(swept.plan)?;
        let jobs = Job::all(swept.plan, &files, self.host, self.program, Keep::Everything).map_err(Refusal::Machine)?;
        let ids: BTreeSet<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
        let strangers = shards.runs.keys().filter(|id| !ids.contains(id.as_str())).count();
        if strangers > 0 {
            let found = format!("{strangers} runs that are not in this plan");
            let expected = "the same input files and machine as when the runs were made".to_string();
            return Err(Error::Apart { file: folder.join(FOLDER), found, expected });
        }
        let numbers = divide(&jobs, of);
        let missing = jobs.iter().zip(numbers).filter(|(job, _)| !shards.runs.contains_key(&job.id));
        let missing: Vec<u32> = missing.filter_map(|(_, number)| number).collect();
        if !missing.is_empty() {
            let (runs, planned) = (missing.len(), ids.len());
            let numbers: BTreeSet<u32> = missing.into_iter().collect();
            let shards = numbers.into_iter().filter_map(|number| Shard::new(number, of)).collect();
            return Err(Error::Missing { folder: folder.to_path_buf(), runs, planned, shards });
        }
        self.record(swept.scenario, swept.plan, swept.name(), folder, &mut Made::of(shards.runs))
    }
}

impl Shards {
    /// Reads the shards that `program` made and that lie in a folder of results. A last line that was cut short is no run.
    /// The scenario is not resolved here: what it names, a controller of a file too, is of interest only to the same program.
    ///
    /// # Errors
    /// No shard, shards that differ in more than their numbers, those of another program, or a line that was changed.
    pub fn read(folder: &Path, program: &Program) -> Result<Shards, Error> {
        let inner = folder.join(FOLDER);
        let none = || Error::Apart {
            file: inner.clone(),
            found: "no shard".to_string(),
            expected: "a file K.ndjson for each, as `packetscale run FILE --shard K/N` writes it".to_string(),
        };
        let files = numbered(&inner).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => none(),
            _ => Error::unwritable(&inner)(error),
        })?;
        let mut all: Option<Shards> = None;
        for file in files {
            let content = fs::read(&file).map_err(Error::unwritable(&file))?;
            let first = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let Some(head) = Head::parse(first) else {
                if content.contains(&b'\n') {
                    let expected = "a line that describes the shard".to_string();
                    return Err(Error::Apart { file, found: "another first line".to_string(), expected });
                }
                // Its command was ended before the first line was whole.
                continue;
            };
            let shards = all.get_or_insert_with(|| Shards {
                head: head.clone(),
                runs: BTreeMap::new(),
                divided_otherwise: BTreeSet::new(),
            });
            if head.shard.of() != shards.head.shard.of() {
                shards.divided_otherwise.insert(head.shard.number());
            }
            if let Some((found, expected)) = head.apart(&shards.head) {
                return Err(Error::Apart { file, found, expected });
            }
            let runs = line::all(&content, 1).map_err(|found| {
                let expected = "an unchanged line: remove it and run the shard again".to_string();
                Error::Apart { file, found, expected }
            })?;
            runs.into_iter().for_each(|(id, run)| _ = shards.runs.entry(id).or_insert(run));
        }
        let shards = all.ok_or_else(none)?;
        let program = program.identity().map_err(Refusal::Machine)?;
        let own = Head { program, ..shards.head.clone() };
        match shards.head.apart(&own) {
            Some((found, expected)) => Err(Error::Apart { file: inner.clone(), found, expected }),
            None => Ok(shards),
        }
    }
}

/// The first other shard of the folder, if it cannot be merged with this one, and its description. Each command checks one:
/// checking all would be quadratic. Shards that began at the same time are left to [`Runner::merge`].
fn stranger(head: &Head, file: &Path) -> Option<(PathBuf, String)> {
    let others = numbered(file.parent()?).ok()?.into_iter().filter(|other| other != file);
    let (other, there) = others
        .filter_map(|other| Some((first_line(&other)?, other)))
        .find_map(|(line, other)| Some((other, Head::parse(&line)?)))?;
    there.apart(head).map(|(found, _)| (other, found))
}

fn first_line(file: &Path) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(File::open(file).ok()?).read_until(b'\n', &mut line).ok()?;
    Some(line)
}

/// The files of shards in a folder, in the order of their numbers.
fn numbered(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u32>().ok());
        if let Some(number) = stem.filter(|_| path.extension().is_some_and(|ending| ending == "ndjson")) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
