//! The questions of RFC 9743 to one controller, compared with widely deployed ones.
//!
//! A question is a scenario whose first flows get the evaluated controller ([`questions`]). All runs of all questions share one
//! pool, so the longest questions do not delay the others. Completed runs of an interrupted evaluation are reused.

mod answers;
mod plan;
mod questions;

use answers::sections;
use experiment::results::evaluation::{Evaluation, FILE};
use experiment::scenario::Experiment;
use harness::runner::{Error, Existing, Files, Keep, Made, Runner};
use plan::{Task, plan};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// The reference controllers.
const YARDSTICKS: [&str; 2] = ["cubic", "bbr"];

/// Parameters of an evaluation.
pub struct Asked<'a> {
    /// The controller, by its name, or with settings as a scenario writes them.
    pub controller: &'a str,
    /// Only sections of the RFC whose number has this prefix; `None`: all.
    pub only: Option<&'a str>,
    /// The short form: fewer and shorter runs.
    pub quick: bool,
}

impl Asked<'_> {
    /// A folder name from the controller, or its file, and its settings.
    pub fn folder_name(&self) -> String {
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_string).collect()
        };
        let table = format!("controller = {}", self.controller).parse::<toml::Table>().ok();
        let Some(toml::Value::Table(mut table)) = table.and_then(|mut table| table.remove("controller")) else {
            return words(self.controller).join("-");
        };
        let text = |value: toml::Value| value.as_str().map_or(value.to_string(), str::to_string);
        let (kind, file) = (table.remove("kind").map(text), table.remove("file").map(text));
        let stem = file.and_then(|file| Path::new(&file).file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        let named = words(&stem.or(kind).unwrap_or_default());
        let settings = table.into_iter().flat_map(|(key, value)| [words(&key), words(&text(value))].concat());
        named.into_iter().chain(settings).collect::<Vec<_>>().join("-")
    }

    /// Makes all runs, and writes a page and its data into `folder`.
    ///
    /// # Errors
    /// A missing controller or section, a refusal of the host, or a folder that cannot be written.
    pub fn answer(&self, runner: &Runner<'_>, folder: &Path) -> Result<Evaluation, Error> {
        let questions = questions::read(self.only)?;
        let contenders = self.contenders();
        let (planned, tasks) = plan(&questions, &contenders, self.quick)?;
        let experiments: Vec<Experiment> = tasks.iter().map(|task| task.experiment.clone()).collect();
        let files = Files::of(&experiments)?;
        runner.host.check(&experiments)?;
        let names = names(&contenders, &tasks);
        let asked = files.plan_digest(&experiments)?;
        let headings: Vec<&str> = questions.section.iter().map(|section| section.heading.as_str()).collect();
        runner.may_replace(folder, existing(folder, &names[0], &headings, self.quick, &asked))?;
        runner.may_take_page(folder, FILE)?;
        let finished = runner.finish(&experiments, &files, Keep::Figures, folder, &mut Made::new())?;
        let runs = &finished.runs;
        let evaluation = Evaluation {
            version: runner.program.version().to_string(),
            commit: runner.program.commit().map(str::to_string),
            controller: names[0].clone(),
            contenders: (names.iter().enumerate())
                .map(|(number, name)| (name.clone(), colour(&tasks, number)))
                .collect(),
            quick: self.quick,
            asked,
            runs: runs.len(),
            sections: sections(&questions, &planned, &tasks, runs, contenders.len()),
        };
        write(&evaluation, folder).and_then(|()| finished.written(folder, FILE)).map_err(Error::unwritable(folder))?;
        Ok(evaluation)
    }

    /// The controller, and the yardsticks other than itself.
    fn contenders(&self) -> Vec<String> {
        let yardsticks = YARDSTICKS.iter().filter(|name| **name != self.controller);
        std::iter::once(self.controller).chain(yardsticks.copied()).map(str::to_string).collect()
    }
}

/// Names of the contenders: a file or a table of settings by the label of its controller.
fn names(contenders: &[String], tasks: &[Task]) -> Vec<String> {
    let of = |number: usize| {
        let own = tasks.iter().find(|task| task.contender == number);
        own.and_then(|task| task.experiment.flows.first()).map(|flow| &flow.controller)
    };
    let specs: Option<Vec<_>> = (0..contenders.len()).map(of).collect();
    specs.map_or_else(|| contenders.to_vec(), |specs| experiment::scenario::controller_names(&specs))
}

/// That of the registry. The contender is the controller of the first flow; others may meet it.
fn colour(tasks: &[Task], contender: usize) -> String {
    let first = |task: &Task| task.experiment.flows.first().map(|flow| flow.controller.kind.clone());
    let kind = tasks.iter().find(|task| task.contender == contender).and_then(first);
    kind.and_then(|kind| packetscale_models::congestion::find(&kind))
        .map(|entry| entry.colour.to_string())
        .unwrap_or_default()
}

/// The evaluation already in a folder, compared with the requested one.
fn existing(folder: &Path, controller: &str, headings: &[&str], quick: bool, asked: &str) -> Existing {
    let Ok(there) = std::fs::read(folder.join(FILE)) else { return Existing::Nothing };
    let there = serde_json::from_slice::<Value>(&there).unwrap_or_default();
    let there = &there["evaluation"];
    let Some(of) = there["controller"].as_str() else {
        return Existing::Other(format!("a file {FILE} that is not of packetscale"));
    };
    let sections = there["sections"].as_array().map_or(&[][..], Vec::as_slice);
    let answered: Vec<&str> = sections.iter().filter_map(|section| section["heading"].as_str()).collect();
    let short = there["quick"] == true;
    let count = if answered.len() == 1 { "1 section".to_string() } else { format!("{} sections", answered.len()) };
    let found = format!("an evaluation{} of {of}, {count}", Existing::form(short, quick));
    Existing::compared(there, asked, (of, answered.as_slice(), short) == (controller, headings, quick), found)
}

fn write(evaluation: &Evaluation, folder: &Path) -> io::Result<()> {
    let json = json!({ "schema": experiment::results::SCHEMA, "evaluation": evaluation });
    experiment::results::write_file(folder, FILE, |file| file.write_all(json.to_string().as_bytes()))?;
    let page = report::evaluation_page(evaluation);
    experiment::results::write_file(folder, report::PAGE, |file| file.write_all(page.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_name_has_controller_file_and_settings() {
        let name = |controller| Asked { controller, only: None, quick: true }.folder_name();
        assert_eq!(name("cubic"), "cubic");
        assert_eq!(name("{ kind = \"c\", file = \"labs/my_law.so\" }"), "my-law");
        assert_eq!(name("{ kind = \"newreno\", beta = 0.7, abe = true }"), "newreno-abe-true-beta-0-7");
    }
}
