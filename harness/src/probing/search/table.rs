//! Searches as cells, for the terminal and the page, and as a CSV file.

use super::Search;
use crate::probing::Scored;
use packetscale_models::units::Rate;
use serde_json::Value;
use std::io::{self, Write};

/// One row per search, the head first.
pub fn search_table(searches: &[Search]) -> Vec<Vec<String>> {
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
            search.ended(),
        ];
        search.key.values().cloned().chain(cells).collect()
    };
    std::iter::once(head).chain(searches.iter().map(row)).collect()
}

/// Mbit/s.
fn short(rate: Rate) -> String {
    format!("{:.0}", rate.bps() as f64 * 1e-6)
}

/// One row per method and point, the head first.
pub fn summary_table(scores: &[Scored]) -> Vec<Vec<String>> {
    const COLUMNS: &[(&str, &str, f64, usize)] = &[
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
    let keys: Vec<&String> = scores.first().map_or(Vec::new(), |(point, _)| point.keys().collect());
    let head = keys.iter().map(|key| key.to_string()).chain(COLUMNS.iter().map(|figure| figure.0.to_string()));
    let row = |(point, score): &Scored| {
        let cell = |(_, name, times, decimals): &(&str, &str, f64, usize)| {
            let figure = score.get(name).and_then(Value::as_f64);
            figure.map_or("-".into(), |figure| format!("{:.decimals$}", figure * times, decimals = *decimals))
        };
        point.values().cloned().chain(COLUMNS.iter().map(cell)).collect::<Vec<_>>()
    };
    std::iter::once(head.collect()).chain(scores.iter().map(row)).collect()
}

/// Writes the streams of all searches as CSV, one row per stream.
///
/// # Errors
/// An error of writing.
pub fn write(out: &mut dyn Write, searches: &[Search]) -> io::Result<()> {
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
