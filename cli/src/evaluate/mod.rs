//! `packetscale evaluate`: the questions of RFC 9743 to one controller, and to those that it would live beside.
//!
//! A question is a scenario whose first flows take the controller that is asked. All runs of all questions are made in
//! one pool: the longest questions need not wait for each other.

mod questions;

use crate::args::{Evaluate as Arguments, On};
use crate::run::{threads, unwritable};
use crate::{Failure, host, say};
use indicatif::{ProgressBar, ProgressStyle};
use questions::{Question, Questions};
use rayon::prelude::*;
use results::evaluation::{self, Evaluation, Row};
use results::{Interval, Run, to_lines};
use scenario::{Experiment, Scenario};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What every controller is held against.
const YARDSTICKS: [&str; 2] = ["cubic", "bbr"];

/// A run to make: of which question, of which contender.
struct Task {
    question: usize,
    contender: usize,
    experiment: Experiment,
}

/// One question to all contenders, planned.
struct Planned<'a> {
    question: &'a Question,
    /// With the evaluated controller in it.
    scenario: Scenario,
    /// How many flows the first table stands for, at each point of the sweep.
    subjects: BTreeMap<String, usize>,
}

pub fn evaluate(arguments: &Arguments) -> Result<(), Failure> {
    let questions = questions::read(arguments.only.as_deref())?;
    let contenders = contenders(&arguments.controller);
    let (planned, tasks) = plan(&questions, &contenders, arguments.quick)?;
    let runs = make(&tasks, arguments.jobs)?;
    let evaluation = Evaluation {
        version: env!("CARGO_PKG_VERSION").to_string(),
        commit: option_env!("PACKETSCALE_COMMIT").map(str::to_string),
        controller: arguments.controller.clone(),
        contenders: contenders.iter().map(|name| (name.clone(), colour(&runs, &tasks, &contenders, name))).collect(),
        quick: arguments.quick,
        runs: runs.len(),
        sections: sections(&questions, &planned, &tasks, &runs, contenders.len()),
    };
    let folder =
        arguments.out.clone().unwrap_or_else(|| Path::new("out/evaluate").join(file_name(&arguments.controller)));
    write(&evaluation, &folder).map_err(|error| unwritable(&folder, &error))?;
    if arguments.json {
        return say(&format!("{}\n", json!({ "schema": results::SCHEMA, "evaluation": evaluation })));
    }
    say(&format!("{}Written to {}\n", shown(&evaluation), folder.join("report.html").display()))
}

/// The controller, and the yardsticks that it is not itself.
fn contenders(controller: &str) -> Vec<String> {
    let yardsticks = YARDSTICKS.iter().filter(|name| **name != controller);
    std::iter::once(controller).chain(yardsticks.copied()).map(str::to_string).collect()
}

