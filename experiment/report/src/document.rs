//! Writes the page as one HTML text: words, tables and places for the figures, then style, data and script.

use crate::completions::arrived;
use crate::groups::points;
use crate::html::escape;
use crate::numbers::number;
use crate::resolved::{Resolved, resolved};
use crate::shell::shell;
use crate::{data, sweep, tables, verdict};
use results::figures::{self, Definition, Unit};
use results::{Group, Results, groups};
use std::fmt::Write;

const SCRIPT: &str = include_str!("../assets/page.js");

/// A place for a picture: its name in the script, its title, its caption.
struct Place {
    name: &'static str,
    title: &'static str,
    caption: &'static str,
    /// Metrics of the series it draws; empty when it draws something else.
    metrics: &'static [&'static str],
}

const PLACES: [Place; 7] = [
    Place {
        name: "throughput",
        title: "Throughput",
        caption: "What each flow got, over what the traffic left. Shaded: available capacity. Thin grey line: the traffic itself. \
                  Dashed: capacity of the bottleneck. Heavy line: all flows together.",
        metrics: &["throughput", "available", "traffic"],
    },
    Place {
        name: "rate",
        title: "The controllers\u{2019} own rate",
        caption: "The rate that the controller has chosen, for those that have one.",
        metrics: &["rate"],
    },
    Place {
        name: "queue",
        title: "Queueing delay at the bottleneck",
        caption: "Waiting time over all packets, traffic included. Shaded: from the smallest to the largest value in the interval \
                  that a point stands for.",
        metrics: &["queue_delay", "queue_delay_max"],
    },
    Place {
        name: "ccdf",
        title: "Distribution of the queueing delay",
        caption: "Share of packets that waited longer than the time on the axis, after warm-up. Both axes logarithmic: lower \
                  and further left is better.",
        metrics: &[],
    },
    Place {
        name: "rtt",
        title: "Round-trip time",
        caption: "Per flow. The axis does not begin at zero.",
        metrics: &["rtt"],
    },
    Place { name: "window", title: "Window", caption: "Congestion window per flow.", metrics: &["window"] },
    Place {
        name: "losses",
        title: "Losses",
        caption: "Packets dropped or lost, in the interval that a point stands for.",
        metrics: &["losses"],
    },
];

/// Returns the whole document.
pub fn document(results: &Results) -> String {
    let resolved = resolved(&results.manifest.scenario);
    let groups = groups(&results.runs);
    let mut body = String::new();
    header(&mut body, results, &resolved);
    comparison(&mut body, results, &groups);
    pictures(&mut body, results);
    streams(&mut body, results);
    let flows = tables::fairness(&groups) + &tables::flows(results, &groups) + &arrived(results, &groups);
    section(&mut body, "flows", "Flows and fairness", &flows);
    section(&mut body, "traffic", "Traffic", &tables::traffic(results, &groups));
    definitions(&mut body, results);
    shell(&title(results), &body, &data::data(results, &resolved), SCRIPT)
}

fn title(results: &Results) -> String {
    let name = results.manifest.scenario_name.trim_end_matches(".toml");
    if name.is_empty() { "packetscale".to_string() } else { format!("{name} \u{00b7} packetscale") }
}

fn section(out: &mut String, id: &str, heading: &str, content: &str) {
    if !content.is_empty() {
        _ = writeln!(out, "<section id=\"{id}\">\n<h2>{heading}</h2>\n{content}</section>");
    }
}

fn header(out: &mut String, results: &Results, resolved: &Resolved) {
    let manifest = &results.manifest;
    let name = manifest.scenario_name.trim_end_matches(".toml");
    let host = escape(&results.host.badge);
    _ = write!(
        out,
        "<header>\n<p class=\"over\">packetscale <span class=\"host\">{host}</span></p>\n<h1>{}</h1>\n<p class=\"verdict\">{}</p>\n",
        escape(if name.is_empty() { "unnamed scenario" } else { name }),
        escape(&verdict::verdict(results)),
    );
    let mut facts = resolved.facts.clone();
    let seeds = manifest.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    facts.extend((!seeds.is_empty()).then_some(("Seeds", seeds)));
    let commit = manifest.commit.as_ref().map_or(String::new(), |c| format!(" ({c})"));
    facts.push(("Version", format!("{}{commit}", manifest.version)));
    out.push_str("<dl class=\"facts\">\n");
    for (label, value) in facts.iter().filter(|(_, v)| !v.is_empty()) {
        _ = writeln!(out, "<div><dt>{label}</dt><dd>{}</dd></div>", escape(value));
    }
    out.push_str("</dl>\n");
    expectations(out, results);
    if !manifest.scenario.is_empty() {
        _ = writeln!(
            out,
            "<details><summary>The scenario, fully resolved</summary><pre tabindex=\"0\">{}</pre></details>",
            escape(&manifest.scenario)
        );
    }
    out.push_str("</header>\n");
}

