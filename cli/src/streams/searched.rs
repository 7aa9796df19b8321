//! Searches as they are printed and written.

use super::search::{Search, answers, ended};
use crate::args::Estimate as Arguments;
use crate::run::unwritable;
use crate::{Failure, say};
use report::Streams;
use results::reproduction::{Axis, Line, Picture};
use results::to_lines;
use scenario::Scenario;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;
use units::Rate;

const FILE: &str = "searches.csv";
const PAGE: &str = "report.html";

/// Prints searches and writes their streams and a page.
pub fn give(arguments: &Arguments, scenario: &Scenario, folder: &Path, searches: &[Search]) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        results::write_file(folder, FILE, |file| streams(file, searches))?;
        let page = report::streams_page(&page(scenario, searches));
        results::write_file(folder, PAGE, |file| file.write_all(page.as_bytes()))
    };
    write().map_err(|error| unwritable(folder, &error))?;
    let answers = answers(searches);
    if arguments.json {
        let methods: Vec<Value> =
            answers.iter().map(|(point, answer)| json!({ "point": point, "score": answer })).collect();
        let searches: Vec<Value> = searches.iter().map(object).collect();
        let all = json!({ "schema": results::SCHEMA, "methods": methods, "searches": searches });
        return say(&format!("{all}\n"));
    }
    let table = table(searches);
    let keys = searches.first().map_or(0, |search| search.key.len());
    let mut text = to_lines(&table, keys..table[0].len());
    if searches.len() > answers.len() {
        let summary = summary(&answers);
        text += &format!("\n{}", to_lines(&summary, keys..summary[0].len()));
    }
    let files = [FILE, PAGE].map(|file| folder.join(file).display().to_string());
    say(&format!("{text}\nWritten to {}\n", files.join(" and ")))
}

fn object(search: &Search) -> Value {
    let found = &search.found;
    let grey = found.grey.map(|(low, high)| [low.bps(), high.bps()]);
    json!({
        "point": search.key, "run": search.run, "low_bps": found.low.bps(), "high_bps": found.high.bps(),
        "grey_bps": grey, "available_bps": search.available.bps(), "holds": search.holds(),
        "streams": search.sent.len(), "packets": search.packets(), "stream_packets": found.packets,
        "adr_bps": found.adr.map(Rate::bps), "time_s": search.time.as_secs_f64(), "ended": ended(search),
    })
}

/// One line per search, the head first.
fn table(searches: &[Search]) -> Vec<Vec<String>> {
    let keys: Vec<String> = searches.first().map_or(Vec::new(), |search| search.key.keys().cloned().collect());
    let heads =
        ["run", "low", "high", "grey", "available", "holds", "streams", "packets", "time s", "N", "ADR", "ended"];
    let head = keys.iter().cloned().chain(heads.map(String::from)).collect();
    let row = |search: &Search| {
        let found = &search.found;
        let grey = found.grey.map_or("-".into(), |(low, high)| format!("{} to {}", short(low), short(high)));
        let cells = [
            search.run.to_string(),
            short(found.low),
            short(found.high),
            grey,
            short(search.available),
            if search.holds() { "yes" } else { "no" }.to_string(),
            search.sent.len().to_string(),
            search.packets().to_string(),
            format!("{:.3}", search.time.as_secs_f64()),
            found.packets.to_string(),
            found.adr.map_or("-".into(), short),
            ended(search),
        ];
        search.key.values().cloned().chain(cells).collect()
    };
    std::iter::once(head).chain(searches.iter().map(row)).collect()
}

/// Mbit/s.
fn short(rate: Rate) -> String {
    format!("{:.0}", rate.bps() as f64 * 1e-6)
}

/// One line per method and point.
fn summary(answers: &[(std::collections::BTreeMap<String, String>, Value)]) -> Vec<Vec<String>> {
    const FIGURES: &[(&str, &str, f64, usize)] = &[
        ("searches", "searches", 1.0, 0),
        ("found %", "found", 100.0, 0),
        ("holds %", "holds", 100.0, 0),
        ("width %", "width", 100.0, 1),
        ("error %", "error", 100.0, 1),
        ("|error| %", "absolute_error", 100.0, 1),
        ("within 10 %", "within_10", 100.0, 0),
        ("streams", "streams", 1.0, 0),
        ("packets", "packets", 1.0, 0),
        ("time s", "time_s", 1.0, 3),
        ("N", "stream_packets", 1.0, 0),
    ];
    let keys: Vec<&String> = answers.first().map_or(Vec::new(), |(point, _)| point.keys().collect());
    let head = keys.iter().map(|key| key.to_string()).chain(FIGURES.iter().map(|figure| figure.0.to_string()));
    let row = |(point, answer): &(std::collections::BTreeMap<String, String>, Value)| {
        let cell = |(_, name, times, decimals): &(&str, &str, f64, usize)| {
            let figure = answer.get(name).and_then(Value::as_f64);
            figure.map_or("-".into(), |figure| format!("{:.decimals$}", figure * times, decimals = *decimals))
        };
        point.values().cloned().chain(FIGURES.iter().map(cell)).collect::<Vec<_>>()
    };
    std::iter::once(head.collect()).chain(answers.iter().map(row)).collect()
}

/// One row per stream.
fn streams(out: &mut dyn Write, searches: &[Search]) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(io::BufWriter::new(out));
    rows.write_record(["point", "run", "stream", "rate_bps", "packets", "available_bps", "said"])?;
    for search in searches {
        let point: Vec<String> = search.key.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        for (number, sent) in search.sent.iter().enumerate() {
            rows.write_record([
                &point.join("; "),
                &search.run.to_string(),
                &number.to_string(),
                &sent.rate.bps().to_string(),
                &sent.packets.to_string(),
                &sent.available.bps().to_string(),
                &sent.said,
            ])?;
        }
    }
    rows.flush()
}

/// The table, and of each point's first search which rates it sent.
fn page(scenario: &Scenario, searches: &[Search]) -> Streams {
    let lines = table(searches);
    let first = searches.chunk_by(|a, b| a.key == b.key).map(|runs| &runs[0]);
    Streams {
        name: scenario.name().to_string(),
        about: format!("{} searches for the available bandwidth. Rates are in Mbit/s.", searches.len()),
        head: lines[0].clone(),
        keys: searches.first().map_or(0, |search| search.key.len()),
        rows: lines[1..].to_vec(),
        pictures: first.map(|search| ("Which rates were sent".to_string(), picture(search))).collect(),
        notes: vec![
            "A search holds if what was available from its first packet to its last lies between low and high. Grey are \
             the rates at which a fleet's streams did not agree; N is the number of packets in a stream."
                .to_string(),
        ],
        recipe: scenario.to_toml(),
    }
}

fn picture(search: &Search) -> Picture {
    let key: Vec<String> = search.key.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let line = |name: &str, rate: &dyn Fn(usize) -> Rate| Line {
        name: name.into(),
        dense: true,
        points: (0..search.sent.len()).map(|at| ((at + 1) as f64, Some(rate(at).bps() as f64), None)).collect(),
        ..Line::default()
    };
    Picture {
        title: key.join(", "),
        caption: "Rate of each stream, and what was available while it was under way.".into(),
        x: Axis { label: "Stream".into(), ..Axis::default() },
        y: Axis { label: "Rate".into(), unit: "bit/s".into(), ..Axis::default() },
        lines: vec![
            line("sent", &|at| search.sent[at].rate),
            line("available", &|at| search.sent[at].available),
            line("low, in the end", &|_| search.found.low),
            line("high, in the end", &|_| search.found.high),
        ],
    }
}
