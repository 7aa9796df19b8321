//! The sweep: a grid over keys of the scenario.

use crate::scenario::document::{KeyValue, Node, Table, Value};
use crate::scenario::error::ScenarioError;
use std::collections::{BTreeMap, BTreeSet};

/// The most points of one sweep.
const MOST_POINTS: u128 = 10_000;

/// Keys and sections that cannot be swept, because they concern all runs together.
const NOT_SWEPT: &[&str] = &["compare", "expect", "sweep", "run.name", "run.replications", "run.seed"];

/// A swept key and its values. Several keys, separated by commas, take each value together. Where the values are cases,
/// the key is only a name, and each case has a value for every key that any case changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub key: String,
    pub values: Vec<Choice>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    /// The value as tables show it.
    pub shown: String,
    /// The keys that it sets, with their values.
    pub puts: Vec<(String, Node)>,
}

impl Axis {
    fn read(key: &str, list: &[Node], name: &str) -> Result<Axis, ScenarioError> {
        twice(list, name)?;
        let are_cases = list.iter().any(|node| case(node).is_some());
        let choice = |node: &Node| if are_cases { chosen(node, name) } else { Ok(plain(key, node)) };
        let values = list.iter().map(choice).collect::<Result<Vec<Choice>, _>>()?;
        let axis = Axis { key: key.to_string(), values };
        let keys: Vec<&str> = axis.keys().collect();
        for (node, choice) in list.iter().zip(&axis.values) {
            if let Some(missing) = keys.iter().find(|key| !choice.puts.iter().any(|(put, _)| put == *key)) {
                let found = format!("no \"{missing}\" in the case \"{}\"", choice.shown);
                return Err(ScenarioError::at(&node.place, name, found, "the same keys in every case"));
            }
        }
        Ok(axis)
    }

    /// Returns the keys that it changes, each once.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let all = self.values.iter().flat_map(|choice| choice.puts.iter().map(|(key, _)| key.as_str()));
        all.collect::<BTreeSet<_>>().into_iter()
    }
}

/// Returns the choice of one value for each of the named keys.
fn plain(keys: &str, node: &Node) -> Choice {
    let puts = keys.split(',').map(|key| (key.trim().to_string(), node.clone())).collect();
    Choice { shown: node.value.plain(), puts }
}

/// Reads a case: a table of a name and keys of the scenario.
fn chosen(node: &Node, name: &str) -> Result<Choice, ScenarioError> {
    const EXPECTED: &str = "cases, each like { case = \"short\", \"path.buffer\" = \"5 packets\" }";
    let (Value::Table(table), Some(shown)) = (&node.value, case(node)) else {
        return Err(ScenarioError::at(&node.place, name, node.value.described(), EXPECTED));
    };
    let puts = table.entries.iter().filter(|entry| entry.key != CASE);
    Ok(Choice { shown, puts: puts.map(|entry| (entry.key.clone(), entry.node.clone())).collect() })
}

/// Returns the name of a case.
fn case(node: &Node) -> Option<String> {
    let Value::Table(table) = &node.value else { return None };
    table.get(CASE).map(|entry| entry.node.value.plain())
}

/// The key that holds a case's name.
const CASE: &str = "case";

/// Returns the axes of `[sweep]`, in the order of the file.
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

/// Gives a swept key other values: those of `list`. A key that was not swept is then.
pub(crate) fn put_values(document: &mut Table, key: &str, list: Node) -> Result<(), ScenarioError> {
    let place = list.place.clone();
    let sweep = document.node_or_table("sweep", &place);
    let Value::Table(table) = &mut sweep.value else {
        return Err(ScenarioError::at(&place, "sweep", sweep.value.described(), "a table [sweep]"));
    };
    match values_of(table, key) {
        Some(values) => *values = list,
        None => table.entries.push(KeyValue { key: key.to_string(), key_place: place, node: list }),
    }
    Ok(())
}

/// The values of a swept key, written with or without quotes.
fn values_of<'t>(table: &'t mut Table, key: &str) -> Option<&'t mut Node> {
    table.entries.iter_mut().find_map(|entry| {
        if entry.key == key {
            return Some(&mut entry.node);
        }
        let rest = key.strip_prefix(&entry.key)?.strip_prefix('.')?;
        match &mut entry.node.value {
            Value::Table(inner) => values_of(inner, rest),
            _ => None,
        }
    })
}

/// Collects the axes of a table. A table in the sweep comes from a dotted key without quotes.
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
                let axis = Axis::read(&key, values, &name)?;
                let is = |key: &str, fixed: &str| key == fixed || key.starts_with(&format!("{fixed}."));
                if axis.keys().any(|key| NOT_SWEPT.iter().any(|fixed| is(key, fixed))) {
                    let expected = "a key of one run, like \"path.buffer\"";
                    return Err(ScenarioError::at(&entry.key_place, name, "a key that applies to all runs", expected));
                }
                let once = axis.keys().count() == axis.values[0].puts.len();
                if !once || axis.keys().any(|key| axes.iter().flat_map(Axis::keys).any(|other| other == key)) {
                    return Err(ScenarioError::at(&entry.key_place, name, "this key twice", "each key once"));
                }
                axes.push(axis);
            }
            other => return Err(ScenarioError::at(place, name, other.described(), "a list of values")),
        }
    }
    Ok(())
}

fn twice(values: &[Node], name: &str) -> Result<(), ScenarioError> {
    let shown = |node: &Node| case(node).unwrap_or_else(|| node.value.plain());
    for (index, value) in values.iter().enumerate() {
        if values[..index].iter().any(|other| shown(other) == shown(value)) {
            let found = match case(value) {
                Some(case) => format!("the case \"{case}\" twice"),
                None => format!("{} twice", value.value.described()),
            };
            return Err(ScenarioError::at(&value.place, name, found, "each value once"));
        }
    }
    Ok(())
}

/// Returns every point of the grid. The last axis varies fastest; without axes there is one point.
pub(crate) fn grid(axes: &[Axis]) -> impl Iterator<Item = Vec<(&str, &Choice)>> {
    let points: usize = axes.iter().map(|axis| axis.values.len()).product();
    (0..points).map(move |mut index| {
        let mut point: Vec<_> = axes
            .iter()
            .rev()
            .map(|axis| {
                let choice = &axis.values[index % axis.values.len()];
                index /= axis.values.len();
                (axis.key.as_str(), choice)
            })
            .collect();
        point.reverse();
        point
    })
}

/// Returns the point as tables show it.
pub(crate) fn params(point: &[(&str, &Choice)]) -> BTreeMap<String, String> {
    point.iter().map(|(key, choice)| (key.to_string(), choice.shown.clone())).collect()
}
