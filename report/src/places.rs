//! The places of the page's pictures over time: their names in the script, titles and captions.

use crate::data::{files, has_traffic};
use crate::html::escape;
use crate::links::queues;
use crate::network::{crosses, measured};
use experiment::results::{Results, Series};
use std::fmt::Write;

/// A place for a picture.
struct Place {
    name: &'static str,
    title: &'static str,
    /// The caption, with and without traffic.
    caption: fn(bool) -> &'static str,
    /// Curves that it draws; for other data over time, a curve over the whole run.
    metrics: &'static [&'static str],
}

const PLACES: [Place; 12] = [
    Place {
        name: THROUGHPUT,
        title: "Throughput",
        caption: |traffic| match traffic {
            true => {
                "Throughput of each flow, above the traffic. Shaded: available capacity. Thin grey lines: the traffic \
                 itself, and all flows together. Dashed: capacity of the bottleneck. Vertical lines: a flow starts or ends."
            }
            false => {
                "Throughput of each flow, with its mean from the warm-up or its start until its end. Dashed: capacity of the \
                 bottleneck. Vertical lines: a flow starts or ends."
            }
        },
        metrics: &["throughput", "available", "traffic", "total"],
    },
    Place {
        name: "shares",
        title: "Shares over time",
        caption: |_| "Share of each flow in the throughput of all flows at the bottleneck: stacked, to 100 %.",
        metrics: &["throughput", "total"],
    },
    Place {
        name: "rate",
        title: "The controllers\u{2019} own rate",
        caption: |_| "The rate that the controller has chosen, for those that have one.",
        metrics: &["rate"],
    },
    Place {
        name: "delay",
        title: "Queueing delay at the bottleneck",
        caption: |traffic| match traffic {
            true => {
                "Waiting time over all packets, traffic included. Band: smallest to largest value in the interval of a point."
            }
            false => "Waiting time over all packets. Band: smallest to largest value in the interval of a point.",
        },
        metrics: &["queue_delay", "queue_delay_max"],
    },
    Place {
        name: "queues",
        title: "Queue at each link",
        caption: |_| {
            "Waiting time of the packets that left a link, mean over an interval: the stronger the colour, the longer. Rows: \
             links in the scenario\u{2019}s order. Blank: no packet left."
        },
        metrics: &["throughput"],
    },
    Place {
        name: "ccdf",
        title: "Distribution of the queueing delay",
        caption: |_| "Share of packets that waited longer than the time on the axis, after warm-up: lower and further left is better.",
        metrics: &[],
    },
    Place {
        name: "files",
        title: "Completion times of files",
        caption: |_| "Share of files received within the time on the axis, from request to last byte: further left is better.",
        metrics: &[],
    },
    Place {
        name: "rtt",
        title: "Round-trip time",
        caption: |_| "Per flow. The axis does not begin at zero.",
        metrics: &["rtt"],
    },
    Place { name: "window", title: "Window", caption: |_| "Congestion window per flow.", metrics: &["window"] },
    Place {
        name: "flight",
        title: "Packets in flight",
        caption: |_| "Packets in flight, as the sender counts them, of the first four flows.",
        metrics: &["throughput"],
    },
    Place {
        name: "sequence",
        title: "Packets by number",
        caption: |_| {
            "Each packet of a flow at the time it was sent and at its number in the flow. The line is what the receiver has \
             acknowledged: from a dot down to it are the packets in flight, and to the right is the round-trip time. Zoom in \
             to see single packets. Of a long run one packet of every 2, 4, 8, ... is drawn; the first four flows."
        },
        metrics: &["throughput"],
    },
    Place {
        name: "losses",
        title: "Losses",
        caption: |_| "Packets dropped or lost, in the interval of a point.",
        metrics: &["losses"],
    },
];

/// The first picture of a page without a comparison.
pub const THROUGHPUT: &str = "throughput";

/// The curves that a picture needs.
pub fn metrics(name: &str) -> &'static [&'static str] {
    PLACES.iter().find(|place| place.name == name).map_or(&[], |place| place.metrics)
}

/// Whether a picture is one of a single run.
pub fn is_of_a_run(name: &str) -> bool {
    PLACES.iter().any(|place| place.name == name)
}

/// Writes places for the pictures that `wanted` selects and that have data.
pub fn places(out: &mut String, results: &Results, wanted: impl Fn(&str) -> bool) {
    let traffic = has_traffic(results);
    let named = |words: &str| match measured(results) {
        Some(link) => words.replace("the bottleneck", &escape(link)),
        None => words.to_string(),
    };
    for place in PLACES.iter().filter(|place| wanted(place.name) && is_drawn(place, results)) {
        figure(out, place.name, &named(place.title), &named((place.caption)(traffic)));
    }
}

/// Writes the place of one picture. Title and caption are HTML.
pub fn figure(out: &mut String, name: &str, title: &str, caption: &str) {
    _ = writeln!(
        out,
        "<figure data-figure=\"{name}\"><figcaption><h3>{title}</h3><p>{caption}</p></figcaption>\
         <div class=\"panels\"></div></figure>"
    );
}

fn is_drawn(place: &Place, results: &Results) -> bool {
    let each =
        |metric: &str| results.runs.iter().map(|run| run.series.iter().filter(|s| s.metric == metric).count()).max();
    match place.name {
        "ccdf" => results.runs.iter().any(|run| run.queue_delay.count.iter().any(|count| *count > 0)),
        "files" => results.runs.iter().any(|run| files(run).next().is_some()),
        "queues" => results.runs.iter().any(|run| !queues(run).is_empty()),
        "flight" | "sequence" => results.runs.iter().any(|run| run.sequences.iter().any(|flow| !flow.sent.is_empty())),
        "shares" => results.runs.iter().any(|run| {
            let here = |s: &&Series| s.metric == "throughput" && s.flow.is_none_or(|flow| crosses(run, flow as usize));
            run.series.iter().filter(here).count() > 1
        }),
        _ => place.metrics.iter().any(|metric| each(metric).is_some_and(|count| count > 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn captions_mention_traffic_only_if_present() {
        let mut results = example::demo();
        let written = |results: &Results| {
            let mut out = String::new();
            places(&mut out, results, |_| true);
            out
        };
        assert!(written(&results).contains("traffic"));
        results.runs.iter_mut().for_each(|run| run.traffic.clear());
        assert!(!written(&results).contains("traffic"));
    }

    #[test]
    fn a_single_flow_has_no_shares() {
        let mut results = example::single();
        let has = |results: &Results| {
            let mut out = String::new();
            places(&mut out, results, |name| name == "shares");
            !out.is_empty()
        };
        assert!(has(&results));
        let flow = |route: &str| experiment::results::FlowResult {
            route: route.to_string(),
            ..experiment::results::FlowResult::default()
        };
        let (flows, run) = (results.runs[0].flows.len(), &mut results.runs[0]);
        run.measured = "there".to_string();
        run.flows = (0..flows).map(|number| flow(if number == 0 { "there" } else { "back" })).collect();
        assert!(!has(&results), "one of them at the measured link");
        results.runs[0].measured.clear();
        assert!(has(&results));
        results.runs[0].series.retain(|series| series.flow.is_none_or(|flow| flow == 0));
        assert!(!has(&results));
    }
}
