//! The page of searches: each one's result, and the rates that it sent.

use super::page::ProbePage;
use experiment::results::reproduction::{Axis, Line, Picture};
use harness::probing::search::{Search, search_table};
use packetscale_models::units::Rate;

/// The table, and the rates sent by each point's first search.
pub fn content(name: &str, recipe: String, searches: &[Search]) -> ProbePage {
    let lines = search_table(searches);
    let first = searches.chunk_by(|a, b| a.key == b.key).map(|runs| &runs[0]);
    ProbePage {
        name: name.to_string(),
        about: format!("{} searches for the available bandwidth. Rates are in Mbit/s.", searches.len()),
        head: lines[0].clone(),
        keys: searches.first().map_or(0, |search| search.key.len()),
        rows: lines[1..].to_vec(),
        pictures: first.map(|search| ("Rates sent".to_string(), picture(search))).collect(),
        notes: vec![
            "A search holds if the bandwidth available from its first packet to its last is between low and high. Grey are \
             the rates at which a fleet's streams did not agree; N is the number of packets in a stream."
                .to_string(),
        ],
        recipe,
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
        caption: "Rate of each stream, and the bandwidth available at that time.".into(),
        x: Axis { label: "Stream".into(), ..Axis::default() },
        y: Axis { label: "Rate".into(), unit: "bit/s".into(), ..Axis::default() },
        lines: vec![
            line("sent", &|at| search.sent[at].rate),
            line("available", &|at| search.sent[at].available),
            line("final low", &|_| search.found.low),
            line("final high", &|_| search.found.high),
        ],
    }
}
