//! The files' structure; `docs/adding-a-figure.md` explains each key.

use crate::papers::during::During;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// Values by key, as a figure writes them: text, numbers, switches, or lists of these.
pub(crate) type Keys = BTreeMap<String, toml::Value>;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperFile {
    pub title: String,
    pub authors: Vec<String>,
    pub published: String,
    pub about: String,
    #[serde(default)]
    pub conclusion: Vec<Conclusion>,
}

/// A sentence of the paper, and what carries it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conclusion {
    /// The sentence, in our words.
    pub words: String,
    /// Where the paper has it.
    pub place: String,
    /// What must hold.
    pub carried_by: Vec<Evidence>,
}

/// Statements or quantities of a figure: `{ figure = "table-8.5", order = ["Throughput with CBR"] }`.
#[derive(Clone, Debug, Deserialize)]
pub struct Evidence {
    /// Name of the figure.
    pub figure: String,
    /// What it shows.
    #[serde(flatten)]
    pub shows: Shows,
    /// Whether the conclusion is not carried if some of it does not hold.
    #[serde(default)]
    pub decisive: bool,
}

/// What a figure shows for a conclusion.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// Statements hold; all whose words begin so.
    Statements(Vec<String>),
    /// Quantities have the printed order.
    Order(Vec<String>),
    /// Quantities are nearer to print than the best constant.
    Size(Vec<String>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureFile {
    pub title: String,
    pub place: String,
    pub says: String,
    #[serde(default)]
    pub simulate: Vec<Spanned<Simulate>>,
    #[serde(default)]
    pub compute: Vec<Spanned<Compute>>,
    #[serde(default)]
    pub probe: Vec<Spanned<ProbeSource>>,
    #[serde(default)]
    pub recorded: Vec<Spanned<Recorded>>,
    #[serde(default)]
    pub value: Vec<Spanned<Value>>,
    #[serde(default)]
    pub table: Vec<Spanned<Table>>,
    #[serde(default)]
    pub claim: Vec<Spanned<Claim>>,
    #[serde(default)]
    pub picture: Vec<Spanned<Picture>>,
    #[serde(default)]
    pub note: Vec<Note>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Simulate {
    pub name: String,
    pub scenario: Spanned<String>,
    /// A file in the same folder, with keys that the scenario omits.
    #[serde(default)]
    pub include: String,
    #[serde(default)]
    pub set: Keys,
    #[serde(default)]
    pub quick: QuickRuns,
}

/// Probe streams of a scenario, read by methods.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbeSource {
    pub name: String,
    pub scenario: Spanned<String>,
    #[serde(default)]
    pub include: String,
    pub methods: Vec<String>,
    #[serde(default)]
    pub set: Keys,
    #[serde(default)]
    pub quick: QuickRuns,
}

/// Results that were obtained earlier.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    pub name: String,
    pub data: Spanned<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuickRuns {
    #[serde(default)]
    pub set: Keys,
    #[serde(default)]
    pub only: Keys,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compute {
    pub name: String,
    pub theory: String,
    #[serde(default)]
    pub with: Keys,
    #[serde(default)]
    pub grid: BTreeMap<String, Vec<toml::Value>>,
    #[serde(default)]
    pub quick: QuickAnswers,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuickAnswers {
    #[serde(default)]
    pub with: Keys,
    #[serde(default)]
    pub only: Keys,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Value {
    pub what: String,
    /// With its place in the text: the number of printed digits matters.
    pub published: Spanned<f64>,
    /// The value of the last printed digit.
    #[serde(skip)]
    pub last_place: f64,
    #[serde(default)]
    pub unit: String,
    pub place: String,
    pub from: String,
    pub metric: String,
    #[serde(default, rename = "where")]
    pub selection: Keys,
    pub divided_by: Option<Other>,
    pub less: Option<Other>,
    pub during_s: Option<During>,
    #[serde(default = "one")]
    pub times: f64,
    #[serde(default)]
    pub differs: String,
    #[serde(default)]
    pub shown_by: Shown,
}

/// The reading that explains our miss. Omitted keys are those of the reading that it explains.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "ShownBy")]
pub(crate) struct Shown {
    /// The source; empty: none.
    pub from: String,
    pub selection: Keys,
    /// The source to divide by, or to subtract.
    pub against: Option<String>,
}

/// Its two forms: the name of a source, or a table.
#[derive(Deserialize)]
#[serde(untagged)]
enum ShownBy {
    Source(String),
    Reading(ShownReading),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShownReading {
    from: String,
    #[serde(default, rename = "where")]
    selection: Keys,
    against: Option<String>,
}

impl From<ShownBy> for Shown {
    fn from(written: ShownBy) -> Shown {
        match written {
            ShownBy::Source(from) => Shown { from, ..Shown::default() },
            ShownBy::Reading(ShownReading { from, selection, against }) => Shown { from, selection, against },
        }
    }
}

/// A printed table: a value for each cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    #[serde(default)]
    pub what: String,
    #[serde(default)]
    pub unit: String,
    pub place: String,
    pub from: String,
    pub metric: String,
    #[serde(default, rename = "where")]
    pub selection: Keys,
    #[serde(default = "one")]
    pub times: f64,
    /// The keys that identify rows and columns.
    pub row: String,
    pub column: String,
    pub columns: Vec<toml::Value>,
    pub rows: BTreeMap<String, Vec<Spanned<f64>>>,
    #[serde(default)]
    pub except: Vec<Exception>,
    /// Whether the order of the rows is judged in each column.
    #[serde(default)]
    pub order: bool,
    #[serde(default)]
    pub order_except: Vec<Exception>,
}

/// Cells that are known to differ, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    #[serde(default)]
    pub rows: Vec<String>,
    #[serde(default)]
    pub columns: Vec<toml::Value>,
    pub because: String,
    #[serde(default)]
    pub shown_by: Shown,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub words: String,
    #[serde(default)]
    pub unit: String,
    pub place: String,
    pub from: String,
    pub metric: String,
    #[serde(default, rename = "where")]
    pub selection: Keys,
    pub divided_by: Option<Other>,
    pub less: Option<Other>,
    pub during_s: Option<During>,
    #[serde(default = "one")]
    pub times: f64,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    /// The bound was chosen when our value was known.
    #[serde(default)]
    pub after_run: bool,
    #[serde(default)]
    pub differs: String,
    #[serde(default)]
    pub shown_by: Shown,
}

/// The reading to divide by, or to subtract. Omitted keys are those of the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Other {
    pub from: Option<String>,
    pub metric: Option<String>,
    #[serde(default, rename = "where")]
    pub selection: Keys,
    pub during_s: Option<During>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Picture {
    pub title: String,
    #[serde(default)]
    pub caption: String,
    pub x: Axis,
    pub y: Axis,
    pub line: Vec<Spanned<Line>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    pub label: String,
    #[serde(default)]
    pub unit: String,
    #[serde(default)]
    pub log: bool,
    pub from: Option<f64>,
    pub to: Option<f64>,
}

/// One of three kinds: `x` and `y`, `curve`, or `published`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    pub name: Option<String>,
    pub from: Option<String>,
    pub x: Option<String>,
    pub y: Option<String>,
    pub curve: Option<String>,
    pub flow: Option<u32>,
    #[serde(default)]
    pub by: Vec<String>,
    #[serde(default, rename = "where")]
    pub selection: Keys,
    pub published: Option<Vec<(f64, f64)>>,
    #[serde(default = "one")]
    pub times: f64,
    #[serde(default = "one")]
    pub times_x: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub words: String,
}

fn one() -> f64 {
    1.0
}

/// Returns a value as tables and options show it: text without quotes.
pub(crate) fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
