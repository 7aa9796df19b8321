//! The section `[run]`: how long, from when on it counts, how often, and from which seed.

use crate::scenario::document::{Table, Value};
use crate::scenario::error::{Place, ScenarioError};
use crate::scenario::fields::{Fields, Zero, text};
use packetscale_models::units::Span;

/// The section `[run]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunSection {
    pub name: String,
    pub duration: Span,
    pub warmup: Span,
    pub seed: u64,
    pub replications: u32,
}

/// The most replications of one scenario.
const MOST_REPLICATIONS: u64 = 10_000;

pub(crate) fn run(document: &mut Table, name: &str) -> Result<RunSection, ScenarioError> {
    let mut fields = Fields::of(document.node_or_table("run", &Place::Line(1)), "run", "a table [run]")?;
    let expected = "a name in letters, digits, \"-\", \"_\" and \".\" that starts with a letter or digit";
    let name = text(fields.or("name", Value::Text(name.to_string())), "run.name", expected)?;
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.chars().all(allowed) || !name.starts_with(char::is_alphanumeric) {
        return Err(fields.refuse("name", format!("\"{name}\""), expected));
    }
    let duration = fields.quantity_or("duration", "60 s", Zero::Refused)?;
    let warmup = fields.quantity_or("warmup", "0 s", Zero::Allowed)?;
    if warmup >= duration {
        let shorter = format!("a time below the duration of {duration}");
        return Err(fields.refuse("warmup", format!("\"{warmup}\""), shorter));
    }
    let seed = fields.integer_or("seed", 1, 0..=u64::MAX)?;
    let replications = fields.integer_or("replications", 1, 1..=MOST_REPLICATIONS)?;
    fields.finish()?;
    Ok(RunSection { name, duration, warmup, seed, replications: u32::try_from(replications).unwrap_or(u32::MAX) })
}
