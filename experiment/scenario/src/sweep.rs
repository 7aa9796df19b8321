//! The sweep: a grid over keys of the scenario.

use crate::document::{Node, Table, Value};
use crate::error::ScenarioError;
use std::collections::BTreeMap;

/// The most points of one sweep.
const MOST_POINTS: u128 = 10_000;

/// Sections whose keys cannot be swept: they are about all runs together.
const NOT_SWEPT: &[&str] = &["compare", "expect", "sweep", "run.name", "run.replications", "run.seed"];

/// A swept key and its values. Several keys with commas between them take each value together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub key: String,
    pub values: Vec<Node>,
}

/// The keys that an axis changes.
pub(crate) fn keys(axis: &str) -> impl Iterator<Item = &str> {
    axis.split(',').map(str::trim)
}

/// The axes of `[sweep]`, in the order of the file.
pub(crate) fn axes(document: &Table) -> Result<Vec<Axis>, ScenarioError> {
    let Some(entry) = document.get("sweep") else {
        return Ok(Vec::new());
    };
    let Value::Table(table) = &entry.node.value else {
        let found = entry.node.value.described();
        return Err(ScenarioError::at(&entry.node.place, "sweep", found, "a table [sweep]"));
    };
    let mut axes = Vec::new();
    collect(table, "", &mut axes)?;
    let points = axes.iter().fold(1u128, |points, axis| points.saturating_mul(axis.values.len() as u128));
    if points > MOST_POINTS {
        let found = format!("a grid of {points} points");
        return Err(ScenarioError::at(&entry.key_place, "sweep", found, format!("at most {MOST_POINTS} points")));
    }
    Ok(axes)
}

/// A table in the sweep is a key written with dots but without quotes.
fn collect(table: &Table, prefix: &str, axes: &mut Vec<Axis>) -> Result<(), ScenarioError> {
    for entry in &table.entries {
        let key = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
        let place = &entry.node.place;
        let name = format!("sweep.\"{key}\"");
        match &entry.node.value {
            Value::Table(inner) => collect(inner, &key, axes)?,
            Value::List(values) if values.is_empty() => {
                return Err(ScenarioError::at(place, name, "an empty list", "at least one value"));
            }
            Value::List(values) => {
                let is = |key: &str, fixed: &str| key == fixed || key.starts_with(&format!("{fixed}."));
                if keys(&key).any(|key| NOT_SWEPT.iter().any(|fixed| is(key, fixed))) {
                    let expected = "a key of one run, like \"path.buffer\"";
                    return Err(ScenarioError::at(&entry.key_place, name, "a key that holds for all runs", expected));
                }
                let others = axes.iter().flat_map(|axis| keys(&axis.key)).collect::<Vec<_>>();
                if keys(&key)
                    .enumerate()
                    .any(|(at, one)| others.contains(&one) || keys(&key).take(at).any(|k| k == one))
                {
                    return Err(ScenarioError::at(&entry.key_place, name, "this key twice", "each key once"));
                }
                twice(values, &name)?;
                axes.push(Axis { key, values: values.clone() });
            }
            other => return Err(ScenarioError::at(place, name, other.described(), "a list of values")),
        }
    }
    Ok(())
}

fn twice(values: &[Node], name: &str) -> Result<(), ScenarioError> {
    for (index, value) in values.iter().enumerate() {
        if values[..index].iter().any(|other| other.value.plain() == value.value.plain()) {
            let found = format!("{} twice", value.value.described());
            return Err(ScenarioError::at(&value.place, name, found, "each value once"));
        }
    }
    Ok(())
}

/// Every point of the grid: what is put where. The last axis runs fastest; without axes there is one point.
pub(crate) fn grid(axes: &[Axis]) -> impl Iterator<Item = Vec<(&str, &Node)>> {
    let points: usize = axes.iter().map(|axis| axis.values.len()).product();
    (0..points).map(move |mut index| {
        let mut point: Vec<_> = axes
            .iter()
            .rev()
            .map(|axis| {
                let node = &axis.values[index % axis.values.len()];
                index /= axis.values.len();
                (axis.key.as_str(), node)
            })
            .collect();
        point.reverse();
        point
    })
}

/// The point as tables show it.
pub(crate) fn params(point: &[(&str, &Node)]) -> BTreeMap<String, String> {
    point.iter().map(|(key, node)| (key.to_string(), node.value.plain())).collect()
}
