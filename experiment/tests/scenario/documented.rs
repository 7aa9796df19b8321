//! The declared keys are those that the parser reads, with its defaults; and scenarios in the documentation can be read.

use crate::support::{read, refusal};
use experiment::scenario::keys::{Key, SECTIONS};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../../docs/scenarios.md");

const PATH: &str = "[path]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
const FLOW: &str = "[[flow]]\ncontroller = \"rapid\"\n";
const CHAIN: &str = "[[link]]\nname = \"a\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
const GRAPH: &str = "[[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
const LINES: &str = "start_s,size_bytes\n0,1500\n";

/// Tables, and text that has a key `zzz` in each.
fn with_unknown_keys(flows: &str, jitter: &str) -> Vec<(&'static str, String)> {
    let path = |key: &str| format!("{PATH}{key}\n{FLOW}");
    let flow = |key: &str| format!("{PATH}{FLOW}{key}\n");
    let host = |of: &str, key: &str| format!("{PATH}{FLOW}[{of}]\n{key}\n");
    let traffic = |keys: &str| format!("{PATH}{FLOW}[[traffic]]\n{keys}\n");
    let probe = |keys: &str| format!("{PATH}[probe]\n{keys}\n");
    let gaps = |kind: &str| host("sender", &format!("gaps = {{ kind = \"{kind}\", zzz = 1 }}"));
    let on_off = "rate = \"1 Mbit/s\"\non = \"1 s\"\noff = \"1 s\"";
    let back = "[[link]]\nname = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
    let connections =
        |keys: &str| format!("{CHAIN}{back}[[traffic]]\nroute = [\"a\"]\nback = [\"b\"]\n{keys}\nzzz = 1\n");
    let inside = "{ kind = \"pareto-on-off\", rate = \"1 Mbit/s\", on = \"1 s\", off = \"1 s\", zzz = 1 }";
    let late = "{ kind = \"late\", p50 = \"1 us\", p99 = \"1 us\", p999 = \"1 us\", zzz = 1 }";
    let web = |key: &str| traffic(&format!("kind = \"web\"\nusers = 1\n{key}"));
    let arriving = |arrivals: &str, size: &str| flow(&format!("arrivals = {arrivals}\n{size}"));
    vec![
        ("run", host("run", "zzz = 1")),
        ("path", path("zzz = 1")),
        ("path.rate_trace", path("rate_trace = { file = \"../scenarios/traces/cellular.mahi\", zzz = 1 }")),
        ("path.loss", path("loss = { kind = \"gilbert-elliott\", p = 0.01, r = 0.1, zzz = 1 }")),
        ("path.jitter", path("jitter = { kind = \"uniform\", most = \"1 ms\", zzz = 1 }")),
        ("path.jitter", path("jitter = { kind = \"normal\", mean = \"1 ms\", sd = \"1 ms\", zzz = 1 }")),
        ("path.jitter", path(&format!("jitter = {{ kind = \"file\", file = \"{jitter}\", zzz = 1 }}"))),
        ("path.reorder", path("reorder = { share = 0.1, packets = 1, zzz = 1 }")),
        ("path.aggregation", path("aggregation = { period = \"1 ms\", zzz = 1 }")),
        ("path.aggregation", path("aggregation = { packets = 2, overhead = \"0 s\", zzz = 1 }")),
        ("path.policer", path("policer = { rate = \"1 Mbit/s\", bucket = \"9 kB\", zzz = 1 }")),
        ("path.shaper", path("shaper = { rate = \"1 Mbit/s\", bucket = \"9 kB\", zzz = 1 }")),
        ("path.return", path("[path.return]\nrate = \"1 Mbit/s\"\nzzz = 1\n")),
        ("link", format!("{CHAIN}zzz = 1\n{FLOW}")),
        ("link", format!("{GRAPH}zzz = 1\n{FLOW}")),
        ("receiver", host("receiver", "zzz = 1")),
        ("receiver.coalescing", host("receiver", "coalescing = { zzz = 1 }")),
        ("sender", host("sender", "zzz = 1")),
        ("sender.gaps", gaps("busy-wait")),
        ("sender.gaps", gaps("hrtimer")),
        ("sender.gaps", gaps("dummy-packets")),
        ("sender.gaps", gaps("batch")),
        ("sender.gaps", host("sender", &format!("gaps = {late}"))),
        ("sender.gaps", host("sender", "gaps = { kind = \"timer\", granularity = \"1 us\", zzz = 1 }")),
        ("flow", flow("zzz = 1")),
        ("flow", format!("{GRAPH}{FLOW}from = \"A\"\nto = \"B\"\nzzz = 1\n")),
        ("flow.start", flow("start = { uniform = [\"0 s\", \"1 s\"], zzz = 1 }")),
        ("flow.application", flow(&format!("application = {inside}"))),
        ("flow.size", flow("size = { kind = \"exponential\", mean = \"9 kB\", zzz = 1 }")),
        ("flow.size", flow("size = { kind = \"pareto\", least = \"1 kB\", most = \"9 kB\", shape = 2, zzz = 1 }")),
        ("flow.size", flow("size = { kind = \"cdf\", file = \"../scenarios/sizes/web-search.csv\", zzz = 1 }")),
        ("flow.arrivals", arriving("{ kind = \"poisson\", load = 0.5, zzz = 1 }", "size = \"9 kB\"")),
        ("flow.arrivals", arriving("{ kind = \"times\", times = [\"1 s\"], zzz = 1 }", "size = \"9 kB\"")),
        ("flow.arrivals", arriving("{ kind = \"requests\", zzz = 1 }", "size = \"9 kB\"")),
        ("flow.arrivals", arriving(&format!("{{ kind = \"trace\", file = \"{flows}\", zzz = 1 }}"), "")),
        ("traffic", traffic("kind = \"cbr\"\nrate = \"1 Mbit/s\"\nzzz = 1")),
        ("traffic", traffic(&format!("kind = \"pareto-on-off\"\n{on_off}\nzzz = 1"))),
        ("traffic", traffic("kind = \"pcap\"\nfile = \"Cargo.toml\"\nzzz = 1")),
        (
            "traffic",
            format!("{GRAPH}[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nfrom = \"A\"\nto = \"B\"\nzzz = 1\n"),
        ),
        ("traffic", connections("kind = \"tmix\"\nfile = \"Cargo.toml\"")),
        ("traffic", connections("kind = \"sessions\"\nrate = \"1 Mbit/s\"")),
        ("traffic", web("zzz = 1")),
        (
            "traffic.shaper",
            traffic(
                "kind = \"cbr\"\nrate = \"1 Mbit/s\"\nshaper = { rate = \"1 Mbit/s\", bucket = \"9 kB\", zzz = 1 }",
            ),
        ),
        ("traffic.size", web("size = { zzz = 1 }")),
        ("traffic.objects", web("objects = { zzz = 1 }")),
        ("traffic.think", web("think = { zzz = 1 }")),
        ("traffic.parse", web("parse = { zzz = 1 }")),
        ("probe", probe("rate = \"1 Mbit/s\"\nstreams = 1\nzzz = 1")),
        ("probe.rate", probe("rate = { from = \"1 Mbit/s\", to = \"2 Mbit/s\", zzz = 1 }")),
        (
            "probe.search",
            probe("rate = { from = \"1 Mbit/s\", to = \"2 Mbit/s\" }\nsearch = { kind = \"pathload\", zzz = 1 }"),
        ),
        (
            "probe.search",
            probe("rate = { from = \"1 Mbit/s\", to = \"2 Mbit/s\" }\nsearch = { kind = \"prc-mt\", zzz = 1 }"),
        ),
        ("compare", host("compare", "controllers = [\"rapid\"]\nzzz = 1")),
        ("record", host("record", "zzz = 1")),
        ("expect", flow("[[expect]]\nmetric = \"utilisation\"\nat_least = 0\nzzz = 1")),
    ]
}

