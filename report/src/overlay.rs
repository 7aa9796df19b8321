//! Several results on one page: their runs under names that include the result, and the differences between the scenarios.

use crate::findings::{listed, ranges, topic};
use crate::html::escape;
use crate::verdict::{MOST_LETTERS, MOST_MIXES, lead, shared, when};
use experiment::results::figures::SUMMARY;
use experiment::results::{HostLabel, Manifest, Results, SCHEMA, groups};
use std::collections::BTreeMap;
use std::fmt::Write;
use toml::{Table, Value};

/// A name for the results, and the results.
pub type Named = (String, Results);

/// Returns the results as one: a controller `cubic` of the results `first` is then called `cubic, first`. A key that not all of
/// them sweep is no axis of the page: its values are part of the names.
pub fn overlaid(all: &[Named]) -> Results {
    let swept_by_all =
        |key: &String| all.iter().all(|(_, results)| results.runs.iter().any(|run| run.params.contains_key(key)));
    let mut out = Results {
        schema: SCHEMA,
        host: HostLabel::default(),
        manifest: Manifest::default(),
        runs: Vec::new(),
        expectations: Vec::new(),
    };
    for (name, results) in all {
        out.runs.extend(results.runs.iter().cloned().map(|mut run| {
            let (axes, own): (BTreeMap<_, _>, BTreeMap<_, _>) =
                std::mem::take(&mut run.params).into_iter().partition(|(key, _)| swept_by_all(key));
            let own: String = own.iter().map(|(key, value)| format!(", {key} = {value}")).collect();
            run.controller = format!("{}, {name}{own}", run.controller);
            run.params = axes;
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
    out.manifest.version = note_once(manifests().map(|manifest| manifest.version.clone()));
    out.manifest.commit =
        Some(note_once(manifests().filter_map(|manifest| manifest.commit.clone()))).filter(|c| !c.is_empty());
    out.manifest.scenario = common(manifests().map(|manifest| manifest.scenario.as_str()));
    out.host.badge = note_once(all.iter().map(|(_, results)| results.host.badge.clone()));
    out.host.about = note_once(all.iter().map(|(_, results)| results.host.about.clone()));
    out.host.path_unknown = all.iter().all(|(_, results)| results.host.path_unknown);
    out
}

/// The common part of all these scenarios, without names and sweeps.
fn common<'a>(scenarios: impl Iterator<Item = &'a str>) -> String {
    let mut tables = scenarios.map(|text| {
        let mut all = Value::Table(text.parse::<Table>().unwrap_or_default());
        remove(&mut all, "run.name");
        let swept = all.get("sweep").and_then(Value::as_table).into_iter().flat_map(Table::keys);
        let swept: Vec<String> = swept.flat_map(|keys| keys.split(", ")).map(str::to_string).collect();
        swept.iter().for_each(|key| remove(&mut all, key));
        all
    });
    let first = tables.next();
    let common = first.map(|first| tables.fold(first, |common, other| alike(common, &other)));
    common.as_ref().and_then(Value::as_table).map(Table::to_string).unwrap_or_default()
}

/// Takes a key like `path.buffer` or `flow.0.rtt` away.
fn remove(value: &mut Value, key: &str) {
    let Some((first, rest)) = key.split_once('.') else {
        value.as_table_mut().map(|table| table.remove(key));
        return;
    };
    let inner = match value {
        Value::Table(table) => table.get_mut(first),
        Value::Array(items) => first.parse::<usize>().ok().and_then(|number| items.get_mut(number)),
        _ => None,
    };
    if let Some(inner) = inner {
        remove(inner, rest);
    }
}

/// The common part of two values: of tables the keys with the same value, of lists of tables their pairs.
fn alike(one: Value, other: &Value) -> Value {
    let of_tables = |items: &[Value]| items.iter().all(Value::is_table);
    match (one, other) {
        (Value::Table(one), Value::Table(other)) => {
            let both = one.into_iter().filter_map(|(key, value)| {
                let there = other.get(&key)?;
                let nested = value.is_table() || value.as_array().is_some_and(|items| of_tables(items));
                let same = value == *there;
                (same || nested && value.same_type(there)).then(|| (key, alike(value, there)))
            });
            Value::Table(both.collect())
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() && of_tables(&one) && of_tables(other) => {
            Value::Array(one.into_iter().zip(other).map(|(one, other)| alike(one, other)).collect())
        }
        (Value::Array(one), Value::Array(other)) if one != *other => Value::Array(Vec::new()),
        (one, _) => one,
    }
}

/// Each different text once.
fn note_once(texts: impl Iterator<Item = String>) -> String {
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

/// Maximum number of differing keys in the first line.
const MOST_KEYS: usize = 2;
/// Figure of the first line: the first of these that every result has.
const COMPARED: [&str; 5] =
    ["available_share", "utilisation", "completion_time_p50_s", "throughput_bps", "queue_delay_p99_s"];

/// The first line: what differs between the scenarios, and what each result found.
pub fn answer(all: &[Named]) -> String {
    let (names, flat) = differing(all);
    let missing = "not set".to_string();
    let value = |key: &String, number: usize| flat[number].get(key).unwrap_or(&missing).clone();
    let said = |key: &String| {
        let values = all.iter().enumerate().map(|(number, (name, _))| format!("{} in {name}", value(key, number)));
        format!("{key} is {}.", listed(values.collect()))
    };
    let first = match names.len() {
        0 => "All were made from the same scenario.".to_string(),
        1..=MOST_KEYS => names.iter().map(said).collect::<Vec<_>>().join(" "),
        many => format!("{many} keys of the scenarios differ."),
    };
    let first = match hosts_differ(all) {
        true => {
            let hosts = all.iter().map(|(name, results)| format!("{} in {name}", results.host.name));
            format!("{first} The hosts differ: {}.", listed(hosts.collect()))
        }
        false => first,
    };
    let expected = || all.iter().flat_map(|(_, results)| &results.expectations);
    let missed = expected().filter(|one| !one.met).count();
    let met = (expected().count() > 0).then(|| lead(missed, expected().count()));
    let said = [first].into_iter().chain(met).collect::<Vec<_>>().join(" ");
    let room = MOST_LETTERS.saturating_sub(said.chars().count());
    [said].into_iter().chain(compared(all, room)).chain(shares(all)).collect::<Vec<_>>().join(" ")
}

/// Whether the results were made by different hosts.
fn hosts_differ(all: &[Named]) -> bool {
    all.iter().any(|(_, results)| results.host.name != all[0].1.host.name)
}

/// One figure of every result: `Utilisation: in fast, rapid 93.00 %, cubic 90.00 %; in slow, ...` Omitted if it exceeds `room`
/// letters: the pictures show it.
fn compared(all: &[Named], room: usize) -> Option<String> {
    let found = COMPARED.iter().find_map(|name| {
        let figure = SUMMARY.iter().find(|figure| figure.name == *name)?;
        let of =
            |(name, results): &Named| Some(format!("in {name}, {}", listed(ranges(figure, &groups(&results.runs))?)));
        let texts: Option<Vec<String>> = all.iter().map(of).collect();
        let topic = topic(figure, &groups(&all.first()?.1.runs));
        Some(format!("{topic}: {}.", texts?.join("; ")))
    });
    found.filter(|words| words.chars().count() <= room)
}

/// The throughput of each controller of a mix, if results have few mixes: `Shares of the flows: in fast, rapid
/// 40.00 %, cubic 60.00 %; in slow, ...`
fn shares(all: &[Named]) -> Option<String> {
    let of = |(name, results): &Named| {
        let groups = groups(&results.runs);
        let mixes = shared(&groups);
        match mixes.as_slice() {
            [] => None,
            [(mix, got)] => Some((1, format!("in {name}{}, {got}", when(&groups, mix)))),
            several => {
                let each = several.iter().map(|(mix, got)| format!("of {mix} {got}"));
                Some((several.len(), format!("in {name}, {}", each.collect::<Vec<_>>().join(", "))))
            }
        }
    };
    let texts: Vec<(usize, String)> = all.iter().filter_map(of).collect();
    let few = !texts.is_empty() && texts.iter().all(|(mixes, _)| *mixes <= MOST_MIXES);
    let texts: Vec<String> = texts.into_iter().map(|(_, words)| words).collect();
    few.then(|| format!("Shares of the flows: {}.", texts.join("; ")))
}

/// The scenarios' keys with different values, and all keys of each scenario.
fn differing(all: &[Named]) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let keys_of = |(_, results): &Named| with_swept_values(keys(&results.manifest.scenario));
    let flat: Vec<BTreeMap<String, String>> = all.iter().map(keys_of).collect();
    let mut names: Vec<String> = flat.iter().flat_map(BTreeMap::keys).cloned().collect();
    names.sort();
    names.dedup();
    names.retain(|key| !NO_RUN.iter().any(|start| key.starts_with(start)));
    names.retain(|key| flat.iter().any(|one| one.get(key) != flat[0].get(key)));
    (names, flat)
}

/// A key that is swept has its values in its own line.
fn with_swept_values(mut all: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let lines: Vec<String> = all.keys().filter(|line| line.starts_with("sweep.")).cloned().collect();
    for line in lines {
        let keys: Vec<String> = line["sweep.".len()..].split(", ").map(str::to_string).collect();
        if !keys.iter().all(|key| all.contains_key(key)) {
            continue;
        }
        let values = all.remove(&line).unwrap_or_default();
        let texts = if keys.len() == 1 { values } else { format!("{} together: {values}", keys.join(" and ")) };
        keys.into_iter().for_each(|key| _ = all.insert(key, texts.clone()));
    }
    all
}

/// Returns a table of the scenarios' keys that do not have the same value everywhere; a sentence where all have.
pub fn differences(all: &[Named]) -> String {
    let (names, flat) = differing(all);
    if names.is_empty() && !hosts_differ(all) {
        return "<p>All were made from the same scenario.</p>\n".to_string();
    }
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What differs\"><table><thead><tr><th scope=\"col\">Key</th>",
    );
    all.iter().for_each(|(name, _)| _ = write!(out, "<th scope=\"col\">{}</th>", escape(name)));
    out.push_str("</tr></thead><tbody>");
    if hosts_differ(all) {
        out.push_str("<tr><th scope=\"row\">host</th>");
        all.iter().for_each(|(_, results)| _ = write!(out, "<td>{}</td>", escape(&results.host.name)));
        out.push_str("</tr>");
    }
    for key in names {
        _ = write!(out, "<tr><th scope=\"row\"><code>{}</code></th>", escape(&key));
        flat.iter().for_each(|one| {
            _ = write!(out, "<td>{}</td>", one.get(&key).map_or("\u{2013}".to_string(), |v| escape(v)))
        });
        out.push_str("</tr>");
    }
    out + "</tbody></table></div>\n"
}

/// All keys of a scenario with their values, like `path.rate`, `flow.0.controller`; empty if it cannot be read.
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
    use experiment::results::ControllerShare;

    fn two() -> Vec<Named> {
        let mut slow = example::demo();
        slow.manifest.scenario = slow.manifest.scenario.replace("10 Gbit/s", "1 Gbit/s");
        vec![("fast".to_string(), example::demo()), ("slow".to_string(), slow)]
    }

    #[test]
    fn controller_names_its_results() {
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
    fn partly_swept_key_is_in_names() {
        let all = vec![("plain".to_string(), example::demo()), ("buffers".to_string(), example::sweep())];
        let found = overlaid(&all);
        assert!(found.runs.iter().all(|run| run.params.is_empty()));
        let named = |name: &str| found.runs.iter().any(|run| run.controller == name);
        assert!(
            named("rapid, plain") && named("rapid, buffers, path.buffer = 5 packets"),
            "{:?}",
            found.runs[0].controller
        );
        let both = overlaid(&[("one".to_string(), example::sweep()), ("other".to_string(), example::sweep())]);
        assert!(both.runs.iter().all(|run| run.params.contains_key("path.buffer")), "both sweep it");
    }

    #[test]
    fn common_part_contains_shared_keys() {
        let texts = [
            "run = { name = \"a\", warmup = \"1 s\" }\n[path]\nrate = 1",
            "run = { warmup = \"1 s\" }\n[path]\nrate = 2",
        ];
        assert_eq!(common(texts.into_iter()).trim(), "[path]\n\n[run]\nwarmup = \"1 s\"");
        let swept = "run.warmup = \"1 s\"\npath = { rate = 1, buffer = 10 }\nsweep.\"path.buffer\" = [10, 50]";
        let plain = "run = { warmup = \"1 s\", duration = 4 }\npath = { rate = 1, buffer = 10 }";
        let both = common([swept, plain].into_iter());
        assert!(both.contains("warmup") && both.contains("rate = 1"), "{both}");
        assert!(!both.contains("buffer") && !both.contains("duration") && !both.contains("sweep"), "{both}");
        let two =
            "[[flow]]\nrtt = 30\npacket = 7\n[[flow]]\nrtt = 30\n[sweep]\n\"flow.0.rtt, flow.1.rtt\" = [[30, 60]]";
        let both = common([two, "[[flow]]\nrtt = 30\npacket = 7\n[[flow]]\nrtt = 30"].into_iter());
        assert!(both.contains("packet") && !both.contains("rtt"), "{both}");
    }

    /// The least and the greatest mean of the example's three replications are known: one value each.
    #[test]
    fn first_line_has_differences_and_findings() {
        let mut all = two();
        for (share, (_, results)) in [0.9, 0.8].into_iter().zip(&mut all) {
            results.expectations.clear();
            for run in &mut results.runs {
                run.summary.available_share = Some(if run.controller == "rapid" { share } else { 0.5 });
            }
            results.runs.retain(|run| run.controller != "newreno");
        }
        let said = "path.rate is 10 Gbit/s in fast, 1 Gbit/s in slow. Share of available: in fast, rapid 90.00 %, cubic 50.00 %; \
                    in slow, rapid 80.00 %, cubic 50.00 %.";
        assert_eq!(answer(&all), said);
        all[1] = ("again".to_string(), all[0].1.clone());
        assert!(answer(&all).starts_with("All were made from the same scenario. Share"));
        assert_eq!(differences(&all), "<p>All were made from the same scenario.</p>\n");
        all[1].1.host.name = "linux-6.12".to_string();
        let hosts =
            "All were made from the same scenario. The hosts differ: simulator in fast, linux-6.12 in again. Share";
        assert!(answer(&all).starts_with(hosts), "{}", answer(&all));
        let row = "<tr><th scope=\"row\">host</th><td>simulator</td><td>linux-6.12</td></tr>";
        assert!(differences(&all).contains(row), "{}", differences(&all));
        all[0].1.expectations = example::demo().expectations;
        assert!(answer(&all).contains(" Not as expected: 1 of 2 expectations is missed. "), "{}", answer(&all));
    }

    #[test]
    fn first_line_has_shares_of_mix() {
        let mut all = two();
        for (part, (_, results)) in [0.25, 0.5].into_iter().zip(&mut all) {
            let share = |controller: &str, share| ControllerShare {
                controller: controller.to_string(),
                share: Some(share),
                ..ControllerShare::default()
            };
            results.runs.truncate(1);
            results.runs[0].shares = vec![share("rapid", part), share("cubic", 1.0 - part)];
        }
        let said = "Shares of the flows: in fast, cubic 75.00 %, rapid 25.00 %; in slow, rapid 50.00 %, cubic 50.00 %.";
        assert!(answer(&all).ends_with(said), "{}", answer(&all));
    }

    #[test]
    fn only_keys_that_differ_are_listed() {
        let table = differences(&two());
        assert!(table.contains("<code>path.rate</code></th><td>10 Gbit/s</td><td>1 Gbit/s</td>"), "{table}");
        assert_eq!(table.matches("<code>").count(), 1);
        assert!(differences(&two()[..1]).contains("same scenario"));
    }
}
