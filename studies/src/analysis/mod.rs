//! Questions to the theories of `models/src/theory`, and their answers: one module per paper.
//!
//! A question is a struct of named parameters with defaults. The file of a figure writes it as TOML
//! ([`Question::read`]); with the feature `clap` the same struct is the arguments of `packetscale theory`. An answer is a
//! struct with units in its names; as JSON it is the output of `packetscale theory NAME --json`.
//!
//! This module adds what the pure theories lack: random numbers, parallelism, and parsing.

pub mod burstiness;
pub mod multiplexing;
pub mod qlbp;
pub mod rapid;
mod reading;
pub mod tdqm;

use serde::Serialize;

/// A question to one of the theories.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// One Rapid flow against periodic on-off cross traffic.
    Burstiness(burstiness::Burstiness),
    /// Many flows of constant rate on one link.
    Multiplexing(multiplexing::Multiplexing),
    /// A queue-length based pacer.
    Qlbp(qlbp::Qlbp),
    /// Equal flows of Rapid's default law.
    Rapid(rapid::Rapid),
    /// The burstiness of busy periods.
    Tdqm(tdqm::Tdqm),
}

/// Why a theory does not answer a question.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoAnswer {
    /// A parameter is outside the theory's range, or the theory finds no equilibrium.
    #[error(transparent)]
    Theory(#[from] packetscale_models::theory::Error),
    /// A parameter that the question itself refuses: key, found, expected.
    #[error("{key}: found {found}, expected {expected}")]
    Parameter {
        /// The parameter.
        key: &'static str,
        /// The given value.
        found: String,
        /// The valid values.
        expected: &'static str,
    },
}

impl Question {
    /// Reads a question to the theory of this name from its parameters.
    ///
    /// # Errors
    /// One line with the key, the value found and the expected values.
    pub fn read(theory: &str, parameters: &toml::Table) -> Result<Question, String> {
        match theory {
            "burstiness" => reading::question(parameters).map(Question::Burstiness),
            "multiplexing" => reading::question(parameters).map(Question::Multiplexing),
            "qlbp" => reading::question(parameters).map(Question::Qlbp),
            "rapid" => reading::question(parameters).map(Question::Rapid),
            "tdqm" => reading::question(parameters).map(Question::Tdqm),
            _ => Err(format!("theory: found \"{theory}\", expected burstiness, multiplexing, qlbp, rapid or tdqm")),
        }
    }

    /// The answer as a JSON object.
    ///
    /// # Errors
    /// A question that the theory does not answer.
    pub fn answer(&self) -> Result<serde_json::Value, NoAnswer> {
        match self {
            Question::Burstiness(question) => question.answer().map(|answer| object(&answer)),
            Question::Multiplexing(question) => question.answer().map(|answer| object(&answer)),
            Question::Qlbp(question) => question.answer().map(|answer| object(&answer)),
            Question::Rapid(question) => question.answer().map(|answer| object(&answer)),
            Question::Tdqm(question) => question.answer().map(|answer| object(&answer)),
        }
    }
}

/// An answer as JSON. A figure that is not a number becomes `null`.
pub fn object(answer: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(answer).expect("answers hold numbers and text, under keys that are text")
}
