//! The store of outcomes, in lines of JSON: per figure one line with the origin of its outcomes, then one for each published
//! value and each statement, as last judged. So a diff of two stores shows the values that changed. It is written figure by
//! figure, so that an interrupted command can resume.

use crate::papers::error::PaperError;
use crate::papers::library::counted;
use crate::papers::rule::{self, AFTER_RUN};
use experiment::results::reproduction::{Claim, Figure, Value, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Path of the store in the source tree.
pub const STORE: &str = "papers/outcomes.ndjson";

/// Path of the outcomes of a repetition: the same figures from other seeds.
pub const REPEATED: &str = "papers/repeated.ndjson";

/// A published value or a statement, and ours.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// `PAPER/FIGURE`; in the figure's line.
    #[serde(skip)]
    pub figure: String,
    /// The value or the statement.
    pub cell: String,
    /// The published value; none for a statement.
    pub published: Option<f64>,
    /// Our value; none where there is none.
    pub ours: Option<f64>,
    /// Unit of both; of a statement that of ours and its bounds, where the figure names one.
    pub unit: String,
    /// The bound on ours: of a value its tolerance, of a statement its limits.
    pub bound: Bound,
    /// Half of the last printed place of a value; 0 of a statement.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub half_place: f64,
    /// How ours came about.
    pub origin: String,
    /// Whether ours meets it.
    pub verdict: Judged,
    /// The source of the figure that explains our miss; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown_by: String,
    /// The commit of the program that found ours; in the figure's line.
    #[serde(skip)]
    pub commit: String,
    /// The digest of everything that ours depends on, in the figure's line: while it is the same, the outcome is valid.
    #[serde(skip)]
    pub depends_on: String,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The line before the outcomes of a figure.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Head {
    figure: String,
    commit: String,
    depends_on: String,
}

/// A line of the store.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Head(Head),
    Outcome(Box<Outcome>),
}

/// Origin of an outcome.
#[derive(Clone, Copy, Debug)]
pub struct FoundBy<'a> {
    /// The commit of the program.
    pub commit: &'a str,
    /// The digest of all that the figure depends on.
    pub depends_on: &'a str,
}

/// Bound of an outcome.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Bound {
    /// The greatest distance from the published value.
    Distance(f64),
    /// The bounds of a statement.
    Words(String),
}

/// The verdict of an outcome, whatever the figure expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// Ours meets the bound.
    Kept,
    /// Ours does not.
    Missed,
    /// There is no value of ours.
    Missing,
}

/// The outcomes that a scoreboard is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stores {
    /// Those of the figures as they are written.
    pub found: Store,
    /// Those of a repetition with other seeds; empty if there was none.
    pub repeated: Store,
}

/// The outcomes of all figures that were judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Store {
    /// By figure, in the order of the figure.
    figures: BTreeMap<String, Vec<Outcome>>,
}

impl Store {
    /// Reads the store; one that does not exist is empty.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is no outcome.
    pub fn read(path: &Path) -> Result<Store, PaperError> {
        let shown = path.display().to_string();
        if !path.exists() {
            return Ok(Store::default());
        }
        let text = fs::read_to_string(path).map_err(|error| PaperError::about(&shown, error))?;
        let mut store = Store::default();
        let mut head = None;
        for (at, line) in text.lines().enumerate() {
            let refused = |found: &str| {
                PaperError::about(
                    &format!("{shown}:{}", at + 1),
                    format!("found {found}; expected a figure or an outcome"),
                )
            };
            match (serde_json::from_str(line).map_err(|_| refused(line))?, &head) {
                (Line::Head(one), _) => head = Some(one),
                (Line::Outcome(outcome), Some(Head { figure, commit, depends_on })) => {
                    let (figure, commit, depends_on) = (figure.clone(), commit.clone(), depends_on.clone());
                    let outcomes = store.figures.entry(figure.clone()).or_default();
                    outcomes.push(Outcome { figure, commit, depends_on, ..*outcome });
                }
                (Line::Outcome(_), None) => return Err(refused("an outcome before the first figure")),
            }
        }
        Ok(store)
    }

    /// Replaces the outcomes of a figure.
    pub fn put(&mut self, paper: &str, figure: &Figure, found_by: FoundBy<'_>) {
        let name = format!("{paper}/{}", figure.name);
        let outcomes = outcomes(&name, figure, found_by);
        self.figures.insert(name, outcomes);
    }

