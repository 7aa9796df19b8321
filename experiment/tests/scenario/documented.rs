//! The defaults in the documentation are those of the code.

use crate::support::read;

const PAGE: &str = include_str!("../../../docs/scenarios.md");

/// Keys of the smallest scenario: not defaults.
const GIVEN: &[&str] = &["name", "rate", "delay", "controller", "kind", "on", "off"];

#[test]
fn every_default_stands_in_the_documentation() {
    let text = "[path]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[flow]]\ncontroller = \"rapid\"\n\
        [[traffic]]\nkind = \"pareto-on-off\"\nrate = \"1 Mbit/s\"\non = \"1 s\"\noff = \"1 s\"\n";
    let scenario = read(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut section = String::new();
    let mut checked = 0;
    for line in scenario.to_toml().lines() {
        if line.starts_with('[') {
            let (_, rest) = PAGE.split_once(&format!("\n## {line}")).unwrap_or_else(|| panic!("no section {line}"));
            section = rest.split("\n## ").next().unwrap_or_default().to_string();
        } else if let Some((key, value)) = line.split_once(" = ").filter(|(key, _)| !GIVEN.contains(key)) {
            match key {
                "coalescing" => assert_eq!(value, "{ kind = \"timer\", time = \"0 s\", frames = 0, jitter = \"0 s\" }"),
                // The start of a source shares its row with the stop.
                "start" if section.contains("| `start`, `stop` |") => {
                    assert!(section.contains(&format!("| `start`, `stop` | `{value}`")))
                }
                _ => assert!(section.contains(&format!("\n| `{key}` | `{value}` |")), "{line}"),
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
    for row in [
        "| `coalescing.kind` | `\"timer\"` |",
        "| `coalescing.time` | `\"0 s\"` |",
        "| `coalescing.frames` | `0` |",
        "| `coalescing.jitter` | `\"0 s\"` |",
    ] {
        assert!(PAGE.contains(row), "{row}");
    }
}

#[test]
fn every_scenario_in_the_documentation_is_one() {
    let blocks: Vec<&str> = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        read(block, &[]).unwrap_or_else(|error| panic!("{error}: {block}"));
    }
}
