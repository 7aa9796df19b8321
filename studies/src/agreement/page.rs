//! The agreement as Markdown: conclusions, then quantities.

use crate::agreement::conclusion::{Carried, Judgement};
use crate::agreement::equivalence::Equivalence;
use crate::agreement::order::Order;
use crate::agreement::quantity::Quantity;
use crate::agreement::{Agreement, conclusion};
use crate::papers::{Library, PaperError, Stores};
use experiment::results::numbers::significant;
use serde::Serialize;
use std::fmt::Write as _;

/// The conclusions and quantities of all papers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreements {
    /// Conclusions, by paper.
    pub conclusions: Vec<Judgement>,
    /// Quantities of tables, in the order of the figures.
    pub quantities: Vec<Agreement>,
}

/// What the columns mean.
const LEGEND: &str = "\
* **order**: of the pairs of cells that differ in print by more than 1 % and the last place, how many ours puts in the printed order.
  Any constant scores 50 %. **in columns**: only pairs of one column, as of two protocols on one path. **columns**: what the
  means of our columns alone would score. **again**: the order of a repetition with other seeds against ours, about what a perfect
  reproduction would score.
* **tau**: Kendall's tau-b. **interaction**: correlation of what the means of rows and columns leave, of logarithms.
* **bias**: geometric mean of ours over print, with its 95 % interval. **limits**: factors between which 95 % of the cells lie.
* **skill**: 1 is print, 0 the best constant, below 0 worse than that.
* **noise**: factor of one standard deviation of one run of ours. **= / ? / ≠**: cells whose interval lies within the larger of 15 % and half
  of the last printed place; that our runs do not decide; that lie outside. None where one constant would be within that of all cells.
";

impl Agreements {
    /// Judges the stored outcomes.
    ///
    /// # Errors
    /// A figure that cannot be read.
    pub fn of(library: &Library, stores: &Stores) -> Result<Agreements, PaperError> {
        let quantities: Vec<Agreement> = Quantity::all(library, stores)?.iter().filter_map(Agreement::of).collect();
        Ok(Agreements { conclusions: conclusion::judge(library, stores, &quantities), quantities })
    }

    /// The sum of these orders of all quantities.
    fn sum(&self, of: impl Fn(&Agreement) -> Option<Order>) -> Order {
        self.quantities.iter().filter_map(of).fold(Order::default(), Order::plus)
    }

    /// The order of the quantities whose names begin so.
    fn named(&self, beginning: &str) -> Order {
        self.sum(|one| one.quantity.starts_with(beginning).then_some(one.order))
    }

    /// How many conclusions, of one paper or of all, came to this.
    fn count(&self, carried: Carried, paper: Option<&str>) -> usize {
        let asked = |one: &&Judgement| one.carried == carried && paper.is_none_or(|paper| one.paper == paper);
        self.conclusions.iter().filter(asked).count()
    }

    /// The result in two sentences.
    pub fn headline(&self) -> String {
        let all = self.sum(|one| Some(one.order));
        let parts: Vec<f64> = self.quantities.iter().filter_map(|one| one.order.part()).collect();
        format!(
            "**Of {} conclusions {} are carried, {} in part, {} not. Of {} pairs of printed cells, ours puts {} in the printed\n\
             order: {} of throughputs, {} of losses; {} in the mean over {} quantities; {} of the pairs of one column. The means of our\n\
             columns alone have {}.**\n\n",
            self.conclusions.len(),
            self.count(Carried::Carried, None),
            self.count(Carried::InPart, None),
            self.count(Carried::Not, None),
            all.pairs,
            percent(all.part()),
            percent(self.named("Throughput").part()),
            percent(self.named("Loss").part()),
            percent((!parts.is_empty()).then(|| parts.iter().sum::<f64>() / parts.len() as f64)),
            parts.len(),
            percent(self.sum(|one| Some(one.order_in_columns)).part()),
            percent(self.sum(|one| Some(one.order_of_column_means)).part()),
        )
    }

