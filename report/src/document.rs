//! Writes the page as one HTML text: words, tables and places for the figures, then style, data and script.

use crate::completions::arrived;
use crate::data::Data;
use crate::folds::Folds;
use crate::groups::points;
use crate::html::{escape, words};
use crate::places::{THROUGHPUT, figure, places};
use crate::resolved::{Resolved, resolved};
use crate::shell::shell;
use crate::{data, links, network, sweep, tables, verdict};
use experiment::results::figures::{self, Definition, Unit};
use experiment::results::{Group, NO_INTERVAL, Results, groups, nothing_drawn};
use std::fmt::Write;

pub const SCRIPT: &str = concat!(
    include_str!("../assets/overview.js"),
    include_str!("../assets/multiples.js"),
    include_str!("../assets/queues.js"),
    include_str!("../assets/packets.js"),
    include_str!("../assets/page.js")
);

/// Returns the whole document.
pub fn document(results: &Results) -> String {
    with(results, &verdict::answer(results), "")
}

/// The whole document, with its lead, and a section on how the runs differ, as HTML.
pub fn with(results: &Results, answer: &str, differences: &str) -> String {
    let resolved = scenario_of(results);
    let groups = groups(&results.runs);
    let data = data::data(results, &resolved);
    let swept = swept(&groups);
    let mut first = String::new();
    overview(&mut first, results, &groups, &data);
    let mut rest = Folds::default();
    let table = comparison(results, &groups);
    // Many rows are for looking up.
    match groups.len() {
        0 => (),
        1..=FEW_ROWS => _ = write!(first, "<section id=\"comparison\">\n{table}</section>\n"),
        rows => rest.add("comparison", "Comparison", &format!("{rows} rows"), &table),
    }
    rest.add("differences", "What differs", "", differences);
    pictures(&mut rest, results, (!swept).then_some(THROUGHPUT));
    rest.add("streams", "One probe stream, gap by gap", "2 pictures", &streams(results));
    let flows = tables::fairness(results, &groups) + &tables::flows(results, &groups) + &arrived(results, &groups);
    rest.add("flows", "Flows and fairness", "tables", &flows);
    let mut links = String::new();
    links::map(&mut links, &groups);
    rest.add("links", "Links", "", &links);
    rest.add("traffic", "Traffic", "table", &tables::traffic(results, &groups));
    let heading =
        if differences.is_empty() { "The scenario, fully resolved" } else { "What the scenarios have in common" };
    about(&mut rest, results, &resolved, heading);
    definitions(&mut rest, results);
    let body = header(results, answer, &resolved) + &rest.contents() + &first + &rest.html;
    shell(&title(results), &body, &data, SCRIPT)
}

/// The scenario of the results, resolved.
pub fn scenario_of(results: &Results) -> Resolved {
    let resolved = resolved(&results.manifest.scenario);
    if results.host.path_unknown { resolved.of_an_unknown_path() } else { resolved }
}

/// A table of at most this number of rows is open.
const FEW_ROWS: usize = 6;

pub fn title(results: &Results) -> String {
    let name = results.manifest.scenario_name.trim_end_matches(".toml");
    if name.is_empty() { "packetscale".to_string() } else { format!("{name} \u{00b7} packetscale") }
}

/// The top of the page: name, what was run, and the answer to the scenario's expectations.
fn header(results: &Results, answer: &str, resolved: &Resolved) -> String {
    let name = results.manifest.scenario_name.trim_end_matches(".toml");
    let name = escape(if name.is_empty() { "unnamed scenario" } else { name });
    let facts = ["Capacity", "Changes of rate", "Policer", "Shaper", "Delay, one way", "Buffer", "Queue"]
        .iter()
        .filter_map(|wanted| {
            let (label, value) = resolved.facts.iter().find(|(label, _)| label == wanted)?;
            Some(format!("{} {}", label.to_lowercase(), words(value)))
        });
    let facts = facts.collect::<Vec<_>>().join(", ");
    let runs = match results.runs.len() {
        1 => "1 run".to_string(),
        many => format!("{many} runs"),
    };
    format!(
        "<header>\n<p class=\"over\">packetscale <span class=\"host\">{}</span> <span class=\"host\">{runs}</span></p>\n\
         <h1>{name}{}<small>{facts}</small></h1>\n<p class=\"answer\">{}</p>\n</header>\n",
        escape(&results.host.badge),
        if facts.is_empty() { "" } else { ": " },
        words(answer),
    )
}

