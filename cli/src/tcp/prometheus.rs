//! The counters in Prometheus's text format, version 0.0.4.
//!
//! They come from one map of the kernel, whatever the number of connections. Times are in seconds, and names end in
//! their unit and `_total`, as <https://prometheus.io/docs/practices/naming/> asks.

use super::words::{key_of, limit, seconds};
use linux::tcp::{Counters, Limit, Reason, UserController};
use std::fmt::{Display, Write};

/// What the names of all metrics begin with.
const PREFIX: &str = "packetscale_tcp_";

/// A metric: its name, kind and help, and its samples, each with one more label if it has a name.
struct Family {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    label: &'static str,
    samples: Vec<(&'static str, f64)>,
}

fn one(name: &'static str, kind: &'static str, help: &'static str, value: impl Into<f64>) -> Family {
    Family { name, kind, help, label: "", samples: vec![("", value.into())] }
}

fn counter(name: &'static str, help: &'static str, value: u64) -> Family {
    // Counts stay below 2^53.
    one(name, "counter", help, value as f64)
}

/// Returns the counters of the congestion control `control`, loaded for `flows` connections, and how its switch stands:
/// whether it is off, and whether it drains.
pub fn text(control: &str, flows: u32, (off, draining): (bool, bool), counters: &Counters) -> String {
    let mut all = families(flows, counters);
    all.push(one("switched_off", "gauge", "1: Rapid is switched off (tcp off).", f64::from(u8::from(off))));
    let help = "1: no new connections; unloaded when the existing ones have closed.";
    all.push(one("draining", "gauge", help, f64::from(u8::from(draining))));
    written(control, all)
}

/// Returns what is known of a congestion control that was loaded from a file.
pub fn of_user_controller(control: &str, loaded: &UserController) -> String {
    let help = "Sockets that use it, and namespaces whose default it is.";
    written(control, vec![one("users", "gauge", help, (loaded.users + loaded.earlier) as f64)])
}

fn written(control: &str, families: Vec<Family>) -> String {
    let mut text = String::new();
    for family in families {
        let Family { name, kind, help, label, samples } = family;
        let _ = writeln!(text, "# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}");
        for (key, value) in samples {
            let _ = writeln!(text, "{PREFIX}{name}{{{}}} {value}", labels(control, label, &key));
        }
    }
    text
}

/// Names of congestion controls and our own keys have no character that needs an escape.
fn labels(control: &str, label: &str, key: &dyn Display) -> String {
    if label.is_empty() { format!("control=\"{control}\"") } else { format!("control=\"{control}\",{label}=\"{key}\"") }
}

fn families(flows: u32, counters: &Counters) -> Vec<Family> {
    let fallen = Reason::ALL.map(|reason| (key_of(reason), counters.fallen(reason) as f64));
    let limited = Limit::ALL.map(|by| (limit(by), seconds(counters.limited_ns(by))));
    let sampled =
        |name, help, label, samples: &[_]| Family { name, kind: "counter", help, label, samples: samples.to_vec() };
    vec![
        one("connections", "gauge", "Connections that hold a slot.", counters.now() as f64),
        one("connections_max", "gauge", "Maximum number of slots (--flows).", flows),
        counter("connections_begun_total", "Connections that requested Rapid.", counters.begun),
        counter("connections_steered_total", "Connections that came under Rapid's control.", counters.steered),
        counter("connections_ended_total", "Connections that released their slot.", counters.ended),
        sampled("connections_fallen_total", "Connections that CUBIC has taken over, by reason.", "reason", &fallen),
        sampled(
            "limited_seconds_total",
            "Time in which something other than the path limited sending, summed over connections.",
            "by",
            &limited,
        ),
        counter(
            "guarded_total",
            "Round trips after which the guard lowered the rate, or in which its window was full.",
            counters.guarded,
        ),
        counter("timeouts_total", "Retransmission timers that expired under Rapid.", counters.timeouts),
        counter("timeouts_undone_total", "Spurious timeouts, undone.", counters.undone),
        counter("arrivals_ceased_total", "Times that a peer stopped reporting arrivals.", counters.silenced),
        counter(
            "peers_distrusted_total",
            "Times that a peer's arrival times were impossible for a clock.",
            counters.distrusted,
        ),
        counter(
            "falls_unreported_total",
            "Fallbacks to CUBIC missing from the event stream: the ring buffer was full.",
            counters.unreported,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_parse::{Scrape, Value};
    use std::collections::BTreeSet;

    fn some() -> Counters {
        let (limited_ns, fallen) = ([1_500_000_000, 0, 250_000_000], [0, 1, 2, 3, 4, 5, 6]);
        let some = Counters { begun: 12, steered: 9, ended: 10, timeouts: 3, undone: 2, ..Counters::default() };
        Counters { limited_ns, fallen, ..some }
    }

    /// Read by another parser than what wrote it.
    fn scraped() -> Scrape {
        let text = text("rapid", 256, (true, false), &some());
        Scrape::parse(text.lines().map(|line| Ok(line.to_string()))).expect("text format")
    }

    #[test]
    fn another_parser_reads_every_value_with_its_kind() {
        let scrape = scraped();
        let value = |name: &str| {
            let sample = scrape.samples.iter().find(|sample| sample.metric == format!("packetscale_tcp_{name}"));
            let sample = sample.unwrap_or_else(|| panic!("no {name}"));
            assert_eq!(sample.labels.get("control"), Some("rapid"), "{name}");
            sample.value.clone()
        };
        assert_eq!(value("connections"), Value::Gauge(2.0));
        assert_eq!(value("connections_max"), Value::Gauge(256.0));
        assert_eq!((value("switched_off"), value("draining")), (Value::Gauge(1.0), Value::Gauge(0.0)));
        assert_eq!(value("connections_begun_total"), Value::Counter(12.0));
        assert_eq!(value("timeouts_undone_total"), Value::Counter(2.0));
        let labelled = |name: &str, label: &str| -> Vec<(String, Value)> {
            let of = scrape.samples.iter().filter(|sample| sample.metric == format!("packetscale_tcp_{name}"));
            of.map(|sample| (sample.labels.get(label).expect("its label").to_string(), sample.value.clone())).collect()
        };
        let counters = |expected: &[(&str, f64)]| -> Vec<(String, Value)> {
            expected.iter().map(|(label, value)| (label.to_string(), Value::Counter(*value))).collect()
        };
        let reasons =
            ["too-many-connections", "no-stamps", "cannot-pace", "bursts", "switched-off", "too-many-of-user"];
        let reasons: Vec<(&str, f64)> = reasons.into_iter().zip((1..).map(f64::from)).collect();
        assert_eq!(labelled("connections_fallen_total", "reason"), counters(&reasons));
        let limits = [("application", 1.5), ("receiver", 0.0), ("window", 0.25)];
        assert_eq!(labelled("limited_seconds_total", "by"), counters(&limits));
    }

    /// The rules of the format that the parser does not check: exposition_formats.md, "Text format details".
    #[test]
    fn each_family_is_one_group_that_begins_with_its_help_and_its_kind() {
        let text = text("rapid", 256, (true, false), &some());
        assert!(text.ends_with('\n') && !text.contains("\n\n"));
        let (mut family, mut kind, mut known) = (String::new(), String::new(), BTreeSet::new());
        for line in text.lines() {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            match words[..] {
                ["#", "HELP", name, help] => {
                    assert!(known.insert(name), "{name} twice");
                    assert!(help.ends_with('.') && !help.contains('\\'), "{help}");
                    family = name.to_string();
                }
                ["#", "TYPE", name, of] => {
                    assert_eq!(name, family);
                    kind = of.to_string();
                    assert_eq!(name.ends_with("_total"), of == "counter", "{name} is a {of}");
                }
                _ => {
                    let (series, value) = line.rsplit_once(' ').expect("a value");
                    let (name, labels) = series.split_once('{').expect("labels");
                    assert_eq!((name, kind.is_empty()), (family.as_str(), false));
                    assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
                    assert!(labels.starts_with("control=\"rapid\"") && labels.ends_with("\"}"), "{labels}");
                    value.parse::<f64>().expect("a number");
                }
            }
        }
        assert_eq!(known.len(), 15);
    }
}
