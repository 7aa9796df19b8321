//! `[probe] search`: streams with rates that follow from the results of earlier streams.

use crate::scenario::document::{KeyValue, Node, Table, Value};
use crate::scenario::error::{ScenarioError, listed, perhaps};
use crate::scenario::fields::{Fields, Zero, ratio, text};
use packetscale_models::units::{Rate, Ratio};
use serde::{Deserialize, Serialize};

/// A search for the available bandwidth, between the slowest and the fastest rate of the probe streams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchSpec {
    /// Which streams it sends.
    pub tool: SearchTool,
    /// The search ends when the remaining interval is this narrow.
    pub resolution: Rate,
}

/// Which streams a search sends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SearchTool {
    /// Fleets of equal streams; the streams of a fleet vote.
    Pathload {
        /// Streams of a fleet.
        fleet: u32,
        /// The part of a fleet that must agree.
        agree: Ratio,
    },
    /// Single streams, of a length that is found first.
    PrcMt {
        /// N_min.
        shortest: u32,
        /// N_max.
        longest: u32,
        /// sigma: two ratios of receive rate to ADR agree within this.
        agree: Ratio,
        /// eta: the search for a length ends when it changes by less.
        step: u32,
    },
}

const TOOLS: &[&str] = &["pathload", "prc-mt"];
const KEY: &str = "probe.search";

/// The default resolution is the fastest rate divided by this.
const RESOLUTION: u64 = 50;

/// Reads `search`, which searches up to `fastest`: a name, or a table with settings.
pub(crate) fn search(node: &mut Node, fastest: Rate) -> Result<SearchSpec, ScenarioError> {
    let expected =
        format!("one of {}, or one with settings as in {{ kind = \"pathload\", fleet = 12 }}", listed(names()));
    if let Value::Text(_) = node.value {
        let kind = KeyValue {
            key: "kind".to_string(),
            key_place: node.place.clone(),
            node: Node { value: node.value.clone(), place: node.place.clone() },
        };
        node.value = Value::Table(Table { entries: vec![kind] });
    }
    let mut fields = Fields::of(node, KEY, &expected)?;
    let kind = text(fields.required("kind", &expected)?, "probe.search.kind", &expected)?;
    let tool = match kind.as_str() {
        "pathload" => SearchTool::Pathload {
            fleet: fields.integer_or("fleet", 12, 1..=1000)? as u32,
            agree: part(&mut fields, "agree", "70 %")?,
        },
        "prc-mt" => prc_mt(&mut fields)?,
        other => {
            let found = format!("the unknown search \"{other}\"{}", perhaps(other, names()));
            return Err(fields.refuse("kind", found, expected));
        }
    };
    let default = Rate::from_bps((fastest.bps() / RESOLUTION).max(1)).to_string();
    let resolution = fields.quantity_or("resolution", &default, Zero::Refused)?;
    fields.finish()?;
    Ok(SearchSpec { tool, resolution })
}

fn prc_mt(fields: &mut Fields<'_>) -> Result<SearchTool, ScenarioError> {
    let shortest = fields.integer_or("shortest", 60, 2..=65_535)? as u32;
    let longest = fields.integer_or("longest", 3000, u64::from(shortest) + 1..=65_536)? as u32;
    let agree = part(fields, "agree", "2 %")?;
    let step = fields.integer_or("step", 8, 1..=65_536)? as u32;
    Ok(SearchTool::PrcMt { shortest, longest, agree, step })
}

fn part(fields: &mut Fields<'_>, key: &'static str, default: &str) -> Result<Ratio, ScenarioError> {
    let name = fields.key(key);
    ratio(fields.or(key, Value::Text(default.to_string())), &name, 0.0..=1.0)
}

fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().copied()
}