/// The keys that the parser names beside an unknown one, by table.
fn read_keys() -> BTreeMap<&'static str, BTreeSet<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let flows = folder.path().join("flows.csv");
    let jitter = folder.path().join("jitter.csv");
    std::fs::write(&flows, LINES).expect("a file");
    std::fs::write(&jitter, "jitter_s\n0.001\n").expect("a file");
    let mut found: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    for (table, text) in with_unknown_keys(&flows.display().to_string(), &jitter.display().to_string()) {
        let message = refusal(&text, &[]);
        let (_, known) =
            message.split_once("zzz: found an unknown key; expected one of ").unwrap_or_else(|| panic!("{message}"));
        let keys = known.split(", ").map(|key| key.trim_matches('"').to_string());
        found.entry(table).or_default().extend(keys);
    }
    found
}

/// The declared keys, by table. Those of a table are also those of the tables inside it.
fn declared_keys() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for section in SECTIONS {
        for (table, key) in section.tables.iter().flat_map(|table| section.keys.iter().map(move |key| (table, key))) {
            let parts: Vec<&str> = key.name.split('.').collect();
            for (depth, part) in parts.iter().enumerate() {
                let inside = [&[*table], &parts[..depth]].concat().join(".");
                found.entry(inside).or_default().insert(part.to_string());
            }
        }
    }
    found
}

#[test]
fn declared_keys_are_the_keys_read() {
    let (mut declared, read) = (declared_keys(), read_keys());
    // The tables of every link are read by the same code: those of [path] stand for the others.
    declared.retain(|table, _| !table.starts_with("link.") && !table.starts_with("path.return."));
    for (table, keys) in &declared {
        assert_eq!(Some(keys), read.get(table.as_str()), "[{table}]");
    }
    assert_eq!(declared.len(), read.len());
}

/// Values of the smallest scenario: not defaults.
const GIVEN: &[&str] = &["name", "rate", "delay", "controller", "kind", "on", "off"];

#[test]
fn every_default_is_declared() {
    let text = format!(
        "{PATH}{FLOW}[[traffic]]\nkind = \"pareto-on-off\"\nrate = \"1 Mbit/s\"\non = \"1 s\"\noff = \"1 s\"\n"
    );
    let scenario = read(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut keys: Vec<&Key> = Vec::new();
    let mut checked = 0;
    for line in scenario.to_toml().lines() {
        if line.starts_with('[') {
            let table = line.trim_matches(['[', ']']);
            keys = SECTIONS.iter().filter(|of| of.tables.contains(&table)).flat_map(|of| of.keys).collect();
        } else if let Some((name, value)) = line.split_once(" = ").filter(|(name, _)| !GIVEN.contains(name)) {
            let declared = |name: &str| keys.iter().find(|key| key.name == name).map(|key| key.default);
            match name {
                "coalescing" => {
                    let inner = ["kind", "time", "frames", "jitter"];
                    let of =
                        |key: &str| format!("{key} = {}", declared(&format!("coalescing.{key}")).unwrap_or_default());
                    assert_eq!(value, format!("{{ {} }}", inner.map(of).join(", ")));
                }
                // Two kinds have one.
                "shape" => assert!(
                    declared(name).is_some_and(|default| default.contains(&format!("`pareto-on-off`: {value}")))
                ),
                _ => assert_eq!(declared(name), Some(value), "{line}"),
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn documented_scenarios_are_valid() {
    let blocks: Vec<&str> = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        read(block, &[]).unwrap_or_else(|error| panic!("{error}: {block}"));
    }
}
