//! The scoreboard: a page with the stored outcomes of each paper and figure.

use crate::agreement::conclusion::repetition;
use crate::agreement::page::Agreements;
use crate::papers::{Bound, Judged, Library, Outcome, Paper, PaperError, Store, Stores};
use experiment::results::numbers::significant;
use experiment::results::reproduction::WORDS;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The first lines of the page.
const HEAD: &str = "\
# Scoreboard

";
/// How the page is made.
const MADE: &str = "\
`packetscale reproduce --scoreboard > docs/scoreboard.md` generates this page from `papers/outcomes.ndjson`. `reproduce --all` and
`reproduce PAPER/FIGURE --store papers/outcomes.ndjson` fill that file. [Figures of papers](adding-a-figure.md#values-and-claims) has the
rule of single values, [the agreement](../studies/src/agreement/mod.rs) that of quantities.

![Printed values across, ours up, one panel per table and quantity, on logarithmic axes. The band is 15 % wide; the bar is one
standard deviation of one run.](images/printed-and-ours.svg)

";
/// Text before the table of papers.
const LEGEND: &str = "\
## Papers and figures

* **values**: printed numbers; some figures have statements only. **15 %**: how many of ours are that near, or print as the same zero.
* **again**: how many of *our* values a repetition with other seeds matches by the same rule (`reproduce --all --reseed 1000`, stored in
  `papers/repeated.ndjson`). A published table is one run: a perfect reproduction would match about as many.
* **statements**: statements of the paper and orders of rows that hold, of all. **after**: how many of their bounds were chosen when
  our value was known.
* Fitted to printed cells, with the cells named in each figure: the buffer and the packets of an acknowledgment (table 8.5), alpha
  (9.1), exact gaps (8.1). What agrees there by the fit is no evidence.
";

/// Digits of our values.
const DIGITS: i32 = 4;
/// How many misses of a figure are named, the widest first.
const NAMED: usize = 3;

/// Counts of one figure or of many.
#[derive(Clone, Copy, Default, Serialize)]
struct Score {
    values: usize,
    kept: usize,
    /// Number of our values that a repetition confirms; none: there was no repetition.
    again: Option<usize>,
    statements: usize,
    held: usize,
    after: usize,
    explained: usize,
}

impl Stores {
    /// Of `PAPER/FIGURE`.
    fn score(&self, figure: &str) -> Score {
        Score::of(self.found.of(figure), self.repeated.of(figure))
    }
}

impl Score {
    fn of(outcomes: &[Outcome], repeated: &[Outcome]) -> Score {
        let count = |which: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| which(outcome)).count();
        let is_value = |outcome: &Outcome| outcome.published.is_some();
        let kept = |outcome: &Outcome| outcome.verdict == Judged::Kept;
        Score {
            values: count(&is_value),
            kept: count(&|outcome| is_value(outcome) && kept(outcome)),
            again: again(outcomes, repeated),
            statements: count(&|outcome| !is_value(outcome)),
            held: count(&|outcome| !is_value(outcome) && kept(outcome)),
            after: count(&Outcome::is_after_run),
            explained: count(&|outcome| !kept(outcome) && !outcome.shown_by.is_empty()),
        }
    }

    fn plus(self, other: Score) -> Score {
        Score {
            values: self.values + other.values,
            kept: self.kept + other.kept,
            again: match (self.again, other.again) {
                (Some(one), Some(another)) => Some(one + another),
                (one, another) => one.or(another),
            },
            statements: self.statements + other.statements,
            held: self.held + other.held,
            after: self.after + other.after,
            explained: self.explained + other.explained,
        }
    }

    fn missed(&self) -> usize {
        self.values + self.statements - self.kept - self.held
    }

    /// Its row, behind the name.
    fn row(&self) -> String {
        let missed = self.missed();
        let values = match self.values {
            0 => "statements only | |".to_string(),
            values => {
                let again = self.again.map_or(String::new(), |again| again.to_string());
                format!("{values} | {} | {again}", self.kept)
            }
        };
        format!(
            "{values} | {} / {} | {} | {missed} | {} | {}",
            self.held,
            self.statements,
            self.after,
            self.explained,
            missed - self.explained
        )
    }
}

