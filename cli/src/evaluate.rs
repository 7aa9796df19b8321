//! `packetscale judge evaluate`: the questions of RFC 9743 to a controller, and their answers for the terminal.

use crate::args::judge::Evaluate as Arguments;
use crate::outcome::Failure;
use crate::output::say;
use crate::plugins;
use crate::terminal::Terminal;
use experiment::results::evaluation::{Evaluation, Question};
use experiment::results::to_lines;
use harness::runner::Host;
use report::PAGE;
use serde_json::json;
use std::path::Path;
use studies::evaluation::Asked;

pub fn evaluate(arguments: &Arguments, host: &dyn Host) -> Result<(), Failure> {
    let controller = plugins::written(&arguments.controller);
    let asked = Asked { controller: &controller, only: arguments.only.as_deref(), quick: arguments.quick };
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out/evaluate").join(asked.folder_name()));
    let progress = Terminal::new(arguments.making.json);
    let runner = arguments.making.runner(host, &progress);
    let evaluation = asked.answer(&runner, &folder)?;
    if arguments.making.json {
        return say(&format!("{}\n", json!({ "schema": experiment::results::SCHEMA, "evaluation": evaluation })));
    }
    say(&format!("{}Written to {}\n", shown(&evaluation), folder.join(PAGE).display()))
}

/// For the terminal.
fn shown(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    for section in &evaluation.sections {
        out.push_str(&format!("{}\n", section.heading));
        if let Some(why) = &section.left_out {
            out.push_str(&format!("  {why}\n"));
        }
        for question in &section.questions {
            out.push_str(&format!("  {}\n{}", question.title, table(question, evaluation)));
        }
        out.push('\n');
    }
    out
}

fn table(question: &Question, evaluation: &Evaluation) -> String {
    let largest = |column: usize| {
        let means = question.rows.iter().filter_map(|row| row.cells[column]).map(|cell| cell.mean.abs());
        means.fold(0.0, f64::max)
    };
    let labels: Vec<(String, f64)> = (question.figures.iter().enumerate())
        .map(|(column, name)| report::figure_label(name, largest(column)).unwrap_or((name.clone(), 1.0)))
        .collect();
    let head = [String::new(), String::new()].into_iter().chain(labels.iter().map(|(label, _)| label.clone()));
    let rows = question.rows.iter().map(|row| {
        let names = [format!("    {}", row.point), evaluation.contenders[row.contender].0.clone()];
        let cells = row.cells.iter().zip(&labels).map(|(cell, (_, factor))| {
            cell.map_or("-".to_string(), |cell| {
                let half = cell.half_width.map_or(String::new(), |half| format!(" ± {:.2}", half / factor));
                format!("{:.2}{half}", cell.mean / factor)
            })
        });
        names.into_iter().chain(cells).collect()
    });
    let lines: Vec<Vec<String>> = std::iter::once(head.collect()).chain(rows).collect();
    to_lines(&lines, 2..2 + labels.len())
}
