//! The summary of an evaluation: each judged figure of each question, better, like or worse than each yardstick.
//!
//! [`JUDGED`] lists which direction is better; figures without one (how often a flow is marked) are not judged, nor are those
//! that a question excludes (what a flow sends where everything is lost). Two means are alike when they differ by no more than
//! their intervals together, by [`LIKE`] of the yardstick's, or, of shares, by [`LIKE_SHARE`].

use crate::html::escape;
use experiment::results::evaluation::{Cell, Evaluation, FIGURES, Question};
use experiment::results::figures::{Definition, SUMMARY, Unit};
use experiment::results::numbers::quantity;
use std::fmt::Write;

/// Of this name: of a run, or of an evaluation's flows.
pub fn figure(name: &str) -> Option<&'static Definition> {
    defined().find(|figure| figure.name == name)
}

/// All figures that an evaluation may ask for.
pub fn defined() -> impl Iterator<Item = &'static Definition> {
    SUMMARY.iter().chain(FIGURES.iter().map(|(figure, _)| figure))
}

/// Better direction of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Better {
    More,
    Less,
    /// Less is better; missing means that it never came, the worst.
    Sooner,
    /// Near to this.
    Near(f64),
}

const JUDGED: [(&str, Better); 26] = [
    ("throughput_bps", Better::More),
    ("utilisation", Better::More),
    ("available_share", Better::More),
    ("fairness_jain", Better::More),
    ("fairness_jain_after_entry", Better::More),
    ("rise_hold_share", Better::More),
    ("loss_ratio", Better::Less),
    ("drop_ratio", Better::Less),
    ("steady_loss_ratio", Better::Less),
    ("sent_again", Better::Less),
    ("traffic_lost", Better::Less),
    ("queue_delay_mean_s", Better::Less),
    ("queue_delay_p50_s", Better::Less),
    ("queue_delay_p95_s", Better::Less),
    ("queue_delay_p99_s", Better::Less),
    ("rtt_mean_s", Better::Less),
    ("convergence_s", Better::Sooner),
    ("convergence_rtts", Better::Sooner),
    ("rise_rtts", Better::Sooner),
    ("fall_rtts", Better::Sooner),
    ("completion_p50_s", Better::Sooner),
    ("completion_p95_s", Better::Sooner),
    ("others_completion_p50_s", Better::Sooner),
    ("others_completion_p95_s", Better::Sooner),
    ("subject_share", Better::Near(0.5)),
    ("last_to_first", Better::Near(1.0)),
];

/// Part of the yardstick's mean below which a difference is insignificant.
const LIKE: f64 = 0.05;
/// The same for shares, absolute: a tenth of a percentage point.
const LIKE_SHARE: f64 = 0.001;

/// One comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Better,
    Like,
    Worse,
}

/// How often each judgement fell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    better: usize,
    like: usize,
    worse: usize,
}

impl Tally {
    fn of(judgements: impl Iterator<Item = Judgement>) -> Tally {
        judgements.fold(Tally::default(), |mut tally, judgement| {
            match judgement {
                Judgement::Better => tally.better += 1,
                Judgement::Like => tally.like += 1,
                Judgement::Worse => tally.worse += 1,
            }
            tally
        })
    }

    fn all(self) -> usize {
        self.better + self.like + self.worse
    }

    /// Class, sign and description of a chip.
    fn chip(self) -> (&'static str, &'static str, String) {
        match (self.better, self.like, self.worse) {
            (_, 0, 0) => ("better", "+", String::new()),
            (0, _, 0) => ("like", "=", String::new()),
            (0, 0, _) => ("worse", "\u{2212}", String::new()),
            (0, _, worse) => ("worse", "\u{2212}", format!(" {worse}/{}", self.all())),
            (better, _, 0) => ("better", "+", format!(" {better}/{}", self.all())),
            (better, _, worse) => ("mixed", "\u{b1}", format!(" +{better} \u{2212}{worse}")),
        }
    }
}

/// The first sentence of the page: the outcomes of comparisons with each yardstick.
pub fn answer(evaluation: &Evaluation) -> String {
    let questions = || evaluation.sections.iter().flat_map(|section| &section.questions);
    let beside = |yardstick: usize| {
        let all = questions().flat_map(|question| (0..question.figures.len()).map(move |column| (question, column)));
        let tally = Tally::of(all.flat_map(|(question, column)| judgements(question, column, yardstick)));
        (tally.all() > 0).then(|| {
            format!(
                "Better than {} in {}, like it in {}, worse in {} of {} comparisons.",
                evaluation.contenders[yardstick].0,
                tally.better,
                tally.like,
                tally.worse,
                tally.all()
            )
        })
    };
    (1..evaluation.contenders.len()).filter_map(beside).collect::<Vec<_>>().join(" ")
}

