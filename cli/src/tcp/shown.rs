//! Shows a status, for people and for programs.

use super::words::{activity, because, key_of, limit, part, rate, seconds, source, time};
use linux::tcp::{Activity, Address, Counters, Fallen, Limit, Reason, Report, Status};
use serde_json::{Map, Value, json};
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

/// Returns the totals, a table of Rapid's connections, and those that CUBIC has taken over, with the reason. `all`: also
/// the latest of these that have ended.
pub fn table(status: &Status, all: bool) -> String {
    let mut rows = vec![HEAD.map(String::from).to_vec()];
    rows.extend(status.connections.iter().map(|connection| row(connection, status.now_ns)));
    let widths: Vec<usize> =
        (0..HEAD.len()).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = totals(status).join("\n") + "\n";
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    for (address, fallen) in taken_over(status, all) {
        let _ = writeln!(
            text,
            "{} {} CUBIC took over {} ago, after {} packets: {}{}",
            address.local(),
            address.remote(),
            time(status.now_ns.saturating_sub(fallen.at_ns)),
            fallen.packets,
            because(fallen.why()),
            match (&status.unlisted, status.open.contains(address)) {
                (Some(_), _) => "; open or ended",
                (None, true) => "",
                (None, false) => "; ended",
            }
        );
    }
    if let Some(why) = &status.unlisted {
        let _ = writeln!(text, "{UNLISTED}: {why}");
    }
    text
}

/// What is missing where the kernel keeps no list.
pub const UNLISTED: &str = "the list of connections taken over by CUBIC is not available";

fn taken_over(status: &Status, all: bool) -> impl Iterator<Item = &(Address, Fallen)> {
    status.fallen.iter().filter(move |(address, _)| all || status.open.contains(address))
}

/// Returns what all connections together have done, in a few lines.
pub fn totals(status: &Status) -> Vec<String> {
    let Status { connections, flows, window, memory, off, draining, counters, .. } = status;
    let switched = match (off, draining) {
        (true, _) => "; Rapid is switched off",
        (_, true) => "; no new ones, it is being unloaded",
        _ => "",
    };
    let now = connections.len();
    let Counters { begun, steered, distrusted, silenced, timeouts, undone, guarded, .. } = counters;
    let reasons = Reason::ALL.into_iter().filter(|reason| counters.fallen(*reason) > 0);
    let reasons: Vec<String> =
        reasons.map(|reason| format!("{} ({})", counters.fallen(reason), because(reason))).collect();
    let limited = |limit| time(counters.limited_ns(limit));
    let fallen = if reasons.is_empty() { "0".to_string() } else { reasons.join(", ") };
    vec![
        format!(
            "{now} of {flows} connections, {} of kernel memory; since the load: {begun} connections began, Rapid \
             steered {steered}{switched}",
            memory_in_words(*memory)
        ),
        format!("taken over by CUBIC: {fallen}"),
        format!(
            "limited by the application {}, the receiver's window {}, the limit of {window} packets in flight {}; \
             guard {guarded} times",
            limited(Limit::Application),
            limited(Limit::Receiver),
            limited(Limit::Window)
        ),
        format!(
            "timeouts {timeouts}, {undone} of them undone; arrivals ceased {silenced} times, clock distrusted {distrusted} times"
        ),
    ]
}

