//! The questions, compiled in: `rfc9743.toml`.

use experiment::scenario::{Scenario, ScenarioError};
use harness::runner::Refusal;
use serde::Deserialize;
use std::path::Path;

const FILE: &str = "rfc9743.toml";
const TEXT: &str = include_str!("../../rfc9743.toml");

/// All of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Questions {
    pub section: Vec<Section>,
}

/// A section of the RFC.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub heading: String,
    pub left_out: Option<String>,
    #[serde(default)]
    pub question: Vec<Question>,
}

/// A scenario whose first flows get the evaluated controller, and the figures to read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub title: String,
    pub asks: String,
    pub figures: Vec<String>,
    /// Those of them that are reported without a judgement.
    #[serde(default)]
    pub not_judged: Vec<String>,
    /// Changes that make the short form.
    #[serde(default)]
    pub quick: Vec<String>,
    scenario: String,
}

/// Sections whose number begins with `only`; all without it.
pub fn read(only: Option<&str>) -> Result<Questions, Refusal> {
    let mut questions: Questions =
        toml::from_str(TEXT).map_err(|error| Refusal::Input(format!("{FILE}: {}", error.message())))?;
    for question in questions.section.iter().flat_map(|section| &section.question) {
        if let Some(name) = question.not_judged.iter().find(|name| !question.figures.contains(name)) {
            let title = &question.title;
            return Err(Refusal::Input(format!(
                "{FILE}: {title}: not_judged: found \"{name}\", expected one of its figures"
            )));
        }
        let unknown = |name: &&String| report::figure_label(name, 0.0).is_none();
        if let Some(name) = question.figures.iter().find(unknown) {
            return Err(Refusal::Input(format!("{FILE}: {}: found the unknown figure \"{name}\"", question.title)));
        }
    }
    let numbers: Vec<String> = questions.section.iter().map(|section| section.number().to_string()).collect();
    let inside =
        |number: &str, only: &str| number == only || number.starts_with(&format!("{}.", only.trim_end_matches('.')));
    questions.section.retain(|section| only.is_none_or(|only| inside(section.number(), only)));
    if questions.section.is_empty() {
        let found = only.unwrap_or_default();
        return Err(Refusal::Input(format!("--only: found \"{found}\"; expected one of {}", numbers.join(", "))));
    }
    Ok(questions)
}

impl Section {
    fn number(&self) -> &str {
        self.heading.split(' ').next().unwrap_or_default()
    }
}

impl Question {
    /// With this controller in the place of that of the first flows.
    pub fn scenario(&self, controller: &str, quick: bool) -> Result<Scenario, Refusal> {
        let mut changes = vec![format!("flow.0.controller={controller}"), "record.streams=0".to_string()];
        if quick {
            changes.extend(self.quick.iter().cloned());
        }
        let name = self.title.to_lowercase().replace(' ', "-");
        Scenario::parse(&self.scenario, Path::new(&format!("{name}.toml")), &changes)
            .map_err(|error| Refusal::Input(refused(controller, &error)))
    }
}

/// An error message in terms of the question, not of the scenario into which the controller was put.
fn refused(controller: &str, error: &ScenarioError) -> String {
    error.of_controller(0).map_or(error.to_string(), |mistake| format!("judge evaluate {controller}: {mistake}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_scenarios_in_both_forms() {
        let questions = read(None).unwrap_or_else(|_| panic!("the file is read"));
        let sections = &questions.section;
        assert!(sections.iter().all(|section| section.question.is_empty() == section.left_out.is_some()));
        for question in sections.iter().flat_map(|section| &section.question) {
            for quick in [false, true] {
                let scenario = question.scenario("newreno", quick);
                assert!(scenario.is_ok_and(|scenario| !scenario.plan().is_empty()), "{}", question.title);
            }
        }
    }

    #[test]
    fn refusal_names_evaluated_controller() {
        let questions = read(None).unwrap_or_else(|_| panic!("the file is read"));
        let refusal = |controller: &str| match questions.section[0].question[0].scenario(controller, true) {
            Err(refusal) => refusal.to_string(),
            Ok(_) => panic!("{controller} was taken"),
        };
        let unknown = refusal("venno");
        assert!(
            unknown.starts_with(
                "judge evaluate venno: found the unknown controller \"venno\", perhaps \"veno\"; expected one of \"newreno\""
            ),
            "{unknown}"
        );
        let setting = refusal("{ kind = \"rapid\", foo = 1 }");
        assert!(
            setting.starts_with("judge evaluate { kind = \"rapid\", foo = 1 }: foo: found an unknown setting of rapid"),
            "{setting}"
        );
    }

    /// Sections 5 to 7 of the RFC, as its table of contents numbers them.
    #[test]
    fn covers_all_headings_of_rfc() {
        let questions = read(None).unwrap_or_else(|_| panic!("the file is read"));
        let numbers: Vec<&str> = questions.section.iter().map(Section::number).collect();
        let expected = "5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2.1 5.2.2 5.2.3 5.3 6.1 6.2 6.3 6.4 7.1 7.2 7.3 7.4 7.5 7.6 7.7 \
            7.8 7.9 7.10 7.11";
        assert_eq!(numbers.join(" "), expected);
    }
}
