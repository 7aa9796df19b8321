//! The page of an evaluation: each question with its numbers, under the headings of RFC 9743.

use crate::contrast::visible;
use crate::folds::Folds;
use crate::grid::{self, defined, figure};
use crate::html::{colour, escape};
use crate::places;
use crate::shell::shell;
use experiment::results::evaluation::{Cell, Evaluation, Question, Section};
use experiment::results::figures::{Definition, Unit};
use experiment::results::numbers::{Scale, mean_and_half, scale};
use serde::Serialize;
use std::fmt::Write;

const SCRIPT: &str = include_str!("../assets/evaluation.js");
const NONE: &str = "\u{2013}";

/// Returns a figure's heading, with its unit if it has one, and the value of one unit.
pub fn label(name: &str, largest: f64) -> Option<(String, f64)> {
    let figure = figure(name)?;
    let Scale { factor, symbol } = scale(figure.unit, largest);
    let unit = if symbol.is_empty() { String::new() } else { format!(", {symbol}") };
    Some((format!("{}{unit}", figure.label), factor))
}

/// Data for the script.
#[derive(Serialize)]
struct Data<'a> {
    contenders: Vec<Contender<'a>>,
    /// All questions, numbered consecutively.
    questions: Vec<Asked<'a>>,
}

#[derive(Serialize)]
struct Contender<'a> {
    name: &'a str,
    colour: String,
}

#[derive(Serialize)]
struct Asked<'a> {
    /// Headings and units of the figures.
    figures: Vec<Axis<'a>>,
    /// The swept keys, and their values at each point.
    keys: String,
    points: Vec<String>,
    rows: Vec<Answered<'a>>,
}

#[derive(Serialize)]
struct Axis<'a> {
    label: &'a str,
    unit: &'static str,
}

#[derive(Serialize)]
struct Answered<'a> {
    contender: usize,
    cells: &'a [Option<Cell>],
}

pub fn page(evaluation: &Evaluation) -> String {
    let mut folds = Folds::default();
    let mut first = 0;
    for (number, part) in evaluation.sections.iter().enumerate() {
        section(&mut folds, number, part, first, evaluation);
        first += part.questions.len();
    }
    figures(&mut folds, evaluation);
    let mut body = String::new();
    header(&mut body, evaluation);
    body.push_str(&folds.contents());
    grid::grid(&mut body, evaluation, anchor);
    about(&mut body, evaluation);
    body.push_str(&folds.html);
    shell(&format!("{} evaluated \u{00b7} packetscale", evaluation.controller), &body, &data(evaluation), SCRIPT)
}

/// A question's anchor on the page.
fn anchor(question: usize) -> String {
    format!("question-{question}")
}

fn data(evaluation: &Evaluation) -> Data<'_> {
    let contenders = evaluation
        .contenders
        .iter()
        .enumerate()
        .map(|(number, (name, own))| Contender { name, colour: visible(&colour(own, number)) });
    let questions = evaluation.sections.iter().flat_map(|section| &section.questions);
    Data { contenders: contenders.collect(), questions: questions.map(asked).collect() }
}

fn asked(question: &Question) -> Asked<'_> {
    let axis = |name: &'_ String| {
        let unit = match figure(name).map_or(Unit::Index, |figure| figure.unit) {
            Unit::Share => "ratio",
            unit @ (Unit::Rate | Unit::Time) => unit.symbol(),
            _ => "",
        };
        (figure(name).map(|figure| figure.label), unit)
    };
    let figures = question.figures.iter().map(|name| {
        let (label, unit) = axis(name);
        Axis { label: label.unwrap_or(name), unit }
    });
    let mut points: Vec<&str> = question.rows.iter().map(|row| row.point.as_str()).collect();
    points.dedup();
    Asked {
        figures: figures.collect(),
        keys: halves(points.first().copied().unwrap_or_default(), true),
        points: points.iter().map(|point| halves(point, false)).collect(),
        rows: question.rows.iter().map(|row| Answered { contender: row.contender, cells: &row.cells }).collect(),
    }
}

/// Returns the keys of a point that is written `key = value, key = value`, or its values.
fn halves(point: &str, keys: bool) -> String {
    let parts = point.split(", ").filter_map(|part| part.split_once(" = "));
    parts.map(|(key, value)| if keys { key } else { value }).collect::<Vec<_>>().join(", ")
}

