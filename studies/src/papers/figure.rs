//! Reads a figure and expands its sources into tasks, point by point.

use crate::papers::check::check;
use crate::papers::error::{PaperError, line};
use crate::papers::file::{Compute, FigureFile, Keys, ProbeSource, QuickRuns, Simulate};
use crate::papers::include;
use crate::papers::point::{Point, distinct, known, point_of, selects};
use crate::papers::recorded::recorded;
use crate::papers::rule::last_place;
use crate::papers::source::{GridQuestion, Source, Task};
use experiment::results::reproduction::Origin;
use experiment::scenario::{Experiment, Scenario};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

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

impl Figure {
    /// Parses the text of the file `path`; `beside` are the files of its folder.
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
        for value in &mut file.value {
            let value = value.as_mut();
            value.last_place = last_place(&text[value.published.span()]);
        }
        let (mut tasks, mut sources) = (Vec::new(), Vec::new());
        for source in &file.simulate {
            let Simulate { name, scenario, include, set, quick: short } = source.as_ref();
            let written = Written { scenario, include, set, short, at: source.span().start };
            let (scenario, plan, experiments) = written.read(path, text, beside, quick, &[], &at)?;
            let points = distinct(experiments.iter().map(|run| point_of(&run.controller, &run.params)));
            sources.push(Source { name: name.clone(), origin: Origin::Simulated, answers: false, points });
            tasks.push(Task::Simulate { name: name.clone(), scenario, plan });
        }
        for source in &file.probe {
            let ProbeSource { name, scenario, include, methods, set, quick: short } = source.as_ref();
            let written = Written { scenario, include, set, short, at: source.span().start };
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
        check(&figure.sources, &figure.file).map_err(|(offset, what)| at(offset, what))?;
        Ok(figure)
    }

    /// Adds `by` to the seed of every run: the same figure, repeated. Theory and recorded results have no seed.
    pub fn reseed(&mut self, by: u64) {
        for task in &mut self.tasks {
            if let Task::Simulate { plan, .. } | Task::Probe { plan, .. } = task {
                plan.iter_mut().for_each(|run| run.seed = run.seed.wrapping_add(by));
            }
        }
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
    include: &'a str,
    set: &'a Keys,
    short: &'a QuickRuns,
    /// Byte offset of its source.
    at: usize,
}

impl Written<'_> {
    /// Reads it and expands its runs. `methods` are the methods that read probe streams; without any, it is simulated.
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
        let (scenario_path, scenario_text) = if written.trim_end().ends_with(".toml") && !written.contains('\n') {
            let found = beside.get(written).cloned();
            let missing = || format!("scenario: found no file {written} in the figure's folder");
            (path.with_file_name(written), found.ok_or_else(|| at(self.scenario.span().start, missing()))?)
        } else {
            // Empty lines in front make messages name the line in the figure's file.
            let lines = line(text, self.scenario.span().start);
            (path.to_path_buf(), "\n".repeat(lines) + written)
        };
        let mut changes = self.included(&scenario_text, beside).map_err(|what| at(self.at, what))?;
        changes.extend(self.set.iter().map(|(key, value)| format!("{key}={value}")));
        if quick {
            changes.extend(self.short.set.iter().map(|(key, value)| format!("{key}={value}")));
        }
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

    /// The keys of the included file that the scenario leaves out, as changes of it.
    fn included(&self, scenario: &str, beside: &BTreeMap<String, String>) -> Result<Vec<String>, String> {
        if self.include.is_empty() {
            return Ok(Vec::new());
        }
        let shared = beside.get(self.include);
        let shared = shared.ok_or_else(|| format!("include: found no file {} in the figure's folder", self.include))?;
        // A scenario that is no TOML is refused by its own reader, with the line.
        if scenario.parse::<toml::Table>().is_err() {
            return Ok(Vec::new());
        }
        include::changes(shared, scenario).map_err(|what| format!("include: {}: {what}", self.include))
    }
}

/// The point of a method at a point of a sweep. A method may have a name before it: `BASS: bass+multi-rate`.
fn read_by(method: &str, params: &Point) -> Point {
    let name = method.split_once(": ").map_or(method, |(name, _)| name);
    let mut point = params.clone();
    point.insert("method".to_string(), name.to_string());
    point
}

/// Returns the questions of a grid, and their points.
fn compute(source: &Compute, quick: bool) -> Result<(Task, Vec<Point>), String> {
    let mut parameters = vec![source.with.clone().into_iter().collect::<toml::Table>()];
    if quick {
        parameters[0].extend(source.quick.with.clone());
    }
    for (key, values) in &source.grid {
        if values.is_empty() {
            return Err(format!("grid.{key}: found an empty list, expected at least one value"));
        }
        let put = |table: &toml::Table| {
            let table = table.clone();
            let with = |value: &toml::Value| table.clone().into_iter().chain([(key.clone(), value.clone())]).collect();
            values.iter().map(with).collect::<Vec<toml::Table>>()
        };
        parameters = parameters.iter().flat_map(put).collect();
    }
    let mut questions = parameters
        .iter()
        .map(|table| GridQuestion::read(&source.theory, table))
        .collect::<Result<Vec<GridQuestion>, String>>()
        .map_err(|what| format!("compute \"{}\": {what}", source.name))?;
    let points: Vec<Point> = questions.iter().map(|question| question.point.clone()).collect();
    if quick {
        known(&source.quick.only, &points).map_err(|what| format!("quick.only: {what}"))?;
        questions.retain(|question| selects(&source.quick.only, &question.point));
    }
    Ok((Task::Compute { name: source.name.clone(), theory: source.theory.clone(), questions }, points))
}
