//! Queue disciplines of papers in this machine's Linux: `packetscale tcp qdisc load|unload|status`.

use crate::args::qdisc::{Discipline, Load, On, Qdisc};
use crate::outcome::Failure;
use crate::output::say;
use linux::qdisc::{self, Qlbp, Queue};
use packetscale_models::units::Rate;
use serde_json::{Value, json};
use std::fmt::Write;

/// `rate_min` is this part of `rate_max`, as in scenarios.
const LEAST_PART: u64 = 100;
const PREFIX: &str = "packetscale_qdisc_";
const NS_PER_S: f64 = 1e9;

pub fn qdisc(command: &Qdisc) -> Result<(), Failure> {
    match command {
        Qdisc::Load(load) => put(load),
        Qdisc::Unload { on } => {
            let there = qdisc::unload(&on.device)?;
            let text = if there { "unloaded\n" } else { "nothing was loaded\n" };
            answer(on, json!({"schema": 1, "device": on.device, "unloaded": there}), text)
        }
        Qdisc::Status { prometheus: true, .. } => say(&prometheus(&qdisc::status()?)),
        Qdisc::Status { json: true, .. } => {
            let queues: Vec<Value> = qdisc::status()?.iter().map(object).collect();
            say(&format!("{}\n", json!({"schema": 1, "queues": queues})))
        }
        Qdisc::Status { .. } => say(&table(&qdisc::status()?)),
    }
}

fn answer(on: &On, object: Value, text: &str) -> Result<(), Failure> {
    say(&if on.json { format!("{object}\n") } else { text.to_string() })
}

fn put(load: &Load) -> Result<(), Failure> {
    let Load { discipline: Discipline::Qlbp, on, rate_max, q_max, limit, .. } = load;
    let (rate_max, q_max, limit) = (*rate_max, *q_max, *limit);
    let rate_min = load.rate_min.unwrap_or(Rate::from_bps(rate_max.bps() / LEAST_PART));
    qdisc::load(&on.device, &Qlbp { rate_min, rate_max, q_max, limit })?;
    let text = format!("{}: qlbp from {rate_min} to {rate_max} at {q_max}, at most {limit}\n", on.device);
    answer(on, json!({"schema": 1, "device": on.device, "loaded": "qlbp"}), &text)
}

/// The device's name; in another namespace that namespace, and its index.
fn name(queue: &Queue) -> String {
    queue.device.clone().unwrap_or_else(|| format!("net:[{}] {}", queue.netns, queue.index))
}

fn mean(queue: &Queue) -> Option<f64> {
    let time = queue.changed_ns.saturating_sub(queue.began_ns);
    (time > 0).then(|| queue.area as f64 / time as f64)
}

fn object(queue: &Queue) -> Value {
    json!({
        "device": queue.device, "netns": queue.netns, "index": queue.index, "discipline": "qlbp",
        "waiting": queue.waiting, "waiting_mean": mean(queue), "queued": queue.queued, "sent": queue.sent,
        "dropped": queue.dropped,
    })
}

fn table(queues: &[Queue]) -> String {
    if queues.is_empty() {
        return "nothing is loaded\n".to_string();
    }
    let mut text =
        format!("{:<24} {:>8} {:>8} {:>12} {:>12} {:>9}\n", "device", "waiting", "mean", "queued", "sent", "dropped");
    for queue in queues {
        let mean = mean(queue).map_or("-".to_string(), |mean| format!("{mean:.1}"));
        let Queue { waiting, queued, sent, dropped, .. } = queue;
        let _ = writeln!(text, "{:<24} {waiting:>8} {mean:>8} {queued:>12} {sent:>12} {dropped:>9}", name(queue));
    }
    text
}

/// One metric: its name, kind and help, and its value for a queue.
type Metric = (&'static str, &'static str, &'static str, fn(&Queue) -> f64);

/// The counters, with the names that Prometheus asks for.
fn prometheus(queues: &[Queue]) -> String {
    const METRICS: [Metric; 5] = [
        ("queued_packets_total", "counter", "Packets that came and were queued.", |queue| queue.queued as f64),
        ("sent_packets_total", "counter", "Packets that left.", |queue| queue.sent as f64),
        ("dropped_packets_total", "counter", "Packets dropped at the limit.", |queue| queue.dropped as f64),
        ("waiting_packets", "gauge", "Packets that wait.", |queue| queue.waiting as f64),
        ("waiting_packet_seconds_total", "counter", "Integral of the queue over time.", |queue| {
            queue.area as f64 / NS_PER_S
        }),
    ];
    let mut text = String::new();
    for (metric, kind, help, value) in METRICS {
        let _ = writeln!(text, "# HELP {PREFIX}{metric} {help}\n# TYPE {PREFIX}{metric} {kind}");
        for queue in queues {
            let _ =
                writeln!(text, "{PREFIX}{metric}{{discipline=\"qlbp\",device=\"{}\"}} {}", name(queue), value(queue));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Queue {
        Queue {
            device: Some("eth0".to_string()),
            netns: 4_026_531_840,
            index: 2,
            waiting: 7,
            queued: 100,
            sent: 93,
            dropped: 1,
            area: 14_000_000_000,
            began_ns: 1_000_000_000,
            changed_ns: 3_000_000_000,
        }
    }

    #[test]
    fn the_table_has_the_mean_over_time() {
        let text = table(&[queue(), Queue { device: None, changed_ns: 0, ..queue() }]);
        let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[1], ["eth0", "7", "7.0", "100", "93", "1"]);
        assert_eq!(words[2], ["net:[4026531840]", "2", "7", "-", "100", "93", "1"]);
    }

    #[test]
    fn metrics_name_device_and_unit() {
        let text = prometheus(&[queue()]);
        assert!(
            text.contains("packetscale_qdisc_sent_packets_total{discipline=\"qlbp\",device=\"eth0\"} 93\n"),
            "{text}"
        );
        assert!(text.contains("waiting_packet_seconds_total{discipline=\"qlbp\",device=\"eth0\"} 14\n"), "{text}");
    }
}