/// The top of the page: the controller, and its comparison with the others.
fn header(out: &mut String, evaluation: &Evaluation) {
    _ = write!(
        out,
        "<header>\n<p class=\"over\">packetscale <span class=\"host\">a controller evaluated</span>{}</p>\n<h1>{}</h1>\n\
         <p class=\"answer\">{}</p>\n</header>\n",
        if evaluation.quick { " <span class=\"host\">short form: fewer and shorter runs</span>" } else { "" },
        escape(&evaluation.controller),
        escape(&grid::answer(evaluation)),
    );
}

fn about(out: &mut String, evaluation: &Evaluation) {
    let beside: Vec<String> = (1..evaluation.contenders.len()).map(|contender| swatch(evaluation, contender)).collect();
    let beside = if beside.is_empty() { String::new() } else { format!(", beside {}", beside.join(" and ")) };
    let short = if evaluation.quick { " The short form: fewer and shorter runs." } else { "" };
    let commit = evaluation.commit.as_ref().map_or(String::new(), |commit| format!(", commit {}", escape(commit)));
    _ = write!(
        out,
        "<section id=\"about\">\n<p>The questions of RFC 9743, \u{201c}Specifying New Congestion Control Algorithms\u{201d}, by its \
         headings{beside}. {} simulated runs.{short}</p>\n\
         <p class=\"note\">The RFC sets no bounds: numbers are compared with those of deployed controllers. \u{201c}Better\u{201d} is \
         a convention of this page; some figures are not judged. \u{00b1} is half of a 95 % confidence interval, where \
         there are replications. packetscale {}{commit}.</p>\n</section>\n",
        evaluation.runs,
        escape(&evaluation.version),
    );
}

fn swatch(evaluation: &Evaluation, contender: usize) -> String {
    let Some((name, own)) = evaluation.contenders.get(contender) else { return NONE.to_string() };
    format!("<i class=\"swatch\" style=\"--c:{}\"></i>{}", visible(&colour(own, contender)), escape(name))
}

/// Writes a section, whose questions are numbered from `first`.
fn section(folds: &mut Folds, number: usize, section: &Section, first: usize, evaluation: &Evaluation) {
    let mut out = String::new();
    if let Some(why) = &section.left_out {
        _ = writeln!(out, "<p class=\"note\">{}</p>", escape(why));
    }
    for (number, question) in section.questions.iter().enumerate() {
        ask(&mut out, first + number, question, evaluation);
    }
    let questions = match section.questions.len() {
        0 => String::new(),
        1 => "1 question".to_string(),
        many => format!("{many} questions"),
    };
    folds.add(&format!("section-{number}"), &escape(&section.heading), &questions, &out);
}

fn ask(out: &mut String, number: usize, question: &Question, evaluation: &Evaluation) {
    let place = anchor(number);
    _ = writeln!(out, "<div id=\"{place}\">");
    places::figure(out, &place, &escape(&question.title), &escape(&question.asks));
    out.push_str("</div>\n");
    let swept = question.rows.iter().any(|row| !row.point.is_empty());
    let scales: Vec<Scale> = (0..question.figures.len()).map(|column| scale_of(question, column)).collect();
    _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>",
        escape(&question.title)
    );
    if swept {
        out.push_str("<th scope=\"col\">Where</th>");
    }
    out.push_str("<th scope=\"col\">Controller</th>");
    for (name, scale) in question.figures.iter().zip(&scales) {
        let (label, title) = figure(name).map_or((name.as_str(), ""), |figure| (figure.label, figure.meaning));
        let unit = if scale.symbol.is_empty() {
            String::new()
        } else {
            format!(" <span class=\"unit\">({})</span>", scale.symbol)
        };
        _ = write!(out, "<th scope=\"col\" class=\"n\" title=\"{}\">{}{unit}</th>", escape(title), escape(label));
    }
    out.push_str("</tr></thead><tbody>\n");
    let mut point = None;
    for row in &question.rows {
        let first = point != Some(&row.point);
        point = Some(&row.point);
        out.push_str(if first { "<tr>" } else { "<tr class=\"same\">" });
        if swept {
            let shown = if first { escape(&row.point) } else { String::new() };
            _ = write!(out, "<td>{shown}</td>");
        }
        let name = swatch(evaluation, row.contender);
        let name = if row.contender == 0 { format!("<b>{name}</b>") } else { name };
        _ = write!(out, "<td>{name}</td>");
        for (cell, scale) in row.cells.iter().zip(&scales) {
            let shown = cell.map_or(NONE.to_string(), |cell| match mean_and_half(cell.into(), *scale) {
                (mean, Some(half)) => format!("{mean} <span class=\"half\">\u{00b1} {}</span>", escape(&half)),
                (mean, None) => mean,
            });
            _ = write!(out, "<td class=\"n\">{shown}</td>");
        }
        out.push_str("</tr>\n");
    }
    _ = writeln!(
        out,
        "</tbody></table></div>\n<details><summary>Scenario</summary><pre tabindex=\"0\">{}</pre></details>",
        escape(&question.scenario)
    );
}

