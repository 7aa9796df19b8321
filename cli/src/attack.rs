//! `packetscale judge attack`: the paths on which a controller does worst, for the terminal.

use crate::args::judge::Attack as Arguments;
use crate::outcome::Failure;
use crate::output::say;
use crate::program::PROGRAM;
use crate::terminal::{self, Searching};
use crate::{hosts, plugins};
use experiment::results::to_lines;
use harness::runner::Host;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use studies::attack::{Against, Asked, Attack, BOUND, Effort, Figure, Finding, Means};

/// What a controller is compared with where nothing is said.
const USUAL_REFERENCE: &str = "cubic";
/// How long it is searched where nothing is said.
const USUAL_BUDGET: Duration = Duration::from_secs(600);

pub fn attack(arguments: &Arguments, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let host = hosts::first(hosts)?;
    let on = arguments.on.as_ref().map(|name| hosts::chosen(Some(name), hosts)).transpose()?;
    let controller = named(&arguments.controller)?;
    let against = against(&controller, arguments.against.as_deref())?;
    let figure = Figure::ALL.into_iter().find(|figure| figure.name() == arguments.figure);
    let figure = figure.ok_or_else(|| Failure::Input(format!("--figure: found \"{}\"", arguments.figure)))?;
    let time = arguments.budget.map_or(USUAL_BUDGET, |budget| Duration::from_secs_f64(budget.as_secs_f64()));
    let effort = arguments.evaluations.map_or(Effort::Time(time), Effort::Evaluations);
    let asked = Asked { controller: &controller, against: &against, figure, effort, seed: arguments.seed, on };
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out/attack").join(asked.folder_name()));
    if !arguments.making.output.replace && asked.is_of_another(&folder) {
        let found = "found what another search wrote; name another folder with --out, or replace it with --replace";
        return Err(Failure::Input(format!("{}: {found}", folder.display())));
    }
    let watch = Searching::new(arguments.making.json, arguments.evaluations);
    let found =
        asked.answer(&Means { host, program: &PROGRAM, jobs: arguments.making.jobs, watch: &watch }, &folder)?;
    watch.clear();
    if arguments.making.json {
        say(&format!("{}\n", json!({ "schema": experiment::results::SCHEMA, "attack": found })))?;
    } else {
        say(&format!("{}\nWritten to {}\n", shown(&found), folder.display()))?;
    }
    if found.interrupted {
        terminal::interrupted(&folder);
    }
    Ok(())
}

/// As a scenario in any folder writes it.
fn named(word: &str) -> Result<String, Failure> {
    if !word.ends_with(".so") {
        return Ok(plugins::written(word));
    }
    let file = std::path::absolute(word).map_err(|error| Failure::Input(format!("{word}: {error}")))?;
    // Before the search has threads: the guard of such files begins here.
    experiment::plugins::open(&file).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(plugins::written(&file.to_string_lossy()))
}

fn against(controller: &str, written: Option<&str>) -> Result<Against, Failure> {
    Ok(match written {
        Some(BOUND) => Against::Bound,
        None if controller == USUAL_REFERENCE => Against::Bound,
        Some(name) => Against::Controller(named(name)?),
        None => Against::Controller(USUAL_REFERENCE.to_string()),
    })
}

/// For the terminal.
fn shown(found: &Attack) -> String {
    let Attack { controller, against, figure, evaluations, .. } = found;
    if found.findings.is_empty() {
        return format!(
            "{evaluations} paths, and none on which the {figure} of {controller} is {} times worse than {against}.\n",
            studies::attack::LEAST_TIMES_WORSE
        );
    }
    let head = ["times worse", controller, against, "where", "path"].map(str::to_string).to_vec();
    let rows = found.findings.iter().map(|finding| row(finding, found.figure));
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let table = to_lines(&lines, 0..3);
    let again: Vec<String> = found.findings.iter().map(|finding| format!("{}.toml", finding.name)).collect();
    let replayed: String = found.findings.iter().filter_map(replayed).collect();
    format!(
        "The {figure} of {controller}, {evaluations} paths searched.\n\n{table}\n{}{replayed}Scenarios: {}\n",
        ratio(figure),
        again.join(", ")
    )
}

/// What the first column is of the next two.
fn ratio(figure: &str) -> String {
    let known = Figure::ALL.into_iter().find(|known| known.name() == figure);
    known.map_or(String::new(), |known| {
        format!("Times worse: the ratio of both after {} is added to each.\n", known.floor_words())
    })
}

fn row(finding: &Finding, figure: &str) -> Vec<String> {
    let words = |value: f64| {
        let known = Figure::ALL.into_iter().find(|known| known.name() == figure);
        known.map_or(value.to_string(), |known| known.words(value))
    };
    let tried = if finding.confirmed { "" } else { " (one seed)" };
    vec![
        format!("{:.1}{tried}", finding.times_worse),
        words(finding.subject),
        words(finding.reference),
        finding.causes_in_words.clone(),
        finding.path.clone(),
    ]
}

/// What another host said, in a line.
fn replayed(finding: &Finding) -> Option<String> {
    let replayed = finding.replayed.as_ref()?;
    let said = match (&replayed.refused, replayed.times_worse) {
        (Some(why), _) => format!("not run: {why}"),
        (None, Some(times)) => format!("{times:.1} times worse"),
        (None, None) => return None,
    };
    Some(format!("{} on {}: {said}\n", finding.name, replayed.host))
}