    /// How many conclusions of each paper are carried, in part, not.
    fn by_paper(&self) -> String {
        let mut papers: Vec<&str> = self.conclusions.iter().map(|one| one.paper.as_str()).collect();
        papers.dedup();
        let of = |paper: &str| {
            let count = |carried| self.count(carried, Some(paper));
            format!("{paper} {} / {} / {}", count(Carried::Carried), count(Carried::InPart), count(Carried::Not))
        };
        let counts: Vec<String> = papers.iter().map(|paper| of(paper)).collect();
        format!(
            "\n**held**: pieces of evidence that hold, in the stored run and in the repetition. **after**: those of them whose bound was\n\
             chosen when our value was known. Carried, in part, not, by paper: {}.\n",
            counts.join("; ")
        )
    }

    /// The conclusions of each paper, then the quantities.
    pub fn tables(&self) -> String {
        let mut out =
            "## Conclusions\n\n| paper | conclusion | place | evidence | held | after | |\n|---|---|---|---|---|---|---|\n"
                .to_string();
        for one in &self.conclusions {
            let (held, all) = one.held;
            let (carried, after, figures) = (one.carried.word(), one.after, one.figures.join(", "));
            let words = one.words.split_whitespace().collect::<Vec<_>>().join(" ");
            _ = writeln!(
                out,
                "| {} | {words} | {} | {figures} | {held} / {all} | {after} | {carried} |",
                one.paper, one.place
            );
        }
        out.push_str(&self.by_paper());
        out.push_str("\n## Quantities\n\n");
        out.push_str(LEGEND);
        out.push_str(
            "\n| figure | quantity | cells | order | pairs | in columns | columns | again | tau | interaction | bias | limits | skill | noise | = / ? / ≠ |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for one in &self.quantities {
            _ = writeln!(out, "| {} |", row(one));
        }
        let all = self.sum(|one| Some(one.order));
        let cells =
            self.quantities.iter().filter_map(|one| one.equivalence).fold(Equivalence::default(), Equivalence::plus);
        let number: usize = self.quantities.iter().map(|one| one.cells).sum();
        _ = writeln!(
            out,
            "| all | | {number} | {} | {} | {} | {} | {} | | | | | | | {} |\n",
            percent(all.part()),
            all.pairs,
            percent(self.sum(|one| Some(one.order_in_columns)).part()),
            percent(self.sum(|one| Some(one.order_of_column_means)).part()),
            percent(self.sum(|one| one.order_again).part()),
            counts(Some(cells)),
        );
        out
    }
}

fn row(one: &Agreement) -> String {
    let cells = match one.missing {
        0 => one.cells.to_string(),
        missing => format!("{} ({missing} missing)", one.cells),
    };
    let decimals = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
    let between = |(from, to): (f64, f64)| format!("{} to {}", factor(from), factor(to));
    let size = one.size;
    let bias = size.map_or(String::new(), |size| {
        factor(size.bias) + &size.bias_interval.map_or(String::new(), |interval| format!(" ({})", between(interval)))
    });
    [
        one.figure.clone(),
        one.quantity.clone(),
        cells,
        percent(one.order.part()),
        one.order.pairs.to_string(),
        percent(one.order_in_columns.part()),
        percent(one.order_of_column_means.part()),
        percent(one.order_again.and_then(|order| order.part())),
        decimals(one.tau),
        decimals(one.interaction),
        bias,
        size.map_or(String::new(), |size| between(size.limits)),
        decimals(size.and_then(|size| size.skill)),
        decimals(one.noise_factor),
        counts(one.equivalence),
    ]
    .join(" | ")
}

fn counts(cells: Option<Equivalence>) -> String {
    cells.map_or(String::new(), |Equivalence { equivalent, different, undecided }| {
        format!("{equivalent} / {undecided} / {different}")
    })
}

fn percent(part: Option<f64>) -> String {
    part.map_or(String::new(), |part| format!("{:.1} %", 100.0 * part))
}

/// A factor in two significant digits.
fn factor(value: f64) -> String {
    significant(value, 2)
}
