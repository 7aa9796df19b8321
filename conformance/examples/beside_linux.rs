//! Makes `linux/table.ndjson`: every cell of the table in Linux, in virtual time. Rows that are there are left alone, so
//! it can be stopped and goes on. The kernel is fetched if it is not in the cache. Words after `--`
//! choose among the cells: a law, or in how many packets one is lost.
//!
//!     cargo run --profile claims --package packetscale-conformance --example beside_linux

#[path = "../tests/linux/mod.rs"]
mod linux;
#[path = "../tests/path/mod.rs"]
mod path;

use linux::{LAWS, LOSSES, Loss, Row, becomes_the_guest, rows, table, there};
use rayon::prelude::*;
use runner::Host;
use std::fs::File;
use std::io::Write;
use std::sync::Mutex;
use virtual_time::Kernel;

const KERNEL: &str = "6.12";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if becomes_the_guest() {
        return Ok(());
    }
    let only: Vec<String> = std::env::args().skip(1).collect();
    if Kernel::cached(KERNEL).is_err() {
        eprintln!("fetched {}", virtual_time::fetch(KERNEL)?);
    }
    let host = linux::linux(Box::new(|| Kernel::cached(KERNEL)));
    let label = host.label().badge;
    let digest = host.tools().map_err(|error| error.to_string())?.join(" ");
    let kernel = format!("{label}; {}", &digest[..digest.len().min(32)]);
    let known = rows();
    let wanted = |law: &str, loss: Loss, seed: u64| {
        let cell = (law, loss.one_in, loss.seconds, seed);
        let there = known.iter().any(|row| (row.law.as_str(), row.one_in, row.seconds, row.seed) == cell);
        let one_in = loss.one_in.to_string();
        !there && only.iter().all(|word| word == law || *word == one_in)
    };
    let all = LAWS.iter().flat_map(|law| LOSSES.iter().map(move |loss| (*law, *loss)));
    let runs = all.flat_map(|(law, loss)| (1..=loss.there).map(move |seed| (law, loss, seed)));
    let runs: Vec<(&str, Loss, u64)> = runs.filter(|(law, loss, seed)| wanted(law, *loss, *seed)).collect();
    let file = Mutex::new(File::options().create(true).append(true).open(table())?);
    runs.into_par_iter().try_for_each(|(law, loss, seed)| {
        let figures = there(&host, law, loss, seed).map_err(|error| format!("{law}: {error}"))?;
        let Loss { one_in, seconds, .. } = loss;
        let row = Row { kernel: kernel.clone(), law: law.to_string(), one_in, seconds, seed, figures };
        let line = serde_json::to_string(&row).map_err(|error| error.to_string())?;
        eprintln!("{line}");
        let mut file = file.lock().map_err(|error| error.to_string())?;
        writeln!(file, "{line}").map_err(|error| error.to_string())
    })?;
    Ok(())
}
