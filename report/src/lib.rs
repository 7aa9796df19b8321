//! The interactive report: one HTML file that holds its own style, script and data, and requests nothing from the
//! network.
//!
//! Words and tables are written here, so that the page is readable without a script. Curves are thinned here
//! ([`curves`]) and drawn by Observable Plot (`assets/vendor`), through `assets/chart.js`. [`definitions`] defines each figure once.

mod arrivals;
mod completions;
mod contrast;
mod curves;
mod data;
mod document;
mod evaluation;
mod findings;
mod flows;
mod folds;
mod grid;
mod groups;
mod heat;
mod html;
mod json;
mod links;
mod matrix;
mod multiples;
mod network;
mod overlay;
mod packets;
mod paper;
mod picture;
mod places;
mod probing;
mod resolved;
mod shell;
mod sweep;
mod tables;
mod together;
mod tradeoff;
mod verdict;
mod ways;

#[cfg(test)]
#[path = "../tests/example/mod.rs"]
mod example;

pub use crate::html::escape;
pub use crate::probing::{searches_page, streams_page};

use experiment::results::evaluation::Evaluation;
use experiment::results::matrix::Matrix;
use experiment::results::{Results, reproduction};

pub use experiment::results::PAGE;

/// Returns the whole page. Any [`Results`] gives one: missing parts are left out, and a name may contain any character.
pub fn page(results: &Results) -> String {
    document::document(results)
}

/// Returns the names of the pictures that the page of these results has.
pub fn pictures(results: &Results) -> Vec<String> {
    picture::names(results)
}

/// A page with one of [`pictures`]; empty if there is none of this name.
pub fn picture(results: &Results, name: &str) -> Option<String> {
    picture::page(results, name)
}

/// One page of several named results: their runs compared, and the differences between their scenarios.
pub fn overlaid_page(all: &[(String, Results)]) -> String {
    document::with(&overlay::overlaid(all), &overlay::answer(all), &overlay::differences(all))
}

/// The page of a paper: each figure with its pictures, and the published values next to ours.
pub fn paper_page(paper: &reproduction::Paper) -> String {
    paper::page(paper)
}

/// Returns the page of an evaluation: the questions of RFC 9743 under its headings, with numbers.
pub fn evaluation_page(evaluation: &Evaluation) -> String {
    evaluation::page(evaluation)
}

/// Returns the page of a matrix: heat maps of shares, of losses and of queues.
pub fn matrix_page(matrix: &Matrix) -> String {
    matrix::page(matrix)
}

/// The heading of a figure whose largest value is `largest`, with its unit, and the value of one unit; `None`
/// if there is no such figure.
pub fn figure_label(name: &str, largest: f64) -> Option<(String, f64)> {
    evaluation::label(name, largest)
}
