//! A search for the path on which a controller does worst.
//!
//! A path is a [`Genome`]: a value for each row of a table of properties, within stated bounds ([`genes`]). It is written
//! as a scenario ([`written`]), run with the controller and with a reference, and scored by how many times worse the controller is
//! ([`figure`], [`judge`]). Differential evolution ([`evolution`]) searches for the worst, cause by cause ([`search`]). Findings are
//! confirmed with other seeds, simplified ([`shrink`]), and written to files ([`finding`]).
//!
//! The same seed and the same number of paths give the same findings, on every machine and with any number of threads.

mod evolution;
pub mod figure;
mod finding;
pub mod genes;
mod genome;
mod judge;
mod search;
mod shrink;
mod words;
mod written;

pub use figure::Figure;
pub use finding::{Finding, KEEPS, Replayed, SEEDS};
pub use genome::Genome;
pub use judge::Against;
pub use search::Watch;

use finding::{Asker, described, holds, replay};
use genes::Kind;
use harness::runner::{Error, Host, Program, Refusal, threads};
use judge::Judge;
use search::{Budget, Searched, Worst, one_of_each, search};
use serde::Serialize;
use shrink::shrink;
use std::path::Path;
use std::time::{Duration, Instant};

/// The least that counts as a finding.
pub const LEAST_TIMES_WORSE: f64 = 1.5;

/// The part of the time that is searched; the rest is for other seeds and simpler paths.
const SEARCHED_PART: f64 = 0.75;

/// How much is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// This number of paths. Findings are simplified completely, however long that takes.
    Evaluations(u64),
    /// So long in all.
    Time(Duration),
}

/// A search's parameters.
pub struct Asked<'a> {
    /// The controller, by its name, or with settings as a scenario writes them.
    pub controller: &'a str,
    /// The reference.
    pub against: &'a Against,
    /// The compared figure.
    pub figure: Figure,
    /// How much is searched.
    pub effort: Effort,
    /// The seed of the search and of its runs.
    pub seed: u64,
    /// A second host, on which findings are also tried.
    pub on: Option<&'a dyn Host>,
}

/// Means for making runs.
pub struct Means<'a> {
    /// Where.
    pub host: &'a dyn Host,
    /// The program.
    pub program: &'a Program,
    /// How many runs at the same time; `None`: one per core.
    pub jobs: Option<u16>,
    /// Receives progress.
    pub watch: &'a dyn Watch,
}

/// Findings of a search, worst first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attack {
    /// Version of packetscale.
    pub version: String,
    /// Commit it was built from, if known.
    pub commit: Option<String>,
    /// The controller, as tables name it.
    pub controller: String,
    /// The reference; of the bound, `what others leave`.
    pub against: String,
    /// The compared figure.
    pub figure: &'static str,
    /// The seed.
    pub seed: u64,
    /// Paths that were judged in the search.
    pub evaluations: u64,
    /// The command. If it counts evaluations, it reproduces the findings.
    pub command: String,
    /// Whether it was ended before its budget was used up.
    pub interrupted: bool,
    /// The findings.
    pub findings: Vec<Finding>,
}

/// Why a path was not judged.
enum Stop {
    /// The time is over.
    Ended,
    Failed(Error),
}

/// A path confirmed with other seeds and simplified, unless time was over.
struct Settled {
    genome: Genome,
    times_worse: f64,
    confirmed: bool,
    simplest: bool,
}

