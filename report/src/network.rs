//! The network of a scenario that has more than one way: which nodes its links join, and a small picture of it with the
//! routes of the flows.

use crate::contrast::visible;
use crate::groups::flow_colour;
use crate::html::escape;
use crate::resolved::{swept, words};
use experiment::results::{Results, Run, Way};
use std::fmt::Write;
use toml::{Table, Value};

/// Links between nodes; empty if the scenario names no nodes and has no `[path.return]`.
#[derive(Debug, Default, PartialEq)]
pub struct Network {
    links: Vec<Link>,
}

#[derive(Clone, Debug, PartialEq)]
struct Link {
    name: String,
    from: String,
    to: String,
    /// Rate and delay.
    said: String,
}

/// The ends of a dumbbell, and its links as the scenario calls them.
const DUMBBELL: [(&str, &str, &str); 2] = [("bottleneck", "sender", "receiver"), ("return", "receiver", "sender")];

/// Distances in the picture, in pixels.
const MARGIN: usize = 8;
const LEAST_STEP: usize = 110;
const TOP: usize = 30;
const ROW: usize = 84;
const LANE: usize = 18;
const LETTER: usize = 6;
/// The picture shows this many groups of flows with the same route and controller.
const MOST_ROUTES: usize = 8;
/// A larger network does not fit the page.
const MOST_NODES: usize = 16;

impl Network {
    /// Reads the network from a resolved scenario.
    pub fn of(scenario: &str) -> Network {
        let Ok(table) = scenario.parse::<Table>() else { return Network::default() };
        let swept = swept(&table);
        let said = |key: &str, own: &Table| {
            let part = |name: &str| match swept.contains(&format!("{key}.{name}")) {
                true => format!("{name} swept"),
                false => own.get(name).map(words).unwrap_or_default(),
            };
            [part("rate"), part("delay")].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        };
        let path = table.get("path").and_then(Value::as_table);
        let back = path.and_then(|path| path.get("return")).and_then(Value::as_table);
        if let (Some(path), Some(back)) = (path, back) {
            let own = [said("path", path), said("path.return", back)];
            let link = |((name, from, to), said): ((&str, &str, &str), String)| link(name, from, to, said);
            return Network { links: DUMBBELL.into_iter().zip(own).map(link).collect() };
        }
        let tables = table.get("link").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
        let both_ways = tables.enumerate().flat_map(|(number, own)| joins(own, &said(&format!("link.{number}"), own)));
        Network { links: both_ways.collect() }
    }

    /// Both ends of a route, as in `A → D`; `None` if unknown.
    pub fn ends(&self, route: &str) -> Option<String> {
        let links = self.route(route)?;
        Some(format!("{} \u{2192} {}", links.first()?.from, links.last()?.to))
    }

    /// Name of a route among the others of its group: by its ends, or by its links if the network is not known; with
    /// the controller of its flows if these differ.
    pub fn way(&self, way: &Way, all: &[Way]) -> String {
        let ends = self.ends(way.route).unwrap_or_else(|| way.route.to_string());
        let mixed = all.iter().any(|other| other.controller != way.controller);
        if mixed { format!("{} {ends}", way.controller) } else { ends }
    }

    fn route(&self, route: &str) -> Option<Vec<&Link>> {
        route.split(", ").map(|name| self.links.iter().find(|link| link.name == name)).collect()
    }

    /// The nodes, each with its column and row: as many columns from the first as links lead there.
    fn places(&self) -> Vec<(&str, usize, usize)> {
        let mut places: Vec<(&str, usize, usize)> = Vec::new();
        let mut rest: Vec<&Link> = self.links.iter().collect();
        while let Some(first) = rest.first() {
            let known = rest.iter().find_map(|link| {
                let column = |node: &str| places.iter().find(|place| place.0 == node).map(|place| place.1);
                match (column(&link.from), column(&link.to)) {
                    (Some(at), None) => Some((link.to.as_str(), at + 1)),
                    (None, Some(at)) => Some((link.from.as_str(), at + 1)),
                    _ => None,
                }
            });
            let (node, column) = known.unwrap_or((&first.from, 0));
            let row = places.iter().filter(|place| place.1 == column).count();
            places.push((node, column, row));
            let placed = |node: &str| places.iter().any(|place| place.0 == node);
            rest.retain(|link| !(placed(&link.from) && placed(&link.to)));
        }
        places
    }
}

fn link(name: &str, from: &str, to: &str, said: String) -> Link {
    Link { name: name.to_string(), from: from.to_string(), to: to.to_string(), said }
}

/// The links of a table: none without nodes, two with `duplex`.
fn joins(own: &Table, said: &str) -> Vec<Link> {
    let text = |key: &str| own.get(key).and_then(Value::as_str);
    let (Some(from), Some(to)) = (text("from"), text("to")) else { return Vec::new() };
    let (name, other_way) = experiment::results::link_names(text("name"), from, to);
    let there = link(&name, from, to, said.to_string());
    if own.get("duplex").and_then(Value::as_bool) != Some(true) {
        return vec![there];
    }
    vec![there, link(&other_way, to, from, said.to_string())]
}

