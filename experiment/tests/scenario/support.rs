//! Scenarios as they stand in a file `test.toml`.

use experiment::scenario::{Experiment, Scenario};
use std::collections::BTreeMap;
use std::path::Path;

pub fn read(text: &str, changes: &[&str]) -> Result<Scenario, String> {
    let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
    Scenario::parse(text, Path::new("test.toml"), &changes).map_err(|error| error.to_string())
}

#[track_caller]
pub fn plan(text: &str) -> Vec<Experiment> {
    read(text, &[]).unwrap_or_else(|error| panic!("{error}")).plan()
}

#[track_caller]
pub fn experiment(text: &str) -> Experiment {
    plan(text).remove(0)
}

/// Reads a text. An error is why it is refused, after the name of its file.
pub fn try_refusal(text: &str, changes: &[&str]) -> Result<(), String> {
    let said = |message: String| message.strip_prefix("test.toml:").unwrap_or(&message).to_string();
    read(text, changes).map(drop).map_err(said)
}

/// Why a text is refused.
#[track_caller]
pub fn refusal(text: &str, changes: &[&str]) -> String {
    try_refusal(text, changes).expect_err(text)
}

/// Reads a text in which one place was spoilt.
pub fn try_spoilt(text: &str, right: &str, wrong: &str) -> Result<(), String> {
    read(text, &[])?;
    assert_eq!(text.matches(right).count(), 1, "{right}: the spoilt text must be unique");
    try_refusal(&text.replace(right, wrong), &[])
}

/// Why it is refused.
#[track_caller]
pub fn spoilt(text: &str, right: &str, wrong: &str) -> String {
    try_spoilt(text, right, wrong).expect_err(wrong)
}

/// A case of `refusals.toml`.
pub type Row = BTreeMap<String, String>;

/// Reads the texts of a group of `refusals.toml`. Each must be refused with its message; names all that are not.
#[track_caller]
pub fn assert_refused(group: &str, read: impl Fn(&Row) -> Result<(), String>) {
    let groups: BTreeMap<String, BTreeMap<String, Row>> = toml::from_str(include_str!("refusals.toml")).expect("TOML");
    let judged = groups[group].iter().filter_map(|(name, row)| {
        let said = read(row);
        (said != Err(row["says"].clone())).then(|| format!("{name}: {said:?}, expected {}", row["says"]))
    });
    let wrong: Vec<String> = judged.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