/// How many values of a figure a repetition keeps.
fn again(outcomes: &[Outcome], repeated: &[Outcome]) -> Option<usize> {
    let kept =
        |at: &usize| repetition(outcomes, *at, repeated).is_some_and(|again| outcomes[*at].is_repeated_by(again));
    (!repeated.is_empty()).then(|| (0..outcomes.len()).filter(kept).count())
}

/// Returns the page.
///
/// # Errors
/// A figure that cannot be read.
pub fn scoreboard(library: &Library, stores: &Stores) -> Result<String, PaperError> {
    let agreements = Agreements::of(library, stores)?;
    let all: Vec<(String, Score)> =
        library.papers().iter().map(|paper| (paper.name.clone(), score_of(paper, stores))).collect();
    let total = all.iter().fold(Score::default(), |sum, (_, score)| sum.plus(*score));
    let mut out = HEAD.to_string() + &agreements.headline() + MADE;
    out.push_str(&agreements.tables());
    out.push_str(LEGEND);
    for (word, means) in WORDS {
        _ = writeln!(out, "* **{word}**: {means}.");
    }
    out.push('\n');
    out.push_str(&result(library, &stores.found, total));
    out.push_str(&table_head("paper"));
    for (paper, score) in &all {
        _ = writeln!(out, "| {paper} | {} |", score.row());
    }
    _ = writeln!(out, "| all | {} |\n", total.row());
    for paper in library.papers() {
        figures(&mut out, paper, stores);
    }
    misses(&mut out, library, &stores.found);
    Ok(out.trim_end().to_string() + "\n")
}

/// Values, statements and figures in two sentences.
fn result(library: &Library, store: &Store, total: Score) -> String {
    let (run, waiting) = progress(library, store);
    let count: usize = waiting.iter().map(|(_, count)| count).sum();
    let rest = match waiting.len() {
        0 => String::new(),
        figures => format!(" {figures} figures with {count} values and statements have not been run."),
    };
    format!(
        "{} of {} printed values are within 15 %. {} of {} statements hold. {} of {} misses are explained by a run. {run} figures have\n\
         been run.{rest}\n\n",
        total.kept,
        total.values,
        total.held,
        total.statements,
        total.explained,
        total.missed(),
    )
}

/// How many figures were run, and which others have something to judge, with how much.
fn progress(library: &Library, store: &Store) -> (usize, Vec<(String, usize)>) {
    let mut run = 0;
    let mut waiting = Vec::new();
    for paper in library.papers() {
        for figure in paper.figures() {
            let (name, count) = (named(paper, &figure), paper.judged_in(&figure));
            if !store.of(&name).is_empty() {
                run += 1;
            } else if count > 0 {
                waiting.push((name, count));
            }
        }
    }
    (run, waiting)
}

/// The scores as JSON: of all, of each paper, of each figure that was run, and the figures left to run.
///
/// # Errors
/// As [`scoreboard`].
pub fn scores(library: &Library, stores: &Stores) -> Result<Value, PaperError> {
    let store = &stores.found;
    let (_, waiting) = progress(library, store);
    let of_paper = |paper: &Paper| (paper.name.clone(), json!(score_of(paper, stores)));
    let of_figure = |paper: &Paper| -> Vec<(String, Value)> {
        let run = paper.figures().into_iter().map(|figure| named(paper, &figure));
        run.filter(|name| !store.of(name).is_empty()).map(|name| (name.clone(), json!(stores.score(&name)))).collect()
    };
    let total = library.papers().iter().fold(Score::default(), |sum, paper| sum.plus(score_of(paper, stores)));
    Ok(json!({
        "agreement": Agreements::of(library, stores)?,
        "all": total,
        "papers": library.papers().iter().map(of_paper).collect::<Map<String, Value>>(),
        "figures": library.papers().iter().flat_map(of_figure).collect::<Map<String, Value>>(),
        "not_yet_run": waiting.into_iter().map(|(name, count)| (name, json!(count))).collect::<Map<String, Value>>(),
    }))
}

