//! Points: the keys that identify a run or answer of a source, and how a figure selects among them.

use crate::papers::file::{Keys, plain};
use std::collections::BTreeMap;

/// A point: the keys that identify it.
pub(crate) type Point = BTreeMap<String, String>;

/// The point that a run belongs to.
pub(crate) fn point_of(controller: &str, params: &Point) -> Point {
    let mut point = params.clone();
    point.insert("controller".to_string(), controller.to_string());
    point
}

/// Each point once, in the order of its first appearance.
pub(crate) fn distinct(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut distinct: Vec<Point> = Vec::new();
    for point in points {
        if !distinct.contains(&point) {
            distinct.push(point);
        }
    }
    distinct
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

/// The same text, or the same number.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

/// Refuses a selection without a match.
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
