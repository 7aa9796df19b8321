//! The scenario as a whole: reading it, and unfolding it into runs.

use crate::scenario::document::{Table, Value, argument, parse};
use crate::scenario::error::{Place, ScenarioError};
use crate::scenario::expect::expectations;
use crate::scenario::files::text_of;
use crate::scenario::flows::controlled;
use crate::scenario::model::{Expectation, Experiment};
use crate::scenario::resolve::{SweepPoint, resolve};
use crate::scenario::sweep::{Axis, axes, grid, params, put_values};
use std::path::{Path, PathBuf};

/// The most runs of one plan.
const MOST_RUNS: usize = 100_000;

/// A scenario that has passed every check: each of its runs can start.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    document: Table,
    points: Vec<SweepPoint>,
    expectations: Vec<Expectation>,
}

impl Scenario {
    /// Reads a scenario file and applies the changes of `--set KEY=VALUE`.
    ///
    /// # Errors
    /// One message: the file, the line, the key, what was found, what is expected.
    pub fn read(path: &Path, changes: &[String]) -> Result<Scenario, ScenarioError> {
        let text = text_of(path).map_err(|error| ScenarioError {
            file: path.display().to_string(),
            place: None,
            key: String::new(),
            found: error.to_string(),
            expected: "a scenario file in TOML".to_string(),
        })?;
        Scenario::parse(&text, path, changes)
    }

    /// Reads the text of a scenario as if it were the file `path`. That path appears in messages, gives the
    /// scenario its name, and locates the files that it mentions.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn parse(text: &str, path: &Path, changes: &[String]) -> Result<Scenario, ScenarioError> {
        let folder = path.parent().map_or(PathBuf::new(), Path::to_path_buf);
        let stem = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        let read = || {
            let mut document = parse(text)?;
            for change in changes {
                put(&mut document, change)?;
            }
            unfold(document, &named(&stem), &folder)
        };
        read().map_err(|error: ScenarioError| error.in_file(&path.display().to_string()))
    }

    /// Returns its name: `run.name`, by default the name of its file.
    pub fn name(&self) -> &str {
        &self.points[0].run.name
    }

    /// Returns the seeds of the replications.
    pub fn seeds(&self) -> Vec<u64> {
        seeds(self.points[0].run.seed).take(self.points[0].run.replications as usize).collect()
    }

    /// Returns its expectations of its runs.
    pub fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }

    /// Returns the resolved file, with changes and defaults filled in. Reading it gives the same scenario.
    pub fn to_toml(&self) -> String {
        self.document.to_toml()
    }

    pub(crate) fn document(&self) -> &Table {
        &self.document
    }

    /// Returns every run, ordered by sweep point, then by controller, then by replication.
    pub fn plan(&self) -> Vec<Experiment> {
        let seeds = self.seeds();
        self.points.iter().flat_map(|point| point.experiments(&seeds)).collect()
    }
}

impl SweepPoint {
    fn experiments(&self, seeds: &[u64]) -> Vec<Experiment> {
        let replicate = |experiment: Experiment| {
            let numbered = (0u32..).zip(seeds);
            numbered.map(move |(replication, seed)| Experiment { replication, seed: *seed, ..experiment.clone() })
        };
        if self.compared.is_empty() {
            return replicate(Experiment { controller: self.label.clone(), ..self.template.clone() }).collect();
        }
        let put_in = self.compared.iter().map(|named| {
            let mut experiment = Experiment { controller: named.label.clone(), ..self.template.clone() };
            controlled(experiment.flows.iter_mut(), &named.spec);
            experiment.arrivals.iter_mut().for_each(|arrivals| arrivals.flow.controller = named.spec.clone());
            experiment
        });
        put_in.flat_map(replicate).collect()
    }

    fn labels(&self) -> Vec<String> {
        if self.compared.is_empty() {
            vec![self.label.clone()]
        } else {
            self.compared.iter().map(|named| named.label.clone()).collect()
        }
    }
}

/// Returns a text as a part of a name: characters that are not allowed become `-`.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }).collect()
}

/// Turns a file's name into a scenario's name.
fn named(stem: &str) -> String {
    let name = plain(stem);
    if name.starts_with(char::is_alphanumeric) { name } else { format!("scenario{name}") }
}

