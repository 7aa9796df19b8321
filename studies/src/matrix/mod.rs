//! Every pair of controllers, on one path after another: shares, losses of a third flow, queueing delay.
//!
//! A pair is a scenario whose first two flows are the two controllers ([`settings`]). A pair is run once, in either order; a
//! controller also competes with itself. All runs share one pool. Completed runs of an interrupted matrix are reused.

mod settings;

use experiment::results::evaluation::{Cell, figure};
use experiment::results::matrix::{FILE, Matrix, Pair, Setting};
use experiment::results::{Interval, Run};
use experiment::scenario::Experiment;
use harness::runner::{Error, Existing, Files, Keep, Made, Refusal, Runner};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// Parameters of a matrix.
pub struct Asked<'a> {
    /// The controllers, each by its name, or with settings as a scenario writes them. Empty: all.
    pub controllers: &'a [String],
    /// The names of the only settings; none: all settings.
    pub only: &'a [String],
    /// The short form: fewer and shorter runs.
    pub quick: bool,
}

/// The same as a table.
const TABLE: &str = "matrix.csv";

/// A run to make: setting and pair.
struct Task {
    setting: usize,
    row: usize,
    column: usize,
    experiment: Experiment,
}

impl Asked<'_> {
    /// Makes all runs, and writes a page and its data into `folder`.
    ///
    /// # Errors
    /// A missing or duplicate controller or setting, a refusal of the host, or a folder that cannot be written.
    pub fn answer(&self, runner: &Runner<'_>, folder: &Path) -> Result<Matrix, Error> {
        let settings = settings::read(self.only)?;
        let controllers = self.controllers()?;
        let (tasks, mut answered) = self.plan(&settings, &controllers)?;
        let experiments: Vec<Experiment> = tasks.iter().map(|task| task.experiment.clone()).collect();
        let files = Files::of(&experiments)?;
        runner.host.check(&experiments)?;
        let names = names(&controllers, &tasks);
        let asked = files.plan_digest(&experiments)?;
        runner.may_replace(folder, existing(folder, &names, &answered, self.quick, &asked))?;
        runner.may_take_page(folder, FILE)?;
        let finished = runner.finish(&experiments, &files, Keep::Figures, folder, &mut Made::new())?;
        for (number, setting) in answered.iter_mut().enumerate() {
            setting.pairs = pairs(number, controllers.len(), &tasks, &finished.runs);
        }
        let matrix = Matrix {
            version: runner.program.version().to_string(),
            commit: runner.program.commit().map(str::to_string),
            controllers: names.into_iter().zip(controllers.iter().map(|name| colour(name))).collect(),
            quick: self.quick,
            asked,
            runs: finished.runs.len(),
            settings: answered,
        };
        write(&matrix, folder).and_then(|()| finished.written(folder, FILE)).map_err(Error::unwritable(folder))?;
        Ok(matrix)
    }

    fn controllers(&self) -> Result<Vec<String>, Refusal> {
        if self.controllers.is_empty() {
            return Ok(packetscale_models::congestion::registry().iter().map(|entry| entry.name.to_string()).collect());
        }
        for (place, name) in self.controllers.iter().enumerate() {
            if self.controllers[..place].contains(name) {
                return Err(Refusal::Input(format!("found {name} twice; expected each controller once")));
            }
        }
        Ok(self.controllers.to_vec())
    }

    fn plan(
        &self,
        settings: &[settings::Setting],
        controllers: &[String],
    ) -> Result<(Vec<Task>, Vec<Setting>), Refusal> {
        let (mut tasks, mut answered) = (Vec::new(), Vec::new());
        for (number, setting) in settings.iter().enumerate() {
            let mut shown = None;
            for (row, column) in couples(controllers.len()) {
                let scenario = setting.scenario(&controllers[row], &controllers[column], self.quick)?;
                let runs = scenario.plan().into_iter();
                tasks.extend(runs.map(|experiment| Task { setting: number, row, column, experiment }));
                shown.get_or_insert_with(|| scenario.to_toml());
            }
            let (name, title) = (setting.name.clone(), setting.title.clone());
            answered.push(Setting { name, title, scenario: shown.unwrap_or_default(), pairs: Vec::new() });
        }
        Ok((tasks, answered))
    }
}

