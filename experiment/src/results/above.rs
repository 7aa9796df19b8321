//! Why flows can get more than what the traffic left.

use crate::results::schema::Results;
use crate::results::statistics::Group;
use toml::{Table, Value};

/// How the condition begins by which a host says that the bottleneck carries more than its rates where they change.
pub const CHANGES_LET_THROUGH: &str = "each rate change releases the contents of the token bucket at once";

/// Returns why flows got more than all of what was left, if some did: the reasons that these results can have.
pub fn why_above_all(results: &Results, groups: &[Group<'_>]) -> Option<String> {
    let above: Vec<&Group<'_>> = groups.iter().filter(|group| group.above_all()).collect();
    let mut traffic = above.iter().flat_map(|group| &group.runs).flat_map(|run| &run.traffic);
    let scenario = results.manifest.scenario.parse::<Table>().map(Value::Table).ok();
    let has = |key: &str| scenario.as_ref().is_none_or(|scenario| holds(scenario, key));
    let changes = results.manifest.conditions.iter().any(|said| said.starts_with(CHANGES_LET_THROUGH));
    let reasons: Vec<&str> = [
        (
            traffic.any(|source| source.dropped_packets > 0),
            "dropped traffic counts as arrived, but the flows used its capacity",
        ),
        (has("warmup"), "packets queued at the end of the warm-up left after it"),
        (has("shaper"), "a shaper\u{2019}s full bucket let a burst through above its rate"),
        (changes, CHANGES_LET_THROUGH),
    ]
    .into_iter()
    .filter_map(|(can_be, reason)| can_be.then_some(reason))
    .collect();
    if above.is_empty() {
        return None;
    }
    Some(match &reasons[..] {
        [] => "Above 100 % of the available capacity, for no known reason.".to_string(),
        [reason] => format!("Above 100 % of the available capacity: {reason}."),
        reasons => {
            format!("Above 100 % of the available capacity, for one or more of these reasons: {}.", reasons.join("; "))
        }
    })
}

/// Whether a key is anywhere in a scenario, with a value above zero where that is a quantity.
fn holds(value: &Value, key: &str) -> bool {
    match value {
        Value::Table(table) => {
            let own = |found: &Value| found.as_str().is_none_or(|text| !text.starts_with("0 "));
            table.get(key).is_some_and(own) || table.values().any(|inner| holds(inner, key))
        }
        Value::Array(list) => list.iter().any(|inner| holds(inner, key)),
        _ => false,
    }
}
