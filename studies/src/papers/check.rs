//! Checks a figure's file beyond its form, before anything is run.

use crate::papers::abscissa::Abscissa;
use crate::papers::curve;
use crate::papers::during::During;
use crate::papers::file::{FigureFile, Line, Picture, Shown};
use crate::papers::point::{known, selects};
use crate::papers::reading::{Reading, percent};
use crate::papers::source::Source;
use experiment::results::Summary;
use experiment::results::figures::{CURVES, Definition, FLOW, TRAFFIC, WINDOW};

/// A mistake: a byte near its place, and its description.
pub(crate) type Mistake = (usize, String);

/// Series of a run that a picture can show: the recorded curves, the variation over the length of windows, and the
/// distribution of durations.
fn series() -> impl Iterator<Item = &'static str> {
    CURVES.iter().map(|curve| curve.name).chain(["variation", "file_duration"])
}

pub(crate) fn check(sources: &[Source], file: &FigureFile) -> Result<(), Mistake> {
    for (at, source) in sources.iter().enumerate() {
        if sources[..at].iter().any(|other| other.name == source.name) {
            return Err((
                0,
                format!("found the name \"{}\" twice, expected a unique name for each source", source.name),
            ));
        }
    }
    for value in &file.value {
        let here = |what: String| (value.span().start, format!("value \"{}\": {what}", value.as_ref().what));
        let both = value.as_ref().divided_by.is_some() && value.as_ref().less.is_some();
        one_of(both).map_err(here)?;
        let selected = reading(sources, &Reading::from(value.as_ref())).map_err(here)?;
        shown(sources, &Reading::from(value.as_ref()), &value.as_ref().shown_by).map_err(here)?;
        if selected != 1 {
            return Err(here(format!("where: found {selected} points, expected one: name more keys")));
        }
    }
    for claim in &file.claim {
        let here = |what: String| (claim.span().start, format!("claim \"{}\": {what}", claim.as_ref().words));
        let both = claim.as_ref().divided_by.is_some() && claim.as_ref().less.is_some();
        one_of(both).map_err(here)?;
        reading(sources, &Reading::from(claim.as_ref())).map_err(here)?;
        shown(sources, &Reading::from(claim.as_ref()), &claim.as_ref().shown_by).map_err(here)?;
        if claim.as_ref().at_least.is_none() && claim.as_ref().at_most.is_none() {
            return Err(here("found no bound, expected at_least, at_most or both".to_string()));
        }
    }
    for table in &file.table {
        let here = |what: String| (table.span().start, format!("order_except: {what}"));
        for (column, exception) in
            table.as_ref().columns.iter().filter_map(|c| Some((c, table.as_ref().order_differs(c)?)))
        {
            let selection = table.as_ref().in_column(column);
            shown(sources, &table.as_ref().reading(&selection), &exception.shown_by).map_err(here)?;
        }
    }
    file.picture.iter().try_for_each(|picture| lines(sources, picture.as_ref()))
}

/// Refuses a reading that is compared in both ways.
fn one_of(both: bool) -> Result<(), String> {
    if both { Err("found divided_by and less, expected one of them".to_string()) } else { Ok(()) }
}

/// Checks the same reading of the source that shows a difference, if one is named.
fn shown(sources: &[Source], of: &Reading<'_>, by: &Shown) -> Result<(), String> {
    if by.from.is_empty() {
        return Ok(());
    }
    of.shown(by, |there| reading(sources, there)).map(|_| ()).map_err(|what| format!("shown_by, {what}"))
}

/// Checks a reading. Returns how many points it selects.
fn reading(sources: &[Source], reading: &Reading<'_>) -> Result<usize, String> {
    let source = source(sources, reading.from)?;
    metric(source, reading.metric)?;
    time(source, reading.metric, reading.during)?;
    known(reading.selection, &source.points).map_err(|what| format!("where.{what}"))?;
    let selected: Vec<_> = source.points.iter().filter(|point| selects(reading.selection, point)).collect();
    if let Some(against) = reading.against {
        let (written, other) = against.written();
        let there = match &other.from {
            Some(from) => self::source(sources, from)?,
            None => source,
        };
        let name = other.metric.as_deref().unwrap_or(reading.metric);
        metric(there, name)?;
        time(there, name, other.during_s)?;
        known(&other.selection, &there.points).map_err(|what| format!("{written}.where.{what}"))?;
        for point in &selected {
            match there.points.iter().filter(|there| Reading::belongs(other, point, there)).count() {
                1 => {}
                n => return Err(format!("{written}: found {n} points for {point:?}, expected one")),
            }
        }
    }
    Ok(selected.len())
}

