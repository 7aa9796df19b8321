//! Several results on one page: their runs under names that say which result they belong to, and what was run differently.

use crate::html::escape;
use results::{HostLabel, Manifest, Results, SCHEMA};
use std::collections::BTreeMap;
use std::fmt::Write;
use toml::{Table, Value};

/// A name for the results, and the results.
pub type Named = (String, Results);

/// Returns the results as one: a controller `cubic` of the results `first` is then called `cubic, first`.
pub fn overlaid(all: &[Named]) -> Results {
    let mut out = Results {
        schema: SCHEMA,
        host: HostLabel::default(),
        manifest: Manifest::default(),
        runs: Vec::new(),
        expectations: Vec::new(),
    };
    for (name, results) in all {
        out.runs.extend(results.runs.iter().cloned().map(|mut run| {
            run.controller = format!("{}, {name}", run.controller);
            run
        }));
        out.expectations.extend(results.expectations.iter().cloned().map(|mut expectation| {
            expectation.selected = format!("{}, {name}", expectation.selected);
            expectation
        }));
        let seeds = results.manifest.seeds.iter().filter(|seed| !out.manifest.seeds.contains(seed));
        let seeds: Vec<u64> = seeds.copied().collect();
        out.manifest.seeds.extend(seeds);
        let conditions = results.manifest.conditions.iter().map(|said| format!("{name}: {said}"));
        out.manifest.conditions.extend(conditions);
    }
    let manifests = || all.iter().map(|(_, results)| &results.manifest);
    out.manifest.scenario_name = all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" and ");
    out.manifest.version = said_once(manifests().map(|manifest| manifest.version.clone()));
    out.manifest.commit =
        Some(said_once(manifests().filter_map(|manifest| manifest.commit.clone()))).filter(|c| !c.is_empty());
    out.manifest.scenario = said_once(manifests().map(|manifest| manifest.scenario.clone()));
    out.host.badge = said_once(all.iter().map(|(_, results)| results.host.badge.clone()));
    out.host.about = said_once(all.iter().map(|(_, results)| results.host.about.clone()));
    out
}

/// Each different text once.
fn said_once(texts: impl Iterator<Item = String>) -> String {
    let mut seen: Vec<String> = Vec::new();
    texts.for_each(|text| {
        if !seen.contains(&text) {
            seen.push(text);
        }
    });
    seen.join(" ")
}

/// Parts of a scenario that change no run.
const NO_RUN: [&str; 2] = ["expect.", "run.name"];

/// Returns a table of the scenarios' keys that do not have the same value everywhere; a sentence where all have.
pub fn differences(all: &[Named]) -> String {
    let flat: Vec<BTreeMap<String, String>> = all.iter().map(|(_, results)| keys(&results.manifest.scenario)).collect();
    let mut names: Vec<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    names.sort();
    names.dedup();
    names.retain(|key| !NO_RUN.iter().any(|start| key.starts_with(start)));
    names.retain(|key| flat.iter().any(|one| one.get(*key) != flat[0].get(*key)));
    if names.is_empty() {
        return "<p>All were made from the same scenario.</p>\n".to_string();
    }
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What differs\"><table><thead><tr><th scope=\"col\">Key</th>",
    );
    all.iter().for_each(|(name, _)| _ = write!(out, "<th scope=\"col\">{}</th>", escape(name)));
    out.push_str("</tr></thead><tbody>");
    for key in names {
        _ = write!(out, "<tr><th scope=\"row\"><code>{}</code></th>", escape(key));
        flat.iter()
            .for_each(|one| _ = write!(out, "<td>{}</td>", one.get(key).map_or("\u{2013}".to_string(), |v| escape(v))));
        out.push_str("</tr>");
    }
    out + "</tbody></table></div>\n"
}

/// All keys of a scenario with their values, like `path.rate`, `flow.0.controller`; nothing if it cannot be read.
fn keys(scenario: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    if let Ok(table) = scenario.parse::<Table>() {
        flatten(&mut out, "", &Value::Table(table));
    }
    out
}

fn flatten(out: &mut BTreeMap<String, String>, at: &str, value: &Value) {
    let inner = |key: &str| if at.is_empty() { key.to_string() } else { format!("{at}.{key}") };
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| flatten(out, &inner(key), value)),
        Value::Array(items) if items.iter().any(Value::is_table) => {
            items.iter().enumerate().for_each(|(number, value)| flatten(out, &inner(&number.to_string()), value));
        }
        Value::String(text) => _ = out.insert(at.to_string(), text.clone()),
        other => _ = out.insert(at.to_string(), other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn two() -> Vec<Named> {
        let mut slow = example::demo();
        slow.manifest.scenario = slow.manifest.scenario.replace("10 Gbit/s", "1 Gbit/s");
        vec![("fast".to_string(), example::demo()), ("slow".to_string(), slow)]
    }

    #[test]
    fn a_controller_says_which_results_it_belongs_to() {
        let all = two();
        let found = overlaid(&all);
        assert_eq!(found.runs.len(), 2 * all[0].1.runs.len());
        assert_eq!(found.runs[0].controller, "rapid, fast");
        assert_eq!(found.runs.last().unwrap().controller, "newreno, slow");
        assert_eq!(
            (found.manifest.scenario_name.as_str(), found.manifest.version.as_str()),
            ("fast and slow", "0.1.0")
        );
        assert_eq!(found.manifest.seeds, [1, 2, 3]);
    }

    #[test]
    fn only_keys_that_differ_are_listed() {
        let table = differences(&two());
        assert!(table.contains("<code>path.rate</code></th><td>10 Gbit/s</td><td>1 Gbit/s</td>"), "{table}");
        assert_eq!(table.matches("<code>").count(), 1);
        assert!(differences(&two()[..1]).contains("same scenario"));
    }
}
