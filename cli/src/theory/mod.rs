//! `packetscale theory`: one file per paper.

mod burstiness;
mod multiplexing;
mod qlbp;
mod tdqm;

use crate::{Failure, say};
use clap::{Parser, Subcommand};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

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

/// What a theory answers.
struct Answer {
    /// The object of `--json`.
    figures: serde_json::Value,
    /// Names and values for people.
    lines: Vec<(&'static str, String)>,
    /// What to know about them.
    warning: Option<&'static str>,
}

impl Answer {
    fn new(figures: &impl Serialize, lines: Vec<(&'static str, String)>) -> Result<Answer, Failure> {
        let figures = serde_json::to_value(figures).map_err(|error| Failure::Machine(error.to_string()))?;
        Ok(Answer { figures, lines, warning: None })
    }
}

impl Theory {
    fn answer(&self) -> Result<Answer, Failure> {
        match self {
            Theory::Burstiness(question) => burstiness::answer(question),
            Theory::Multiplexing(question) => multiplexing::answer(question),
            Theory::Qlbp(question) => qlbp::answer(question),
            Theory::Tdqm(question) => tdqm::answer(question),
        }
    }

    fn json(&self) -> bool {
        match self {
            Theory::Burstiness(question) => question.json,
            Theory::Multiplexing(question) => question.json,
            Theory::Qlbp(question) => question.json,
            Theory::Tdqm(question) => question.json,
        }
    }
}

/// Answers on standard output: one JSON object, or lines of a name and a value.
pub fn answer(question: &Theory) -> Result<(), Failure> {
    let Answer { figures, lines, warning } = question.answer()?;
    if let Some(what) = warning {
        let _ = writeln!(std::io::stderr(), "warning: {what}");
    }
    if question.json() {
        return say(&format!("{figures}\n"));
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    say(&lines.iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect::<String>())
}

/// A question as a figure of a paper asks it: the options of the command by name.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Asked {
    #[command(subcommand)]
    question: Theory,
}

/// The JSON object that `packetscale theory NAME --OPTION VALUE ...` prints.
///
/// # Errors
/// Options that the theory does not have are wrong input; a question without an answer is a text in the value.
pub fn ask(name: &str, options: &BTreeMap<String, String>) -> Result<Result<serde_json::Value, String>, Failure> {
    let mut words = vec![name.to_string()];
    for (option, value) in options {
        words.push(format!("--{option}"));
        words.extend((value != "true").then(|| value.clone()));
    }
    let asked = Asked::try_parse_from(&words).map_err(|error| {
        let what = error.to_string().lines().next().unwrap_or_default().to_string();
        Failure::Input(format!("packetscale theory {}: {what}", words.join(" ")))
    })?;
    match asked.question.answer() {
        Ok(answer) => Ok(Ok(answer.figures)),
        Err(Failure::Input(why)) => Ok(Err(why)),
        Err(failure) => Err(failure),
    }
}

fn refused(error: theory::Error) -> Failure {
    Failure::Input(error.to_string())
}

fn millis(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

fn megabits(bps: f64) -> String {
    format!("{:.3} Mbit/s", bps * 1e-6)
}