fn source<'a>(sources: &'a [Source], name: &str) -> Result<&'a Source, String> {
    sources.iter().find(|source| source.name == name).ok_or_else(|| {
        let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
        format!("from: found \"{name}\", expected one of {}", names.join(", "))
    })
}

/// Checks the name of a metric. The metrics of runs are known in advance; those of theories depend on the answer.
fn metric(source: &Source, name: &str) -> Result<(), String> {
    let column =
        |table: &[Definition], name: &str| table.iter().any(|figure| figure.name == name && figure.kind.is_some());
    let parts: Vec<&str> = name.split('.').collect();
    let is_known = source.answers
        || Summary::metrics().any(|metric| metric == name)
        || match parts.as_slice() {
            ["curves", name, figure] => series().any(|known| known == *name) && curve::FIGURES.contains(figure),
            ["flows", index, field] => index.parse::<usize>().is_ok() && column(FLOW, field),
            ["traffic", index, field] => index.parse::<usize>().is_ok() && column(TRAFFIC, field),
            ["windows", index, field] => index.parse::<usize>().is_ok() && column(WINDOW, field),
            ["estimates", quantile] => percent(quantile).is_some(),
            _ => false,
        };
    if is_known {
        return Ok(());
    }
    let joined = |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
    if parts[0] == "curves" {
        return Err(format!(
            "metric: found \"{name}\", expected curves.NAME.FIGURE, where NAME is one of {}, and FIGURE one of {}",
            joined(&mut series()),
            joined(&mut curve::FIGURES.into_iter()),
        ));
    }
    Err(format!(
        "metric: found \"{name}\", expected curves.NAME.FIGURE, flows.N.FIELD, traffic.N.FIELD, windows.N.FIELD, \
         estimates.pNN, or one of {}",
        joined(&mut Summary::metrics())
    ))
}

/// Refuses a time for a figure that is not a curve's.
fn time(source: &Source, name: &str, during: Option<During>) -> Result<(), String> {
    if during.is_some() && (source.answers || curve::of_metric(name).is_none()) {
        return Err(format!("during_s: found it for \"{name}\", expected a figure of a curve of a run"));
    }
    Ok(())
}

fn lines(sources: &[Source], picture: &Picture) -> Result<(), Mistake> {
    picture.line.iter().try_for_each(|line| {
        let here = |what: String| (line.span().start, format!("line of \"{}\": {what}", picture.title));
        checked_line(sources, line.as_ref()).map_err(here)
    })
}

fn checked_line(sources: &[Source], line: &Line) -> Result<(), String> {
    if line.published.is_some() {
        let alone = line.from.is_none() && line.y.is_none() && line.curve.is_none();
        return if alone { Ok(()) } else { Err("found published with from, expected one of them".to_string()) };
    }
    let Some(from) = line.from.as_deref() else {
        return Err("found no from, expected the name of a source, or published points".to_string());
    };
    let source = source(sources, from)?;
    known(&line.selection, &source.points).map_err(|what| format!("where.{what}"))?;
    let has = |key: &str| source.points.iter().any(|point| point.contains_key(key));
    if let Some(missing) = line.by.iter().find(|key| !has(key)) {
        return Err(format!("by: found \"{missing}\", which is no key of {from}"));
    }
    match (&line.curve, &line.x, &line.y) {
        (Some(curve), _, _) if !source.answers && !series().any(|known| known == curve) => {
            Err(format!("curve: found \"{curve}\", expected one of {}", series().collect::<Vec<_>>().join(", ")))
        }
        (Some(_), _, _) => Ok(()),
        (None, Some(x), Some(y)) => {
            metric(source, y)?;
            match Abscissa::parse(x).keys().into_iter().find(|key| !has(key)) {
                Some(missing) => Err(format!("x: found \"{missing}\", which is no key of {from}")),
                None => Ok(()),
            }
        }
        _ => Err("found neither curve nor x and y".to_string()),
    }
}
