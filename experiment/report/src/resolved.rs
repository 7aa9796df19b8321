//! Reads the resolved scenario for the page: a few lines for its head, and the numbers that are drawn as marks.

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

/// Reads `text`, the resolved scenario.
pub fn resolved(text: &str) -> Resolved {
    let Ok(table) = text.parse::<Table>() else { return Resolved::default() };
    let read = |section: &str, key: &str| table.get(section).and_then(|s| s.get(key)).map(words);
    let facts = [
        ("Capacity", read("path", "rate")),
        ("Delay, one way", read("path", "delay")),
        ("Buffer", read("path", "buffer")),
        ("Queue", read("path", "queue")),
        ("Duration", read("run", "duration")),
        ("Warm-up", read("run", "warmup")),
        ("Replications", read("run", "replications")),
    ];
    Resolved {
        facts: facts.into_iter().filter_map(|(label, value)| Some((label, value?))).collect(),
        capacity_bps: read("path", "rate").and_then(|v| plain(&v)),
        warmup_s: read("run", "warmup").and_then(|v| plain(&v)),
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Table(table) => table.get("kind").map_or_else(|| value.to_string(), words),
        other => other.to_string(),
    }
}

/// Reads a quantity of a scenario as a plain number in bit/s or seconds (or the number itself, if it has no unit).
pub fn plain(text: &str) -> Option<f64> {
    let (number, unit) = number_and_unit(text)?;
    let factor = match unit {
        "" | "bit/s" | "s" => 1.0,
        "kbit/s" => 1e3,
        "Mbit/s" => 1e6,
        "Gbit/s" => 1e9,
        "Tbit/s" => 1e12,
        "min" => 60.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        _ => return None,
    };
    Some(number * factor)
}

/// Splits `10 Gbit/s` into its number and its unit.
pub fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let (number, unit) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let number: f64 = number.replace('_', "").parse().ok()?;
    number.is_finite().then_some((number, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_and_warm_up_come_from_the_text() {
        let text = "[run]\nwarmup = \"500 ms\"\n[path]\nrate = \"10 Gbit/s\"\nqueue = { kind = \"fifo\" }\n";
        let found = resolved(text);
        assert_eq!((found.capacity_bps, found.warmup_s), (Some(1e10), Some(0.5)));
        assert!(found.facts.contains(&("Queue", "fifo".to_string())));
    }

    #[test]
    fn text_that_is_no_scenario_gives_no_facts() {
        assert!(resolved("= <broken").facts.is_empty());
        assert_eq!(plain("5 furlongs"), None);
        assert_eq!(plain("nan"), None);
    }
}
