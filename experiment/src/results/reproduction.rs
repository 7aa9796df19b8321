//! The reproduction of a paper: the published values beside ours. The report draws it; `--json` prints it.

use serde::Serialize;

/// Returns a unit as it stands behind a number: after a space, or nothing where there is none.
pub fn behind_number(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// One paper.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Paper {
    /// Name of its folder.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its authors, in order.
    pub authors: Vec<String>,
    /// Where and when it was published.
    pub published: String,
    /// What it asks and finds, in our words.
    pub about: String,
    /// The figures and tables that were reproduced.
    pub figures: Vec<Figure>,
}

/// One figure or table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// Name of its file, without the ending.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Where it stands in the paper.
    pub place: String,
    /// What the paper says there, in our words.
    pub says: String,
    /// Whether this is the short form.
    pub quick: bool,
    /// Where our values come from.
    pub sources: Vec<Source>,
    /// Numbers of the paper beside ours.
    pub values: Vec<Value>,
    /// Statements of the paper, judged.
    pub claims: Vec<Claim>,
    /// Pictures.
    pub pictures: Vec<Picture>,
    /// Notes that a reader needs.
    pub notes: Vec<String>,
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A simulation of packets in virtual time.
    #[default]
    Simulated,
    /// A closed form or an exact method.
    Computed,
    /// An earlier run of a command that the source names; its results are kept as data.
    Recorded,
    /// Printed in the paper.
    Published,
}

impl Origin {
    /// Returns the origin in one word.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Simulated => "simulated",
            Origin::Computed => "computed",
            Origin::Recorded => "recorded",
            Origin::Published => "published",
        }
    }
}

/// A source of numbers: runs of a scenario, or answers of a theory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Source {
    /// What the figure calls it.
    pub name: String,
    /// Simulated or computed.
    pub origin: Origin,
    /// How to repeat it: the resolved scenario, or the command.
    pub recipe: String,
    /// Number of runs made, or of questions asked.
    pub count: usize,
    /// Why some points have no answer.
    pub unanswered: Vec<String>,
}

/// The verdict of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The short form leaves it out.
    #[default]
    NotJudged,
    /// Within the bounds.
    Kept,
    /// Outside the bounds, for a reason that the figure gives.
    Differs,
    /// Not what the figure expects: outside the bounds without a reason, within them in spite of one, or no value.
    Unexpected,
}

/// The words of a verdict, for the terminal, the page of a paper and the scoreboard, and what they mean.
pub const WORDS: [(&str, &str); 4] = [
    (
        "kept",
        "within the tolerance of the published value, one rule for all figures, or within the bound of a statement",
    ),
    ("missed", "outside that tolerance. The figure's reason, if any, follows"),
    ("not as expected", "a miss without a reason, or a hit in spite of one. The exit code is 1"),
    (
        "explained",
        "missed, and a run named by the figure shows the cause. All other misses are unexplained, even with a reason in words",
    ),
];

impl Verdict {
    /// Returns the verdict in [`WORDS`]. `reason`: whether the figure gives one for a miss.
    pub fn words(self, reason: bool) -> &'static str {
        match (self, reason) {
            (Verdict::NotJudged, _) => "",
            (Verdict::Kept, _) => "kept",
            (Verdict::Differs, _) => "missed",
            (Verdict::Unexpected, false) => "missed, not as expected",
            (Verdict::Unexpected, true) => "kept, not as expected",
        }
    }
}

/// A published number and ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Value {
    /// What it is.
    pub what: String,
    /// Its unit.
    pub unit: String,
    /// Where it stands in the paper.
    pub place: String,
    /// The published value, as printed.
    pub published: f64,
    /// Our value; `null` where there is none.
    pub ours: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub half_width: Option<f64>,
    /// Our value divided by the published one.
    pub ratio: Option<f64>,
    /// How far ours may be from the published value, in its unit.
    pub tolerance: f64,
    /// Half of the last printed place of the published value.
    pub half_place: f64,
    /// Where our value comes from.
    pub origin: Origin,
    /// Whether our value is within the tolerance.
    pub verdict: Verdict,
    /// Why it differs.
    pub because: String,
    /// The source of the figure that shows why; empty: nothing shows it.
    pub shown_by: String,
}

/// A statement of the paper, judged by a bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Claim {
    /// The statement.
    pub words: String,
    /// Where it stands in the paper.
    pub place: String,
    /// The bound, in words: `loss_ratio at least 0.2 and at most 0.4`, with the unit where there is one.
    pub bound: String,
    /// The unit of the value and of the bound; may be empty.
    pub unit: String,
    /// The points on which it was judged; names the worst one.
    pub selected: String,
    /// The value at the worst point.
    pub found: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub half_width: Option<f64>,
    /// How it came about.
    pub origin: Origin,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Why it does not hold.
    pub because: String,
    /// The source of the figure that shows why; empty: nothing shows it.
    pub shown_by: String,
}

/// Lines over two axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Picture {
    /// Its title.
    pub title: String,
    /// What it shows.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// In which unit.
    pub unit: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Where it begins, if not at the first point.
    pub from: Option<f64>,
    /// Where it ends, if not at the last point.
    pub to: Option<f64>,
}

/// A line or a set of points.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// How it came about.
    pub origin: Origin,
    /// Its colour, if it shows a controller.
    pub colour: Option<String>,
    /// Whether it is a curve over time or similar, rather than one point per setting.
    pub dense: bool,
    /// `[x, y, half the width of the 95 % confidence interval of y]`.
    pub points: Vec<(f64, Option<f64>, Option<f64>)>,
}

impl Figure {
    /// Returns the verdicts of all values and claims.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.values.iter().map(|value| value.verdict).chain(self.claims.iter().map(|claim| claim.verdict))
    }

    /// Whether all results are as the figure expects.
    pub fn as_expected(&self) -> bool {
        self.verdicts().all(|verdict| verdict != Verdict::Unexpected)
    }
}
