//! Any text gives a scenario, or one message with its place, and never a panic.

use experiment::scenario::{Place, Scenario};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::path::Path;

const FILES: [&str; 2] = [include_str!("files/dumbbell.toml"), include_str!("files/chain.toml")];

fn read(text: &str) -> Result<Scenario, experiment::scenario::ScenarioError> {
    Scenario::parse(text, Path::new("test.toml"), &[])
}

/// Reads `text`; a refusal must be one line that names a line of the file.
fn is_scenario_or_located_refusal(text: &str) -> Result<(), TestCaseError> {
    if let Err(error) = read(text) {
        let message = error.to_string();
        prop_assert!(message.starts_with("test.toml:"), "{message}");
        prop_assert_eq!(message.lines().count(), 1, "{}", message);
        let Some(Place::Line(line)) = error.place else {
            return Err(TestCaseError::fail(format!("no line in {message}")));
        };
        prop_assert!((1..=text.matches('\n').count() + 1).contains(&line), "{message}");
    }
    Ok(())
}

/// Values that are valid in some places and wrong in others.
fn value() -> impl Strategy<Value = String> {
    const CHOSEN: &[&str] = &[
        "0",
        "-1",
        "9223372036854775807",
        "1e308",
        "nan",
        "-inf",
        "true",
        "2026-01-01",
        "[]",
        "{}",
        "[[]]",
        "[\"a\"]",
        "\"\"",
        "\"0 s\"",
        "\"18446744 s\"",
        "\"18446745 s\"",
        "\"5 packets\"",
        "\"1e3 bdp\"",
        "\"inf bdp\"",
        "\"-1 bdp\"",
        "\"9000 B\"",
        "\"1 bit/s\"",
        "\"18 Tbit/s\"",
        "\"100 %\"",
        "\"unlimited\"",
        "\"rapid\"",
        "\"first\"",
        "{ kind = \"timer\" }",
        "{ kind = \"cubic\", a = 1 }",
        "{ uniform = [\"1 s\", \"2 s\"] }",
        "[\"1 ms\", \"2 ms\", \"3 ms\"]",
        "\"a\\nb\"",
        "\"\\u0007\"",
    ];
    prop_oneof![
        proptest::sample::select(CHOSEN).prop_map(|text: &str| text.to_string()),
        "\"[ -~µ]{0,12}\"",
        "[0-9]{1,25}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_a_scenario_or_refused_with_its_line(text in "(\\PC|\n){0,200}") {
        is_scenario_or_located_refusal(&text)?;
    }

    #[test]
    fn text_of_the_right_alphabet_is_a_scenario_or_refused_with_its_line(
        text in "(\\[{0,2}(run|path|flow|sweep|expect|link)\\]{0,2}|rate|delay|\"path.rate\"| = |\"1 ms\"|[0-9]|\\{|\\}|\n){0,40}",
    ) {
        is_scenario_or_located_refusal(&text)?;
    }

    #[test]
    fn a_scenario_with_another_value_somewhere_is_read_or_refused_with_its_line(
        file in 0..FILES.len(), line in any::<prop::sample::Index>(), value in value(),
    ) {
        let mut lines: Vec<String> = FILES[file].lines().map(str::to_string).collect();
        let keyed: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].contains(" = ")).collect();
        let at = keyed[line.index(keyed.len())];
        if let Some((key, _)) = lines[at].clone().split_once(" = ") {
            lines[at] = format!("{key} = {value}");
        }
        is_scenario_or_located_refusal(&lines.join("\n"))?;
    }

    #[test]
    fn a_scenario_with_a_character_changed_is_read_or_refused_with_its_line(
        file in 0..FILES.len(), at in any::<prop::sample::Index>(), by in prop::option::of("\\PC"),
    ) {
        let mut characters: Vec<char> = FILES[file].chars().collect();
        let at = at.index(characters.len());
        characters.splice(at..=at, by.iter().flat_map(|text| text.chars()));
        is_scenario_or_located_refusal(&characters.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_change_of_the_command_line_is_taken_or_refused(key in "[a-z.0-9]{0,12}", value in value()) {
        for change in [format!("{key}={value}"), format!("path.{key}={value}"), format!("flow.0.rtt={value}")] {
            if let Err(error) = Scenario::parse(FILES[0], Path::new("test.toml"), &[change]) {
                prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
            }
        }
    }

    #[test]
    fn a_resolved_scenario_reads_again_as_the_same(
        file in 0..FILES.len(),
        changes in prop::collection::vec(change(), 0..6),
    ) {
        let mut text = FILES[file].to_string();
        for (section, entry) in changes {
            let header = format!("[{section}]\n");
            let key = entry.split(" = ").next().unwrap_or_default().to_string();
            if text.contains(&header) {
                text = without(&text, &section, &key).replacen(&header, &format!("{header}{entry}\n"), 1);
            } else {
                text = format!("{text}\n{header}{entry}\n");
            }
        }
        let scenario = read(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let printed = scenario.to_toml();
        let again = read(&printed).map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
        prop_assert_eq!(again.plan(), scenario.plan());
        prop_assert_eq!(again.to_toml(), printed);
        prop_assert_eq!(again, scenario);
    }
}

/// Returns `text` without the entry `key` of `section`.
fn without(text: &str, section: &str, key: &str) -> String {
    let mut inside = false;
    let kept = text.lines().filter(|line| {
        if line.starts_with('[') {
            inside = *line == format!("[{section}]");
        }
        !(inside && line.starts_with(&format!("{key} = ")))
    });
    kept.map(|line| format!("{line}\n")).collect()
}

/// Draws a valid entry of some section.
fn change() -> impl Strategy<Value = (String, String)> {
    let entry = |section: &'static str| move |entry: String| (section.to_string(), entry);
    prop_oneof![
        (12u64..400).prop_map(|s| format!("duration = \"{s} min\"")).prop_map(entry("run")),
        any::<u32>().prop_map(|seed| format!("seed = {seed}")).prop_map(entry("run")),
        (1u32..5).prop_map(|n| format!("replications = {n}")).prop_map(entry("run")),
        "[a-z][a-z0-9._-]{0,8}".prop_map(|name| format!("name = \"{name}\"")).prop_map(entry("run")),
        (0u32..400).prop_map(|us| format!("coalescing = {{ time = \"{us} us\" }}")).prop_map(entry("receiver")),
        (1u32..9999).prop_map(|n| format!("window = \"{n} packets\"")).prop_map(entry("receiver")),
        any::<bool>().prop_map(|on| format!("stamps = {on}")).prop_map(entry("receiver")),
        (0u32..10_000).prop_map(|n| format!("pacing = \"{n}%\"")).prop_map(entry("sender")),
        (1u32..64).prop_map(|n| format!("gaps = {{ kind = \"batch\", packets = {n} }}")).prop_map(entry("sender")),
        (1u32..1000).prop_map(|s| format!("step = \"{s}.5 s\"")).prop_map(entry("record")),
    ]
}

/// Every file of `scenarios/`.
fn written() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let entries = std::fs::read_dir(folder).expect("the scenarios");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    files.into_iter().map(|path| std::fs::read_to_string(path).expect("text")).collect()
}

#[test]
fn fuzz_scenarios() {
    let texts: Vec<String> = written().into_iter().chain(FILES.map(String::from)).collect();
    conformance::fuzz::mutated_text(2_000, &texts, |text| {
        is_scenario_or_located_refusal(text)?;
        if let Ok(scenario) = read(text) {
            let resolved = scenario.to_toml();
            let again = read(&resolved).map_err(|error| TestCaseError::fail(format!("{error} in\n{resolved}")))?;
            prop_assert_eq!(again.to_toml(), resolved);
        }
        Ok(())
    });
}
