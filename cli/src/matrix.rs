//! `packetscale judge matrix`: all pairs of controllers, and their shares for the terminal.

use crate::args::judge::Matrix as Arguments;
use crate::outcome::Failure;
use crate::output::say;
use crate::plugins;
use crate::terminal::Terminal;
use experiment::results::matrix::{Matrix, Setting};
use experiment::results::to_lines;
use harness::runner::Host;
use report::PAGE;
use serde_json::json;
use studies::matrix::Asked;

pub fn matrix(arguments: &Arguments, host: &dyn Host) -> Result<(), Failure> {
    let controllers: Vec<String> = arguments.controllers.iter().map(|word| plugins::written(word)).collect();
    let asked = Asked { controllers: &controllers, only: &arguments.only, quick: arguments.quick };
    let progress = Terminal::new(arguments.making.json);
    let runner = arguments.making.runner(host, &progress);
    let matrix = asked.answer(&runner, &arguments.out)?;
    if arguments.making.json {
        return say(&format!("{}\n", json!({ "schema": experiment::results::SCHEMA, "matrix": matrix })));
    }
    say(&format!("{}Written to {}\n", shown(&matrix), arguments.out.join(PAGE).display()))
}

/// For the terminal: of each controller, what it gets beside the others, and what a third loses beside it.
fn shown(matrix: &Matrix) -> String {
    let mut out = String::from(
        "Share of the throughput of two flows, %, against each other controller: mean, minimum, maximum.\n",
    );
    for setting in &matrix.settings {
        out.push_str(&format!("\n{}\n{}", setting.title, table(matrix, setting)));
    }
    out + "\n"
}

fn table(matrix: &Matrix, setting: &Setting) -> String {
    let head = ["  controller", "mean", "least", "beside", "most", "beside", "itself"].map(str::to_string).to_vec();
    let count = matrix.controllers.len();
    let rows = (0..count).map(|one| {
        let name = |other: usize| matrix.controllers[other].0.clone();
        let mut shares: Vec<(f64, usize)> = (0..count)
            .filter(|other| *other != one)
            .filter_map(|other| Some((setting.pair(one, other)?.share_of(one)?, other)))
            .collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mean = shares.iter().map(|(share, _)| share).sum::<f64>() / shares.len().max(1) as f64;
        let percent = |share: Option<f64>| share.map_or("-".to_string(), |share| format!("{:.0}", share * 100.0));
        let (least, most) = (shares.first(), shares.last());
        let beside = |end: Option<&(f64, usize)>| end.map_or("-".to_string(), |(_, other)| name(*other));
        let part = |end: Option<&(f64, usize)>| percent(end.map(|(share, _)| *share));
        let itself = setting.pair(one, one).and_then(|pair| pair.share_of(one));
        vec![
            format!("  {}", name(one)),
            percent(Some(mean).filter(|_| !shares.is_empty())),
            part(least),
            beside(least),
            part(most),
            beside(most),
            percent(itself),
        ]
    });
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    to_lines(&lines, 1..3)
}