/// Whether the data of a flow cross the measured link; true with a single link.
pub fn crosses(run: &Run, flow: usize) -> bool {
    let route = run.flows.get(flow).map_or("", |flow| flow.route.as_str());
    route.is_empty() || run.measured.is_empty() || route.split(", ").any(|link| link == run.measured)
}

/// The measured link, if the runs have several links and all measure the same one.
pub fn measured(results: &Results) -> Option<&str> {
    let first = results.runs.first()?.measured.as_str();
    let several = results.runs.iter().any(|run| run.flows.iter().any(|flow| !flow.route.is_empty()));
    (several && !first.is_empty() && results.runs.iter().all(|run| run.measured == first)).then_some(first)
}

/// The picture; empty with a single route.
pub fn picture(results: &Results) -> String {
    let network = Network::of(&results.manifest.scenario);
    let places = network.places();
    let Some(run) = results.runs.first().filter(|_| (2..=MOST_NODES).contains(&places.len())) else {
        return String::new();
    };
    let letters = |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let said = letters(&mut network.links.iter().map(|link| link.said.as_str()));
    let node = LETTER * letters(&mut places.iter().map(|place| place.0));
    let (step, left) = ((LETTER * said + node + 24).max(LEAST_STEP), node / 2 + MARGIN);
    let at = |node: &str| {
        let place = places.iter().find(|place| place.0 == node);
        place.map_or((left, TOP), |(_, column, row)| (left + column * step, TOP + row * ROW))
    };
    let mut drawn: String = network.links.iter().map(saved).collect();
    draw_links(&mut drawn, &network, &run.measured, &at);
    for (node, ..) in &places {
        let (x, y) = at(node);
        let (name, above) = (escape(node), y - 10);
        _ = write!(
            drawn,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\"/><text class=\"x\" x=\"{x}\" y=\"{above}\">{name}</text>"
        );
    }
    let below = TOP + ROW * places.iter().map(|place| place.2).max().unwrap_or(0) + 26;
    let lanes = draw_routes(&mut drawn, &network, &results.runs, below, &at);
    let width = 2 * left + step * places.iter().map(|place| place.1).max().unwrap_or(0);
    let (height, least) = (below + LANE * lanes, width * 3 / 4);
    let measured = match run.measured.as_str() {
        "" => String::new(),
        name => format!(" The thick line is {}, the measured link.", escape(name)),
    };
    let compared = match (0..run.flows.len()).all(|flow| everywhere(&results.runs, flow).is_some()) {
        true => "",
        false => " A flow that is compared has each controller in turn.",
    };
    format!(
        "<figure class=\"network\"><figcaption><h3>The network</h3><p>Links with rate and delay; below them the ways of the \
         flows\u{2019} data.{measured}{compared}</p></figcaption><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"The network\">\
         <svg width=\"{width}\" viewBox=\"0 0 {width} {height}\" style=\"min-width:{least}px\" role=\"img\" aria-label=\"The network\">{drawn}</svg>\
         </div></figure>\n"
    )
}

/// A link as a saved number, without a visible part.
fn saved(Link { name, from, to, said }: &Link) -> String {
    let [name, from, to, said] = [name, from, to, said].map(|text| escape(text));
    format!("<g data-row=\"{name}\" data-column=\"{from} to {to}\" data-value=\"{said}\"></g>")
}

/// Draws each pair of connected nodes: one line if the links have the same text, else one for each.
fn draw_links(out: &mut String, network: &Network, measured: &str, at: &impl Fn(&str) -> (usize, usize)) {
    let mut lines: Vec<(&Link, bool)> = Vec::new();
    for link in &network.links {
        let other_way = |other: &Link| other.from == link.to && other.to == link.from;
        match lines.iter_mut().find(|(other, _)| other_way(other) && other.said == link.said) {
            Some((_, heavy)) => *heavy |= link.name == measured,
            None => lines.push((link, link.name == measured)),
        }
    }
    for (number, (link, heavy)) in lines.iter().enumerate() {
        let same = |other: &&(&Link, bool)| {
            let (a, b) = (&other.0.from, &other.0.to);
            (a, b) == (&link.from, &link.to) || (a, b) == (&link.to, &link.from)
        };
        let before = lines[..number].iter().filter(same).count();
        let ((x1, y1), (x2, y2)) = (at(&link.from), at(&link.to));
        // The second line between two nodes is bent, with its label below.
        let bend = before * 24;
        let (mx, my) = ((x1 + x2) / 2, (y1 + y2) / 2);
        let class = if *heavy { "link heavy" } else { "link" };
        let text = if before == 0 { my.saturating_sub(6) } else { my + bend / 2 + 13 };
        _ = write!(
            out,
            "<path class=\"{class}\" d=\"M{x1} {y1}Q{mx} {} {x2} {y2}\"><title>{}</title></path>\
             <text class=\"x note\" x=\"{mx}\" y=\"{text}\">{}</text>",
            my + bend,
            escape(&link.name),
            escape(&link.said)
        );
    }
}

/// Name of a flow whose controller differs between runs.
const COMPARED: &str = "compared";