/// Each pair of indices below `count` once, and each with itself.
fn couples(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |row| (row..count).map(move |column| (row, column)))
}

/// Names of the controllers: a file or a table of settings by the label of its controller.
fn names(controllers: &[String], tasks: &[Task]) -> Vec<String> {
    let of = |number: usize| {
        let own = tasks.iter().find(|task| (task.row, task.column) == (number, number));
        own.and_then(|task| task.experiment.flows.first()).map(|flow| &flow.controller)
    };
    let specs: Option<Vec<_>> = (0..controllers.len()).map(of).collect();
    specs.map_or_else(|| controllers.to_vec(), |specs| experiment::scenario::controller_names(&specs))
}

/// That of the registry. A controller with settings has the colour of its kind.
fn colour(controller: &str) -> String {
    let words = controller.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let entry = |word: &str| packetscale_models::congestion::registry().iter().find(|entry| entry.name == word);
    words.into_iter().find_map(entry).map_or(String::new(), |entry| entry.colour.to_string())
}

fn pairs(setting: usize, controllers: usize, tasks: &[Task], runs: &[Run]) -> Vec<Pair> {
    let of = |row, column| {
        let made = tasks.iter().zip(runs);
        let runs = made.filter(|(task, _)| (task.setting, task.row, task.column) == (setting, row, column));
        pair(row, column, &runs.map(|(_, run)| run).collect::<Vec<_>>())
    };
    couples(controllers).map(|(row, column)| of(row, column)).collect()
}

fn pair(row: usize, column: usize, runs: &[&Run]) -> Pair {
    let over = |read: &dyn Fn(&Run) -> Option<f64>| -> Option<Cell> {
        let values: Vec<f64> = runs.iter().filter_map(|run| read(run)).collect();
        Interval::of_runs(&values).filter(|_| values.len() == runs.len()).map(Into::into)
    };
    let named = |name: &str| over(&|run| figure(name, run, 1));
    let share = |run: &Run| {
        let share = figure("subject_share", run, 1)?;
        Some(if row == column { share.min(1.0 - share) } else { share })
    };
    Pair {
        row,
        column,
        share: over(&share),
        third_loss_ratio: named("traffic_lost"),
        pair_loss_ratio: named("steady_loss_ratio"),
        queue_delay_p95_s: named("queue_delay_p95_s"),
        utilisation: named("utilisation"),
    }
}

/// The matrix already in a folder, compared with the requested one.
fn existing(folder: &Path, controllers: &[String], settings: &[Setting], quick: bool, asked: &str) -> Existing {
    let Ok(there) = std::fs::read(folder.join(FILE)) else {
        let lone = folder.join(TABLE).exists();
        return if lone { Existing::Other(format!("a file {TABLE} without {FILE}")) } else { Existing::Nothing };
    };
    let there = serde_json::from_slice::<Value>(&there).unwrap_or_default();
    let there = &there["matrix"];
    let list = |list: &Value, name: &dyn Fn(&Value) -> Value| -> Vec<String> {
        let items = list.as_array().into_iter().flatten().map(name);
        items.filter_map(|name| name.as_str().map(str::to_string)).collect()
    };
    let of = list(&there["controllers"], &|one| one[0].clone());
    let on = list(&there["settings"], &|one| one["name"].clone());
    if of.is_empty() || on.is_empty() {
        return Existing::Other(format!("a file {FILE} that is not of packetscale"));
    }
    let short = there["quick"] == true;
    let names = if of.len() > 5 { format!("{} controllers", of.len()) } else { of.join(", ") };
    let found = format!("a matrix{} of {names} on {}", Existing::form(short, quick), on.join(", "));
    let alike = of == controllers && on.iter().eq(settings.iter().map(|setting| &setting.name)) && short == quick;
    Existing::compared(there, asked, alike, found)
}

