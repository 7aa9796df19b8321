//! Impairments of a wire in addition to delay: reordering, outages, changes of the delay.

use crate::scenario::document::{Node, Value};
use crate::scenario::error::ScenarioError;
use crate::scenario::fields::{Fields, Zero, integer, quantity, ratio};
use crate::scenario::model::{Impairments, Reordering};
use packetscale_models::units::{Ratio, Span, Time};

/// The most packets that may overtake one.
const MOST_OVERTAKING: u64 = 1_000_000;

/// Reads the impairments of a link. The default is none.
pub(crate) fn impairments(fields: &mut Fields<'_>) -> Result<Impairments, ScenarioError> {
    let reorder = reordering(fields)?;
    let outages = pairs(fields, "outages", "20 s", |from, to| to > from)?;
    let delay_steps = pairs(fields, "delay_steps", "150 ms", |_, _| true)?;
    Ok(Impairments {
        reorder,
        outages: outages.into_iter().map(|(from, to)| (Time::ZERO + from, Time::ZERO + to)).collect(),
        delay_steps: delay_steps.into_iter().map(|(at, delay)| (Time::ZERO + at, delay)).collect(),
    })
}

fn reordering(fields: &mut Fields<'_>) -> Result<Option<Reordering>, ScenarioError> {
    let name = fields.key("reorder");
    let Some(node) = fields.get("reorder") else { return Ok(None) };
    const EXPECTED: &str = "a table like { share = 0.01, packets = 3 }";
    let mut inner = Fields::of(node, &name, EXPECTED)?;
    let share_key = inner.key("share");
    let share = ratio(inner.required("share", EXPECTED)?, &share_key, 0.0..=1.0)?;
    if share == Ratio::ONE {
        return Err(inner.refuse("share", "every packet", "a share below 1: some packets must overtake"));
    }
    let packets_key = inner.key("packets");
    let packets = integer(inner.required("packets", EXPECTED)?, &packets_key, 1..=MOST_OVERTAKING)?;
    inner.finish()?;
    Ok(Some(Reordering { share, packets }))
}

/// Reads a list of pairs `[time, value]`, each later than the one before it and valid by `fits`.
fn pairs(
    fields: &mut Fields<'_>,
    key: &'static str,
    example: &str,
    fits: impl Fn(Span, Span) -> bool,
) -> Result<Vec<(Span, Span)>, ScenarioError> {
    let name = fields.key(key);
    let expected = format!("a list of pairs in order of time, like [[\"10 s\", \"{example}\"]]");
    let Some(node) = fields.get(key) else { return Ok(Vec::new()) };
    let refuse = |node: &Node| ScenarioError::at(&node.place, &name, node.value.to_string(), &expected);
    let Value::List(items) = &node.value else { return Err(refuse(node)) };
    let mut found: Vec<(Span, Span)> = Vec::new();
    for item in items {
        let Value::List(pair) = &item.value else { return Err(refuse(item)) };
        let [at, value] = &pair[..] else { return Err(refuse(item)) };
        let (at, value) = (quantity(at, &name, Zero::Allowed)?, quantity(value, &name, Zero::Allowed)?);
        if found.last().is_some_and(|(before, _)| *before >= at) || !fits(at, value) {
            return Err(refuse(item));
        }
        found.push((at, value));
    }
    Ok(found)
}
