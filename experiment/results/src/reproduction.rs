//! A paper reproduced: what was published beside what came out here. The report draws it, `--json` prints it.

use serde::Serialize;

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
    /// Where ours comes from.
    pub sources: Vec<Source>,
    /// Numbers of the paper beside ours.
    pub values: Vec<Value>,
    /// Statements of the paper, judged.
    pub claims: Vec<Claim>,
    /// Pictures.
    pub pictures: Vec<Picture>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// How a number came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Packets in virtual time.
    #[default]
    Simulated,
    /// A closed form or an exact method.
    Computed,
    /// Found beforehand by a command that the source names, and kept as data.
    Recorded,
    /// Printed in the paper.
    Published,
}

impl Origin {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Simulated => "simulated",
            Origin::Computed => "computed",
            Origin::Recorded => "recorded",
            Origin::Published => "published",
        }
    }
}

/// Runs of a scenario, or answers of a theory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Source {
    /// What the figure calls it.
    pub name: String,
    /// Simulated or computed.
    pub origin: Origin,
    /// How to get it again: the resolved scenario, or the command.
    pub recipe: String,
    /// Runs made, or answers asked for.
    pub count: usize,
    /// Why some points have no answer.
    pub unanswered: Vec<String>,
}

/// What a comparison came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No bound, or nothing to hold against it.
    #[default]
    NotJudged,
    /// Within the bounds.
    Kept,
    /// Outside, for a reason that the figure gives.
    Differs,
    /// Not what the figure expects.
    Unexpected,
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
    /// As printed.
    pub published: f64,
    /// Ours; `null` where there is none.
    pub ours: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub half_width: Option<f64>,
    /// Ours divided by the published one.
    pub ratio: Option<f64>,
    /// How ours came about.
    pub origin: Origin,
    /// Whether it is near enough, where the figure says what that is.
    pub verdict: Verdict,
    /// Why it differs.
    pub because: String,
}

/// A statement of the paper, judged by a bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Claim {
    /// The statement.
    pub words: String,
    /// Where it stands in the paper.
    pub place: String,
    /// The bound, in words: `loss_ratio at least 0.2 and at most 0.4`.
    pub bound: String,
    /// Which points it was judged on; the worst is named.
    pub selected: String,
    /// What was found at the worst point.
    pub found: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub half_width: Option<f64>,
    /// How it came about.
    pub origin: Origin,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Why it does not.
    pub because: String,
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
    /// Logarithmic.
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
    /// Its colour, where it stands for a controller.
    pub colour: Option<String>,
    /// A curve over time or the like, rather than one point per setting.
    pub dense: bool,
    /// `[x, y, half the width of the 95 % confidence interval of y]`.
    pub points: Vec<(f64, Option<f64>, Option<f64>)>,
}

impl Figure {
    /// The verdicts of all values and claims.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.values.iter().map(|value| value.verdict).chain(self.claims.iter().map(|claim| claim.verdict))
    }

    /// Nothing came out otherwise than the figure expects.
    pub fn as_expected(&self) -> bool {
        self.verdicts().all(|verdict| verdict != Verdict::Unexpected)
    }
}
