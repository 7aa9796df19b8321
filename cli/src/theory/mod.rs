//! `packetscale theory`: the arguments of a question, and the words of its answer.

mod lines;

use crate::{Failure, say};
use clap::{Args, Subcommand};
use lines::Line;
use serde::Serialize;
use std::io::Write;
use studies::analysis::burstiness::Burstiness;
use studies::analysis::multiplexing::Multiplexing;
use studies::analysis::qlbp::Qlbp;
use studies::analysis::rapid::Rapid;
use studies::analysis::tdqm::Tdqm;
use studies::analysis::{NoAnswer, object};

/// What the theory can be asked.
#[derive(Subcommand)]
pub enum Theory {
    /// One Rapid flow against periodic on-off cross traffic: throughput, queue, stability
    Burstiness(Asked<Burstiness>),
    /// Many flows of constant rate on one link: the least queue and loss, and the buffer or load for a loss
    Multiplexing(Asked<Multiplexing>),
    /// A queue-length based pacer: delay, response, and how much smoother traffic leaves
    Qlbp(Asked<Qlbp>),
    /// Equal flows of Rapid on one path: where they rest, whether they swing, and how a queue drains
    Rapid(Asked<Rapid>),
    /// The burstiness that a TDQM queue sees in Poisson traffic
    Tdqm(Asked<Tdqm>),
}

/// A question, and how its answer is printed.
#[derive(Args)]
pub struct Asked<Q: Args> {
    #[command(flatten)]
    question: Q,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    json: bool,
}

/// Answers on standard output: one JSON object, or lines of a name and a value.
pub fn answer(question: &Theory) -> Result<(), Failure> {
    match question {
        Theory::Burstiness(Asked { question, json }) => {
            let answer = question.answer().map_err(refused)?;
            if let Some(what) = lines::overload(&answer) {
                let _ = writeln!(std::io::stderr(), "warning: {what}");
            }
            print(&answer, *json, lines::burstiness(&answer))
        }
        Theory::Multiplexing(Asked { question, json }) => {
            let answer = question.answer().map_err(refused)?;
            print(&answer, *json, lines::multiplexing(&answer))
        }
        Theory::Qlbp(Asked { question, json }) => {
            let answer = question.answer().map_err(refused)?;
            print(&answer, *json, lines::qlbp(&answer, question.window))
        }
        Theory::Rapid(Asked { question, json }) => {
            let answer = question.answer().map_err(refused)?;
            print(&answer, *json, lines::rapid(&answer))
        }
        Theory::Tdqm(Asked { question, json }) => {
            let answer = question.answer().map_err(refused)?;
            print(&answer, *json, lines::tdqm(&answer))
        }
    }
}

fn refused(why: NoAnswer) -> Failure {
    Failure::Input(why.to_string())
}

fn print(answer: &impl Serialize, json: bool, lines: Vec<Line>) -> Result<(), Failure> {
    if json {
        return say(&format!("{}\n", object(answer)));
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    say(&lines.iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect::<String>())
}
