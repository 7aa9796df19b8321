//! Findings in a sentence: the figures of the scenario's expectations, controller by controller, and the buffer that each
//! needs.

use crate::groups::{LOSS, loses_most, points};
use experiment::results::figures::{Definition, SUMMARY, Unit};
use experiment::results::numbers::quantity;
use experiment::results::{ExpectationOutcome, Group, Interval, Results};

/// As many items of a list as a reader takes in at first sight.
const MOST_LISTED: usize = 8;
/// As many figures.
const MOST_FIGURES: usize = 2;
/// Figure that accompanies a single expected one: high utilisation means little without it.
const BESIDE: &str = "queue_delay_p99_s";

/// Joins the items of a list, best first; abbreviates a long one.
pub fn listed(items: Vec<String>) -> String {
    listed_by(items, ", ")
}

/// The same for items that hold commas.
pub fn listed_by(items: Vec<String>, by: &str) -> String {
    if items.len() <= MOST_LISTED {
        return items.join(by);
    }
    let (first, last) = (&items[..MOST_LISTED - 2], &items[items.len() - 1]);
    format!("{}{by}{} more{by}and {last}", first.join(by), items.len() - MOST_LISTED + 1)
}

/// Each controller's values of the expected figures: `Utilisation over path.buffer: cubic 100.0 %,
/// rapid 78.00 % at 5 packets to 89.00 % at 1 bdp.` `None` with one controller, without such a figure, or beyond `room` letters.
pub fn asked(expected: &[ExpectationOutcome], groups: &[Group], room: usize) -> Option<String> {
    let several = groups.iter().any(|group| group.controller != groups[0].controller);
    let mut names: Vec<&str> = Vec::new();
    for name in expected.iter().map(|one| one.metric.as_str()).chain([BESIDE]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let figures = names.iter().filter_map(|name| SUMMARY.iter().find(|figure| figure.name == *name));
    let mut left = room;
    let fits = |words: &String| {
        let letters = words.chars().count();
        let fits = letters <= left;
        left = left.saturating_sub(letters);
        fits
    };
    let text: Vec<String> =
        figures.filter_map(|figure| of_figure(figure, groups)).take(MOST_FIGURES).take_while(fits).collect();
    (several && !expected.is_empty() && !text.is_empty()).then(|| text.join(" "))
}

/// One figure: each controller's mean, or its range over sweep points. The best is first.
fn of_figure(figure: &Definition, groups: &[Group]) -> Option<String> {
    let words = ranges(figure, groups)?;
    Some(format!("{}: {}.", topic(figure, groups), listed(words)))
}

/// The swept key, if there is exactly one.
fn swept<'a>(groups: &[Group<'a>]) -> Option<&'a str> {
    let params = groups.first()?.params;
    params.keys().next().filter(|_| params.len() == 1).map(String::as_str)
}

/// Topic of [`ranges`]: the figure, and the single swept key, whose values they name.
pub fn topic(figure: &Definition, groups: &[Group]) -> String {
    swept(groups).map_or(figure.label.to_string(), |key| format!("{} over {key}", figure.label))
}

