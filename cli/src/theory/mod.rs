//! `packetscale theory`: the words of an answer.

mod lines;

use crate::args::theory::{Asked, Theory};
use crate::outcome::Failure;
use crate::output::say;
use lines::Line;
use serde::Serialize;
use std::io::Write;
use studies::analysis::{NoAnswer, object};

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