    /// Returns the outcomes of `PAPER/FIGURE`; none if it was not run.
    pub fn of(&self, figure: &str) -> &[Outcome] {
        self.figures.get(figure).map_or(&[], Vec::as_slice)
    }

    /// Whether the outcomes of the figure are valid: they depend on contents with this digest.
    pub fn stands(&self, figure: &str, depends_on: &str) -> bool {
        let outcomes = self.of(figure);
        !outcomes.is_empty() && outcomes.iter().all(|outcome| outcome.depends_on == depends_on)
    }

    /// Writes the store: papers by name, figures by number.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), PaperError> {
        let refused = |error: std::io::Error| PaperError::about(&path.display().to_string(), error);
        let mut figures: Vec<&String> = self.figures.keys().collect();
        figures.sort_by_key(|figure| counted(figure));
        let mut text = String::new();
        let mut push = |line: serde_json::Result<String>| -> Result<(), PaperError> {
            text.push_str(&line.map_err(|error| refused(error.into()))?);
            text.push('\n');
            Ok(())
        };
        for figure in figures {
            let outcomes = &self.figures[figure];
            let Some(Outcome { figure, commit, depends_on, .. }) = outcomes.first().cloned() else { continue };
            push(serde_json::to_string(&Head { figure, commit, depends_on }))?;
            for outcome in outcomes {
                push(serde_json::to_string(outcome))?;
            }
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        experiment::results::write_file(folder, &name, |file| file.write_all(text.as_bytes())).map_err(refused)
    }
}

/// Returns the outcomes of a figure: its values, then the statements of the paper.
fn outcomes(name: &str, figure: &Figure, found_by: FoundBy<'_>) -> Vec<Outcome> {
    let value = |value: &Value| Outcome {
        figure: name.to_string(),
        cell: value.what.clone(),
        published: Some(value.published),
        ours: value.ours,
        unit: value.unit.clone(),
        bound: Bound::Distance(value.tolerance),
        half_place: value.half_place,
        origin: value.origin.word().to_string(),
        verdict: judged(value.verdict, value.ours, &value.because),
        shown_by: value.shown_by.clone(),
        commit: found_by.commit.to_string(),
        depends_on: found_by.depends_on.to_string(),
    };
    let claim = |claim: &Claim| Outcome {
        figure: name.to_string(),
        cell: claim.words.clone(),
        published: None,
        ours: claim.found,
        unit: claim.unit.clone(),
        bound: Bound::Words(claim.bound.clone()),
        half_place: 0.0,
        origin: claim.origin.word().to_string(),
        verdict: judged(claim.verdict, claim.found, &claim.because),
        shown_by: claim.shown_by.clone(),
        commit: found_by.commit.to_string(),
        depends_on: found_by.depends_on.to_string(),
    };
    let claims = figure.claims.iter().filter(|claim| rule::is_of_the_paper(&claim.place));
    figure.values.iter().map(value).chain(claims.map(claim)).collect()
}

/// A known reason changes what a figure expects, not what is found: an unexpected result with a reason is a hit.
fn judged(verdict: Verdict, ours: Option<f64>, because: &str) -> Judged {
    match (ours, verdict, because.is_empty()) {
        (None, ..) => Judged::Missing,
        (_, Verdict::Kept, _) | (_, Verdict::Unexpected, false) => Judged::Kept,
        _ => Judged::Missed,
    }
}

impl Outcome {
    /// Whether its bound was chosen when our value was known.
    pub fn is_after_run(&self) -> bool {
        matches!(&self.bound, Bound::Words(words) if words.ends_with(AFTER_RUN))
    }

    /// Whether a repetition finds ours again, by the rule that holds for published values with ours in their place.
    pub(crate) fn is_repeated_by(&self, again: &Outcome) -> bool {
        match (self.published, self.ours, again.ours) {
            (Some(_), Some(ours), Some(found)) => rule::met(found, ours, rule::tolerance(ours, 2.0 * again.half_place)),
            _ => false,
        }
    }

    /// Returns the unit of a value, the published value, and how far ours may be from it.
    pub(crate) fn published_within(&self) -> Option<(&str, (f64, f64))> {
        match (self.published, &self.bound) {
            (Some(published), Bound::Distance(distance)) => Some((&self.unit, (published, *distance))),
            _ => None,
        }
    }
}
