//! Pictures: lines of metrics against keys, and whole curves.

use crate::papers::abscissa::{Abscissa, number};
use crate::papers::curve;
use crate::papers::figure::Figure;
use crate::papers::file;
use crate::papers::point::{Point, selects};
use crate::papers::reading::{Found, Reading, found_at, inside};
use crate::papers::source::Findings;
use experiment::results::reproduction::{Axis, Line, Origin, Picture};

/// Points of one curve: more than a wide screen has pixels.
const MOST_POINTS: usize = 2000;

type Dot = (f64, Option<f64>, Option<f64>);

pub(crate) fn draw(figure: &Figure, picture: &file::Picture, findings: &[Findings]) -> Picture {
    let (x, y) = (axis(&picture.x), axis(&picture.y));
    let lines = picture.line.iter().flat_map(|line| drawn(figure, line.as_ref(), findings, &x)).collect();
    Picture { title: picture.title.clone(), caption: picture.caption.clone(), x, y, lines }
}

fn axis(axis: &file::Axis) -> Axis {
    let file::Axis { label, unit, log, from, to } = axis;
    Axis { label: label.clone(), unit: unit.clone(), log: *log, from: *from, to: *to }
}

fn drawn(figure: &Figure, line: &file::Line, findings: &[Findings], x: &Axis) -> Vec<Line> {
    if let Some(points) = &line.published {
        let points = points.iter().map(|(x, y)| (x * line.times_x, Some(y * line.times), None)).collect();
        let name = line.name.clone().unwrap_or("published".to_string());
        return vec![Line { name, origin: Origin::Published, points, ..Line::default() }];
    }
    let from = line.from.as_deref().unwrap_or_default();
    let origin = figure.source(from).map_or(Origin::Simulated, |at| figure.sources[at].origin);
    let mut lines: Vec<Line> = match &line.curve {
        Some(name) => curves(figure, line, name, findings, x),
        None => against(figure, line, findings),
    };
    for line in &mut lines {
        line.origin = origin;
    }
    lines
}

/// Draws a metric against a key: one line for each combination of the keys of `by`, in order of appearance.
fn against(figure: &Figure, line: &file::Line, findings: &[Findings]) -> Vec<Line> {
    let (Some(reading), Some(x)) = (Reading::of_line(line), line.x.as_deref().map(Abscissa::parse)) else {
        return Vec::new();
    };
    let mut lines: Vec<Line> = Vec::new();
    for (point, read) in reading.read(&figure.sources, findings) {
        let Some(at) = x.at(&point) else { continue };
        let name = name_of(line, &point);
        let index = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            lines.push(Line { name, colour: colour(line, &point, findings), ..Line::default() });
            lines.len() - 1
        });
        let dot = (at * line.times_x, read.map(|read| read.mean), read.and_then(|read| read.half_width));
        lines[index].points.push(dot);
    }
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    lines
}

/// Draws a whole curve of each point.
fn curves(figure: &Figure, line: &file::Line, name: &str, findings: &[Findings], x: &Axis) -> Vec<Line> {
    let found = found_at(&figure.sources, findings, line.from.as_deref().unwrap_or_default());
    let selected = found.into_iter().filter(|(point, _)| selects(&line.selection, point));
    selected
        .map(|(point, found)| {
            let raw = match found {
                Found::Runs(runs) => runs.first().map_or(Vec::new(), |run| curve::points(run, name, line.flow)),
                Found::Answer(answer) => pairs(inside(answer, name), line.x.as_deref(), line.y.as_deref()),
                Found::Nothing => Vec::new(),
            };
            let scaled = raw.into_iter().map(|(x, y)| (x * line.times_x, y.map(|y| y * line.times)));
            let seen = |at: f64| x.from.is_none_or(|from| at >= from) && x.to.is_none_or(|to| at <= to);
            let points = thin(scaled.filter(|(at, _)| seen(*at)).collect());
            Line {
                name: name_of(line, &point),
                colour: colour(line, &point, findings),
                dense: true,
                points,
                ..Line::default()
            }
        })
        .collect()
}

/// Reads pairs `[x, y]`, or objects with these fields.
fn pairs(list: Option<&serde_json::Value>, x: Option<&str>, y: Option<&str>) -> Vec<curve::Point> {
    let items = list.and_then(serde_json::Value::as_array).map_or(&[][..], Vec::as_slice);
    let pair = |item: &serde_json::Value| {
        let (x, y) = match (x, y) {
            (Some(x), Some(y)) => (item.get(x)?, item.get(y)?),
            _ => (item.get(0)?, item.get(1)?),
        };
        Some((x.as_f64()?, y.as_f64()))
    };
    items.iter().filter_map(pair).collect()
}

/// Returns at most `MOST_POINTS` points, each the mean of its bin.
fn thin(points: Vec<curve::Point>) -> Vec<Dot> {
    let bin = points.len().div_ceil(MOST_POINTS).max(1);
    let mean = |bin: &[(f64, Option<f64>)]| {
        let values: Vec<f64> = bin.iter().filter_map(|(_, y)| *y).collect();
        let x = bin.iter().map(|(x, _)| x).sum::<f64>() / bin.len() as f64;
        (x, (!values.is_empty()).then(|| experiment::results::mean(&values)), None)
    };
    points.chunks(bin).map(mean).collect()
}

/// Returns the name of a line: `name: 20 packets, rapid`.
fn name_of(line: &file::Line, point: &Point) -> String {
    let part = |key: &String| {
        let value = point.get(key).map_or("", String::as_str);
        let last = key.rsplit('.').next().unwrap_or(key);
        if number(value).is_some() { format!("{last} {value}") } else { value.to_string() }
    };
    let by = line.by.iter().map(part).collect::<Vec<_>>().join(", ");
    match (&line.name, by.is_empty()) {
        (Some(name), true) => name.clone(),
        (Some(name), false) => format!("{name}: {by}"),
        (None, true) => line.from.clone().unwrap_or_default(),
        (None, false) => by,
    }
}

/// Returns the colour of the controller that a line shows.
fn colour(line: &file::Line, point: &Point, findings: &[Findings]) -> Option<String> {
    if line.by.len() != 1 || line.by[0] != "controller" {
        return None;
    }
    let runs = findings.iter().filter_map(|findings| match findings {
        Findings::Runs(runs) => Some(runs),
        Findings::Answers(_) => None,
    });
    let named = runs.flatten().find(|run| Some(&run.controller) == point.get("controller"));
    named.map(|run| run.colour.clone())
}
