//! Reads the resolved scenario for the page: a few lines for its head, and the numbers that are drawn as marks.

use experiment::results::rate_or_time;
use toml::{Table, Value};

/// Facts of the scenario; all empty if its text cannot be read.
#[derive(Debug, Default)]
pub struct Resolved {
    /// Labels and values, as the scenario writes them.
    pub facts: Vec<(&'static str, String)>,
    /// Capacity of the dumbbell's bottleneck.
    pub capacity_bps: Option<f64>,
    /// End of the warm-up.
    pub warmup_s: Option<f64>,
}

/// The facts that are not of the path.
const OF_THE_RUN: [&str; 3] = ["Duration", "Warm-up", "Replications"];

/// Parses `text`, the resolved scenario. A swept key has no single value: its fact says so, and it gives no mark.
pub fn resolved(text: &str) -> Resolved {
    let Ok(table) = text.parse::<Table>() else { return Resolved::default() };
    let swept = swept(&table);
    let is_swept = |section: &str, key: &str| swept.contains(&format!("{section}.{key}"));
    let read = |section: &str, key: &str| match is_swept(section, key) {
        true => Some("swept".to_string()),
        false => table.get(section).and_then(|s| s.get(key)).map(words),
    };
    let back = table.get("path").and_then(|path| path.get("return")).and_then(Value::as_table).map(|own| {
        let part = |key: &str| match swept.contains(&format!("path.return.{key}")) {
            true => Some(format!("{key} swept")),
            false => own.get(key).map(words),
        };
        ["rate", "delay", "buffer", "queue"].into_iter().filter_map(part).collect::<Vec<_>>().join(", ")
    });
    let facts = [
        ("Capacity", read("path", "rate")),
        ("Changes of rate", read("path", "rate_trace").or(read("path", "rate_steps").map(|_| "in steps".to_string()))),
        ("Delay, one way", read("path", "delay")),
        ("Buffer", read("path", "buffer")),
        ("Queue", read("path", "queue")),
        ("Policer", read("path", "policer")),
        ("Shaper", read("path", "shaper")),
        ("Aggregation", read("path", "aggregation")),
        ("Way back", back),
        (OF_THE_RUN[0], read("run", "duration")),
        (OF_THE_RUN[1], read("run", "warmup")),
        (OF_THE_RUN[2], read("run", "replications")),
    ];
    Resolved {
        facts: facts.into_iter().filter_map(|(label, value)| Some((label, value?))).collect(),
        capacity_bps: read("path", "rate").and_then(|v| rate_or_time(&v)),
        warmup_s: read("run", "warmup").and_then(|v| rate_or_time(&v)),
    }
}

/// The keys that `[sweep]` changes: several to an entry, or in cases.
pub fn swept(scenario: &Table) -> Vec<String> {
    let Some(Value::Table(sweep)) = scenario.get("sweep") else { return Vec::new() };
    let in_cases = sweep.values().filter_map(Value::as_array).flatten().filter_map(Value::as_table);
    let keys = sweep.keys().chain(in_cases.flat_map(Table::keys)).flat_map(|keys| keys.split(','));
    keys.map(|key| key.trim().to_string()).collect()
}

/// A value as the scenario writes it; of a table its kind, or its keys.
pub fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Table(table) => table.get("kind").map_or_else(|| said(table), words),
        other => other.to_string(),
    }
}

/// A table without a kind: `rate 20 Mbit/s, bucket 100 kB`.
fn said(table: &Table) -> String {
    table.iter().map(|(key, value)| format!("{key} {}", words(value))).collect::<Vec<_>>().join(", ")
}

impl Resolved {
    /// Without the scenario's path: the runs had another, unknown one.
    pub fn of_an_unknown_path(mut self) -> Resolved {
        self.facts.retain(|(label, _)| OF_THE_RUN.contains(label));
        self.capacity_bps = None;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_and_warm_up_come_from_text() {
        let text = "[run]\nwarmup = \"500 ms\"\n[path]\nrate = \"10 Gbit/s\"\nqueue = { kind = \"fifo\" }\n";
        let found = resolved(text);
        assert_eq!((found.capacity_bps, found.warmup_s), (Some(1e10), Some(0.5)));
        assert!(found.facts.contains(&("Queue", "fifo".to_string())));
    }

    #[test]
    fn swept_key_shows_no_single_value() {
        let scenario = "[run]\nwarmup = \"1 s\"\n[path]\nrate = \"1 Gbit/s\"\ndelay = \"2 ms\"\nbuffer = \"1 bdp\"\n";
        let sweep = "[sweep]\n\"path.delay, flow.0.rtt\" = [\"2 ms\", \"4 ms\"]\n\
            how = [{ case = \"small\", \"path.buffer\" = \"1 bdp\" }]\n";
        let found = resolved(&format!("{scenario}{sweep}"));
        let fact = |label: &str| found.facts.iter().find(|(known, _)| *known == label).map(|(_, value)| value.as_str());
        assert_eq!((fact("Delay, one way"), fact("Buffer")), (Some("swept"), Some("swept")));
        assert_eq!((fact("Capacity"), found.capacity_bps), (Some("1 Gbit/s"), Some(1e9)));
        let swept_rate = resolved(&format!("{scenario}[sweep]\n\"path.rate\" = [\"1 Gbit/s\", \"2 Gbit/s\"]\n"));
        assert_eq!(swept_rate.capacity_bps, None);
    }

    #[test]
    fn link_text_includes_impairments() {
        let path = "[path]\nrate = \"9 Mbit/s\"\npolicer = { rate = \"2 Mbit/s\", bucket = \"9 kB\" }\n";
        let back = "return = { rate = \"1 Mbit/s\", queue = \"fifo\" }\n[sweep]\n\"path.return.queue\" = [\"fifo\"]\n";
        let facts = resolved(&format!("{path}{back}")).facts;
        assert!(facts.contains(&("Policer", "bucket 9 kB, rate 2 Mbit/s".to_string())), "{facts:?}");
        assert!(facts.contains(&("Way back", "1 Mbit/s, queue swept".to_string())), "{facts:?}");
    }

    #[test]
    fn invalid_scenario_gives_no_facts() {
        assert!(resolved("= <broken").facts.is_empty());
    }

    #[test]
    fn unknown_path_is_omitted() {
        let text = "[run]\nduration = \"5 s\"\n[path]\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n";
        let found = resolved(text).of_an_unknown_path();
        assert_eq!((found.facts, found.capacity_bps), (vec![("Duration", "5 s".to_string())], None));
    }
}
