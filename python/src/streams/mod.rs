//! Generates probe streams with their true available bandwidth, on which the learnt estimator is trained and judged. The
//! Python module has it as `packetscale.training.streams`.
//!
//! A *run* is one path, one piece of cross traffic, a sending and a receiving host, all drawn from the seed and the
//! run's number; a few dozen streams cross it. Streams of one run share their traffic, so a learner must split them by
//! run, never by stream. A setting fixes a value that would be drawn (see [`condition::Condition::draw`]).
//!
//! Each run is an experiment with a table `[probe]`. Its streams are those that `packetscale estimate --from-simulator`
//! would send: `simulator::probe` has link, hosts, traffic and truth.

mod condition;
mod draws;
mod fixed;
mod receiver;
mod row;
mod sender;
mod traffic;

use condition::Condition;
use fixed::Fixed;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Runs per batch: enough for all cores, and few enough for memory.
const AT_A_TIME: u64 = 64;

/// Why there are no streams.
#[derive(Debug, thiserror::Error)]
pub enum NoStreams {
    /// A setting that is not known, or a value that does not fit.
    #[error("{0}")]
    Wrong(String),
    /// A file that cannot be written.
    #[error("{}: cannot be written: {error}", file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

/// Parameters of the files.
pub struct Order {
    /// Gets a row per stream; CSV. There is no such file until all rows are written.
    pub rows: PathBuf,
    /// Gets the streams themselves, in the format that `packetscale estimate` reads.
    pub gaps: Option<PathBuf>,
    /// How many runs.
    pub runs: u64,
    /// Where chance begins.
    pub seed: u64,
    /// Values that are not drawn.
    pub settings: BTreeMap<String, String>,
}

/// Makes the streams, on the threads of the caller's pool; the files do not depend on their number. Calls `stopped`
/// from time to time.
///
/// # Errors
/// See [`NoStreams`].
pub fn generate(order: Order, stopped: impl Fn() -> bool) -> Result<(), NoStreams> {
    let Order { rows, gaps, runs, seed, settings } = order;
    let drawn = Drawn { seed, fixed: Fixed::new(settings), with_gaps: gaps.is_some() };
    // An unknown setting is refused before anything is written.
    Condition::draw(seed, 0, &drawn.fixed).and_then(|_| drawn.fixed.all_used()).map_err(wrong)?;
    let mut files = vec![Unfinished::create(rows, row::header)?];
    if let Some(gaps) = gaps {
        files.push(Unfinished::create(gaps, row::recording_header)?);
    }
    for first in (0..runs).step_by(AT_A_TIME as usize) {
        if stopped() {
            return Err(NoStreams::Stopped);
        }
        let part = first..runs.min(first + AT_A_TIME);
        // A reader is of one thread.
        let made = part.into_par_iter().map_init(row::Readers::new, |readers, run| drawn.run(run, readers));
        let made = made.collect::<Result<Vec<[Vec<u8>; 2]>, NoStreams>>()?;
        for texts in made {
            files.iter_mut().zip(texts).try_for_each(|(file, text)| file.add(&text))?;
        }
    }
    files.into_iter().try_for_each(Unfinished::finish)
}

fn wrong(error: Box<dyn Error>) -> NoStreams {
    NoStreams::Wrong(error.to_string())
}

/// Parameters of random draws.
struct Drawn {
    seed: u64,
    fixed: Fixed,
    with_gaps: bool,
}

impl Drawn {
    /// The rows of a run, and its gaps if requested.
    fn run(&self, run: u64, readers: &row::Readers) -> Result<[Vec<u8>; 2], NoStreams> {
        self.made(run, readers).map_err(wrong)
    }

    fn made(&self, run: u64, readers: &row::Readers) -> Result<[Vec<u8>; 2], Box<dyn Error>> {
        let condition = Condition::draw(self.seed, run, &self.fixed)?;
        let [mut rows, mut gaps] = [const { Vec::new() }; 2];
        for probe in simulator::probe(&condition.experiment)? {
            row::write(&mut rows, readers, (self.seed, run), &condition, &probe)?;
            let handed = || readers.handed(&probe, condition.probe().levels);
            if let Some(stream) = self.with_gaps.then(handed).flatten() {
                row::record(&mut gaps, &format!("{}-{run}-{}", self.seed, probe.number), &stream)?;
            }
        }
        Ok([rows, gaps])
    }
}

/// A file under another name until it is complete.
struct Unfinished {
    name: PathBuf,
    part: PathBuf,
    out: BufWriter<File>,
}

impl Unfinished {
    fn create(name: PathBuf, header: fn(&mut BufWriter<File>) -> io::Result<()>) -> Result<Unfinished, NoStreams> {
        let mut part = name.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let begun = || {
            let mut out = BufWriter::new(File::create(&part)?);
            header(&mut out).map(|()| out)
        };
        let out = begun().map_err(unwritable(&part))?;
        Ok(Unfinished { name, part, out })
    }

    fn add(&mut self, text: &[u8]) -> Result<(), NoStreams> {
        self.out.write_all(text).map_err(unwritable(&self.part))
    }

    fn finish(mut self) -> Result<(), NoStreams> {
        let done = self.out.flush().and_then(|()| self.out.get_ref().sync_all());
        done.and_then(|()| std::fs::rename(&self.part, &self.name)).map_err(unwritable(&self.name))
    }
}

impl Drop for Unfinished {
    /// Removes an incomplete file. A complete file has been renamed by then.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.part);
    }
}

fn unwritable(file: &Path) -> impl Fn(io::Error) -> NoStreams {
    move |error| NoStreams::Unwritable { file: file.to_path_buf(), error }
}
