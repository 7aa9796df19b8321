//! Whole pages of example results: as many kinds as the command writes.
#![allow(dead_code, missing_docs)]

use crate::example::{arrivals, demo, packets, paper, single, sweep};
use experiment::results::evaluation::{Cell, Evaluation, Question, Row, Section};
use experiment::results::matrix::{Matrix, Pair, Setting};
use experiment::results::{LinkResult, Results, Run};

/// Returns two controllers over four buffers and three rates.
pub fn two_keys() -> Results {
    let mut results = sweep();
    let runs = std::mem::take(&mut results.runs);
    for rate in ["1 Gbit/s", "5 Gbit/s", "10 Gbit/s"] {
        results.runs.extend(runs.iter().cloned().map(|mut run| {
            run.params.insert("path.rate".to_string(), rate.to_string());
            run
        }));
    }
    results
}

/// Returns two controllers over four buffers, four rates and five delays, without curves.
pub fn three_keys() -> Results {
    let mut results = sweep();
    let runs = std::mem::take(&mut results.runs);
    let paths = [1, 2, 5, 10].into_iter().flat_map(|rate| [1, 3, 9, 20, 30].map(|delay| (rate, delay)));
    for (rate, delay) in paths {
        results.runs.extend(runs.iter().cloned().map(|mut run| {
            (run.series, run.streams) = Default::default();
            run.params.insert("path.rate".to_string(), format!("{rate} Gbit/s"));
            run.params.insert("path.delay".to_string(), format!("{delay} ms"));
            run
        }));
    }
    results
}

/// Returns two controllers over a thousand buffers, with curves and distributions.
pub fn thousand() -> Results {
    let mut results = sweep();
    results.runs.retain(|run| run.replication == 0 && run.params["path.buffer"] == "5 packets");
    for series in results.runs.iter_mut().flat_map(|run| &mut run.series) {
        series.values.truncate(60);
    }
    let runs = std::mem::take(&mut results.runs);
    results.runs = (0..1000).flat_map(|buffer| runs.iter().cloned().map(move |run| over(run, buffer))).collect();
    results
}

fn over(mut run: Run, buffer: u32) -> Run {
    let part = f64::from(buffer) / 1000.0;
    run.params.insert("path.buffer".to_string(), format!("{} packets", buffer + 1));
    run.summary.throughput_bps = run.summary.throughput_bps.map(|rate| rate * (0.7 + 0.3 * part));
    run.summary.queue_delay_mean_s = run.summary.queue_delay_mean_s.map(|delay| delay * (0.1 + part));
    run
}

/// Runs with file completion times, whose path has three measured links.
pub fn web() -> Results {
    let mut results = demo();
    for run in &mut results.runs {
        run.traffic[0].file_duration = run.queue_delay.clone();
        let link = |number: u32| LinkResult {
            name: format!("link {number}"),
            queue_delay_p95_s: Some(f64::from(number + run.replication) * 1e-3),
            ..LinkResult::default()
        };
        run.links = (0..3).map(link).collect();
    }
    results
}

/// Six questions to one controller and two yardsticks, with sweeps of one and of two keys.
pub fn evaluation() -> Evaluation {
    let figures = ["utilisation", "queue_delay_p95_s", "steady_loss_ratio", "subject_bps"];
    let question = |number: u32| {
        let points: Vec<String> = match number % 3 {
            0 => vec![String::new()],
            1 => ["1 bdp", "4 bdp", "16 bdp"].iter().map(|depth| format!("path.buffer = {depth}")).collect(),
            _ => [(1, 5), (1, 20), (10, 5), (10, 20)]
                .iter()
                .map(|(flows, buffer)| format!("flow.0.count = {flows}, path.buffer = {buffer} packets"))
                .collect(),
        };
        let cell = |mean: f64| Some(Cell { mean, half_width: Some(mean / 20.0) });
        let rows = points.iter().enumerate().flat_map(|(at, point)| {
            (0..3).map(move |contender| {
                let better = f64::from(number + contender) + at as f64;
                Row {
                    contender: contender as usize,
                    point: point.clone(),
                    cells: vec![
                        cell(1.0 - better / 40.0),
                        cell(better / 1e3),
                        cell(0.01).filter(|_| contender > 0),
                        cell(better * 1e6),
                    ],
                }
            })
        });
        Question {
            title: format!("Question {number}"),
            asks: "What does it do here?".to_string(),
            figures: figures.map(str::to_string).to_vec(),
            rows: rows.collect(),
            scenario: "[run]\nduration = \"1 s\"\n".to_string(),
            ..Question::default()
        }
    };
    Evaluation {
        controller: "rapid".to_string(),
        contenders: [("rapid", "#D55E00"), ("cubic", "#E69F00"), ("bbr", "#009E73")]
            .map(|(name, colour)| (name.to_string(), colour.to_string()))
            .to_vec(),
        runs: 54,
        sections: vec![
            Section { heading: "5.1 One".to_string(), left_out: None, questions: (0..3).map(question).collect() },
            Section { heading: "7.1 Other".to_string(), left_out: None, questions: (3..6).map(question).collect() },
        ],
        ..Evaluation::default()
    }
}

/// Returns all pairs of this many controllers on one path.
pub fn matrix(count: usize) -> Matrix {
    let cell = |mean: f64| Some(Cell { mean, half_width: None });
    let pair = |row: usize, column: usize| Pair {
        row,
        column,
        share: cell(((row * 7 + column * 3) % 100) as f64 / 100.0),
        third_loss_ratio: cell(row as f64 / 500.0),
        queue_delay_p95_s: cell(column as f64 / 300.0),
        ..Pair::default()
    };
    let pairs =
        (0..count).flat_map(|row| (row..count).map(move |column| (row, column))).map(|(row, column)| pair(row, column));
    Matrix {
        controllers: (0..count).map(|number| (format!("controller-{number}"), "#56B4E9".to_string())).collect(),
        settings: vec![Setting { title: "8 Mbit/s, 50 ms".to_string(), pairs: pairs.collect(), ..Setting::default() }],
        runs: count * (count + 1) / 2,
        ..Matrix::default()
    }
}

/// Returns every kind of page with its name.
pub fn pages() -> Vec<(&'static str, String)> {
    let both = [("first".to_string(), demo()), ("second".to_string(), sweep())];
    vec![
        ("demo", report::page(&demo())),
        ("single", report::page(&single())),
        ("two-keys", report::page(&two_keys())),
        ("three-keys", report::page(&three_keys())),
        ("arrivals", report::page(&arrivals())),
        ("packets", report::page(&packets())),
        ("web", report::page(&web())),
        ("thousand", report::page(&thousand())),
        ("overlaid", report::overlaid_page(&both)),
        ("evaluation", report::evaluation_page(&evaluation())),
        ("matrix-3", report::matrix_page(&matrix(3))),
        ("matrix-23", report::matrix_page(&matrix(23))),
        ("paper", report::paper_page(&paper())),
    ]
}
