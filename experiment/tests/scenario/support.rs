//! Scenarios as they stand in a file `test.toml`.

use experiment::scenario::{Experiment, Scenario};
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

/// Why a text is refused, after the name of its file.
#[track_caller]
pub fn refusal(text: &str, changes: &[&str]) -> String {
    let Err(message) = read(text, changes) else { panic!("{changes:?} was taken with\n{text}") };
    message.strip_prefix("test.toml:").unwrap_or_else(|| panic!("{message}")).to_string()
}

/// Why a text is refused in which one place was spoilt.
#[track_caller]
pub fn spoilt(text: &str, right: &str, wrong: &str) -> String {
    read(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text.matches(right).count(), 1, "the spoilt text must be unique");
    refusal(&text.replace(right, wrong), &[])
}

/// Tests of a text that is right, each with one mistake in it, and the message after the name of the file.
macro_rules! refusals {
    ($text:ident, $($name:ident: $right:literal => $wrong:literal, $message:literal;)*) => {
        $(#[test] fn $name() { assert_eq!(crate::support::spoilt($text, $right, $wrong), $message); })*
    };
}