fn expectations(out: &mut String, results: &Results) {
    if results.expectations.is_empty() {
        return;
    }
    let met = results.expectations.iter().filter(|e| e.met).count();
    let all = results.expectations.len();
    _ = write!(
        out,
        "<details class=\"expect\"{}><summary>Expectations: {met} of {all} met</summary><ul>",
        if met < all { " open" } else { "" }
    );
    for e in &results.expectations {
        let (class, word) = if e.met { ("met", "met") } else { ("missed", "missed") };
        let found = e.found.filter(|f| f.is_finite()).map_or("no value".to_string(), number);
        let selected = if e.selected.is_empty() { String::new() } else { format!(" for {}", escape(&e.selected)) };
        _ = write!(
            out,
            "<li class=\"{class}\"><b>{word}</b> <code>{}</code>{selected} {}: found {found}. <span class=\"why\">{}</span></li>",
            escape(&e.metric),
            escape(&e.bound),
            escape(&e.why)
        );
    }
    out.push_str("</ul></details>\n");
}

fn comparison(out: &mut String, results: &Results, groups: &[Group]) {
    let most = groups.iter().map(|g| g.runs.len()).max().unwrap_or(0);
    let note = match most {
        0 => return,
        1 => "One replication: no intervals.".to_string(),
        n => format!("Mean and 95 % confidence interval (Student\u{2019}s t) over {n} replications, after warm-up."),
    };
    let mut content = format!("<p class=\"note\">{note}</p>\n{}", tables::comparison(results, groups));
    if sweep::sweep(results).is_some() {
        figure(&mut content, "sweep", "Against the swept value", "Mean and 95 % interval over replications.");
    }
    section(out, "comparison", "Comparison", &content);
}

fn figure(out: &mut String, name: &str, title: &str, caption: &str) {
    _ = writeln!(
        out,
        "<figure data-figure=\"{name}\"><figcaption><h3>{title}</h3><p>{caption}</p></figcaption>\
         <div class=\"panels\"></div></figure>"
    );
}

fn pictures(out: &mut String, results: &Results) {
    if results.runs.is_empty() {
        return;
    }
    let has =
        |metrics: &[&str]| results.runs.iter().flat_map(|r| &r.series).any(|s| metrics.contains(&s.metric.as_str()));
    let mut content = String::from("<div class=\"controls\" id=\"controls\">");
    if points(results).len() > 1 {
        content.push_str("<label>Sweep point <select id=\"point\"></select></label>");
    }
    if results.runs.iter().any(|r| r.replication > 0) {
        content.push_str("<label>Replication <select id=\"replication\"></select></label>");
    }
    content.push_str(
        "<label>Delay axes <select id=\"axes\"><option value=\"shared\">shared</option>\
         <option value=\"own\">one each</option><option value=\"log\">shared, logarithmic</option></select></label>\
         <button type=\"button\" id=\"reset\" hidden>Show whole run</button>\
         <span class=\"hint\">Drag to zoom, double-click to go back; arrow keys read values, + and \u{2212} zoom.</span></div>\n\
         <noscript><p>The curves are drawn by a script, which is switched off here. The tables need none.</p></noscript>\n\
         <p class=\"note\" id=\"notice\" hidden></p>\n",
    );
    for place in &PLACES {
        let drawn = if place.name == "ccdf" {
            results.runs.iter().any(|r| r.queue_delay.count.iter().any(|c| *c > 0))
        } else {
            has(place.metrics)
        };
        if drawn {
            figure(&mut content, place.name, place.title, place.caption);
        }
    }
    section(out, "pictures", "Over time", &content);
}