fn table_head(first: &str) -> String {
    format!(
        "| {first} | values | 15 % | again | statements | after | missed | explained | unexplained |\n\
         |---|---|---|---|---|---|---|---|---|\n"
    )
}

fn named(paper: &Paper, figure: &str) -> String {
    format!("{}/{figure}", paper.name)
}

fn score_of(paper: &Paper, stores: &Stores) -> Score {
    let scores = paper.figures().into_iter().map(|figure| stores.score(&named(paper, &figure)));
    scores.fold(Score::default(), Score::plus)
}

/// The figures of a paper: those that were run, then the names of the others.
fn figures(out: &mut String, paper: &Paper, stores: &Stores) {
    _ = writeln!(out, "## {}\n", paper.name);
    let (run, others): (Vec<String>, Vec<String>) =
        paper.figures().into_iter().partition(|figure| !stores.found.of(&named(paper, figure)).is_empty());
    if !run.is_empty() {
        out.push_str(&table_head("figure"));
        for figure in &run {
            _ = writeln!(out, "| {figure} | {} |", stores.score(&named(paper, figure)).row());
        }
        out.push('\n');
    }
    let (pictures, waiting): (Vec<String>, Vec<String>) =
        others.into_iter().partition(|figure| paper.judged_in(figure) == 0);
    if !waiting.is_empty() {
        let count: usize = waiting.iter().map(|figure| paper.judged_in(figure)).sum();
        _ = writeln!(out, "Not yet run, {count} values and statements: {}.\n", waiting.join(", "));
    }
    if !pictures.is_empty() {
        _ = writeln!(out, "Pictures without a value or statement: {}.\n", pictures.join(", "));
    }
}

/// Unexplained misses: the largest of each figure.
fn misses(out: &mut String, library: &Library, store: &Store) {
    out.push_str("## Unexplained\n\n");
    for paper in library.papers() {
        for figure in paper.figures() {
            let name = named(paper, &figure);
            let unexplained = |outcome: &&Outcome| outcome.verdict != Judged::Kept && outcome.shown_by.is_empty();
            let mut missed: Vec<&Outcome> = store.of(&name).iter().filter(unexplained).collect();
            missed.sort_by(|a, b| width(b).total_cmp(&width(a)));
            if missed.is_empty() {
                continue;
            }
            let widest: Vec<String> = missed.iter().take(NAMED).map(|outcome| described(outcome)).collect();
            let more = missed.len().saturating_sub(NAMED);
            let more = if more == 0 { String::new() } else { format!("; {more} more") };
            _ = writeln!(out, "* {name}: {}{more}", widest.join("; "));
        }
    }
}

/// How many times its bound a value is away; statements and missing values come first.
fn width(outcome: &Outcome) -> f64 {
    match (outcome.published_within(), outcome.ours) {
        (Some((_, (published, bound))), Some(ours)) if bound > 0.0 => (ours - published).abs() / bound,
        _ => f64::INFINITY,
    }
}

fn described(outcome: &Outcome) -> String {
    let ours = outcome.ours.map_or("nothing".to_string(), |ours| significant(ours, DIGITS));
    let cell = outcome.cell.split_whitespace().collect::<Vec<_>>().join(" ");
    match (outcome.published, &outcome.bound) {
        (Some(published), _) => format!("{cell}: {published} printed, {ours} found"),
        (None, Bound::Words(bound)) => format!("\"{cell}\" ({bound}): {ours} found"),
        (None, Bound::Distance(_)) => format!("{cell}: {ours} found"),
    }
}