fn plan<'a>(
    questions: &'a Questions,
    contenders: &[String],
    quick: bool,
) -> Result<(Vec<Planned<'a>>, Vec<Task>), Failure> {
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

/// How many flows the first table stands for: its count, which may be swept.
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

/// Makes all runs, in parallel; returns them in the order of the tasks, without their curves.
fn make(tasks: &[Task], jobs: Option<u16>) -> Result<Vec<Run>, Failure> {
    let bar = ProgressBar::new(tasks.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{pos}/{len} runs {wide_bar} {elapsed}, {eta} left") {
        bar.set_style(style);
    }
    let one = |task: &Task| {
        let run = host::make(On::Simulator, &task.experiment)?;
        bar.inc(1);
        Ok(Run { series: Vec::new(), streams: Vec::new(), ..run })
    };
    let runs = threads(jobs)?.install(|| tasks.par_iter().map(one).collect());
    bar.finish_and_clear();
    runs
}

fn sections(
    questions: &Questions,
    planned: &[Planned<'_>],
    tasks: &[Task],
    runs: &[Run],
    contenders: usize,
) -> Vec<evaluation::Section> {
    let mut numbers = 0..planned.len();
    let sections = questions.section.iter().map(|section| evaluation::Section {
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

fn answered(
    planned: &Planned<'_>,
    number: usize,
    tasks: &[Task],
    runs: &[Run],
    contenders: usize,
) -> evaluation::Question {
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
        let values: Vec<f64> = runs.iter().filter_map(|run| evaluation::read(name, run, subjects)).collect();
        Interval::of(&values).filter(|_| values.len() == runs.len()).map(Into::into)
    };
    let row = |at: usize, contender: usize| {
        let subjects = planned.subjects.get(&points[at]).copied().unwrap_or(1);
        let runs = found.get(&(at, contender)).map_or(&[][..], Vec::as_slice);
        let cells = question.figures.iter().map(|name| cell(name, runs, subjects)).collect();
        Row { contender, point: points[at].clone(), cells }
    };
    let order = (0..points.len()).flat_map(|at| (0..contenders).map(move |contender| (at, contender)));
    evaluation::Question {
        title: question.title.clone(),
        asks: question.asks.clone(),
        figures: question.figures.clone(),
        rows: order.map(|(at, contender)| row(at, contender)).collect(),
        scenario: planned.scenario.to_toml(),
    }
}

/// Swept keys and values in a few words: `path.buffer = 4 bdp`.
fn point(params: &BTreeMap<String, String>) -> String {
    let each: Vec<String> = params.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    each.join(", ")
}

/// That of the registry, as a run says it.
fn colour(runs: &[Run], tasks: &[Task], contenders: &[String], name: &str) -> String {
    let of = |(task, run): (&Task, &Run)| (contenders[task.contender] == name).then(|| run.colour.clone());
    tasks.iter().zip(runs).find_map(of).unwrap_or_default()
}

/// A controller with settings is a table: what of it a folder can be called.
fn file_name(controller: &str) -> String {
    let words = controller.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn write(evaluation: &Evaluation, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let json = json!({ "schema": results::SCHEMA, "evaluation": evaluation });
    results::write_file(folder, "evaluation.json", |file| file.write_all(json.to_string().as_bytes()))?;
    let page = host::evaluation_page(evaluation);
    results::write_file(folder, "report.html", |file| file.write_all(page.as_bytes()))
}

/// For the terminal.
fn shown(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    for section in &evaluation.sections {
        out.push_str(&format!("{}\n", section.heading));
        if let Some(why) = &section.left_out {
            out.push_str(&format!("  {why}\n"));
        }
        for question in &section.questions {
            out.push_str(&format!("  {}\n{}", question.title, table(question, evaluation)));
        }
        out.push('\n');
    }
    out
}

fn table(question: &evaluation::Question, evaluation: &Evaluation) -> String {
    let largest = |column: usize| {
        let means = question.rows.iter().filter_map(|row| row.cells[column]).map(|cell| cell.mean.abs());
        means.fold(0.0, f64::max)
    };
    let labels: Vec<(String, f64)> = (question.figures.iter().enumerate())
        .map(|(column, name)| host::figure_label(name, largest(column)).unwrap_or((name.clone(), 1.0)))
        .collect();
    let head = [String::new(), String::new()].into_iter().chain(labels.iter().map(|(label, _)| label.clone()));
    let rows = question.rows.iter().map(|row| {
        let names = [format!("    {}", row.point), evaluation.contenders[row.contender].0.clone()];
        let cells = row.cells.iter().zip(&labels).map(|(cell, (_, factor))| {
            cell.map_or("-".to_string(), |cell| {
                let half = cell.half_width.map_or(String::new(), |half| format!(" ± {:.2}", half / factor));
                format!("{:.2}{half}", cell.mean / factor)
            })
        });
        names.into_iter().chain(cells).collect()
    });
    let lines: Vec<Vec<String>> = std::iter::once(head.collect()).chain(rows).collect();
    to_lines(&lines, 2..2 + labels.len())
}
