//! Reads a figure and unfolds its sources into what must be run, point by point.

use crate::check::check;
use crate::error::{PaperError, line};
use crate::file::{Compute, FigureFile, Keys, Probe, QuickRuns, Simulate, plain};
use crate::recorded::{Answer, recorded};
use results::Run;
use results::reproduction::Origin;
use scenario::{Experiment, Scenario};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// A point: the keys that distinguish it from others.
pub(crate) type Point = BTreeMap<String, String>;

/// A figure that has passed every check.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Name of its file, without the ending.
    pub name: String,
    /// Whether this is the short form.
    pub quick: bool,
    /// The tasks to run or compute, in the order of the file.
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
    /// Nothing: the file already holds the results.
    Recorded {
        /// What the figure calls it.
        name: String,
        /// How they were obtained.
        recipe: String,
        /// Points and figures.
        answers: Vec<Answer>,
    },
}

/// The results of a task.
#[derive(Clone, Debug)]
pub enum Findings {
    /// The runs of the plan, in order.
    Runs(Vec<Run>),
    /// Each question, in order, with its answer or the reason why it has none.
    Answers(Vec<(BTreeMap<String, String>, Result<serde_json::Value, String>)>),
}

/// A source, as readings use it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub name: String,
    pub origin: Origin,
    /// Whether its points have answers, each with its own figures, rather than runs.
    pub answers: bool,
    /// All points, also those that the short form leaves out.
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
            let Simulate { name, scenario, set, quick: short } = source.as_ref();
            let written = Written { scenario, set, short, at: source.span().start };
            let (scenario, plan, experiments) = written.read(path, text, beside, quick, &[], &at)?;
            let points = distinct(experiments.iter().map(|run| point_of(&run.controller, &run.params)));
            sources.push(Source { name: name.clone(), origin: Origin::Simulated, answers: false, points });
            tasks.push(Task::Simulate { name: name.clone(), scenario, plan });
        }
        for source in &file.probe {
            let Probe { name, scenario, methods, set, quick: short } = source.as_ref();
            let written = Written { scenario, set, short, at: source.span().start };
            let (scenario, plan, experiments) = written.read(path, text, beside, quick, methods, &at)?;
            if experiments.iter().any(|run| run.probe.is_none()) {
                return Err(at(source.span().start, "scenario: found no table [probe], expected one".to_string()));
            }
            let named =
                |run: &Experiment| methods.iter().map(|method| read_by(method, &run.params)).collect::<Vec<_>>();
            let points = distinct(experiments.iter().flat_map(named));
            sources.push(Source { name: name.clone(), origin: Origin::Simulated, answers: true, points });
            tasks.push(Task::Probe { name: name.clone(), scenario, plan, methods: methods.clone() });
        }
        for source in &file.compute {
            let (task, points) = compute(source.as_ref(), quick).map_err(|what| at(source.span().start, what))?;
            sources.push(Source {
                name: source.as_ref().name.clone(),
                origin: Origin::Computed,
                answers: true,
                points,
            });
            tasks.push(task);
        }
        for source in &file.recorded {
            let (task, points) = recorded(source.as_ref(), beside).map_err(|what| at(source.span().start, what))?;
            let name = source.as_ref().name.clone();
            sources.push(Source { name, origin: Origin::Recorded, answers: true, points });
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

/// A scenario, the runs to make, and all of its runs, also those that the short form leaves out.
type Planned = (Box<Scenario>, Vec<Experiment>, Vec<Experiment>);

/// A scenario as a figure writes it.
struct Written<'a> {
    scenario: &'a Spanned<String>,
    set: &'a Keys,
    short: &'a QuickRuns,
    /// The byte where its source stands.
    at: usize,
}

impl Written<'_> {
    /// Reads it and unfolds its runs. `methods` are the methods that read probe streams; without any, it is simulated.
    fn read(
        &self,
        path: &Path,
        text: &str,
        beside: &BTreeMap<String, String>,
        quick: bool,
        methods: &[String],
        at: &dyn Fn(usize, String) -> PaperError,
    ) -> Result<Planned, PaperError> {
        let written = self.scenario.as_ref();
        let mut changes: Vec<String> = self.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if quick {
            changes.extend(self.short.set.iter().map(|(key, value)| format!("{key}={value}")));
        }
        let (scenario_path, scenario_text) = if written.trim_end().ends_with(".toml") && !written.contains('\n') {
            let found = beside.get(written).cloned();
            let missing = || format!("scenario: found no file {written} beside the figure");
            (path.with_file_name(written), found.ok_or_else(|| at(self.scenario.span().start, missing()))?)
        } else {
            // Empty lines in front make messages name the line in the figure's file.
            let lines = line(text, self.scenario.span().start);
            (path.to_path_buf(), "\n".repeat(lines) + written)
        };
        let scenario = Scenario::parse(&scenario_text, &scenario_path, &changes)
            .map_err(|error| PaperError::about("scenario", error))?;
        let all = scenario.plan();
        let mut plan = all.clone();
        if quick {
            let points_of = |run: &Experiment| match methods {
                [] => vec![point_of(&run.controller, &run.params)],
                methods => methods.iter().map(|method| read_by(method, &run.params)).collect(),
            };
            let points: Vec<Point> = all.iter().flat_map(points_of).collect();
            let only = &self.short.only;
            known(only, &points).map_err(|what| at(self.at, format!("quick.only: {what}")))?;
            plan.retain(|run| points_of(run).iter().any(|point| selects(only, point)));
        }
        Ok((Box::new(scenario), plan, all))
    }
}

fn distinct(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut distinct: Vec<Point> = Vec::new();
    for point in points {
        if !distinct.contains(&point) {
            distinct.push(point);
        }
    }
    distinct
}

/// Returns the point of a method at a point of a sweep. A name may precede the method: `BASS: bass+multi-rate`.
fn read_by(method: &str, params: &Point) -> Point {
    let name = method.split_once(": ").map_or(method, |(name, _)| name);
    let mut point = params.clone();
    point.insert("method".to_string(), name.to_string());
    point
}

/// Returns the questions of a grid, and their points.
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

/// Returns the point that a run belongs to.
pub(crate) fn point_of(controller: &str, params: &Point) -> Point {
    let mut point = params.clone();
    point.insert("controller".to_string(), controller.to_string());
    point
}

/// Whether a point has the selected values; a list allows each of its values.
pub(crate) fn selects(selection: &Keys, point: &Point) -> bool {
    selection.iter().all(|(key, wanted)| {
        let Some(found) = point.get(key) else { return false };
        match wanted {
            toml::Value::Array(values) => values.iter().any(|value| same(&plain(value), found)),
            value => same(&plain(value), found),
        }
    })
}

/// Whether two texts are the same, or mean the same number.
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