/// The pictures that answer: of all runs together, and of one run over time without a sweep.
pub fn overview(out: &mut String, results: &Results, groups: &[Group], data: &Data) {
    let mut content = String::new();
    if let Some(completed) = &data.completed {
        figure(&mut content, "completions", "Completion times of flows", &completed.caption());
    }
    if let Some(sizes) = &data.sizes {
        let caption = format!(
            "Completion time over that of a flow of the same size on the idle path. Lines are means over the \
             replications; bands span minimum to maximum.{}",
            sizes.said()
        );
        figure(&mut content, "sizes", "Slowdown by size", &caption);
    }
    if let Some(by_way) = &data.by_way {
        let scales = by_way.scales_note();
        let caption = format!("Mean of flows on the same route. {}.{scales}", sweep::band_note(groups));
        figure(&mut content, "by-way", "Throughput by route", &caption);
    }
    if let Some(at_links) = &data.at_links {
        let caption = format!(
            "Waiting time at each link, 95th percentile after the warm-up. {}.{}{}",
            sweep::band_note(groups),
            links::left_out_note(&results.runs),
            at_links.scales_note()
        );
        figure(&mut content, "at-links", "Queueing delay at each link", &caption);
    }
    if let Some(multiples) = &data.multiples {
        figure(&mut content, "multiples", "All points", &escape(&multiples.caption()));
    }
    if !swept(groups) {
        let mut curves = String::new();
        places(&mut curves, results, |name| name == THROUGHPUT);
        if !curves.is_empty() {
            content.push_str(&controls(results, false));
            content.push_str(&curves);
        }
    }
    against(&mut content, results, groups, data);
    clouds(&mut content, results, data);
    let content = network::picture(results) + &content;
    if !content.is_empty() {
        _ = writeln!(out, "<section id=\"overview\">\n{content}</section>");
    }
}

/// Throughput against delay.
fn clouds(out: &mut String, results: &Results, data: &Data) {
    if let Some(tradeoff) = &data.tradeoff {
        let caption = format!("{}{}", tradeoff.caption(), sweep::link_note(results));
        figure(out, "tradeoff", &format!("{} against delay", tradeoff.y), &caption);
    }
    if data.by_flow.is_some() {
        let caption = "A dot is a flow in one run, over its lifetime; further left and higher is better.";
        figure(out, "flow-tradeoff", "Throughput against delay", caption);
    }
}

/// Figures against the swept value.
fn against(out: &mut String, results: &Results, groups: &[Group], data: &Data) {
    if let Some(sweep) = &data.sweep {
        let (key, panels, link) = (escape(&sweep.key), escape(&sweep.said()), sweep::link_note(results));
        let caption = format!("{}, against {key}.{panels}{}{link}", sweep::band_note(groups), sweep.scales_note());
        figure(out, "sweep", "Against the swept value", &caption);
    }
}

/// Description of the runs.
fn about(out: &mut Folds, results: &Results, resolved: &Resolved, heading: &str) {
    let manifest = &results.manifest;
    let mut facts = resolved.facts.clone();
    let seeds = manifest.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    facts.extend((!seeds.is_empty()).then_some(("Seeds", seeds)));
    let commit = manifest.commit.as_ref().map_or(String::new(), |commit| format!(" ({})", short(commit)));
    facts.push(("Version", format!("{}{commit}", manifest.version)));
    let mut content = String::from("<dl class=\"facts\">\n");
    for (label, value) in facts.iter().filter(|(_, v)| !v.is_empty()) {
        _ = writeln!(content, "<div><dt>{label}</dt><dd>{}</dd></div>", escape(value));
    }
    content.push_str("</dl>\n");
    expectations(&mut content, results);
    if !manifest.scenario.is_empty() {
        _ = writeln!(
            content,
            "<details><summary>{heading}</summary><pre tabindex=\"0\">{}</pre></details>",
            escape(&manifest.scenario)
        );
    }
    out.add("about", "What was run", "scenario, seeds, version", &content);
    // An expectation that is missed is open to the eye.
    if results.expectations.iter().any(|expectation| !expectation.met) {
        out.open_last();
    }
}

/// Enough digits of each digest to distinguish commits.
fn short(commit: &str) -> String {
    let word = |word: &str| word.chars().take(12).collect::<String>();
    commit.split('-').map(|part| part.split('+').map(word).collect::<Vec<_>>().join("+")).collect::<Vec<_>>().join("-")
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
        let selected = if e.selected.is_empty() { String::new() } else { format!(" for {}", escape(&e.selected)) };
        _ = write!(
            out,
            "<li class=\"{class}\"><b>{word}</b> <code>{}</code>{selected} {}: found {}. <span class=\"why\">{}</span></li>",
            escape(&e.metric),
            words(&e.bound_in_words()),
            words(&e.found_in_words()),
            escape(&e.why)
        );
    }
    out.push_str("</ul></details>\n");
}

/// Note on an interval that exceeds the values' range.
const BEYOND: &str = " An interval may reach below zero or above 100 % although no run does: the replications are few \
                      and differ much. Pictures clip such a band.";

fn comparison(results: &Results, groups: &[Group]) -> String {
    let most = groups.iter().map(|g| g.runs.len()).max().unwrap_or(0);
    let drawn = nothing_drawn(groups);
    let note = match most {
        2.. if groups.iter().all(Group::repeats) => drawn,
        0 => return String::new(),
        1 => "After the warm-up.".to_string(),
        2 => format!("Means. {NO_INTERVAL} {drawn}"),
        n => {
            let far = if tables::beyond(groups) { BEYOND } else { "" };
            format!(
                "Mean and 95 % confidence interval (Student\u{2019}s t) over {n} replications, after the warm-up.{far} {drawn}"
            )
        }
    };
    let words = if groups.len() > 1 {
        format!("<p class=\"verdict\">{}</p>\n", words(&verdict::verdict(results)))
    } else {
        String::new()
    };
    format!(
        "{words}<p class=\"note\">{note}</p>\n<div class=\"tables\">{}</div>\n",
        tables::comparison(results, groups)
    )
}

