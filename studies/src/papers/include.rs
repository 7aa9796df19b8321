//! The shared part of a paper's scenarios: a file of keys, which a scenario may override.

use toml::{Table, Value};

/// The table of the shared file that has settings of controllers, by kind; all others are tables of a scenario.
const CONTROLLERS: &str = "controllers";

/// Returns the changes, as for `--set`, that put the keys of the TOML text `shared` where the scenario `text` has none.
///
/// # Errors
/// A text that is no TOML.
pub(crate) fn changes(shared: &str, text: &str) -> Result<Vec<String>, String> {
    let mut shared: Table = shared.parse().map_err(|error: toml::de::Error| error.message().to_string())?;
    let written: Table = text.parse().map_err(|error: toml::de::Error| error.message().to_string())?;
    let mut out = Vec::new();
    if let Some(Value::Table(settings)) = shared.remove(CONTROLLERS) {
        controllers(&settings, &written, &mut out);
    }
    missing(&shared, Some(&written), "", &mut out);
    Ok(out)
}

/// Adds the settings of each kind of controller to the controllers that lack them: of flows, of a comparison, of a sweep.
fn controllers(settings: &Table, written: &Table, out: &mut Vec<String>) {
    let flows = written.get("flow").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let flows = flows
        .iter()
        .enumerate()
        .filter_map(|(at, flow)| Some((format!("flow.{at}.controller"), flow.get("controller")?)));
    let inside = |table: &'static str| {
        let entries = written.get(table).and_then(Value::as_table).into_iter().flatten();
        entries.filter(|(key, _)| !key.contains('.')).map(move |(key, value)| (format!("{table}.{key}"), value))
    };
    // A name that the cases of a sweep replace gets no settings.
    let sweep = written.get("sweep").map_or(String::new(), Value::to_string);
    let flows = flows.filter(|(path, value)| !(value.is_str() && sweep.contains(path.as_str())));
    for (path, value) in flows.chain(inside("compare")).chain(inside("sweep")) {
        let mut with = value.clone();
        complete(&mut with, settings);
        if with != *value {
            out.push(format!("{path}={with}"));
        }
    }
}

/// Adds the settings that the controllers in `value` lack.
fn complete(value: &mut Value, settings: &Table) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| complete(item, settings)),
        // A controller by its name keeps it as its label.
        Value::String(kind) => {
            if let Some(Value::Table(known)) = settings.get(kind.as_str()) {
                let mut table = known.clone();
                table.insert("kind".into(), Value::String(kind.clone()));
                table.insert("label".into(), Value::String(kind.clone()));
                *value = Value::Table(table);
            }
        }
        Value::Table(table) => {
            let kind = table.get("kind").and_then(Value::as_str).unwrap_or_default();
            if let Some(Value::Table(known)) = settings.get(kind) {
                for (key, value) in known {
                    table.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            // The string of another key, as `case`, is no controller.
            let inner = table.iter_mut().filter(|(key, value)| !value.is_str() || key.ends_with("controller"));
            inner.for_each(|(_, inner)| complete(inner, settings));
        }
        _ => {}
    }
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
    fn scenario_key_overrides_included() {
        let shared =
            "[path]\naccess = \"10 Gbit/s\"\nbuffer = \"1 bdp\"\n[receiver]\ncoalescing = { time = \"120 us\" }\n";
        let text = "[path]\nrate = \"1 Gbit/s\"\nbuffer = \"600 kB\"\n[receiver]\nwindow = \"9 packets\"\n";
        let expected = ["path.access=\"10 Gbit/s\"", "receiver.coalescing.time=\"120 us\""];
        assert_eq!(changes(shared, text), Ok(expected.map(str::to_string).to_vec()));
    }

    #[test]
    fn controllers_of_kind_get_its_settings() {
        let shared = "[controllers.rapid-thesis]\ntau = \"9 ms\"\n";
        let text = r#"
            flow = [{ controller = { kind = "rapid-thesis" } }, { controller = "cubic" }]
            compare.controllers = ["rapid", { kind = "rapid-thesis", tau = "5 ms" }]
            sweep.variant = [{ case = "a", "flow.0.controller" = { kind = "rapid-thesis", eta = 2 } }]
        "#;
        let found = changes(shared, text).expect("changes");
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], r#"flow.0.controller={ kind = "rapid-thesis", tau = "9 ms" }"#);
        assert!(found[1].starts_with("sweep.variant=") && found[1].contains(r#"tau = "9 ms""#), "{found:?}");
    }

    #[test]
    fn named_controller_gets_settings_and_keeps_its_name() {
        let shared = "[controllers.cubic]\nhystart = false\n";
        let text = r#"
            compare.controllers = ["rapid", "cubic"]
            sweep.other = [{ case = "cubic", "flow.0.controller" = "cubic" }]
        "#;
        let cubic = r#"{ hystart = false, kind = "cubic", label = "cubic" }"#;
        let expected = [
            format!(r#"compare.controllers=["rapid", {cubic}]"#),
            format!(r#"sweep.other=[{{ case = "cubic", "flow.0.controller" = {cubic} }}]"#),
        ];
        assert_eq!(changes(shared, text), Ok(expected.to_vec()));
    }

    #[test]
    fn refuses_invalid_toml() {
        assert!(changes("path = ", "").is_err() && changes("", "path = ").is_err());
    }
}