impl Asked<'_> {
    /// A name for a folder.
    pub fn folder_name(&self) -> String {
        let against = match self.against {
            Against::Controller(name) => name,
            Against::Bound => BOUND,
        };
        let parts = [self.controller, self.figure.name(), against].map(finding::file_name);
        parts.join("-")
    }

    /// Searches, and writes the findings into `folder`: a scenario for each, and `attack.json`.
    ///
    /// # Errors
    /// A missing controller, a refusal of the host, or a folder that cannot be written.
    pub fn answer(&self, means: &Means<'_>, folder: &Path) -> Result<Attack, Error> {
        if *self.against == Against::Controller(self.controller.to_string()) {
            let found = format!("--against: found {}, which is attacked itself", self.controller);
            return Err(Refusal::Input(format!("{found}; expected another controller, or {BOUND}")).into());
        }
        let began = Instant::now();
        let Means { host, program, .. } = *means;
        let mut judge = Judge::new(host, program, self.controller, self.against, self.figure, self.seed);
        let usual = judge.plan(&Genome::usual(self.always()), 1)?;
        means.host.check(&usual)?;
        if let Some(on) = self.on {
            on.accept(&usual).map_err(Refusal::from)?;
        }
        judge.remember_in(folder)?;
        let names: Vec<&str> = usual.iter().map(|experiment| experiment.controller.as_str()).collect();
        let (subject, reference) = (names[0], names.get(1).copied().unwrap_or("what others leave"));
        let (searched, settled) = threads(means.jobs)?.install(|| self.settled(&judge, means.watch, began))?;
        let command = self.command();
        let asker = Asker { subject, reference, command: &command, version: program.version() };
        let described = |one: &Settled| described(&judge, &one.genome, &asker, one.confirmed, one.simplest);
        let findings = settled.iter().map(described).collect::<Result<Vec<_>, _>>()?;
        let interrupted = means.watch.ends();
        let mut attack = Attack {
            version: program.version().to_string(),
            commit: program.commit().map(str::to_string),
            controller: subject.to_string(),
            against: reference.to_string(),
            figure: self.figure.name(),
            seed: self.seed,
            evaluations: searched.evaluations,
            command: command.clone(),
            interrupted,
            findings,
        };
        judge.save()?;
        write(&attack, folder).map_err(Error::unwritable(folder))?;
        if !interrupted {
            judge.forget()?;
        }
        if let Some(on) = self.on {
            self.replay(&judge, on, &settled, &mut attack, means.watch);
            write(&attack, folder).map_err(Error::unwritable(folder))?;
        }
        Ok(attack)
    }

    /// Tries the findings on another host, which may take long: the rest is skipped when the search is ended.
    fn replay(&self, judge: &Judge<'_>, on: &dyn Host, settled: &[Settled], attack: &mut Attack, watch: &dyn Watch) {
        for (finding, one) in attack.findings.iter_mut().zip(settled).take_while(|_| !watch.ends()) {
            finding.replayed = Some(replay(judge, &one.genome, on));
        }
    }

    /// Kinds that every path has, for this figure.
    fn always(&self) -> &'static [Kind] {
        match self.figure {
            Figure::Completion => &[Kind::Path, Kind::Size],
            Figure::Fairness => &[Kind::Path, Kind::Second],
            Figure::Share | Figure::Queue | Figure::Loss => &[Kind::Path],
        }
    }

    fn settled(&self, judge: &Judge<'_>, watch: &dyn Watch, began: Instant) -> Result<(Searched, Vec<Settled>), Error> {
        let (budget, end) = match self.effort {
            Effort::Evaluations(count) => (Budget::Evaluations(count), None),
            Effort::Time(time) => (Budget::Until(began + time.mul_f64(SEARCHED_PART)), Some(began + time)),
        };
        let mut searched = search(judge, self.always(), budget, watch)?;
        let strength = |worst: &Worst| worst.paths.first().map_or(0.0, |path| path.score.times_worse);
        searched.worst.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
        let of = searched.worst.iter().filter(|worst| strength(worst) >= LEAST_TIMES_WORSE).count();
        let ends = || watch.ends() || end.is_some_and(|end| Instant::now() >= end);
        let mut settled = Vec::new();
        for (number, worst) in searched.worst.iter().take(of).enumerate() {
            watch.shrinks(number + 1, of);
            settled.extend(settle(judge, worst, &ends)?);
            judge.save()?;
        }
        let each = one_of_each(settled, |one| &one.genome, |one| one.times_worse);
        Ok((searched, each))
    }

    /// Whether the findings in this folder are from a different search.
    pub fn is_of_another(&self, folder: &Path) -> bool {
        let Ok(text) = std::fs::read_to_string(folder.join(FILE)) else { return false };
        let there: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        there.is_none_or(|there| there["attack"]["command"] != self.command())
    }

    fn command(&self) -> String {
        let quoted = |word: &str| {
            let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-._/".contains(c));
            if plain { word.to_string() } else { format!("'{word}'") }
        };
        let against = match self.against {
            Against::Controller(name) => quoted(name),
            Against::Bound => BOUND.to_string(),
        };
        let effort = match self.effort {
            Effort::Evaluations(count) => format!("--evaluations {count}"),
            Effort::Time(time) => format!("--budget \"{} s\"", time.as_secs_f64()),
        };
        let (controller, figure) = (quoted(self.controller), self.figure.name());
        format!(
            "packetscale judge attack {controller} --against {against} --figure {figure} --seed {} {effort}",
            self.seed
        )
    }
}