/// Applies one `KEY=VALUE` of the command line. A list for a swept key takes the place of its values, and so does one for
/// `sweep.KEY`, whether KEY was swept or not.
fn put(document: &mut Table, change: &str) -> Result<(), ScenarioError> {
    let place = Place::Argument(format!("--set {change}"));
    let Some((key, value)) = change.split_once('=') else {
        return Err(ScenarioError::at(&place, "", "no \"=\"", "KEY=VALUE like path.rate=\"10 Gbit/s\""));
    };
    let (key, node) = (key.trim(), argument(value.trim(), &place)?);
    if let Some(name) = key.strip_prefix("sweep.") {
        return match &node.value {
            Value::List(_) => put_values(document, name.trim_matches('"'), node),
            other => Err(ScenarioError::at(&place, key, other.described(), list_like(key))),
        };
    }
    let axes = axes(document)?;
    let Some(axis) = axes.iter().find(|axis| axis.keys().any(|swept| swept == key)) else {
        return document.substitute(key, node);
    };
    match &node.value {
        // One of several keys that take each value together, or the only one.
        Value::List(_) if axis.key.split(',').any(|one| one.trim() == key) => put_values(document, &axis.key, node),
        _ if axis.key.split(',').any(|one| one.trim() == key) => {
            Err(ScenarioError::at(&place, key, "one value for a key that is swept", list_like(key)))
        }
        _ => {
            let (found, name) =
                (format!("a key that the cases of \"{}\" set", axis.key), format!("sweep.{}", axis.key));
            Err(ScenarioError::at(
                &place,
                key,
                found,
                format!("other cases, as in --set '{name}=[{{ case = NAME, ... }}]'"),
            ))
        }
    }
}

fn list_like(key: &str) -> String {
    format!("a list of values in brackets, as in --set '{key}=[VALUE, VALUE]'")
}

fn unfold(mut document: Table, name: &str, folder: &Path) -> Result<Scenario, ScenarioError> {
    document.check_sections()?;
    let axes = axes(&document)?;
    if document.get("compare").is_some() {
        not_compared(&axes)?;
    }
    let (mut first, mut points) = (None, Vec::new());
    for at in grid(&axes) {
        let mut substituted = document.clone();
        for (key, node) in at.iter().flat_map(|(_, choice)| &choice.puts) {
            substituted.substitute(key, node.clone())?;
        }
        let mut point = resolve(&mut substituted, name, folder)?;
        point.template.params = params(&at);
        let runs = (points.len() + 1) * point.labels().len() * point.run.replications as usize;
        if runs > MOST_RUNS {
            let found = format!("a plan of more than {MOST_RUNS} runs");
            let expected = "fewer sweep points, controllers or replications";
            return Err(ScenarioError::at(&Place::Line(1), "run.replications", found, expected));
        }
        first.get_or_insert(substituted);
        points.push(point);
    }
    document = first.unwrap_or(document);
    document.sort_sections();
    let mut controllers: Vec<String> = points.iter().flat_map(SweepPoint::labels).collect();
    controllers.sort();
    controllers.dedup();
    let expectations = expectations(&mut document, &axes, &controllers)?;
    Ok(Scenario { document, points, expectations })
}

/// Refuses a sweep over controllers of flows together with `[compare]`, which replaces them in every run.
fn not_compared(axes: &[Axis]) -> Result<(), ScenarioError> {
    let replaced = |key: &str| matches!(key.split('.').collect::<Vec<_>>()[..], ["flow", _, "controller", ..]);
    let put = axes.iter().find_map(|axis| {
        let all = axis.values.iter().flat_map(|choice| &choice.puts);
        all.map(|(key, node)| (axis, key, node)).find(|(_, key, _)| replaced(key))
    });
    put.map_or(Ok(()), |(axis, key, node)| {
        let found = format!("{key}, which [compare] replaces in every run");
        let expected = "either [compare] or a sweep over the controllers";
        Err(ScenarioError::at(&node.place, format!("sweep.\"{}\"", axis.key), found, expected))
    })
}

/// The seeds of the replications: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, figure 17), its upper 53 bits, so that
/// readers of JSON that keep numbers in floating point keep these.
fn seeds(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) >> 11
    })
}

#[cfg(test)]
mod tests {
    use super::seeds;

    #[test]
    fn seeds_are_those_of_splitmix64() {
        // First outputs of the reference implementation for state 1234567 (Vigna, prng.di.unimi.it/splitmix64.c).
        let reference: [u64; 3] = [6457827717110365317, 3203168211198807973, 9817491932198370423];
        let ours: Vec<u64> = seeds(1234567).take(3).collect();
        assert_eq!(ours, reference.map(|output| output >> 11));
    }
}
