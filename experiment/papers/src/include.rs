//! What the scenarios of a paper share: a file of keys, each of which a scenario may write itself.

use toml::{Table, Value};

/// Returns the changes, as for `--set`, that put the keys of the TOML text `shared` where the scenario `text` has none.
///
/// # Errors
/// A text that is no TOML.
pub(crate) fn changes(shared: &str, text: &str) -> Result<Vec<String>, String> {
    let shared: Table = shared.parse().map_err(|error: toml::de::Error| error.message().to_string())?;
    let written: Table = text.parse().map_err(|error: toml::de::Error| error.message().to_string())?;
    let mut out = Vec::new();
    missing(&shared, Some(&written), "", &mut out);
    Ok(out)
}

/// Adds the keys of `shared` that `written`, the table behind `prefix`, lacks.
fn missing(shared: &Table, written: Option<&Table>, prefix: &str, out: &mut Vec<String>) {
    for (key, value) in shared {
        let path = format!("{prefix}{key}");
        match (value, written.and_then(|table| table.get(key))) {
            (Value::Table(inner), None) => missing(inner, None, &format!("{path}."), out),
            (Value::Table(inner), Some(Value::Table(there))) => missing(inner, Some(there), &format!("{path}."), out),
            (value, None) => out.push(format!("{path}={value}")),
            (_, Some(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_the_scenario_writes_stays() {
        let shared =
            "[path]\naccess = \"10 Gbit/s\"\nbuffer = \"1 bdp\"\n[receiver]\ncoalescing = { time = \"120 us\" }\n";
        let text = "[path]\nrate = \"1 Gbit/s\"\nbuffer = \"600 kB\"\n[receiver]\nwindow = \"9 packets\"\n";
        let expected = ["path.access=\"10 Gbit/s\"", "receiver.coalescing.time=\"120 us\""];
        assert_eq!(changes(shared, text), Ok(expected.map(str::to_string).to_vec()));
    }

    #[test]
    fn what_is_no_toml_is_refused() {
        assert!(changes("path = ", "").is_err() && changes("", "path = ").is_err());
    }
}