/// The file with all that a search found.
const FILE: &str = "attack.json";

/// Name of the remaining bandwidth as a reference, for `--against`.
pub const BOUND: &str = "bound";

/// The first of an island's worst paths that other seeds confirm, simplified.
fn settle(judge: &Judge<'_>, worst: &Worst, ends: &dyn Fn() -> bool) -> Result<Option<Settled>, Error> {
    let candidates = worst.paths.iter().filter(|path| path.score.times_worse >= LEAST_TIMES_WORSE);
    for path in candidates {
        let times = path.score.times_worse;
        let shows = |genome: &Genome| {
            if ends() { Err(Stop::Ended) } else { holds(judge, genome, times).map_err(Stop::Failed) }
        };
        let settled = |genome: Genome, times_worse: f64, confirmed: bool, simplest: bool| {
            Some(Settled { genome, times_worse, confirmed, simplest })
        };
        match shows(&path.genome) {
            Ok(false) => continue,
            Err(Stop::Ended) => return Ok(settled(path.genome.clone(), times, false, false)),
            Err(Stop::Failed(error)) => return Err(error),
            Ok(true) => {}
        }
        let (genome, simplest) = match shrink(&path.genome, shows) {
            Ok(genome) => (genome, true),
            Err((genome, Stop::Ended)) => (genome, false),
            Err((_, Stop::Failed(error))) => return Err(error),
        };
        let scores = judge.scores(&genome, SEEDS)?;
        let mean = scores.iter().map(|score| score.times_worse).sum::<f64>() / scores.len() as f64;
        if mean >= LEAST_TIMES_WORSE {
            return Ok(settled(genome, mean, true, simplest));
        }
    }
    Ok(None)
}

/// The scenarios of an earlier search of the same figure in this folder, which `attack.json` names.
fn earlier(folder: &Path, figure: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let findings = read["attack"]["findings"].as_array().filter(|_| read["attack"]["figure"] == figure);
    let names = findings.into_iter().flatten().filter_map(|finding| finding["name"].as_str());
    names.filter(|name| !name.contains('/')).map(str::to_string).collect()
}

fn write(attack: &Attack, folder: &Path) -> std::io::Result<()> {
    let earlier = earlier(folder, attack.figure);
    let json = serde_json::json!({ "schema": experiment::results::SCHEMA, "attack": attack });
    experiment::results::write_file(folder, FILE, |file| file.write_all(json.to_string().as_bytes()))?;
    for finding in &attack.findings {
        let name = format!("{}.toml", finding.name);
        experiment::results::write_file(folder, &name, |file| file.write_all(finding.scenario.as_bytes()))?;
    }
    for name in earlier.iter().filter(|name| attack.findings.iter().all(|finding| finding.name != **name)) {
        let _ = std::fs::remove_file(folder.join(format!("{name}.toml"))); // it may be gone
    }
    Ok(())
}
