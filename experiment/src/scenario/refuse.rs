//! Locates the keys of a scenario that a host does not support.

use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::{Place, ScenarioError};
use crate::scenario::plan::Scenario;
use std::path::Path;

impl Scenario {
    /// Returns the message for a host that does not support this key. `key` names things as an
    /// experiment has them: the first link is `path`, and flows are numbered with their counts unfolded. The message names
    /// the key that is written in the file, and its line.
    pub fn refuse(
        &self,
        file: &Path,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        let document = self.document();
        let written = candidates(document, key);
        let (key, place) =
            written.iter().find_map(|key| Some((key.clone(), place(document, key)?))).unwrap_or_else(|| {
                let table = written[0].rsplit_once('.').and_then(|(table, _)| place(document, table));
                (written[0].clone(), table.unwrap_or(Place::Line(1)))
            });
        ScenarioError::at(&place, key, found, expected).in_file(&file.display().to_string())
    }

    /// The key of the file, as `--set` takes it, of what an experiment has under this key: flows are numbered by their tables.
    pub(crate) fn written(&self, key: &str) -> String {
        candidates(self.document(), key).swap_remove(0)
    }
}

/// The keys of the file that may have decided what an experiment has under this key; the nearest first.
fn candidates(document: &Table, key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.split('.').collect();
    match parts[..] {
        ["path", "return"] if document.get("path").is_none() => vec!["link".to_string()],
        ["path", ref rest @ ..] if document.get("path").is_none() => {
            vec![["link", "0"].iter().chain(rest).copied().collect::<Vec<_>>().join(".")]
        }
        ["link", _, ref rest @ ..] if document.get("link").is_none() => {
            vec![["path", "return"].iter().chain(rest).copied().collect::<Vec<_>>().join(".")]
        }
        ["link", number, ref rest @ ..] => {
            let table = table_of(document, "link", number, directions);
            vec![[&["link", &table], rest].concat().join(".")]
        }
        ["flow", number, "controller", ref rest @ ..] => {
            let own = [&["flow", &table_of(document, "flow", number, count), "controller"], rest].concat().join(".");
            let compared = document.get("compare").map(|_| "compare.controllers".to_string());
            compared.into_iter().chain([own]).collect()
        }
        ["flow", number, ref rest @ ..] => {
            let rest = rest.join(".");
            let own = format!("flow.{}.{rest}", table_of(document, "flow", number, count));
            vec![own, format!("sender.{rest}"), format!("path.{rest}")]
        }
        _ => vec![key.to_string()],
    }
}

/// The number of the table of this name that has the flow or the link of this number, where a table may have several.
fn table_of(document: &Table, name: &str, number: &str, several: fn(&Node) -> usize) -> String {
    let mut left: usize = number.parse().unwrap_or(0);
    let tables: &[Node] = match document.get(name).map(|entry| &entry.node.value) {
        Some(Value::List(tables)) => tables,
        _ => &[],
    };
    let table = tables.iter().position(|table| {
        let count = several(table);
        let here = left < count;
        left = left.saturating_sub(count);
        here
    });
    table.unwrap_or(0).to_string()
}

fn count(table: &Node) -> usize {
    let Value::Table(table) = &table.value else { return 1 };
    match table.get("count").map(|entry| &entry.node.value) {
        Some(Value::Integer(count)) => usize::try_from(*count).unwrap_or(1),
        _ => 1,
    }
}

/// The links of a table `[[link]]`.
fn directions(table: &Node) -> usize {
    let Value::Table(table) = &table.value else { return 1 };
    let duplex = table.get("duplex").is_some_and(|entry| matches!(entry.node.value, Value::Switch(true)));
    if duplex { 2 } else { 1 }
}

/// Where the value of a dotted key is written; `None` where it is not.
fn place(document: &Table, key: &str) -> Option<Place> {
    let mut parts = key.split('.');
    let first = document.get(parts.next()?)?;
    let node = parts.try_fold(&first.node, |node, part| match &node.value {
        Value::Table(table) => table.get(part).map(|entry| &entry.node),
        Value::List(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    });
    node.map(|node| node.place.clone())
}
