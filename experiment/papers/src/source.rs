//! A source of a figure: what must be done for it, what came of it, and which points it has.

use crate::point::Point;
use results::Run;
use results::reproduction::Origin;
use scenario::{Experiment, Scenario};
use std::collections::BTreeMap;

/// What must be done for a source.
#[derive(Clone, Debug)]
pub enum Task {
    /// Runs of a scenario.
    Simulate {
        /// What the figure calls it.
        name: String,
        /// The scenario.
        scenario: Box<Scenario>,
        /// Its runs, in order; those that the short form leaves out are missing.
        plan: Vec<Experiment>,
    },
    /// Probe streams of a scenario, read by methods.
    Probe {
        /// What the figure calls it.
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
        /// What the figure calls it.
        name: String,
        /// The theory, as `packetscale theory` names it.
        theory: String,
        /// The options of each question, without dashes.
        questions: Vec<BTreeMap<String, String>>,
    },
    /// Nothing: the figures are there.
    Recorded {
        /// What the figure calls it.
        name: String,
        /// How they were found.
        recipe: String,
        /// Points and figures.
        answers: Vec<Answer>,
    },
}

/// A point with its figures, as of a theory that was asked.
pub(crate) type Answer = (Point, Result<serde_json::Value, String>);

/// What came of a task.
#[derive(Clone, Debug)]
pub enum Findings {
    /// The runs of the plan, in order.
    Runs(Vec<Run>),
    /// Each question with its answer, in order, or why there is none.
    Answers(Vec<(BTreeMap<String, String>, Result<serde_json::Value, String>)>),
}

/// A source as readings see it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub name: String,
    pub origin: Origin,
    /// Its points have answers with figures of their own, rather than runs.
    pub answers: bool,
    /// All points, those too that the short form leaves out.
    pub points: Vec<Point>,
}
