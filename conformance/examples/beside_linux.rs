//! Makes `linux/table.ndjson`, `linux/queues.ndjson` and `linux/situations.ndjson`: every cell of the tables in Linux, in virtual
//! time. Existing rows are left alone, so it can be stopped and resumed. The kernel is fetched if it is not in the cache.
//! Arguments after `--` select cells: `queues`; `situations`, alone or with situations and laws; a law, or in how many packets one
//! is lost; `sample` makes the cells that are repeated in tests, in their kernel.
//!
//!     cargo run --package conformance --example beside_linux

#[path = "../tests/linux/mod.rs"]
mod linux;
#[path = "../tests/path/mod.rs"]
mod path;

use ::linux::virtual_time::{Kernel, Virtual};
use linux::{LOSSES, Loss, Row, SAMPLE, becomes_the_guest, queues, rows, sample_kernel, situations, table, there};
use rayon::prelude::*;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

const KERNEL: &str = "6.12";

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    if becomes_the_guest() {
        return Ok(());
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["sample"] {
        let host = linux::linux(sample_kernel());
        return laws(&host, SAMPLE.laws.iter().map(|law| (*law, SAMPLE, 1)).collect());
    }
    if Kernel::cached(KERNEL).is_err() {
        eprintln!("fetched {}", ::linux::virtual_time::fetch(KERNEL)?);
    }
    let host = linux::linux(Box::new(|| Kernel::cached(KERNEL)));
    if let Some(("situations", of)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return in_situations(&host, of);
    }
    let all = LOSSES.into_iter().flat_map(|loss| loss.laws.iter().map(move |law| (*law, loss)));
    let all = all.filter(|(law, loss)| words.iter().all(|word| word == *law || *word == loss.one_in.to_string()));
    laws(&host, all.flat_map(|(law, loss)| (1..=loss.runs_there(law)).map(move |seed| (law, loss, seed))).collect())?;
    if words.is_empty() || words == ["queues"] {
        disciplines(&host)?;
    }
    if words.is_empty() { in_situations(&host, &[]) } else { Ok(()) }
}

/// Makes rows, several at a time, and appends each to the file when it is made.
fn append<C: Send, R: Serialize>(
    file: &Path,
    cells: Vec<C>,
    make: impl Fn(C) -> Result<R, String> + Sync,
) -> Result<(), Failure> {
    let file = Mutex::new(File::options().create(true).append(true).open(file)?);
    let made = cells.into_par_iter().try_for_each(|cell| {
        let line = serde_json::to_string(&make(cell)?).map_err(|error| error.to_string())?;
        eprintln!("{line}");
        let mut file = file.lock().map_err(|error| error.to_string())?;
        writeln!(file, "{line}").map_err(|error| error.to_string())
    });
    made.map_err(Failure::from)
}

fn laws(host: &Virtual, mut cells: Vec<(&str, Loss, u64)>) -> Result<(), Failure> {
    let known: Vec<Row> = rows(&table());
    cells.retain(|(law, loss, seed)| !known.iter().any(|row| row.is_of(law, *loss) && row.seed == *seed));
    append(&table(), cells, |(law, loss, seed)| there(host, law, loss, seed).map_err(|error| format!("{law}: {error}")))
}

fn disciplines(host: &Virtual) -> Result<(), Failure> {
    let known: Vec<queues::Row> = rows(&queues::table());
    let all = queues::CELLS.into_iter().flat_map(|cell| (1..=queues::SEEDS_THERE).map(move |seed| (cell, seed)));
    let is_there = |(cell, seed): &(queues::Cell, u64)| known.iter().any(|row| row.is_of(cell) && row.seed == *seed);
    append(&queues::table(), all.filter(|cell| !is_there(cell)).collect(), |(cell, seed)| {
        queues::there(host, &cell, seed).map_err(|error| format!("{cell:?}: {error}"))
    })
}

/// `of`: names of situations and of laws; none of a kind: all.
fn in_situations(host: &Virtual, of: &[String]) -> Result<(), Failure> {
    let known: Vec<situations::Row> = rows(&situations::table());
    let asked = |name: &str, all: &[&str]| {
        let mut of = of.iter().filter(|word| all.contains(&word.as_str())).peekable();
        of.peek().is_none() || of.any(|word| word == name)
    };
    let laws: Vec<&str> = situations::laws().collect();
    let names = situations::SITUATIONS.map(|(name, _)| name);
    let laws_asked: Vec<&str> = laws.iter().copied().filter(|law| asked(law, &laws)).collect();
    let mut cells = Vec::new();
    for law in laws_asked {
        for (name, runs) in situations::SITUATIONS.into_iter().filter(|(name, _)| asked(name, &names)) {
            cells.extend((1..=runs).map(|seed| (name, law, seed)));
        }
    }
    cells.retain(|(name, law, seed)| !known.iter().any(|row| row.is_of(name, law) && row.seed == *seed));
    append(&situations::table(), cells, |(name, law, seed)| {
        situations::there(host, name, law, seed).map_err(|error| format!("{law}, {name}: {error}"))
    })
}
