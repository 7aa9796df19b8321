//! `packetscale theory`: one file per paper.

mod burstiness;
mod multiplexing;
mod qlbp;
mod tdqm;

use crate::{Failure, say};
use clap::Subcommand;
use serde::Serialize;

/// What the theory can be asked.
#[derive(Subcommand)]
pub enum Theory {
    /// One Rapid flow against periodic on-off cross traffic: throughput, queue, stability
    Burstiness(burstiness::Burstiness),
    /// Many flows of constant rate on one link: the least queue and loss, and the buffer or load for a loss
    Multiplexing(multiplexing::Multiplexing),
    /// A queue-length based pacer: delay, response, and how much smoother traffic leaves
    Qlbp(qlbp::Qlbp),
    /// The burstiness that a TDQM queue sees in Poisson traffic
    Tdqm(tdqm::Tdqm),
}

pub fn answer(question: &Theory) -> Result<(), Failure> {
    match question {
        Theory::Burstiness(question) => burstiness::answer(question),
        Theory::Multiplexing(question) => multiplexing::answer(question),
        Theory::Qlbp(question) => qlbp::answer(question),
        Theory::Tdqm(question) => tdqm::answer(question),
    }
}

fn refused(error: theory::Error) -> Failure {
    Failure::Input(error.to_string())
}

/// One JSON object, or lines of a name and a value.
fn give<T: Serialize>(json: bool, answer: &T, lines: &[(&str, String)]) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string(answer).map_err(|error| Failure::Machine(error.to_string()))?;
        return say(&format!("{text}\n"));
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    say(&lines.iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect::<String>())
}

fn millis(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

fn megabits(bps: f64) -> String {
    format!("{:.3} Mbit/s", bps * 1e-6)
}
