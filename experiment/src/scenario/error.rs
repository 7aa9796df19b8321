//! One message per mistake: the file, the line, the key, what was found, what is expected.

use crate::scenario::visible::visible;
use std::fmt;

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On this line of the scenario file, from 1.
    Line(usize),
    /// In this argument of the command, as in `--set path.rate=10`.
    Argument(String),
}

/// Why a scenario cannot be run. Its text is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// The scenario file.
    pub file: String,
    /// The place in it; `None`: the file as a whole.
    pub place: Option<Place>,
    /// The key, dotted, as in `flow.0.rtt`; empty without one.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What is expected in its place.
    pub expected: String,
}

impl ScenarioError {
    /// A mistake in a file that is named later, by [`ScenarioError::in_file`].
    pub(crate) fn at(
        place: &Place,
        key: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        ScenarioError {
            file: String::new(),
            place: Some(place.clone()),
            key: key.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }

    pub(crate) fn in_file(self, file: &str) -> ScenarioError {
        ScenarioError { file: file.to_string(), ..self }
    }

    /// The mistake without its place, if it is one in the controller of this flow: for commands that put a
    /// requested controller into a scenario of their own.
    pub fn of_controller(&self, flow: usize) -> Option<String> {
        let setting = self.key.strip_prefix(&format!("flow.{flow}.controller"))?.trim_start_matches('.');
        let setting = if setting.is_empty() { String::new() } else { format!("{setting}: ") };
        Some(format!("{setting}found {}; expected {}", self.found, self.expected))
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.place {
            Some(Place::Line(line)) => format!(":{line}"),
            Some(Place::Argument(argument)) => format!(": {argument}"),
            None => String::new(),
        };
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        let message = format!("{}{place}: {key}found {}; expected {}", self.file, self.found, self.expected);
        // The value found may hold any character; the message stays one line.
        f.write_str(&visible(&message).replace('\n', "\\n"))
    }
}

/// Names in other tools, ours, and a remark on ours.
const OTHER_NAMES: [(&str, &str, &str); 5] = [
    ("reno", "newreno", ""),
    ("bbr2", "bbr", ""),
    ("bbr3", "bbr", ""),
    ("bbrv3", "bbr", ""),
    ("rtt", "delay", ", which is one way: half of the round trip"),
];

/// Returns `, perhaps "nearest"` if `word` may be a typing error for one of the candidates, else nothing.
pub(crate) fn perhaps<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let other = OTHER_NAMES.iter().find(|(other, ours, _)| *other == word && candidates.contains(ours));
    if let Some((_, ours, note)) = other {
        return format!(", perhaps \"{ours}\"{note}");
    }
    let near = |candidate: &&str| strsim::osa_distance(word, candidate);
    let limit = (word.chars().count() / 2).clamp(1, 4);
    candidates
        .into_iter()
        .min_by_key(near)
        .filter(|candidate| near(candidate) <= limit)
        .map_or(String::new(), |candidate| format!(", perhaps \"{candidate}\""))
}

/// Returns the words as `"a", "b", "c"`.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_our_name_for_names_of_other_tools() {
        assert_eq!(perhaps("reno", ["veno", "newreno"]), ", perhaps \"newreno\"");
        assert_eq!(perhaps("rtt", ["delay", "rate"]), ", perhaps \"delay\", which is one way: half of the round trip");
        assert_eq!(perhaps("rtt", ["rate", "rtts"]), ", perhaps \"rtts\"");
    }
}
