//! Makes `linux/table.ndjson` and `linux/queues.ndjson`: every cell of the tables in Linux, in virtual time. Rows that are
//! there are left alone, so it can be stopped and goes on. The kernel is fetched if it is not in the cache. Words after
//! `--` choose among the cells: `queues`, a law, or in how many packets one is lost; `sample` makes the cells that are
//! run again in tests, in the kernel of those.
//!
//!     cargo run --profile claims --package packetscale-conformance --example beside_linux

#[path = "../tests/linux/mod.rs"]
mod linux;
#[path = "../tests/path/mod.rs"]
mod path;

use linux::{LAWS, LOSSES, Loss, Row, SAMPLE, becomes_the_guest, queues, rows, sample_kernel, table, there};
use rayon::prelude::*;
use runner::Host;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use virtual_time::{Kernel, Virtual};

const KERNEL: &str = "6.12";

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    if becomes_the_guest() {
        return Ok(());
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["sample"] {
        let host = linux::linux(sample_kernel());
        return laws(&host, SAMPLE.iter().map(|(law, loss)| (*law, *loss, 1)).collect());
    }
    if Kernel::cached(KERNEL).is_err() {
        eprintln!("fetched {}", virtual_time::fetch(KERNEL)?);
    }
    let host = linux::linux(Box::new(|| Kernel::cached(KERNEL)));
    let all = LAWS.iter().flat_map(|law| LOSSES.iter().map(move |loss| (*law, *loss)));
    let all = all.filter(|(law, loss)| words.iter().all(|word| word == law || *word == loss.one_in.to_string()));
    laws(&host, all.flat_map(|(law, loss)| (1..=loss.there).map(move |seed| (law, loss, seed))).collect())?;
    if words.is_empty() || words == ["queues"] { disciplines(&host) } else { Ok(()) }
}

/// The kernel's release and, in short, the digest of its machine.
fn machine(host: &Virtual) -> Result<String, Failure> {
    let digest = host.tools().map_err(|error| error.to_string())?.join(" ");
    Ok(format!("{}; {}", host.label().badge, &digest[..digest.len().min(32)]))
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
    let is_there = |(law, loss, seed): &(&str, Loss, u64)| {
        known
            .iter()
            .any(|row| (row.law.as_str(), row.one_in, row.seconds, row.seed) == (law, loss.one_in, loss.seconds, *seed))
    };
    cells.retain(|cell| !is_there(cell));
    let kernel = machine(host)?;
    append(&table(), cells, |(law, loss, seed)| {
        let figures = there(host, law, loss, seed).map_err(|error| format!("{law}: {error}"))?;
        let Loss { one_in, seconds, .. } = loss;
        Ok(Row { kernel: kernel.clone(), law: law.to_string(), one_in, seconds, seed, figures })
    })
}

fn disciplines(host: &Virtual) -> Result<(), Failure> {
    let known: Vec<queues::Row> = rows(&queues::table());
    let steps =
        queues::DISCIPLINES.iter().flat_map(|(_, there)| queues::STEPS_MBPS.map(|step_mbps| (*there, step_mbps)));
    let cells =
        steps.flat_map(|(there, step_mbps)| (1..=queues::SEEDS_THERE).map(move |seed| (there, step_mbps, seed)));
    let is_there =
        |cell: &(&str, u64, u64)| known.iter().any(|row| (row.discipline.as_str(), row.step_mbps, row.seed) == *cell);
    let cells: Vec<_> = cells.filter(|cell| !is_there(cell)).collect();
    let kernel = machine(host)?;
    append(&queues::table(), cells, |(discipline, step_mbps, seed)| {
        let figures =
            queues::there(host, discipline, step_mbps, seed).map_err(|error| format!("{discipline}: {error}"))?;
        Ok(queues::Row { kernel: kernel.clone(), discipline: discipline.to_string(), step_mbps, seed, figures })
    })
}