/// Each controller's value of one figure, in words: its mean, or its range over sweep points with the points of both ends. The
/// best is first; controllers that lost more than they delivered come last. `None` if no controller has the figure.
pub fn ranges(figure: &Definition, groups: &[Group]) -> Option<Vec<String>> {
    let mut found: Vec<(&str, Vec<(f64, String)>)> = Vec::new();
    for group in groups {
        let Some(mean) = group.interval(figure.name).map(|interval| interval.mean) else { continue };
        let value = swept(groups).and_then(|key| group.params.get(key));
        let at = (mean, value.cloned().unwrap_or_else(|| group.point()));
        match found.iter_mut().find(|(name, _)| *name == group.controller) {
            Some((_, means)) => means.push(at),
            None => found.push((group.controller, vec![at])),
        }
    }
    found.iter_mut().for_each(|(_, means)| means.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let middle = |means: &[(f64, String)]| means[0].0 + means[means.len() - 1].0;
    found.sort_by(|a, b| middle(&a.1).total_cmp(&middle(&b.1)));
    let more = figure.unit != Unit::Time && figure.name != LOSS;
    let lost = |name: &str| {
        let collapsed = groups.iter().filter(|group| more && group.controller == name && loses_most(group));
        collapsed.filter_map(|group| group.mean(LOSS)).reduce(f64::max)
    };
    if more {
        found.reverse();
        found.sort_by_key(|(name, _)| lost(name).is_some());
    }
    let words = found.into_iter().map(|(name, means)| {
        let upto = if means.len() > 1 { "up to " } else { "" };
        let lost = lost(name).map(|loss| format!("lost {upto}{}, ", quantity(loss, Unit::Share)));
        format!("{name} {}{}", lost.unwrap_or_default(), range(means, figure.unit))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then_some(words)
}

/// A figure's range over sweep points, and the points of both ends: `34.45 % at path.queue = pie to 92.97 % at path.queue
/// = codel`.
pub fn range(means: impl IntoIterator<Item = (f64, String)>, unit: Unit) -> String {
    let mut means: Vec<(f64, String)> = means.into_iter().collect();
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(low), Some(high)) = (means.first(), means.last()) else { return String::new() };
    let (least, most) = (quantity(low.0, unit), quantity(high.0, unit));
    if least == most { least } else { format!("{least} at {} to {most} at {}", low.1, high.1) }
}

/// Key of buffer sizes.
const BUFFER: &str = "path.buffer";
/// Utilisation that counts as full use. More gains little per buffer.
const USED: f64 = 0.9;
const USED_SAID: &str = "90 %";
/// With fewer values the required buffer is too uncertain.
const FEWEST_BUFFERS: usize = 4;

/// Returns the least buffer with which each controller uses nearly all of the link, as the median over the paths; `None` where
/// fewer than four buffers in one unit are swept, or the smallest is enough everywhere.
pub fn buffers(results: &Results, groups: &[Group]) -> Option<String> {
    let key =
        experiment::results::swept(&results.runs).into_iter().find(|key| key.key == BUFFER && key.unit().is_some())?;
    let path = |group: &Group| {
        let mut path = group.params.clone();
        path.remove(BUFFER);
        path
    };
    let mut sizes: Vec<(f64, &str)> = Vec::new();
    for value in points(results).into_iter().filter_map(|point| point.get(BUFFER)) {
        if !sizes.iter().any(|(_, known)| known == value) {
            sizes.push((key.number(value)?, value));
        }
    }
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut needs: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut paths: Vec<_> = groups.iter().map(|group| (group.controller, path(group))).collect();
    paths.dedup();
    paths.sort();
    paths.dedup();
    for (controller, on) in &paths {
        let enough = |group: &&Group| !loses_most(group) && group.mean("utilisation").is_some_and(|used| used >= USED);
        let own = groups.iter().filter(|group| group.controller == *controller && path(group) == *on);
        let fit = own.filter(enough).filter_map(|group| group.params.get(BUFFER));
        let place = |value: &String| sizes.iter().position(|(_, known)| known == value);
        let least = fit.filter_map(place).min().unwrap_or(sizes.len());
        let decides = |group: &Group| {
            let place = group.params.get(BUFFER).and_then(place);
            place.is_some_and(|place| place == least || place + 1 == least)
        };
        let mut own = groups.iter().filter(|group| group.controller == *controller && path(group) == *on);
        if !open.contains(controller) && own.any(|group| decides(group) && holds(group.interval("utilisation"), USED)) {
            open.push(controller);
        }
        match needs.iter_mut().find(|(name, _)| name == controller) {
            Some((_, all)) => all.push(least),
            None => needs.push((controller, vec![least])),
        }
    }
    needs.iter_mut().for_each(|(_, all)| all.sort_unstable());
    needs.sort_by_key(|(_, all)| all[all.len() / 2]);
    let size =
        |at: usize| sizes.get(at).map_or(format!("more than {}", sizes[sizes.len() - 1].1), |size| size.1.to_string());
    let several = needs.iter().any(|(_, all)| all.len() > 1);
    let words = |(name, all): &(&str, Vec<usize>)| match (size(all[0]), size(all[all.len() - 1])) {
        (least, most) if least == most => format!("{name} {least}"),
        (least, most) => format!("{name} {} ({} to {most})", size(all[all.len() / 2]), without_unit(&least, &most)),
    };
    let over = if several { ", median and range over the paths" } else { "" };
    let caveat = match groups.iter().map(|group| group.runs.len()).max() {
        _ if !open.is_empty() => {
            format!(", though the replications leave open whether the next size is needed by {}", open.join(", "))
        }
        Some(1) => ", in a single replication".to_string(),
        _ => String::new(),
    };
    // Where the smallest is enough for all, sizes are no answer.
    let needed = needs.iter().any(|(_, all)| all[all.len() - 1] > 0);
    (sizes.len() >= FEWEST_BUFFERS && needed)
        .then(|| listed(needs.iter().map(words).collect()))
        .map(|needs| format!("Buffer for {USED_SAID} of the link{over}: {needs}{caveat}."))
}

/// Whether a value is within the 95 % interval of a mean.
fn holds(found: Option<Interval>, value: f64) -> bool {
    found.is_some_and(|found| found.half_width.is_some_and(|half| half >= (found.mean - value).abs()))
}

/// The first of two values, without its unit if the second has the same.
fn without_unit<'v>(value: &'v str, next: &str) -> &'v str {
    let unit = |value: &'v str| value.rsplit_once(' ');
    unit(value).filter(|(_, unit)| next.ends_with(&format!(" {unit}"))).map_or(value, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use experiment::results::groups;

    #[test]
    fn long_list_shows_first_and_last() {
        let items = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(listed(items(8)), "0, 1, 2, 3, 4, 5, 6, 7");
        assert_eq!(listed(items(15)), "0, 1, 2, 3, 4, 5, 8 more, and 14");
    }

    #[test]
    fn controller_has_range_and_its_points() {
        let mut results = example::sweep();
        for (number, run) in results.runs.iter_mut().enumerate() {
            run.summary.utilisation = Some(if run.controller == "rapid" { 0.5 + 0.001 * number as f64 } else { 1.0 });
            run.summary.queue_delay_p99_s = None;
        }
        let expectation = |metric: &str| {
            let mut one = example::demo().expectations.remove(0);
            one.metric = metric.to_string();
            one
        };
        let found = asked(&[expectation("utilisation")], &groups(&results.runs), 260).expect("a sentence");
        // By hand: means of 0.500 to 0.502 and of 0.509 to 0.511.
        let range = "50.10 % at 5 packets to 51.00 % at 40 packets";
        assert_eq!(found, format!("Utilisation over path.buffer: cubic 100.0 %, rapid {range}."));
        assert_eq!(asked(&[], &groups(&results.runs), 260), None);
        assert_eq!(asked(&[expectation("utilisation")], &groups(&results.runs), 20), None, "no room");
        let collapses =
            |run: &&mut experiment::results::Run| run.controller == "cubic" && run.params["path.buffer"] == "5 packets";
        results.runs.iter_mut().filter(collapses).for_each(|run| run.summary.loss_ratio = Some(0.75));
        let found = asked(&[expectation("utilisation")], &groups(&results.runs), 260).expect("a sentence");
        let last = "40 packets, cubic lost up to 75.00 %, 100.0 %.";
        assert!(found.starts_with("Utilisation over path.buffer: rapid") && found.ends_with(last), "{found}");
        results.runs.retain(|run| run.controller == "rapid");
        assert_eq!(asked(&[expectation("utilisation")], &groups(&results.runs), 260), None);
    }

    /// 88, 90 and 94 % have a mean of 90.7 % and an interval of 7.6 points (Student's t for two degrees: 4.303).
    #[test]
    fn open_buffer_need_is_called_open() {
        let mut results = example::sweep();
        for run in &mut results.runs {
            let first = run.params["path.buffer"] == "10 packets";
            let scatter = [0.88, 0.90, 0.94][run.replication as usize];
            let enough = run.controller == "cubic" && run.params["path.buffer"] != "5 packets";
            run.summary.utilisation = Some(match run.controller.as_str() {
                "rapid" if first => scatter,
                _ if enough || run.controller == "rapid" && run.params["path.buffer"] != "5 packets" => 0.99,
                _ => 0.5,
            });
        }
        let text = |results: &Results| buffers(results, &groups(&results.runs)).expect("a need");
        let open = "10 packets, though the replications leave open whether the next size is needed by rapid.";
        assert!(text(&results).ends_with(open), "{}", text(&results));
        results.runs.retain(|run| run.replication == 2);
        assert!(text(&results).ends_with("10 packets, in a single replication."), "{}", text(&results));
    }

    /// Four buffers: rapid uses 90 % with the least already, cubic with the third, and with none on the second path.
    #[test]
    fn states_smallest_sufficient_buffer() {
        let mut results = example::sweep();
        for run in &mut results.runs {
            let enough = ["20 packets", "40 packets"].contains(&run.params["path.buffer"].as_str());
            run.summary.utilisation = Some(if run.controller == "rapid" || enough { 0.95 } else { 0.5 });
        }
        let text = |results: &Results| buffers(results, &groups(&results.runs));
        assert_eq!(text(&results).as_deref(), Some("Buffer for 90 % of the link: rapid 5 packets, cubic 20 packets."));
        let far = results.runs.clone().into_iter().map(|mut run| {
            run.params.insert("path.delay".to_string(), "50 ms".to_string());
            run.summary.utilisation = Some(if run.controller == "rapid" { 0.95 } else { 0.5 });
            run
        });
        let far: Vec<_> = far.collect();
        results.runs.iter_mut().for_each(|run| _ = run.params.insert("path.delay".to_string(), "5 ms".to_string()));
        results.runs.extend(far);
        let both = "rapid 5 packets, cubic more than 40 packets (20 to more than 40 packets).";
        assert!(text(&results).is_some_and(|words| words.ends_with(both)), "{:?}", text(&results));
        results.runs.retain(|run| run.params["path.buffer"] != "5 packets");
        assert_eq!(text(&results), None);
    }
}