/// Whether the runs are of several points.
fn swept(groups: &[Group]) -> bool {
    groups.iter().any(|group| !group.params.is_empty())
}

/// Controls of the pictures over time; of the delays only if there are any.
pub fn controls(results: &Results, delays: bool) -> String {
    let mut content = String::from("<div class=\"controls\">");
    if points(results).len() > 1 {
        content.push_str("<label>Sweep point <select class=\"point\"></select></label>");
    }
    if results.runs.iter().any(|r| r.replication > 0) {
        content.push_str("<label>Replication <select class=\"replication\"></select></label>");
    }
    if delays {
        content.push_str(
            "<label>Delay axes <select id=\"axes\"><option value=\"shared\">shared</option>\
             <option value=\"own\">one each</option><option value=\"log\">shared, logarithmic</option></select></label>",
        );
    }
    content.push_str(
        "<button type=\"button\" class=\"reset\" hidden>Show whole run</button>\
         <span class=\"hint\">Drag to zoom, double-click to go back; arrow keys read values, + and \u{2212} zoom.</span></div>\n\
         <noscript><p>The curves are drawn by a script, which is switched off here. The tables need none.</p></noscript>\n",
    );
    content
}

/// The pictures over time, except the one above.
fn pictures(out: &mut Folds, results: &Results, above: Option<&str>) {
    let mut drawn = String::new();
    places(&mut drawn, results, |name| Some(name) != above);
    let count = drawn.matches("<figure").count();
    if count > 0 {
        let content = format!("{}<p class=\"note\" id=\"notice\" hidden></p>\n{drawn}", controls(results, true));
        let said = if count == 1 { "1 picture".to_string() } else { format!("{count} pictures") };
        out.add("pictures", "Over time", &said, &content);
    }
}

/// The pictures of a probe stream, and the choice of one; empty without streams.
pub fn streams(results: &Results) -> String {
    if results.runs.iter().all(|r| r.streams.is_empty()) {
        return String::new();
    }
    let mut content = String::from(
        "<div class=\"controls\"><label>Stream <select id=\"stream\"></select></label></div>\n\
         <p class=\"note\" id=\"stream-words\"></p>\n",
    );
    figure(
        &mut content,
        "stream",
        "Gaps",
        "The gap before each packet: intended, created, received, and after denoising. The horizontal lines \
         are the gaps that packets of this size would have at the estimate and at the available bandwidth.",
    );
    figure(
        &mut content,
        "stream-delay",
        "Delay",
        "Arrival minus send time, above the smallest of the stream. Where it rises, the level is above the available bandwidth.",
    );
    content
}

fn definitions(out: &mut Folds, results: &Results) {
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
            "<p>Conditions of the host beyond the scenario:</p>\n<ul>{}</ul>\n",
            conditions.collect::<String>()
        ));
    }
    let lists: [(&str, &[Definition]); 11] = [
        ("Comparison, per run", figures::SUMMARY),
        ("Curves", figures::CURVES),
        ("Flows", figures::FLOW),
        ("Flows that arrived", figures::COMPLETION),
        ("Packets of a flow", figures::SEQUENCE),
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
    out.add("definitions", "How each figure was defined", "", &content);
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
        assert_eq!(count(&page, "</script"), 3);
        assert_eq!(count(&page, "</style"), 1);
        assert!(!page.contains("<b onclick"));
    }

    #[test]
    fn page_shows_no_nan_or_infinity() {
        let page = document(&example::hostile());
        let body = &page[page.find("<main>").unwrap()..page.find("<script>\n").unwrap()];
        assert!(!body.contains("NaN") && !body.contains(">inf"));
    }

    #[test]
    fn page_without_runs_says_so() {
        let page = document(&example::empty());
        assert!(page.contains("There are no runs."));
        assert!(!page.contains("<figure"));
    }

    #[test]
    fn page_requests_nothing_from_network() {
        let page = document(&example::demo()).replace("url(#", "");
        let page = crate::shell::without_names(&page);
        for reference in ["http://", "https://", "url(", "@import", " src="] {
            assert!(!page.contains(reference), "{reference}");
        }
    }

    #[test]
    fn demo_page_is_below_one_megabyte() {
        let size = document(&example::demo()).len();
        assert!(size < 1_000_000, "{size}");
    }

    #[test]
    fn missed_expectation_is_unfolded() {
        let page = document(&example::demo());
        assert!(page.contains("<details class=\"expect\" open><summary>Expectations: 1 of 2 met"));
    }

    #[test]
    fn page_is_deterministic() {
        assert_eq!(document(&example::demo()), document(&example::demo()));
    }
}