/// Returns the single scale that makes a column comparable.
fn scale_of(question: &Question, column: usize) -> Scale {
    let largest = question.rows.iter().filter_map(|row| Some(row.cells.get(column)?.as_ref()?.mean.abs()));
    scale(figure(&question.figures[column]).map_or(Unit::Index, |figure| figure.unit), largest.fold(0.0, f64::max))
}

/// Writes the definition of each figure, once.
fn figures(folds: &mut Folds, evaluation: &Evaluation) {
    let asked = |figure: &&Definition| {
        let questions = evaluation.sections.iter().flat_map(|section| &section.questions);
        questions.flat_map(|question| &question.figures).any(|name| name == figure.name)
    };
    let mut out = String::from("<dl class=\"definitions\">");
    for figure in defined().filter(asked) {
        _ = write!(
            out,
            "<dt>{} <code>{}</code></dt><dd>{}</dd>",
            escape(figure.label),
            figure.name,
            escape(figure.meaning)
        );
    }
    out.push_str("</dl>\n");
    folds.add("definitions", "How each figure is defined", "", &out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::evaluation::{Cell, Row};

    fn evaluation(name: &str) -> Evaluation {
        let cell = |mean| Some(Cell { mean, half_width: None });
        let row =
            |contender, mean| Row { contender, point: "path.loss = 0.01".to_string(), cells: vec![cell(mean), None] };
        let question = Question {
            title: name.to_string(),
            asks: name.to_string(),
            figures: vec!["subject_bps".to_string(), "queue_delay_p95_s".to_string()],
            rows: vec![row(0, 12.5e6), row(1, 9e6)],
            scenario: name.to_string(),
            ..Question::default()
        };
        Evaluation {
            controller: name.to_string(),
            contenders: vec![(name.to_string(), "#D55E00".to_string()), ("cubic".to_string(), String::new())],
            runs: 2,
            sections: vec![
                Section { heading: "5.1.1 One".to_string(), left_out: None, questions: vec![question] },
                Section {
                    heading: "7.6 Other".to_string(),
                    left_out: Some("Not here.".to_string()),
                    questions: vec![],
                },
            ],
            ..Evaluation::default()
        }
    }

    #[test]
    fn row_uses_scale_of_column() {
        let page = page(&evaluation("rapid"));
        let row = page.lines().find(|line| line.contains("<b>") && line.contains("rapid")).expect("the row");
        assert!(row.contains("path.loss = 0.01") && row.contains(">12.50<") && row.contains(NONE), "{row}");
        assert!(page.contains("Mbit/s") && page.contains("7.6 Other") && page.contains("Not here."));
    }

    #[test]
    fn finds_figures_by_name() {
        let label = |name: &str| figure(name).map(|figure| figure.label);
        assert_eq!(label("loss_ratio"), Some("Loss"));
        assert_eq!(label("traffic_lost"), Some("Traffic lost"));
        assert_eq!(label("no_such_figure"), None);
    }

    #[test]
    fn a_hostile_name_opens_no_element() {
        let page = page(&evaluation("</script><script><b onclick=\"x\">"));
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (3, 3));
        assert!(!page.contains("<b onclick"));
    }
}
