//! Reads the folder that [`crate::results::write`] wrote.

use crate::results::schema::{ExpectationOutcome, HostLabel, Manifest, Results, Run, SCHEMA};
use crate::results::swept::as_written;
use crate::results::write::{MANIFEST, RUNS, SHOWN};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Why a folder is not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file that cannot be opened or read.
    #[error("{}: cannot be read: {source}; expected a folder that `packetscale run` wrote", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A folder of something that has a page, but no results of a scenario.
    #[error("{}: found {what}; expected a folder that `packetscale run` wrote", folder.display())]
    Other {
        /// The folder.
        folder: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// A file that holds something else.
    #[error("{}:{line}: found {found}; expected a line as `packetscale run` writes it", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        found: String,
    },
}

/// What the manifest's file holds. Folders of earlier versions lack the host and what was expected.
#[derive(Deserialize)]
pub struct Described {
    /// How to get the results again.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// Where they were made.
    #[serde(default)]
    pub host: HostLabel,
    /// What was expected, and found.
    #[serde(default)]
    pub expectations: Vec<ExpectationOutcome>,
}

/// Returns the results that lie in `folder`. Swept values come back as `2.5 ms` or, where the scenario wrote another unit,
/// in one that means the same; `cpu_s`, which is not in the lines of runs, is absent.
///
/// # Errors
/// The file that is missing or damaged, with the line.
pub fn read(folder: &Path) -> Result<Results, ReadError> {
    let file = folder.join(MANIFEST);
    let there = SHOWN.into_iter().find(|(file, _)| folder.join(file).exists());
    if let Some((_, what)) = there.filter(|(file, _)| *file != MANIFEST) {
        return Err(ReadError::Other { folder: folder.to_path_buf(), what });
    }
    let text = open(&file).and_then(std::io::read_to_string);
    let text = text.map_err(|source| ReadError::Io { file: file.clone(), source })?;
    let Described { manifest, host, expectations } = parsed(&text, &file, 1)?;
    let file = folder.join(RUNS);
    let io = |source| ReadError::Io { file: file.clone(), source };
    let lines = BufReader::new(open(&file).map_err(io)?).lines();
    let run = |(at, line): (usize, std::io::Result<String>)| {
        let mut run: Run = parsed(&line.map_err(io)?, &file, at + 1)?;
        run.params = run.params.into_iter().map(|(key, value)| as_written(&key, &value)).collect();
        Ok(run)
    };
    let runs: Vec<Run> = lines.enumerate().map(run).collect::<Result<_, ReadError>>()?;
    let mut known = BTreeSet::new();
    let twice = runs.iter().position(|run| !known.insert((&run.controller, &run.params, run.replication)));
    let found = match twice {
        Some(at) => Some((at + 1, "a run that an earlier line has".to_string())),
        None if runs.is_empty() => Some((1, "no run".to_string())),
        None => None,
    };
    if let Some((line, found)) = found {
        return Err(ReadError::Content { file, line, found });
    }
    Ok(Results { schema: SCHEMA, host, manifest, runs, expectations })
}

/// Opens a file. What would wait for a writer is none.
fn open(file: &Path) -> std::io::Result<File> {
    match file.metadata()?.is_file() {
        true => File::open(file),
        false => Err(std::io::Error::other("not a regular file")),
    }
}

fn parsed<T: DeserializeOwned>(text: &str, file: &Path, line: usize) -> Result<T, ReadError> {
    serde_json::from_str(text).map_err(|error| ReadError::Content {
        file: file.to_path_buf(),
        line: line + error.line().saturating_sub(1),
        found: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Series, Summary, write};
    use std::collections::BTreeMap;

    fn results() -> Results {
        let mut summary = Summary { throughput_bps: Some(1.25e9), packets_delivered: 7, ..Summary::default() };
        summary.cpu_s = Some(1.0);
        let run = |delay: &str| Run {
            controller: "cubic".to_string(),
            colour: "#0072B2".to_string(),
            seed: 3,
            params: BTreeMap::from([
                ("path.delay".to_string(), delay.to_string()),
                ("path.queue".to_string(), "fifo".to_string()),
            ]),
            summary: summary.clone(),
            series: vec![Series { metric: "rtt".to_string(), values: vec![Some(0.5), None], ..Series::default() }],
            queue_delay: crate::results::Histogram { upper_s: vec![1e-6], count: vec![4] },
            ..Run::default()
        };
        let expectation = ExpectationOutcome {
            metric: "utilisation".to_string(),
            selected: "cubic".to_string(),
            bound: "at least 0.9".to_string(),
            found: Some(0.95),
            met: true,
            why: String::new(),
        };
        Results {
            schema: SCHEMA,
            host: HostLabel { name: "simulator".to_string(), badge: "simulated".to_string(), ..HostLabel::default() },
            manifest: Manifest { scenario_name: "a.toml".to_string(), seeds: vec![3], ..Manifest::default() },
            runs: vec![run("2.5 ms"), run("1500 us"), run("2 s")],
            expectations: vec![expectation],
        }
    }

    #[test]
    fn written_results_are_read_without_processor_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut results = results();
        write(&results, folder.path()).unwrap();
        let found = read(folder.path()).unwrap();
        let delays: Vec<&str> = found.runs.iter().map(|run| run.params["path.delay"].as_str()).collect();
        assert_eq!(delays, ["2.5 ms", "1.5 ms", "2 s"]);
        results.runs[1].params.insert("path.delay".to_string(), "1.5 ms".to_string());
        results.runs.iter_mut().for_each(|run| run.summary.cpu_s = None);
        assert_eq!(found.runs, results.runs);
        assert_eq!((found.host, found.manifest), (results.host, results.manifest));
        assert_eq!(found.expectations, results.expectations);
    }

    #[test]
    fn a_folder_of_something_else_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_err_and(|error| error.to_string().contains("manifest.json: cannot be read")));
        write(&results(), folder.path()).unwrap();
        let file = folder.path().join(RUNS);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text + "{\n").unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("runs.ndjson:4: found "), "{error}");
    }

    #[test]
    fn a_run_that_is_there_twice_and_no_run_at_all_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(&results(), folder.path()).unwrap();
        let file = folder.path().join(RUNS);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.repeat(2)).unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("runs.ndjson:4: found a run that an earlier line has"), "{error}");
        std::fs::write(&file, "").unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("runs.ndjson:1: found no run"), "{error}");
    }
}