fn streams(out: &mut String, results: &Results) {
    if results.runs.iter().all(|r| r.streams.is_empty()) {
        return;
    }
    let mut content = String::from(
        "<div class=\"controls\"><label>Stream <select id=\"stream\"></select></label></div>\n\
         <p class=\"note\" id=\"stream-words\"></p>\n",
    );
    figure(
        &mut content,
        "stream",
        "Gaps",
        "The gap before each packet: asked for, really created, seen by the receiver, and after denoising. The horizontal lines \
         are the gaps that packets of this size would have at the estimate and at the available bandwidth.",
    );
    figure(
        &mut content,
        "stream-delay",
        "Delay",
        "Arrival minus send time, above the smallest of the stream. Where it rises, the level is above the available bandwidth.",
    );
    section(out, "streams", "One probe stream, gap by gap", &content);
}

fn definitions(out: &mut String, results: &Results) {
    let what = escape(&results.host.about);
    let mut content = format!(
        "<p>{what}{} Sizes are sizes on the wire. Figures are taken after the warm-up unless said. Curves have at most 2000 points: \
         a point of a rate, window or delay is the mean over its interval, one of losses the sum; for delays the smallest and \
         largest of the interval are drawn as a band (of round-trip times, where one flow is drawn). The exported tables hold the values as recorded.</p>\n",
        verdict::traffic(results),
    );
    if !results.manifest.conditions.is_empty() {
        let conditions = results.manifest.conditions.iter().map(|said| format!("<li>{}</li>", escape(said)));
        content.push_str(&format!(
            "<p>What the host did beside the scenario:</p>\n<ul>{}</ul>\n",
            conditions.collect::<String>()
        ));
    }
    let lists: [(&str, &[Definition]); 9] = [
        ("Comparison, per run", figures::SUMMARY),
        ("Curves", figures::CURVES),
        ("Flows", figures::FLOW),
        ("Shares", figures::SHARE),
        ("Traffic", figures::TRAFFIC),
        ("Windows", figures::WINDOW),
        ("Links", figures::LINK),
        ("Probe streams", figures::STREAM),
        ("Gaps of a probe stream", figures::GAP),
    ];
    for (heading, list) in lists {
        _ = write!(content, "<details><summary>{heading}</summary><dl class=\"definitions\">");
        for figure in list.iter().filter(|figure| figure.kind.is_some()) {
            let unit = match figure.unit {
                Unit::Text => String::new(),
                unit => format!(" <span class=\"unit\">{}</span>", unit.symbol()),
            };
            _ = write!(content, "<dt><code>{}</code>{unit}</dt><dd>{}</dd>", figure.name, escape(figure.meaning));
        }
        content.push_str("</dl></details>\n");
    }
    section(out, "definitions", "How each figure was defined", &content);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn count(html: &str, what: &str) -> usize {
        html.matches(what).count()
    }

    #[test]
    fn a_hostile_name_opens_no_element() {
        let (page, calm) = (document(&example::hostile()), document(&example::sweep()));
        assert_eq!(count(&page, "<script"), count(&calm, "<script"));
        assert_eq!(count(&page, "</script"), 2);
        assert_eq!(count(&page, "</style"), 1);
        assert!(!page.contains("<b onclick"));
    }

    #[test]
    fn what_is_no_number_never_shows() {
        let page = document(&example::hostile());
        let body = &page[page.find("<main>").unwrap()..page.find("<script>\n").unwrap()];
        assert!(!body.contains("NaN") && !body.contains(">inf"));
    }

    #[test]
    fn no_runs_give_a_page_that_says_so() {
        let page = document(&example::empty());
        assert!(page.contains("There are no runs."));
        assert!(!page.contains("<figure"));
    }

    #[test]
    fn the_page_names_no_other_place_on_the_network() {
        let page = document(&example::demo()).replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
        for reference in ["http://", "https://", "url(", "@import", " src="] {
            assert!(!page.contains(reference), "{reference}");
        }
    }

    #[test]
    fn a_demo_of_three_controllers_stays_below_three_megabytes() {
        let size = document(&example::demo()).len();
        assert!(size < 3_000_000, "{size}");
    }

    #[test]
    fn a_missed_expectation_is_open_to_the_eye() {
        let page = document(&example::demo());
        assert!(page.contains("<details class=\"expect\" open><summary>Expectations: 1 of 2 met"));
    }

    #[test]
    fn the_page_is_the_same_every_time() {
        assert_eq!(document(&example::demo()), document(&example::demo()));
    }
}