/// Writes the grid: a row per question, a column per yardstick, a chip per judged figure. Empty without a yardstick.
pub fn grid(out: &mut String, evaluation: &Evaluation, anchor: impl Fn(usize) -> String) {
    if evaluation.contenders.len() < 2 {
        return;
    }
    out.push_str(
        "<figure><figcaption><h3>Summary</h3><p><b class=\"chip better\">+ better</b> <b class=\"chip like\">= like</b> \
         <b class=\"chip worse\">\u{2212} worse</b> <b class=\"chip mixed\">\u{b1} one at some points, the other at others</b>; \
         a chip is a figure. Like: within 5 %, or within the intervals. A share is better the nearer it is to one half, from either side.</p></figcaption>\
         <table class=\"summary\"><thead><tr><th scope=\"col\">Question</th>",
    );
    for (yardstick, _) in &evaluation.contenders[1..] {
        _ = write!(out, "<th scope=\"col\">than {}</th>", escape(yardstick));
    }
    out.push_str("</tr></thead><tbody>\n");
    for (number, question) in evaluation.sections.iter().flat_map(|section| &section.questions).enumerate() {
        _ = write!(out, "<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th>", anchor(number), escape(&question.title));
        for yardstick in 1..evaluation.contenders.len() {
            let chips: Vec<String> =
                (0..question.figures.len()).filter_map(|column| chip(question, column, yardstick)).collect();
            let shown = if chips.is_empty() { "not judged".to_string() } else { chips.join(" ") };
            let words = |(column, name): (usize, &String)| {
                let tally = Tally::of(judgements(question, column, yardstick));
                (tally.all() > 0).then(|| format!("{name} +{} ={} -{}", tally.better, tally.like, tally.worse))
            };
            let value: Vec<String> = question.figures.iter().enumerate().filter_map(words).collect();
            _ = write!(
                out,
                "<td data-row=\"{}\" data-column=\"{}\" data-value=\"{}\">{shown}</td>",
                escape(&question.title),
                escape(&evaluation.contenders[yardstick].0),
                value.join("; ")
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></figure>\n");
}

fn chip(question: &Question, column: usize, yardstick: usize) -> Option<String> {
    let tally = Tally::of(judgements(question, column, yardstick));
    let figure = figure(&question.figures[column]).filter(|_| tally.all() > 0)?;
    let (class, sign, often) = tally.chip();
    let shown = |contender: usize| {
        let means = question.rows.iter().filter(|row| row.contender == contender).map(|row| row.cells[column]);
        let words = means.map(|cell| cell.map_or("\u{2013}".to_string(), |cell| quantity(cell.mean, figure.unit)));
        words.collect::<Vec<_>>().join(", ")
    };
    let title = format!("{}; the other: {}", shown(0), shown(yardstick));
    Some(format!("<b class=\"chip {class}\" title=\"{}\">{sign} {}{often}</b>", escape(&title), escape(figure.label)))
}

/// Judgements of one figure, at each point with a value.
fn judgements(question: &Question, column: usize, yardstick: usize) -> impl Iterator<Item = Judgement> {
    let name = &question.figures[column];
    let judged = JUDGED.iter().find(|(judged, _)| judged == name && !question.not_judged.contains(name));
    let better = judged.map(|(_, better)| *better);
    let unit = figure(name).map_or(Unit::Index, |figure| figure.unit);
    let own = question.rows.iter().filter(|row| row.contender == 0);
    own.filter_map(move |row| {
        let other = question.rows.iter().find(|other| other.contender == yardstick && other.point == row.point)?;
        judge(better?, unit, row.cells[column], other.cells[column])
    })
}

fn judge(better: Better, unit: Unit, own: Option<Cell>, other: Option<Cell>) -> Option<Judgement> {
    let (own, other) = match (own, other) {
        (Some(own), Some(other)) => (own, other),
        (Some(_), None) if better == Better::Sooner => return Some(Judgement::Better),
        (None, Some(_)) if better == Better::Sooner => return Some(Judgement::Worse),
        _ => return None,
    };
    let intervals = own.half_width.unwrap_or(0.0) + other.half_width.unwrap_or(0.0);
    let absolute = if unit == Unit::Share { LIKE_SHARE } else { 0.0 };
    let like = intervals.max(other.mean.abs() * LIKE).max(absolute);
    // By how much it is better.
    let lead = match better {
        Better::More => own.mean - other.mean,
        Better::Less | Better::Sooner => other.mean - own.mean,
        Better::Near(aim) => (other.mean - aim).abs() - (own.mean - aim).abs(),
    };
    Some(match lead {
        lead if lead.abs() <= like => Judgement::Like,
        lead if lead > 0.0 => Judgement::Better,
        _ => Judgement::Worse,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::evaluation::Row;

    fn cell(mean: f64, half_width: Option<f64>) -> Option<Cell> {
        Some(Cell { mean, half_width })
    }

    #[test]
    fn judged_figures_are_defined() {
        for (name, _) in JUDGED {
            assert!(figure(name).is_some(), "{name}");
        }
    }

    #[test]
    fn small_differences_count_as_alike() {
        let more = |own, other| judge(Better::More, Unit::Index, own, other);
        assert_eq!(more(cell(96.0, None), cell(100.0, None)), Some(Judgement::Like));
        assert_eq!(more(cell(94.0, None), cell(100.0, None)), Some(Judgement::Worse));
        assert_eq!(more(cell(106.0, None), cell(100.0, None)), Some(Judgement::Better));
        assert_eq!(more(cell(90.0, Some(6.0)), cell(100.0, Some(5.0))), Some(Judgement::Like));
        assert_eq!(more(cell(88.0, Some(6.0)), cell(100.0, Some(5.0))), Some(Judgement::Worse));
        let lost = |own, other| judge(Better::Less, Unit::Share, own, other);
        assert_eq!(lost(cell(0.0009, None), cell(0.0, None)), Some(Judgement::Like));
        assert_eq!(lost(cell(0.002, None), cell(0.0, None)), Some(Judgement::Worse));
    }

    #[test]
    fn no_delivery_is_worst_equal_share_best() {
        assert_eq!(judge(Better::Sooner, Unit::Time, None, cell(3.0, None)), Some(Judgement::Worse));
        assert_eq!(judge(Better::Sooner, Unit::Time, cell(3.0, None), None), Some(Judgement::Better));
        assert_eq!(judge(Better::Less, Unit::Time, None, cell(3.0, None)), None);
        let share = |own, other| judge(Better::Near(0.5), Unit::Share, cell(own, None), cell(other, None));
        assert_eq!(share(0.45, 0.9), Some(Judgement::Better));
        assert_eq!(share(0.9, 0.45), Some(Judgement::Worse));
        assert_eq!(share(0.1, 0.9), Some(Judgement::Like), "as unequal");
    }

    /// Ten times the throughput, and no queue: only what the question judges counts.
    #[test]
    fn does_not_judge_excluded_figures() {
        let row = |contender, bps, queue| Row {
            contender,
            point: String::new(),
            cells: vec![cell(bps, None), cell(queue, None)],
        };
        let mut question = Question {
            figures: vec!["throughput_bps".to_string(), "queue_delay_p95_s".to_string()],
            rows: vec![row(0, 1e7, 0.0), row(1, 1e6, 1.0)],
            ..Question::default()
        };
        let judged = |question: &Question| [0, 1].map(|column| judgements(question, column, 1).collect::<Vec<_>>());
        assert_eq!(judged(&question), [vec![Judgement::Better], vec![Judgement::Better]]);
        question.not_judged = vec!["throughput_bps".to_string()];
        assert_eq!(judged(&question), [vec![], vec![Judgement::Better]]);
    }

    #[test]
    fn points_that_disagree_are_counted() {
        use Judgement::{Better, Like, Worse};
        let chip = |all: &[Judgement]| Tally::of(all.iter().copied()).chip();
        assert_eq!(chip(&[Better, Better]), ("better", "+", String::new()));
        assert_eq!(chip(&[Better, Like, Like]), ("better", "+", " 1/3".to_string()));
        assert_eq!(chip(&[Worse, Like]), ("worse", "\u{2212}", " 1/2".to_string()));
        assert_eq!(chip(&[Better, Worse, Like]), ("mixed", "\u{b1}", " +1 \u{2212}1".to_string()));
    }
}
