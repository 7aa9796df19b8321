//! Answers from the runs, section by section.

use crate::evaluation::plan::{Planned, Task, point};
use crate::evaluation::questions::Questions;
use experiment::results::evaluation::{Question, Row, Section, figure};
use experiment::results::{Interval, Run};
use std::collections::BTreeMap;

pub fn sections(
    questions: &Questions,
    planned: &[Planned<'_>],
    tasks: &[Task],
    runs: &[Run],
    contenders: usize,
) -> Vec<Section> {
    let mut numbers = 0..planned.len();
    let sections = questions.section.iter().map(|section| Section {
        heading: section.heading.clone(),
        left_out: section.left_out.clone(),
        questions: section
            .question
            .iter()
            .zip(&mut numbers)
            .map(|(_, number)| answered(&planned[number], number, tasks, runs, contenders))
            .collect(),
    });
    sections.collect()
}

fn answered(planned: &Planned<'_>, number: usize, tasks: &[Task], runs: &[Run], contenders: usize) -> Question {
    let question = planned.question;
    let mut points: Vec<String> = Vec::new();
    let mut found: BTreeMap<(usize, usize), Vec<&Run>> = BTreeMap::new();
    for (task, run) in tasks.iter().zip(runs).filter(|(task, _)| task.question == number) {
        let name = point(&task.experiment.params);
        let at = points.iter().position(|known| *known == name).unwrap_or_else(|| {
            points.push(name);
            points.len() - 1
        });
        found.entry((at, task.contender)).or_default().push(run);
    }
    let cell = |name: &String, runs: &[&Run], subjects: usize| {
        let values: Vec<f64> = runs.iter().filter_map(|run| figure(name, run, subjects)).collect();
        Interval::of_runs(&values).filter(|_| values.len() == runs.len()).map(Into::into)
    };
    let row = |at: usize, contender: usize| {
        let subjects = planned.subjects.get(&points[at]).copied().unwrap_or(1);
        let runs = found.get(&(at, contender)).map_or(&[][..], Vec::as_slice);
        let cells = question.figures.iter().map(|name| cell(name, runs, subjects)).collect();
        Row { contender, point: points[at].clone(), cells }
    };
    let order = (0..points.len()).flat_map(|at| (0..contenders).map(move |contender| (at, contender)));
    Question {
        title: question.title.clone(),
        asks: question.asks.clone(),
        figures: question.figures.clone(),
        not_judged: question.not_judged.clone(),
        rows: order.map(|(at, contender)| row(at, contender)).collect(),
        scenario: planned.scenario.to_toml(),
    }
}
