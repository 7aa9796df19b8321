//! A source of a figure: its task, its result, and its points.

use crate::analysis::Question;
use crate::papers::file::plain;
use crate::papers::point::Point;
use experiment::results::Run;
use experiment::results::reproduction::Origin;
use experiment::scenario::{Experiment, Scenario};
use std::collections::BTreeMap;

/// The task for a source.
#[derive(Clone, Debug)]
pub enum Task {
    /// Runs of a scenario.
    Simulate {
        /// Its name in the figure.
        name: String,
        /// The scenario.
        scenario: Box<Scenario>,
        /// Its runs, in order; the short form omits some.
        plan: Vec<Experiment>,
    },
    /// Probe streams of a scenario, read by methods.
    Probe {
        /// Its name in the figure.
        name: String,
        /// The scenario.
        scenario: Box<Scenario>,
        /// Its runs, in order; those that the short form leaves out are missing.
        plan: Vec<Experiment>,
        /// The methods, as `packetscale estimate` takes them, or `NAME: METHOD`.
        methods: Vec<String>,
    },
    /// Questions to a theory.
    Compute {
        /// Its name in the figure.
        name: String,
        /// The theory, as `packetscale theory` names it.
        theory: String,
        /// The questions of its grid, in order; those that the short form leaves out are missing.
        questions: Vec<GridQuestion>,
    },
    /// No task: the figures are recorded.
    Recorded {
        /// Its name in the figure.
        name: String,
        /// How they were found.
        recipe: String,
        /// Points and figures.
        answers: Vec<Answer>,
    },
}

/// A question to a theory at one point of a figure's grid.
#[derive(Clone, Debug)]
pub struct GridQuestion {
    /// The parameters as the figure writes them.
    pub point: BTreeMap<String, String>,
    /// The same, read.
    pub question: Question,
}

impl GridQuestion {
    pub(crate) fn read(theory: &str, parameters: &toml::Table) -> Result<GridQuestion, String> {
        let question = Question::read(theory, parameters)?;
        Ok(GridQuestion {
            point: parameters.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
            question,
        })
    }

    /// Its point with the answer, or why the theory gives none.
    pub fn answer(&self) -> Answer {
        (self.point.clone(), self.question.answer().map_err(|why| why.to_string()))
    }
}

/// A point with its figures, or why there are none.
pub type Answer = (BTreeMap<String, String>, Result<serde_json::Value, String>);

/// Result of a task.
#[derive(Clone, Debug)]
pub enum Findings {
    /// The runs of the plan, in order.
    Runs(Vec<Run>),
    /// Each point with its answer, in order, or why there is none.
    Answers(Vec<Answer>),
}

/// A source as readings see it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub name: String,
    pub origin: Origin,
    /// Its points have answers with their own figures, rather than runs.
    pub answers: bool,
    /// All points, those too that the short form leaves out.
    pub points: Vec<Point>,
}
