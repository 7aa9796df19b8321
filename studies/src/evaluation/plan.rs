//! The questions as runs to make.

use crate::evaluation::questions::{Question, Questions};
use experiment::scenario::{Experiment, Scenario};
use harness::runner::Refusal;
use std::collections::BTreeMap;

/// A run to make: question and contender.
pub struct Task {
    pub question: usize,
    pub contender: usize,
    pub experiment: Experiment,
}

/// One question to all contenders, planned.
pub struct Planned<'a> {
    pub question: &'a Question,
    /// With the evaluated controller in it.
    pub scenario: Scenario,
    /// Number of flows of the first table, at each point of the sweep.
    pub subjects: BTreeMap<String, usize>,
}

pub fn plan<'a>(
    questions: &'a Questions,
    contenders: &[String],
    quick: bool,
) -> Result<(Vec<Planned<'a>>, Vec<Task>), Refusal> {
    let (mut planned, mut tasks) = (Vec::new(), Vec::new());
    for question in questions.section.iter().flat_map(|section| &section.question) {
        let number = planned.len();
        for (contender, name) in contenders.iter().enumerate() {
            let scenario = question.scenario(name, quick)?;
            let experiments = scenario.plan();
            if contender == 0 {
                let subjects = experiments.iter().map(|one| (point(&one.params), subjects(&scenario, one))).collect();
                planned.push(Planned { question, scenario, subjects });
            }
            tasks.extend(experiments.into_iter().map(|experiment| Task { question: number, contender, experiment }));
        }
    }
    Ok((planned, tasks))
}

/// Number of flows of the first table: its count, which may be swept.
fn subjects(scenario: &Scenario, experiment: &Experiment) -> usize {
    let swept = experiment.params.get("flow.0.count").cloned();
    let written = || {
        let text = scenario.to_toml();
        let first = text.split("[[flow]]").nth(1).unwrap_or_default();
        let count = first.lines().find_map(|line| line.strip_prefix("count = "));
        count.map(str::to_string)
    };
    swept.or_else(written).and_then(|count| count.trim().parse().ok()).unwrap_or(1)
}

/// Swept keys and values in a few words: `path.buffer = 4 bdp`.
pub fn point(params: &BTreeMap<String, String>) -> String {
    let each: Vec<String> = params.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    each.join(", ")
}
