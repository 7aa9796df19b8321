//! Results that were obtained earlier and are stored as data, because they need more than this program (a learner, for
//! example): points with their figures, and the command that computes them again.

use crate::papers::file::Recorded;
use crate::papers::point::Point;
use crate::papers::source::{Answer, Task};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A file of the folder `recorded`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    /// The command, its inputs, and a description.
    recipe: String,
    /// The points. Text values identify them; all other values are their figures.
    point: Vec<toml::Table>,
}

/// The source's task, and its points.
pub(crate) fn recorded(source: &Recorded, beside: &BTreeMap<String, String>) -> Result<(Task, Vec<Point>), String> {
    let file = source.data.as_ref();
    let text = beside.get(file).ok_or_else(|| format!("data: found no file {file} in the figure's folder"))?;
    let data: Data = toml::from_str(text).map_err(|error| format!("{file}: {}", error.message()))?;
    let answers: Vec<Answer> = data.point.iter().map(answer).collect();
    let points: Vec<Point> = answers.iter().map(|(point, _)| point.clone()).collect();
    if let Some(twice) = points.iter().enumerate().find(|(at, point)| points[..*at].contains(point)) {
        return Err(format!("{file}: found the point {:?} twice, expected text that distinguishes points", twice.1));
    }
    Ok((Task::Recorded { name: source.name.clone(), recipe: data.recipe, answers }, points))
}

fn answer(table: &toml::Table) -> Answer {
    let text = |(key, value): (&String, &toml::Value)| Some((key.clone(), value.as_str()?.to_string()));
    let figures = serde_json::to_value(table).map_err(|error| error.to_string());
    (table.iter().filter_map(text).collect(), figures)
}
