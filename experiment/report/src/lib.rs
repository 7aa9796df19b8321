//! The page that people look at: one HTML file that holds its own style, script and data, and asks the network for
//! nothing.
//!
//! What can be said in words and tables is written here, so that the page reads without a script; curves are thinned
//! here ([`curves`]) and drawn by `assets/plot.js`. What each figure means is written once, in [`definitions`].

mod curves;
mod data;
mod definitions;
mod document;
mod evaluation;
mod groups;
mod html;
mod numbers;
mod paper;
mod probing;
mod resolved;
mod shell;
mod sweep;
mod tables;
mod verdict;

#[cfg(test)]
#[path = "../tests/example/mod.rs"]
mod example;

pub use crate::probing::{searches_page, streams_page};

use results::evaluation::Evaluation;
use results::{Results, reproduction};

/// The whole page. Any [`Results`] gives one: what is not there is left out, and a name may hold any character.
pub fn page(results: &Results) -> String {
    document::document(results)
}

/// The page of a paper: each figure with its pictures, and what was published beside what came out here.
pub fn paper_page(paper: &reproduction::Paper) -> String {
    paper::page(paper)
}

/// The page of an evaluation: the questions of RFC 9743 by its headings, with numbers.
pub fn evaluation_page(evaluation: &Evaluation) -> String {
    evaluation::page(evaluation)
}

/// Heading of a figure whose largest value is this, with its unit, and what one of the unit is worth; `None`: no such
/// figure.
pub fn figure_label(name: &str, largest: f64) -> Option<(String, f64)> {
    evaluation::label(name, largest)
}