/// The controller of a flow, if it is the same in all runs.
fn everywhere(runs: &[Run], flow: usize) -> Option<&str> {
    let of = |run: &Run| run.flows.get(flow).map(|flow| flow.controller.clone());
    let first = &runs.first()?.flows.get(flow)?.controller;
    runs.iter().all(|run| of(run).is_none_or(|other| other == *first)).then_some(first.as_str())
}

/// Draws the ways of the flows of a run, one under the other. Returns how many lanes there are.
fn draw_routes(
    out: &mut String,
    network: &Network,
    runs: &[Run],
    below: usize,
    at: &impl Fn(&str) -> (usize, usize),
) -> usize {
    let mut routes: Vec<(&str, &str, usize)> = Vec::new();
    for (number, flow) in runs[0].flows.iter().enumerate() {
        let controller = everywhere(runs, number).unwrap_or(COMPARED);
        match routes.iter_mut().find(|known| (known.0, known.1) == (controller, flow.route.as_str())) {
            Some(known) => known.2 += 1,
            None => routes.push((controller, &flow.route, 1)),
        }
    }
    let shown = routes.iter().filter_map(|(controller, route, count)| Some((controller, network.route(route)?, count)));
    let mut lanes = 0;
    for (controller, links, count) in shown.take(MOST_ROUTES) {
        let y = below + LANE * lanes + 8;
        let nodes = links.iter().map(|link| &link.from).chain(links.last().map(|link| &link.to));
        let xs: Vec<usize> = nodes.map(|node| at(node).0).collect();
        let (Some(first), Some(last)) = (xs.first(), xs.last()) else { continue };
        let turned = if last > first { "-6 -4v8z" } else { "6 -4v8z" };
        let stops = xs[1..].iter().map(|x| format!("H{x}")).collect::<String>();
        let kind = runs[0].flows.iter().find(|flow| flow.controller == **controller).map_or("", |flow| &flow.kind);
        let colour = flow_colour(kind).map_or("var(--ink)".to_string(), visible);
        let often = if *count > 1 { format!("{count} \u{d7} ") } else { String::new() };
        _ = write!(
            out,
            "<g style=\"--line:{colour}\"><path class=\"way\" d=\"M{first} {y}{stops}\"/><path class=\"dots\" d=\"M{last} {y}l{turned}\"/>\
             <text class=\"x note\" x=\"{}\" y=\"{}\">{often}{}</text></g>",
            (first + last) / 2,
            y + 4,
            escape(controller)
        );
        lanes += 1;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::FlowResult;

    const LOT: &str = "[[link]]\nfrom = \"A\"\nto = \"B\"\nduplex = true\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
        [[link]]\nname = \"far\"\nfrom = \"B\"\nto = \"C\"\nduplex = true\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
        [sweep]\n\"link.1.rate\" = [\"1 Mbit/s\"]\n";

    fn flow(route: &str) -> FlowResult {
        FlowResult { controller: "cubic".to_string(), route: route.to_string(), ..FlowResult::default() }
    }

    #[test]
    fn links_have_scenario_names() {
        let lot = Network::of(LOT);
        let names: Vec<&str> = lot.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["A-B", "B-A", "far", "far-back"]);
        assert_eq!((lot.links[0].said.as_str(), lot.links[2].said.as_str()), ("10 Mbit/s, 5 ms", "rate swept, 5 ms"));
        assert_eq!(lot.places(), [("A", 0, 0), ("B", 1, 0), ("C", 2, 0)]);
        let back =
            "[path]\nrate = \"20 Mbit/s\"\ndelay = \"1 ms\"\nreturn = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n";
        assert_eq!(Network::of(back).ends("return").as_deref(), Some("receiver \u{2192} sender"));
        assert_eq!(Network::of("[path]\nrate = \"20 Mbit/s\"\ndelay = \"1 ms\"\n"), Network::default());
    }

    #[test]
    fn other_links_flows_skip_measured_link() {
        let run = Run { flows: vec![flow("A-B, far"), flow("far")], measured: "A-B".to_string(), ..Run::default() };
        assert_eq!([0, 1].map(|flow| crosses(&run, flow)), [true, false]);
    }

    #[test]
    fn routes_have_lanes_and_names_are_escaped() {
        let mut results = crate::example::single();
        results.manifest.scenario = LOT.replace("\"A\"", "\"<b>\"");
        results.runs[0].flows = vec![flow("<b>-B, far"), flow("far"), flow("far")];
        let out = picture(&results);
        assert_eq!((out.matches("class=\"way\"").count(), out.matches("2 \u{d7} cubic").count()), (2, 1));
        assert!(out.contains("&lt;b&gt;") && !out.contains("<b>"));
        assert_eq!(out.matches("data-value=").count(), 4, "every link is among the numbers that are saved");
        let mut other = results.runs[0].clone();
        other.flows[0].controller = "rapid".to_string();
        results.runs.push(other);
        let out = picture(&results);
        assert_eq!(
            (out.matches(">compared</text>").count(), out.matches("2 \u{d7} cubic").count()),
            (1, 1),
            "no flow is the first one's"
        );
        results.manifest.scenario.clear();
        assert_eq!(picture(&results), "");
    }
}
