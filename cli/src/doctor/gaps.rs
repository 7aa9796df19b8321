//! Which gaps between packets this machine can make: what `probe`, `serve` and `run --on live` need.

use super::Finding;
use live::ability::{Ability, GAPS_NS, Made, Spread};
use live::pace::Gaps;
use packetscale_models::units::Bytes;
use serde_json::{Value, json};

/// Bytes of the IP packets for which a rate is reported: Ethernet's, and jumbo frames.
const PACKETS: [u64; 2] = [1500, 9000];

/// Measures, for a second.
pub fn measured() -> Result<Ability, String> {
    Ability::measure().map_err(|error| format!("gaps cannot be measured: {error}"))
}

/// Lines for people.
pub fn findings(measured: &Result<Ability, String>) -> Vec<Finding<'static>> {
    let skipped = || "packetscale live probe, and run --on live".to_string();
    let ability = match measured {
        Ok(ability) => ability,
        Err(reason) => return vec![Finding { name: "gaps", state: Err(reason.clone()), skipped: skipped() }],
    };
    let (sent, received) = ability.sources;
    let mut findings = vec![
        Finding {
            name: "wake-up",
            state: Ok(format!("a sleep ends late by {} us (p50 / p90 / p99)", words(&ability.wake_up))),
            skipped: skipped(),
        },
        Finding {
            name: "stamps",
            state: Ok(format!("departures by the {}, arrivals by the {}", sent.words(), received.words())),
            skipped: skipped(),
        },
    ];
    findings.extend(GAPS_NS.iter().map(|gap_ns| of_gap(ability, *gap_ns)));
    let rates = PACKETS.map(|bytes| {
        let packet = Bytes::new(bytes);
        ability.fastest(packet).map(|rate| format!("{rate} with packets of {packet}"))
    });
    let state = match rates {
        [Some(small), Some(large)] => Ok(format!("up to {small}, {large}")),
        _ => Err("no gap of up to 1 ms is within 10 % at the 90th percentile".to_string()),
    };
    findings.push(Finding { name: "live Rapid", state, skipped: skipped() });
    findings
}

/// One gap, in all ways. It can be made if one of them makes it.
fn of_gap(ability: &Ability, gap_ns: u64) -> Finding<'static> {
    let ways: Vec<&Made> = ability.made.iter().filter(|made| made.gap_ns == gap_ns).collect();
    let way = |made: &&Made| {
        let off = made.off.as_ref().map_or("no times".to_string(), |off| format!("{} us", words(off)));
        format!("{} {off}", made.by.name())
    };
    let all: Vec<String> = ways.iter().map(way).collect();
    let text = format!("{} us, off by: {} (p50 / p90 / p99)", gap_ns / 1000, all.join("; "));
    let able = ways.iter().any(|made| made.is_made());
    let skipped = format!("streams of a packet each {} us", gap_ns / 1000);
    Finding { name: "gap", state: if able { Ok(text) } else { Err(text) }, skipped }
}

fn words(spread: &Spread) -> String {
    let us = |ns: u64| format!("{:.1}", ns as f64 * 1e-3);
    [spread.p50_ns, spread.p90_ns, spread.p99_ns].map(us).join(" / ")
}

/// The same as numbers.
pub fn object(measured: &Result<Ability, String>) -> Value {
    let Ok(ability) = measured else { return Value::Null };
    let spread = |of: &Spread| json!({ "p50_ns": of.p50_ns, "p90_ns": of.p90_ns, "p99_ns": of.p99_ns });
    let made = |made: &Made| {
        let off = made.off.as_ref().map(spread);
        json!({ "by": made.by.name(), "gap_ns": made.gap_ns, "off": off, "able": made.is_made() })
    };
    let fastest = |bytes: u64| {
        let rate = ability.fastest(Bytes::new(bytes));
        json!({ "packet_bytes": bytes, "rate_bps": rate.map(|rate| rate.bps()) })
    };
    let shortest = |by: Gaps| json!({ "by": by.name(), "gap_ns": ability.shortest_ns(by) });
    json!({
        "wake_up": spread(&ability.wake_up),
        "departures_by": ability.sources.0.words(),
        "arrivals_by": ability.sources.1.words(),
        "gaps": ability.made.iter().map(made).collect::<Vec<_>>(),
        "shortest": Gaps::ALL.map(shortest),
        "fastest": PACKETS.map(fastest),
    })
}
