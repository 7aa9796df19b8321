//! What is recorded, and at which link.

use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::{Place, ScenarioError, listed, perhaps};
use crate::scenario::fields::{Fields, Zero, quantity, text};
use crate::scenario::links::bottleneck;
use crate::scenario::model::{LinkSpec, Record};
use crate::scenario::run::RunSection;
use packetscale_models::units::Span;

/// The most points of one curve.
const MOST_STEPS: u64 = 1_000_000;

/// The most windows that are counted one by one.
const MOST_WINDOWS: u64 = 10_000_000;

/// Reads what to record. Returns it with the index of the measured link: by default the slowest of those that are
/// `crossed`.
pub(crate) fn record(
    document: &mut Table,
    run: &RunSection,
    links: &[LinkSpec],
    crossed: &[usize],
) -> Result<(Record, usize), ScenarioError> {
    let mut fields = Fields::of(document.node_or_table("record", &Place::Line(1)), "record", "a table [record]")?;
    let duration = run.duration;
    let record = Record {
        detail: fields.switch_or("detail", true)?,
        step: fields.quantity_or("step", "100 ms", Zero::Refused)?,
        streams: fields.count_or("streams", 8, 0)?,
        windows: windows(&mut fields, run)?,
        links: fields.switch_or("links", false)?,
        packets: fields.switch_or("packets", false)?,
        transfers: fields.switch_if("transfers")?.unwrap_or(false),
    };
    if record.detail && duration / record.step > MOST_STEPS {
        let found = format!("\"{}\", which makes curves of {} points", record.step, duration / record.step);
        return Err(fields.refuse("step", found, format!("at most {MOST_STEPS} points in {duration}")));
    }
    let measured = match fields.get("link") {
        Some(node) => named_link(node, "record.link", links)?,
        None => bottleneck(links, crossed),
    };
    fields.finish()?;
    Ok((record, measured))
}

fn named_link(node: &Node, key: &str, links: &[LinkSpec]) -> Result<usize, ScenarioError> {
    let names = || links.iter().map(|link| link.name.as_str());
    let name = text(node, key, "the name of a link")?;
    names().position(|other| other == name).ok_or_else(|| {
        let found = format!("the unknown link \"{name}\"{}", perhaps(&name, names()));
        ScenarioError::at(&node.place, key, found, format!("one of {}", listed(names())))
    })
}

/// Reads the windows. Each is a whole multiple of the first, and fits at least twice into the time after the warm-up.
fn windows(fields: &mut Fields<'_>, run: &RunSection) -> Result<Vec<Span>, ScenarioError> {
    const KEY: &str = "record.windows";
    const EXPECTED: &str = "a list of times like [\"5 ms\", \"50 ms\"]";
    let node = fields.or("windows", Value::List(Vec::new()));
    let Value::List(items) = &node.value else {
        return Err(ScenarioError::at(&node.place, KEY, node.value.described(), EXPECTED));
    };
    let time = run.duration.saturating_sub(run.warmup);
    let mut windows: Vec<Span> = Vec::new();
    for item in items {
        let window: Span = quantity(item, KEY, Zero::Refused)?;
        let refuse = |expected: String| Err(ScenarioError::at(&item.place, KEY, item.value.to_string(), expected));
        let first = windows.first().copied().unwrap_or(window);
        if window % first != Span::ZERO {
            return refuse(format!("a whole multiple of the first window, {first}"));
        }
        if window.saturating_mul(2) > time {
            return refuse(format!("at most half of the {time} after the warm-up"));
        }
        if time / window > MOST_WINDOWS {
            return refuse(format!("a window that fits at most {MOST_WINDOWS} times into {time}"));
        }
        windows.push(window);
    }
    Ok(windows)
}
