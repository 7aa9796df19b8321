//! Shows a status, for people and for programs.

use ::tcp::{Address, Fallen, Reason, Report, Source, Status};
use serde_json::{Value, json};
use std::fmt::Write;

const HEAD: [&str; 14] = [
    "local",
    "remote",
    "steered by",
    "stamps",
    "stamped",
    "R_avg",
    "estimate",
    "age",
    "gap p50",
    "p95",
    "queue",
    "rtt",
    "lost",
    "streams",
];

/// Returns a table: each connection of Rapid, then those that CUBIC has taken over, with the reason.
pub fn table(status: &Status) -> String {
    let mut rows = vec![HEAD.map(String::from).to_vec()];
    rows.extend(status.connections.iter().map(|connection| row(connection, status.now_ns)));
    let widths: Vec<usize> =
        (0..HEAD.len()).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = format!("{} of {} connections\n", status.connections.len(), status.flows);
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    for (address, fallen) in &status.fallen {
        let _ = writeln!(
            text,
            "{} {} CUBIC took over {} ago, after {} packets: {}",
            address.local(),
            address.remote(),
            time(status.now_ns.saturating_sub(fallen.at_ns)),
            fallen.packets,
            because(fallen)
        );
    }
    text
}

fn because(fallen: &Fallen) -> &'static str {
    match fallen.why() {
        Reason::TooManyConnections => "more connections than --flows allows",
        Reason::NoStamps => "the peer reports no arrival times",
        Reason::CannotPace => "this machine creates gaps too late at this rate",
        Reason::Bursts => "several packets leave at a time (load with --device to prevent this)",
        Reason::SwitchedOff => "Rapid is switched off, or was being unloaded",
        Reason::TooManyOfUser => "its user has more connections than --flows-per-user allows",
        Reason::Unknown => "unknown",
    }
}

fn row(report: &Report, now: u64) -> Vec<String> {
    let gap = |part| report.gap_error_ns(part).map_or("-".to_string(), time);
    let estimated = report.estimated_ns > 0;
    vec![
        report.address.local().to_string(),
        report.address.remote().to_string(),
        (if report.startup != 0 { "start-up" } else { "rapid" }).to_string(),
        named(report.source()).to_string(),
        format!("{:.1} %", 100.0 * part(report.stamped, report.delivered)),
        rate(report.rate),
        if estimated { rate(report.available) } else { "-".to_string() },
        if estimated { time(now.saturating_sub(report.estimated_ns)) } else { "-".to_string() },
        gap(0.5),
        gap(0.95),
        time(report.queue_ns),
        time(report.srtt_ns),
        report.lost.to_string(),
        report.streams.to_string(),
    ]
}

fn named(source: Source) -> &'static str {
    match source {
        Source::Undecided => "undecided",
        Source::Option => "option",
        Source::Timestamps => "timestamps",
        Source::None => "none",
    }
}

fn part(of: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { of as f64 / whole as f64 }
}

/// Shows bytes per second as bits per second.
fn rate(bytes: u64) -> String {
    let bits = bytes as f64 * 8.0;
    match bits {
        1e9.. => format!("{:.2} Gbit/s", bits / 1e9),
        _ => format!("{:.2} Mbit/s", bits / 1e6),
    }
}

fn time(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}

/// Returns one object. Times are in seconds, rates in bits per second.
pub fn json(name: &str, status: &Status) -> Value {
    let connections: Vec<Value> = status.connections.iter().map(|report| connection(report, status.now_ns)).collect();
    let fallen: Vec<Value> =
        status.fallen.iter().map(|(address, fallen)| taken(address, fallen, status.now_ns)).collect();
    json!({"schema": 1, "name": name, "flows": status.flows, "connections": connections, "fallen": fallen})
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn connection(report: &Report, now: u64) -> Value {
    let estimated = report.estimated_ns > 0;
    json!({
        "local": report.address.local().to_string(),
        "remote": report.address.remote().to_string(),
        "mode": report.mode(),
        "startup": report.startup != 0,
        "stamps": report.source(),
        "stamped_ratio": part(report.stamped, report.delivered),
        "rate_bps": report.rate * 8,
        "available_bps": estimated.then_some(report.available * 8),
        "estimate_age_s": estimated.then(|| seconds(now.saturating_sub(report.estimated_ns))),
        "gap_error_p50_s": report.gap_error_ns(0.5).map(seconds),
        "gap_error_p95_s": report.gap_error_ns(0.95).map(seconds),
        "queue_delay_s": seconds(report.queue_ns),
        "queue_delay_max_s": seconds(report.queue_max_ns),
        "rtt_min_s": seconds(report.rtt_ns),
        "rtt_s": seconds(report.srtt_ns),
        "packets": report.packets,
        "bytes": report.bytes,
        "delivered": report.delivered,
        "lost": report.lost,
        "retransmitted": report.retransmitted,
        "streams": report.streams,
        "streams_unusable": report.unusable,
        "rate_capped": report.capped,
        "bursts": report.bursts,
        "malformed_options": report.malformed,
        "age_s": seconds(now.saturating_sub(report.began_ns)),
    })
}

fn taken(address: &Address, fallen: &Fallen, now: u64) -> Value {
    json!({
        "local": address.local().to_string(),
        "remote": address.remote().to_string(),
        "mode": "cubic",
        "reason": fallen.why(),
        "packets": fallen.packets,
        "age_s": seconds(now.saturating_sub(fallen.at_ns)),
    })
}