/// What a load takes of memory, in words: it is known in whole MiB.
pub fn memory_in_words(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

fn row(report: &Report, now: u64) -> Vec<String> {
    let gap = |part| report.gap_error_ns(part).map_or("-".to_string(), time);
    let estimated = report.estimated_ns > 0;
    let steers = sends(report);
    vec![
        report.address.local().to_string(),
        report.address.remote().to_string(),
        activity(report.activity()).to_string(),
        source(report.source()).to_string(),
        if report.delivered > 0 {
            format!("{:.1} %", 100.0 * part(report.stamped, report.delivered))
        } else {
            "-".to_string()
        },
        if steers { rate(report.rate) } else { "-".to_string() },
        if estimated { rate(report.available) } else { "-".to_string() },
        if estimated { time(now.saturating_sub(report.estimated_ns)) } else { "-".to_string() },
        gap(0.5),
        gap(0.95),
        if steers { time(report.queue_ns) } else { "-".to_string() },
        time(report.srtt_ns),
        report.lost.to_string(),
        report.streams.to_string(),
    ]
}

/// Whether the law sets the rate of something that is sent.
pub fn sends(report: &Report) -> bool {
    matches!(report.activity(), Activity::StartsUp | Activity::Sends)
}

/// Returns one object. Times are in seconds, rates in bits per second.
pub fn json(name: &str, status: &Status, all: bool) -> Value {
    let connections: Vec<Value> = status.connections.iter().map(|report| connection(report, status.now_ns)).collect();
    let fallen: Vec<Value> = taken_over(status, all)
        .map(|(address, fallen)| {
            let mut object = taken(address, fallen);
            object["ended"] = json!(status.unlisted.is_none().then(|| !status.open.contains(address)));
            object["age_s"] = json!(seconds(status.now_ns.saturating_sub(fallen.at_ns)));
            object
        })
        .collect();
    json!({
        "schema": 1,
        "name": name,
        "flows": status.flows,
        "window_max_packets": status.window,
        "memory_bytes": status.memory,
        "switched_off": status.off,
        "draining": status.draining,
        "counters": counted(&status.counters),
        "connections": connections,
        "fallen": fallen,
        "fallen_unavailable": status.unlisted,
    })
}

fn counted(counters: &Counters) -> Value {
    let fallen: Map<String, Value> =
        Reason::ALL.iter().map(|reason| (key_of(*reason).to_string(), json!(counters.fallen(*reason)))).collect();
    let mut object = json!({
        "begun": counters.begun,
        "steered": counters.steered,
        "ended": counters.ended,
        "fallen": fallen,
        "distrusted": counters.distrusted,
        "arrivals_ceased": counters.silenced,
        "timeouts": counters.timeouts,
        "timeouts_undone": counters.undone,
        "rate_capped": counters.guarded,
        "falls_unreported": counters.unreported,
    });
    for by in Limit::ALL {
        object[format!("limited_by_{}_s", limit(by))] = json!(seconds(counters.limited_ns(by)));
    }
    object
}

fn connection(report: &Report, now: u64) -> Value {
    let estimated = report.estimated_ns > 0;
    let mut object = json!({
        "local": report.address.local().to_string(),
        "remote": report.address.remote().to_string(),
        "mode": report.mode(),
        "activity": report.activity(),
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
    });
    for by in Limit::ALL {
        object[format!("limited_by_{}_s", limit(by))] = json!(seconds(report.limited_ns[by as usize]));
    }
    object
}

/// A connection that CUBIC has taken over, as it was then.
pub fn taken(address: &Address, fallen: &Fallen) -> Value {
    json!({
        "local": address.local().to_string(),
        "remote": address.remote().to_string(),
        "mode": "cubic",
        "reason": fallen.why(),
        "packets": fallen.packets,
        "rate_bps": (fallen.rate > 0).then_some(fallen.rate * 8),
        "rtt_s": seconds(fallen.srtt_ns),
        "cwnd_packets": fallen.cwnd,
        "ssthresh_packets": (fallen.ssthresh < NO_THRESHOLD).then_some(fallen.ssthresh),
    })
}

/// TCP's slow-start threshold where nothing has been learnt.
pub const NO_THRESHOLD: u32 = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const WHY: &str = "the kernel refuses the program `list_taken` with EPERM";

    /// One connection that CUBIC has taken over, on a kernel that does not say whether it has ended.
    fn unlisted() -> Status {
        let [local, remote] = ["10.0.0.1:40000", "10.0.0.2:443"].map(|text| text.parse().expect("an address"));
        let fallen = Fallen { at_ns: 0, packets: 5, rate: 0, srtt_ns: 1, cwnd: 10, ssthresh: 9, reason: 2, source: 0 };
        Status {
            flows: 4,
            window: 3584,
            memory: 1 << 20,
            off: false,
            draining: false,
            connections: Vec::new(),
            slots: Vec::new(),
            fallen: vec![(Address::between(local, remote), fallen)],
            open: BTreeSet::new(),
            unlisted: Some(WHY.to_string()),
            counters: Counters::default(),
            now_ns: 1_000_000_000,
        }
    }

    #[test]
    fn table_reports_missing_list_with_reason() {
        let last = format!("the list of connections taken over by CUBIC is not available: {WHY}\n");
        let [some, all] = [false, true].map(|all| table(&unlisted(), all));
        assert!(some.ends_with(&last) && !some.contains("10.0.0.1"), "{some}");
        assert!(all.ends_with(&last) && all.contains("10.0.0.1:40000 10.0.0.2:443 CUBIC took over"), "{all}");
        assert!(all.contains("; open or ended\n"), "{all}");
    }

    #[test]
    fn json_reports_missing_list_with_reason() {
        let object = json("rapid", &unlisted(), true);
        assert_eq!((&object["fallen_unavailable"], &object["fallen"][0]["ended"]), (&json!(WHY), &Value::Null));
        let listed = json("rapid", &Status { unlisted: None, ..unlisted() }, true);
        assert_eq!((&listed["fallen_unavailable"], &listed["fallen"][0]["ended"]), (&Value::Null, &json!(true)));
    }
}
