//! Runs of other simulators, ns-2 and ns-3, and their stored results.
//!
//! A peer's result depends on the peer and on our script for it, not on this project's code. So each result is stored in
//! a file next to the script: a line per run, with the script's digest, its arguments, and the numbers it printed.
//! A run with a missing line, or one older than the script, is made. Of the rest a sample is repeated, and all of them with
//! `PACKETSCALE_LONG=1`: their numbers must be within 10 % of the stored ones, since another build of the peer rounds otherwise.
//! `PACKETSCALE_KEEP=1` writes new results into the file.
//!
//! Without the peer only the sample is left out. With `CI=true`, where everything must be checked, that is a failure.

#![allow(dead_code)] // each test uses one of them

pub mod ns2;
pub mod ns3;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// One in this many of the stored runs is repeated.
const SAMPLE: usize = 16;
/// Most by which a number of a repeated run may differ.
const SAME: f64 = 0.1;
/// Characters of a digest that distinguish scripts.
const DIGITS: usize = 16;

/// One run.
#[derive(Clone, Serialize, Deserialize)]
struct Line {
    script: String,
    words: String,
    numbers: Vec<f64>,
}

/// Stored results of one script.
pub struct Stored {
    file: PathBuf,
    digest: String,
    lines: Vec<Line>,
}

impl Stored {
    /// Of the runs of this script, a file of `conformance/`.
    pub fn of(script: &str) -> Stored {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
        let text = std::fs::read(&script).expect("the script is there");
        let digest = blake3::hash(&text).to_hex()[..DIGITS].to_string();
        let file = script.with_extension("ndjson");
        let lines = read(&file);
        Stored { file, digest, lines }
    }

    /// The numbers of the run with these words. `make` runs the peer; it returns `None` where the peer is not installed.
    pub fn numbers(&self, words: &[String], make: impl FnOnce() -> Option<Vec<f64>>) -> Vec<f64> {
        let words = words.join(" ");
        let of_script = |line: &&Line| line.script == self.digest;
        let found = self.lines.iter().filter(of_script).enumerate().find(|(_, line)| line.words == words);
        match found {
            Some((number, kept)) => {
                if number % SAMPLE == 0 || is_set("PACKETSCALE_LONG") {
                    let made = make();
                    let same = made.as_ref().is_none_or(|made| agree(made, &kept.numbers));
                    assert!(same, "{}: {words}: stored {:?}, found {made:?}", self.file.display(), kept.numbers);
                }
                kept.numbers.clone()
            }
            None => {
                let numbers = make().unwrap_or_else(|| panic!("{}: no stored result of {words}", self.file.display()));
                if is_set("PACKETSCALE_KEEP") {
                    self.keep(Line { script: self.digest.clone(), words, numbers: numbers.clone() });
                }
                numbers
            }
        }
    }

    /// Adds a line, and removes those of older scripts. Lines are sorted, independently of the order of tests.
    fn keep(&self, line: Line) {
        static WRITING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let now = read(&self.file).into_iter().filter(|line| line.script == self.digest).chain([line]);
        let by_words: BTreeMap<String, Line> = now.map(|line| (line.words.clone(), line)).collect();
        let text = |line: &Line| serde_json::to_string(line).expect("numbers and words") + "\n";
        let text: String = by_words.values().map(text).collect();
        std::fs::write(&self.file, text).expect("the file can be written");
    }
}

/// All lines of the file, none where it is not there.
fn read(file: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = |(number, line)| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{}:{}: {error}", file.display(), number + 1))
    };
    text.lines().enumerate().map(line).collect()
}

fn agree(made: &[f64], kept: &[f64]) -> bool {
    let near = |(made, kept): (&f64, &f64)| (made - kept).abs() <= SAME * kept.abs();
    made.len() == kept.len() && made.iter().zip(kept).all(near)
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// With `CI=true` everything must be checked.
fn must_check_everything() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}
