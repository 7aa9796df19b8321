//! A figure, read: its sources unfolded into what must be run, point by point.

use crate::check::check;
use crate::error::{PaperError, line};
use crate::file::{Compute, FigureFile, Keys, Simulate, plain};
use results::Run;
use results::reproduction::Origin;
use scenario::{Experiment, Scenario};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// A point: the keys that tell it from others.
pub(crate) type Point = BTreeMap<String, String>;

/// A figure that has passed every check.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Name of its file, without the ending.
    pub name: String,
    /// Whether this is the short form.
    pub quick: bool,
    /// What must be run or computed, in the order of the file.
    pub tasks: Vec<Task>,
    pub(crate) sources: Vec<Source>,
    pub(crate) file: FigureFile,
}

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
    /// Questions to a theory.
    Compute {
        /// What the figure calls it.
        name: String,
        /// The theory, as `packetscale theory` names it.
        theory: String,
        /// The options of each question, without dashes.
        questions: Vec<BTreeMap<String, String>>,
    },
}

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
    /// All points, those too that the short form leaves out.
    pub points: Vec<Point>,
}

impl Figure {
    /// Reads the text of the file `path`; `beside` are the files of its folder.
    pub(crate) fn read(
        name: &str,
        path: &Path,
        text: &str,
        beside: &BTreeMap<String, String>,
        quick: bool,
    ) -> Result<Figure, PaperError> {
        let shown = path.display().to_string();
        let mut file: FigureFile = toml::from_str(text).map_err(|error| PaperError::toml(&shown, text, &error))?;
        let at = |offset: usize, what: String| PaperError::at(&shown, text, offset, what);
        for table in &file.table {
            let cells = table.as_ref().cells(table.span());
            file.value.extend(cells.map_err(|what| at(table.span().start, format!("table: {what}")))?);
        }
        let (mut tasks, mut sources) = (Vec::new(), Vec::new());
        for source in &file.simulate {
            let (task, points) = simulate(source, path, text, beside, quick, &at)?;
            sources.push(Source { name: source.as_ref().name.clone(), origin: Origin::Simulated, points });
            tasks.push(task);
        }
        for source in &file.compute {
            let (task, points) = compute(source.as_ref(), quick).map_err(|what| at(source.span().start, what))?;
            sources.push(Source { name: source.as_ref().name.clone(), origin: Origin::Computed, points });
            tasks.push(task);
        }
        let figure = Figure { name: name.to_string(), quick, tasks, sources, file };
        check(&figure).map_err(|(offset, what)| at(offset, what))?;
        Ok(figure)
    }

    pub(crate) fn source(&self, name: &str) -> Option<usize> {
        self.sources.iter().position(|source| source.name == name)
    }
}

/// The runs of a scenario, and the points they stand for.
fn simulate(
    source: &Spanned<Simulate>,
    path: &Path,
    text: &str,
    beside: &BTreeMap<String, String>,
    quick: bool,
    at: &dyn Fn(usize, String) -> PaperError,
) -> Result<(Task, Vec<Point>), PaperError> {
    let Simulate { name, scenario, set, quick: short } = source.as_ref();
    let written = scenario.as_ref();
    let mut changes: Vec<String> = set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if quick {
        changes.extend(short.set.iter().map(|(key, value)| format!("{key}={value}")));
    }
    let (scenario_path, scenario_text) = if written.trim_end().ends_with(".toml") && !written.contains('\n') {
        let found = beside.get(written).cloned();
        let found =
            found.ok_or_else(|| at(scenario.span().start, format!("scenario: found no file {written} beside")))?;
        (path.with_file_name(written), found)
    } else {
        // Empty lines before it, so that a message names the line of the figure's file.
        let lines = line(text, scenario.span().start);
        (path.to_path_buf(), "\n".repeat(lines) + written)
    };
    let scenario = Scenario::parse(&scenario_text, &scenario_path, &changes)
        .map_err(|error| PaperError::about("scenario", error))?;
    let mut plan = scenario.plan();
    let mut points: Vec<Point> = Vec::new();
    for experiment in &plan {
        let point = point_of(&experiment.controller, &experiment.params);
        if !points.contains(&point) {
            points.push(point);
        }
    }
    if quick {
        known(&short.only, &points).map_err(|what| at(source.span().start, format!("quick.only: {what}")))?;
        plan.retain(|run| selects(&short.only, &point_of(&run.controller, &run.params)));
    }
    Ok((Task::Simulate { name: name.clone(), scenario: Box::new(scenario), plan }, points))
}

/// The questions of a grid, and the points they stand for.
fn compute(source: &Compute, quick: bool) -> Result<(Task, Vec<Point>), String> {
    let mut points = vec![source.with.iter().map(|(key, value)| (key.clone(), plain(value))).collect::<Point>()];
    if quick {
        points[0].extend(source.quick.with.iter().map(|(key, value)| (key.clone(), plain(value))));
    }
    for (key, values) in &source.grid {
        if values.is_empty() {
            return Err(format!("grid.{key}: found an empty list, expected at least one value"));
        }
        let put = |point: &Point| {
            let point = point.clone();
            values
                .iter()
                .map(move |value| {
                    let mut point = point.clone();
                    point.insert(key.clone(), plain(value));
                    point
                })
                .collect::<Vec<_>>()
        };
        points = points.iter().flat_map(put).collect();
    }
    let mut questions = points.clone();
    if quick {
        known(&source.quick.only, &points).map_err(|what| format!("quick.only: {what}"))?;
        questions.retain(|point| selects(&source.quick.only, point));
    }
    Ok((Task::Compute { name: source.name.clone(), theory: source.theory.clone(), questions }, points))
}

/// The point that a run belongs to.
pub(crate) fn point_of(controller: &str, params: &Point) -> Point {
    let mut point = params.clone();
    point.insert("controller".to_string(), controller.to_string());
    point
}

/// Whether a point has the values asked for; a list allows each of its values.
pub(crate) fn selects(selection: &Keys, point: &Point) -> bool {
    selection.iter().all(|(key, wanted)| {
        let Some(found) = point.get(key) else { return false };
        match wanted {
            toml::Value::Array(values) => values.iter().any(|value| same(&plain(value), found)),
            value => same(&plain(value), found),
        }
    })
}

/// The same text, or the same number.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

/// Refuses a selection that selects nothing.
pub(crate) fn known(selection: &Keys, points: &[Point]) -> Result<(), String> {
    for (key, wanted) in selection {
        let mut there: Vec<&str> = points.iter().filter_map(|point| point.get(key)).map(String::as_str).collect();
        there.sort_unstable();
        there.dedup();
        if there.is_empty() {
            let keys =
                points.first().map_or(String::new(), |point| point.keys().cloned().collect::<Vec<_>>().join(", "));
            return Err(format!("found the key \"{key}\", expected one of {keys}"));
        }
        let values = match wanted {
            toml::Value::Array(values) => values.clone(),
            value => vec![value.clone()],
        };
        if let Some(missing) = values.iter().map(plain).find(|value| !there.iter().any(|known| same(value, known))) {
            return Err(format!("{key}: found \"{missing}\", expected one of {}", there.join(", ")));
        }
    }
    if points.iter().any(|point| selects(selection, point)) {
        return Ok(());
    }
    Err("no point has all these values".to_string())
}