fn write(matrix: &Matrix, folder: &Path) -> io::Result<()> {
    let json = json!({ "schema": experiment::results::SCHEMA, "matrix": matrix });
    experiment::results::write_file(folder, FILE, |file| file.write_all(json.to_string().as_bytes()))?;
    experiment::results::write_file(folder, TABLE, |file| table(matrix, file))?;
    let page = report::matrix_page(matrix);
    experiment::results::write_file(folder, report::PAGE, |file| file.write_all(page.as_bytes()))
}

/// A row for each ordered pair of controllers, on each setting.
fn table(matrix: &Matrix, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record([
        "setting",
        "controller",
        "beside",
        "share",
        "share_half_width",
        "third_loss_ratio",
        "pair_loss_ratio",
        "queue_delay_p95_s",
        "utilisation",
    ])?;
    let count = matrix.controllers.len();
    for setting in &matrix.settings {
        for (row, column) in (0..count).flat_map(|row| (0..count).map(move |column| (row, column))) {
            let Some(pair) = setting.pair(row, column) else { continue };
            let mean = |cell: Option<Cell>| cell.map_or(String::new(), |cell| cell.mean.to_string());
            let share = pair.share_of(row).map_or(String::new(), |share| share.to_string());
            let half = pair.share.and_then(|share| share.half_width).map_or(String::new(), |half| half.to_string());
            writer.write_record([
                setting.name.clone(),
                matrix.controllers[row].0.clone(),
                matrix.controllers[column].0.clone(),
                share,
                half,
                mean(pair.third_loss_ratio),
                mean(pair.pair_loss_ratio),
                mean(pair.queue_delay_p95_s),
                mean(pair.utilisation),
            ])?;
        }
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::{FlowResult, TrafficResult};

    fn run(first_bps: f64, second_bps: f64) -> Run {
        let flow = |bps| FlowResult { throughput_bps: Some(bps), ..FlowResult::default() };
        let third = TrafficResult { packets: 200, dropped_packets: 3, ..TrafficResult::default() };
        Run { flows: vec![flow(first_bps), flow(second_bps)], traffic: vec![third], ..Run::default() }
    }

    #[test]
    fn share_is_fraction_of_both() {
        let runs = [run(1e6, 3e6), run(2e6, 2e6)];
        let found = pair(0, 1, &runs.iter().collect::<Vec<_>>());
        assert_eq!(found.share.map(|share| share.mean), Some(0.375));
        assert_eq!(found.third_loss_ratio.map(|loss| loss.mean), Some(0.015));
    }

    #[test]
    fn self_share_is_smaller_flows_share() {
        let runs = [run(1e6, 3e6), run(3e6, 1e6)];
        let found = pair(2, 2, &runs.iter().collect::<Vec<_>>());
        assert_eq!(found.share.map(|share| share.mean), Some(0.25));
    }

    #[test]
    fn pairs_are_unique_and_include_self() {
        assert_eq!(couples(3).collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]);
    }

    #[test]
    fn settings_are_scenarios_in_both_forms() {
        for setting in settings::read(&[]).expect("the settings") {
            for quick in [false, true] {
                let plan = setting.scenario("newreno", "{ kind = \"vegas\" }", quick).expect("a scenario").plan();
                assert!(plan.iter().all(|one| one.flows.len() == 2 && one.traffic.len() == 1), "{}", setting.name);
            }
        }
    }

    #[test]
    fn controller_has_colour_of_kind() {
        assert_eq!(colour("{ kind = \"rapid-thesis\", tau = \"10 ms\" }"), colour("rapid-thesis"));
        assert_ne!(colour("cubic"), colour("bbr"));
    }

    #[test]
    fn refuses_duplicate_controllers_and_unknown_settings() {
        let names = ["cubic".to_string(), "cubic".to_string()];
        let asked = Asked { controllers: &names, only: &[], quick: true };
        assert!(asked.controllers().is_err_and(|refusal| refusal.to_string().contains("cubic twice")));
        assert!(settings::read(&["shallow-100mbps".to_string(), "fast".to_string()]).is_err());
    }
}
