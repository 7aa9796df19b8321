//! Impairments of a wire in addition to delay: loss, reordering, jitter, outages, changes of the delay.

use crate::scenario::document::{Node, Value};
use crate::scenario::error::ScenarioError;
use crate::scenario::fields::{Fields, Zero, integer, quantity, ratio};
use crate::scenario::jitter::jitter;
use crate::scenario::model::{GilbertElliott, Impairments, Reordering};
use packetscale_models::units::{Ratio, Span, Time};
use std::path::Path;

/// The most packets that may overtake one.
const MOST_OVERTAKING: u64 = 1_000_000;

/// Reads the loss of a link: a probability for each packet, or bursts.
pub(crate) fn loss(fields: &mut Fields<'_>) -> Result<(Ratio, Option<GilbertElliott>), ScenarioError> {
    let key = fields.key("loss");
    let node = fields.or("loss", Value::Float("0.0".to_string()));
    if matches!(node.value, Value::Table(_)) {
        return Ok((Ratio::ZERO, Some(gilbert_elliott(node, &key)?)));
    }
    let loss = ratio(node, &key, 0.0..=1.0)?;
    if loss == Ratio::ONE {
        return Err(fields.refuse("loss", "a probability of 1", "a probability below 1"));
    }
    Ok((loss, None))
}

fn gilbert_elliott(node: &mut Node, key: &str) -> Result<GilbertElliott, ScenarioError> {
    const EXPECTED: &str = "a table like { kind = \"gilbert-elliott\", p = 0.001, r = 0.1 }";
    let mut inner = Fields::of(node, key, EXPECTED)?;
    let kind = inner.kind(EXPECTED)?;
    if kind != "gilbert-elliott" {
        return Err(inner.refuse("kind", format!("\"{kind}\""), "\"gilbert-elliott\""));
    }
    let change = |inner: &mut Fields<'_>, key: &'static str| {
        let name = inner.key(key);
        let chance = ratio(inner.required(key, EXPECTED)?, &name, 0.0..=1.0)?;
        if chance == Ratio::ZERO {
            return Err(inner.refuse(key, "no change of state", "a probability above 0"));
        }
        Ok(chance)
    };
    let (p, r) = (change(&mut inner, "p")?, change(&mut inner, "r")?);
    let lost = |inner: &mut Fields<'_>, key: &'static str, default: &str| {
        let name = inner.key(key);
        ratio(inner.or(key, Value::Float(default.to_string())), &name, 0.0..=1.0)
    };
    let (good_loss, bad_loss) = (lost(&mut inner, "good_loss", "0.0")?, lost(&mut inner, "bad_loss", "1.0")?);
    if good_loss == Ratio::ONE {
        return Err(inner.refuse("good_loss", "a probability of 1", "a probability below 1"));
    }
    inner.finish()?;
    Ok(GilbertElliott { p, r, good_loss, bad_loss })
}

/// Reads the other impairments of a link. The default is none.
pub(crate) fn impairments(fields: &mut Fields<'_>, folder: &Path) -> Result<Impairments, ScenarioError> {
    let reorder = reordering(fields)?;
    let outages = pairs(fields, "outages", "20 s", |from, to| to > from)?;
    let jitter_key = fields.key("jitter");
    let jitter = fields.get("jitter").map(|node| jitter(node, &jitter_key, folder)).transpose()?;
    let delay_steps = pairs(fields, "delay_steps", "150 ms", |_, _| true)?;
    Ok(Impairments {
        reorder,
        outages: outages.into_iter().map(|(from, to)| (Time::ZERO + from, Time::ZERO + to)).collect(),
        delay_steps: delay_steps.into_iter().map(|(at, delay)| (Time::ZERO + at, delay)).collect(),
        jitter,
        bursts: None,
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
