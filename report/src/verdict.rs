//! The results in words, all computed. The text says where the replications do not establish a difference.

use crate::groups::{LOSS, difference, is_open, loses_most, order_caveat, points};
use crate::{completions, findings, together, ways};
use experiment::results::figures::{SUMMARY, Unit};
use experiment::results::numbers::{quantity, shown};
use experiment::results::{
    ExpectationOutcome, Group, Interval, Results, TrafficResult, groups, oversenders, phase_time, why_above_all,
};

/// A question to the results, with the words around its answer.
struct Question {
    metric: &'static str,
    unit: Unit,
    /// Whether more is better.
    more: bool,
    /// The words before the winner's name.
    superlative: &'static str,
    /// The words before the figure of a controller that has no rival.
    topic: &'static str,
}

const QUESTIONS: [Question; 5] = [
    Question {
        metric: "completion_time_p50_s",
        unit: Unit::Time,
        more: false,
        superlative: "The shortest median of completion times was that with",
        topic: "Median of completion times",
    },
    Question {
        metric: "completion_time_p99_s",
        unit: Unit::Time,
        more: false,
        superlative: "The shortest 99th percentile of completion times was that with",
        topic: "99th percentile of completion times",
    },
    Question {
        metric: "available_share",
        unit: Unit::Share,
        more: true,
        superlative: "The largest share of the available capacity was used by",
        topic: "Share of the available capacity",
    },
    Question {
        metric: "queue_delay_p99_s",
        unit: Unit::Time,
        more: false,
        superlative: "The lowest 99th percentile of queueing delay was that with",
        topic: "99th percentile of queueing delay",
    },
    Question {
        metric: "loss_ratio",
        unit: Unit::Share,
        more: false,
        superlative: "The fewest packets were lost by",
        topic: "Packets lost",
    },
];

/// The answer to the scenario's expectations: whether they are met, and what was found; completion times if flows arrive;
/// shares if they take different routes or controllers compete; required buffers if buffers are swept; and without any of
/// these, the best controller.
pub fn answer(results: &Results) -> String {
    let expected = &results.expectations;
    let missed = expected.iter().filter(|one| !one.met).count();
    let groups = groups(&results.runs);
    let direct = completions::sentence(&groups)
        .or_else(|| ways::sentence(results, &groups))
        .or_else(|| mixes(&groups))
        .or_else(|| findings::buffers(results, &groups));
    if results.runs.is_empty() || expected.is_empty() {
        let best = || sentences(results, &groups).into_iter().next();
        let answer = direct.or_else(best).unwrap_or_else(|| NO_RUNS.to_string());
        return std::iter::once(answer).chain(oversenders(&groups)).collect::<Vec<_>>().join(" ");
    }
    let lead = lead(missed, expected.len());
    let missed: Vec<String> = expected.iter().filter(|one| !one.met).take(MOST_TOLD).map(found).collect();
    let said: Vec<String> = std::iter::once(lead).chain(missed).collect();
    let room = MOST_LETTERS.saturating_sub(said.iter().map(|words| words.chars().count()).sum());
    let direct = direct.or_else(|| findings::asked(expected, &groups, room));
    // If nothing was missed or found, repeat the expectation.
    let asked: Vec<String> = match direct.is_none() && said.len() == 1 {
        true => expected.iter().take(MOST_TOLD).map(found).collect(),
        false => Vec::new(),
    };
    let oversend = oversenders(&groups);
    said.into_iter().chain(asked).chain(direct).chain(oversend).collect::<Vec<_>>().join(" ")
}

/// Whether as many expectations as there are, one or more, are met.
pub fn lead(missed: usize, all: usize) -> String {
    match (missed, all) {
        (0, 1) => "As expected.".to_string(),
        (0, 2) => "As expected: both expectations are met.".to_string(),
        (0, all) => format!("As expected: all {all} expectations are met."),
        (1, 1) => "Not as expected.".to_string(),
        (1, all) => format!("Not as expected: 1 of {all} expectations is missed."),
        (missed, all) => format!("Not as expected: {missed} of {all} expectations are missed."),
    }
}

/// Maximum length of an answer that leaves a picture on a phone's screen. Missed expectations are always included.
pub const MOST_LETTERS: usize = 260;

/// Shares of each controller, if few mixes are compared.
fn mixes(groups: &[Group]) -> Option<String> {
    let shares = shares(groups);
    (1..=MOST_MIXES).contains(&shares.len()).then(|| shares.join(" "))
}

/// Maximum number of mixes in the first lines.
pub const MOST_MIXES: usize = 2;

/// What was found next to what was expected: `Loss of rapid: 0.02 %, expected at most 0.03 %.`
fn found(outcome: &ExpectationOutcome) -> String {
    let figure = SUMMARY.iter().find(|figure| figure.name == outcome.metric);
    let label = figure.map(|figure| figure.label).filter(|label| !label.is_empty()).unwrap_or(&outcome.metric);
    let (found, bound) = (outcome.found_in_words(), outcome.bound_in_words());
    let of = if outcome.selected.is_empty() { String::new() } else { format!(" of {}", outcome.selected) };
    format!("{label}{of}: {found}, expected {bound}.")
}

/// As many expectations as a reader takes in at first sight.
const MOST_TOLD: usize = 3;
const NO_RUNS: &str = "There are no runs.";

/// Returns a paragraph of plain text.
pub fn verdict(results: &Results) -> String {
    let groups = groups(&results.runs);
    let mut sentences = sentences(results, &groups);
    sentences.extend(oversenders(&groups));
    sentences.extend(shares(&groups));
    sentences.extend(why_above_all(results, &groups));
    sentences.join(" ")
}

/// The answers to the questions, one sentence each.
fn sentences(results: &Results, groups: &[Group]) -> Vec<String> {
    if groups.is_empty() {
        vec![NO_RUNS.to_string()]
    } else if let Some(together) = together::sentence(groups).filter(|_| points(results).len() == 1) {
        vec![together]
    } else if points(results).len() > 1 {
        QUESTIONS.iter().filter_map(|question| over_points(question, results, groups)).collect()
    } else {
        QUESTIONS.iter().filter_map(|question| at_one_point(question, groups)).collect()
    }
}

/// The traffic's reaction to a full path, in a sentence; empty without traffic.
pub fn traffic(results: &Results) -> &'static str {
    let connections =
        |source: &TrafficResult| matches!(source.kind.as_str(), "tmix" | "sessions") || source.files_asked.is_some();
    let mut sources = results.runs.iter().flat_map(|run| &run.traffic).peekable();
    if sources.peek().is_none() {
        return "";
    }
    let (reacts, all) = sources.fold((0, 0), |(reacts, all), one| (reacts + usize::from(connections(one)), all + 1));
    match reacts {
        0 => " The traffic does not react to the flows.",
        _ if reacts == all => " The traffic is made of connections, which react to the path as the flows do.",
        _ => " Of the traffic, connections react to the path as the flows do; the rest does not.",
    }
}

/// The share of each controller of a mix, in a sentence for each mix.
fn shares(groups: &[Group]) -> Vec<String> {
    let sentence = |(mix, got): (&str, String)| {
        let when = when(groups, mix);
        let of = if groups.len() > 1 { format!(" of {mix}") } else { String::new() };
        format!("Shares of the flows{of}{when}: {got}.")
    };
    shared(groups).into_iter().map(sentence).collect()
}

/// The phase of a mix's shares, as in ` from 10 to 30 s`; empty if it has one phase.
pub fn when(groups: &[Group], mix: &str) -> String {
    let group = groups.iter().find(|group| group.controller == mix).filter(|group| group.phases().len() > 1);
    group.and_then(Group::fullest).map_or(String::new(), |phase| format!(" from {}", phase_time(&phase)))
}

/// Returns each mix, and what each of its controllers got of what all got: at one point its share, over several the range of
/// its shares.
pub fn shared<'a>(groups: &[Group<'a>]) -> Vec<(&'a str, String)> {
    let mixes: Vec<(&Group<'a>, Vec<(&str, Interval)>)> =
        groups.iter().map(|group| (group, group.shares())).filter(|(_, shares)| shares.len() > 1).collect();
    let mut names: Vec<&'a str> = Vec::new();
    mixes.iter().map(|(group, _)| group.controller).for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    let of = |mix: &'a str| {
        let points: Vec<&Vec<(&str, Interval)>> =
            mixes.iter().filter(|(group, _)| group.controller == mix).map(|(_, shares)| shares).collect();
        let mut most_first = points[0].clone();
        most_first.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
        let got = most_first.iter().map(|(name, first)| match points.len() {
            1 => format!("{name} {}", shown(*first, Unit::Share)),
            _ => {
                let own = mixes.iter().filter(|(group, _)| group.controller == mix);
                let means = own.flat_map(|(group, shares)| {
                    shares.iter().filter(|(other, _)| other == name).map(|(_, share)| (share.mean, group.point()))
                });
                format!("{name} {}", findings::range(means, Unit::Share))
            }
        });
        (mix, got.collect::<Vec<_>>().join(", "))
    };
    names.into_iter().map(of).collect()
}

/// Returns the groups that have an answer, best first.
fn ranked<'g, 'a>(question: &Question, groups: impl Iterator<Item = &'g Group<'a>>) -> Vec<(&'g Group<'a>, Interval)>
where
    'a: 'g,
{
    let mut found: Vec<_> = groups.filter_map(|g| Some((g, g.interval(question.metric)?))).collect();
    found.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    if question.more {
        found.reverse();
        found.sort_by_key(|(group, _)| loses_most(group));
    }
    found
}

fn at_one_point(question: &Question, groups: &[Group]) -> Option<String> {
    let ranked = ranked(question, groups.iter());
    let (best, figure) = ranked.first()?;
    let rest = ranked[1..].iter().map(|(g, i)| format!("{} {}", g.controller, shown(*i, question.unit))).collect();
    let against = if ranked.len() < 2 { String::new() } else { format!("; {}", findings::listed(rest)) };
    let caveat = ranked
        .get(1)
        .map_or("", |(second, _)| order_caveat(difference(best, second, question.metric), second.runs.len()));
    if ranked.len() > 1 && ranked.iter().all(|(_, i)| i.mean == figure.mean) {
        return Some(format!("{}: all alike, {}.", question.topic, shown(*figure, question.unit)));
    }
    let lead = if ranked.len() > 1 { question.superlative.to_string() } else { format!("{}:", question.topic) };
    Some(format!("{lead} {} ({}{against}){caveat}.", best.controller, shown(*figure, question.unit)))
}

/// Returns how often each controller was best over the sweep points, and the range of the values that it reached there.
fn over_points(question: &Question, results: &Results, groups: &[Group]) -> Option<String> {
    let points = points(results);
    let count = points.len();
    let mut wins: Vec<(&str, Vec<(f64, String)>)> = Vec::new();
    let (mut open, mut few) = (0, "");
    for point in &points {
        let ranked = ranked(question, groups.iter().filter(|g| g.params == *point));
        let Some((best, figure)) = ranked.first() else { continue };
        let ahead = |group: &Group, interval: &Interval| {
            interval.mean == figure.mean && (!question.more || loses_most(group) == loses_most(best))
        };
        for (group, _) in ranked.iter().filter(|(group, interval)| ahead(group, interval)) {
            let won = (figure.mean, group.point());
            match wins.iter_mut().find(|(name, _)| *name == group.controller) {
                Some((_, all)) => all.push(won),
                None => wins.push((group.controller, vec![won])),
            }
        }
        if let Some((second, _)) = ranked.get(1).filter(|(group, interval)| !ahead(group, interval)) {
            let apart = if question.more && loses_most(second) != loses_most(best) { LOSS } else { question.metric };
            let difference = difference(best, second, apart);
            match is_open(difference) {
                true => open += 1,
                false => few = order_caveat(difference, second.runs.len()),
            }
        }
    }
    wins.sort_by_key(|(_, won)| std::cmp::Reverse(won.len()));
    let range = |won: &[(f64, String)]| findings::range(won.iter().cloned(), question.unit);
    let lost = if question.more { lost_most(groups, count) } else { String::new() };
    if let ([(name, won)], true) = (&wins[..], groups.iter().all(|group| group.controller == groups[0].controller)) {
        let topic = after(&lost, question.topic);
        return Some(format!("{topic}: {name}, {} over {count} sweep points.", range(won)));
    }
    let part =
        |(name, won): &(&str, Vec<_>)| format!("{name} at {} of {count} sweep points ({})", won.len(), range(won));
    let parts: Vec<String> = wins.iter().map(part).collect();
    let ties = wins.iter().map(|(_, won)| won.len()).sum::<usize>() > count;
    let tied = if ties { "; where several are best, each counts" } else { "" };
    let caveat = match open {
        0 => few.to_string(),
        _ => {
            format!(", though the replications do not separate the first two at {open} of them (95 %, paired by seed)")
        }
    };
    let superlative = after(&lost, question.superlative);
    (!parts.is_empty()).then(|| format!("{superlative} {}{tied}{caveat}.", parts.join(", ")))
}

/// The same words as the second part of a sentence, if there is a first.
fn after(first: &str, words: &str) -> String {
    let (letter, rest) = words.split_at(words.chars().next().map_or(0, char::len_utf8));
    if first.is_empty() { words.to_string() } else { format!("{first}; {}{rest}", letter.to_lowercase()) }
}

/// Which controllers lost more than they delivered, and at how many sweep points: the beginning of a sentence.
fn lost_most(groups: &[Group], count: usize) -> String {
    let mut most: Vec<(&str, usize, f64)> = Vec::new();
    for group in groups.iter().filter(|group| loses_most(group)) {
        let loss = group.mean(LOSS).unwrap_or_default();
        match most.iter_mut().find(|(name, ..)| *name == group.controller) {
            Some(known) => (known.1, known.2) = (known.1 + 1, known.2.max(loss)),
            None => most.push((group.controller, 1, loss)),
        }
    }
    let part = |(name, at, loss): &(&str, usize, f64)| {
        format!(
            "{name} lost more than it delivered at {at} of {count} sweep points (up to {})",
            quantity(*loss, Unit::Share)
        )
    };
    most.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn largest_share_is_named_first() {
        let mut results = example::demo();
        for run in &mut results.runs {
            run.summary.available_share = Some(if run.controller == "cubic" { 0.9 } else { 0.5 });
            (run.summary.loss_ratio, run.summary.queue_delay_p99_s) = (Some(0.01), Some(2e-3));
        }
        assert!(
            verdict(&results).starts_with("The largest share of the available capacity was used by cubic (90.00 %")
        );
    }

    #[test]
    fn contradicted_order_is_called_doubtful() {
        let mut results = example::demo();
        for run in &mut results.runs {
            let sign = if run.replication % 2 == 0 { 1.0 } else { -1.0 };
            run.summary.available_share = Some(match run.controller.as_str() {
                "rapid" => 0.8 + 0.1 * sign,
                "cubic" => 0.8 - 0.1 * sign,
                _ => 0.1,
            });
        }
        assert!(verdict(&results).contains("do not separate the first two"));
    }

    #[test]
    fn mix_states_shares_and_explains_excess() {
        let mut results = example::single();
        let share = |controller: &str, share: f64| experiment::results::ControllerShare {
            controller: controller.to_string(),
            share: Some(share),
            ..experiment::results::ControllerShare::default()
        };
        results.runs[0].shares = vec![share("rapid", 0.25), share("cubic", 0.75)];
        let words = verdict(&results);
        assert!(words.ends_with("Shares of the flows: cubic 75.00 %, rapid 25.00 %."), "{words}");
        results.runs[0].summary.available_share = Some(1.01);
        let why = why_above_all(&results, &groups(&results.runs)).expect("a reason");
        assert!(verdict(&results).ends_with(&why), "{}", verdict(&results));
        let mut second = results.runs[0].clone();
        second.params.insert("path.loss".to_string(), "0.1".to_string());
        second.shares = vec![share("rapid", 0.5), share("cubic", 0.5)];
        results.runs[0].params.insert("path.loss".to_string(), "0".to_string());
        results.runs.push(second);
        assert!(verdict(&results).contains("cubic 50.00 % at path.loss = 0.1 to 75.00 % at path.loss = 0, rapid 25.00 % at path.loss = 0 to 50.00 % at path.loss = 0.1."));
    }

    #[test]
    fn connection_traffic_is_called_responsive() {
        let mut results = example::single();
        assert_eq!(traffic(&results), " The traffic does not react to the flows.");
        results.runs[0].traffic[0].files_asked = Some(7);
        assert!(traffic(&results).starts_with(" The traffic is made of connections"));
        results.runs[0].traffic.push(TrafficResult { kind: "cbr".to_string(), ..TrafficResult::default() });
        assert!(traffic(&results).starts_with(" Of the traffic, connections react"));
        results.runs[0].traffic.clear();
        assert_eq!(traffic(&results), "");
    }

    #[test]
    fn verdict_without_runs_says_so() {
        assert_eq!(verdict(&example::empty()), "There are no runs.");
        assert_eq!(answer(&example::empty()), "There are no runs.");
    }

    #[test]
    fn answer_prefers_missed_then_found_then_best() {
        let mut results = example::demo();
        let missed = "Not as expected: 1 of 2 expectations is missed. Queueing, 99th percentile of controller = rapid: 800.0 µs, expected at most \
                      10.00 µs.";
        let found = " Share of available: rapid ";
        assert!(answer(&results).starts_with(missed) && answer(&results).contains(found), "{}", answer(&results));
        results.expectations.truncate(1);
        assert!(
            answer(&results).starts_with("As expected. Share of available: rapid ")
                && answer(&results).contains(" Queueing, 99th percentile: rapid ")
        );
        let runs = results.runs.clone();
        results.runs.retain(|run| run.controller == "rapid");
        let met = "As expected. Share of available of controller = rapid: 93.00 %, expected at least 88.00 %.";
        assert_eq!(answer(&results), met, "nothing to compare");
        results.runs = runs;
        results.expectations.clear();
        assert!(verdict(&results).starts_with(&answer(&results)));
        let best =
            "rapid used 93.8 ± 1.5 % of the available capacity and queued 108 ± 15 µs (99th percentile); cubic: ";
        assert!(answer(&results).starts_with(best), "{}", answer(&results));
    }

    #[test]
    fn a_single_entry_is_not_ranked() {
        let mut results = example::sweep();
        results.runs.retain(|run| run.controller == "rapid");
        let words = verdict(&results);
        assert!(words.starts_with("Share of the available capacity: rapid, "), "{words}");
        assert!(words.contains(" over 4 sweep points.") && !words.contains("largest") && !words.contains(" at 4 of"));
    }

    /// Differences of 0.1, 0.1 and -0.1 have a mean of 0.033 and an interval of 0.29 (Student's t for two degrees: 4.303).
    #[test]
    fn sweep_counts_points_with_open_order() {
        let mut results = example::sweep();
        let set = |results: &mut Results, open: &str| {
            for run in &mut results.runs {
                let here = run.params["path.buffer"] == open && run.replication == 2;
                let cubic = if here { 0.6 } else { 0.4 };
                run.summary.available_share = Some(if run.controller == "rapid" { 0.5 } else { cubic });
                (run.summary.loss_ratio, run.summary.queue_delay_p99_s) = (None, None);
            }
        };
        set(&mut results, "none");
        assert!(!verdict(&results).contains("separate"), "{}", verdict(&results));
        set(&mut results, "10 packets");
        let said = "rapid at 4 of 4 sweep points (50.00 %), though the replications do not separate the first two at 1 of \
                    them (95 %, paired by seed).";
        assert!(verdict(&results).contains(said), "{}", verdict(&results));
        results.runs.retain(|run| run.replication == 0);
        assert!(verdict(&results).contains("(50.00 %), in a single replication."), "{}", verdict(&results));
    }

    #[test]
    fn sweep_names_collapse_without_ranking_it_first() {
        let mut results = example::sweep();
        for run in &mut results.runs {
            let small = run.params["path.buffer"] == "5 packets" && run.controller == "cubic";
            run.summary.available_share = Some(if run.controller == "rapid" { 0.5 } else { 0.9 });
            run.summary.loss_ratio = Some(if small { 0.75 } else { 0.0 });
        }
        let words = verdict(&results);
        let first = "cubic lost more than it delivered at 1 of 4 sweep points (up to 75.00 %); the largest share of the \
                     available capacity was used by cubic at 3 of 4 sweep points (90.00 %), rapid at 1 of 4";
        assert!(words.starts_with(first), "{words}");
    }

    #[test]
    fn sweep_counts_points_won() {
        let mut results = example::sweep();
        for run in &mut results.runs {
            let small = run.params["path.buffer"] == "5 packets";
            run.summary.available_share = Some(if (run.controller == "rapid") ^ small { 0.9 } else { 0.4 });
        }
        let words = verdict(&results);
        assert!(
            words.contains("rapid at 3 of 4 sweep points (90.00 %), cubic at 1 of 4 sweep points (90.00 %)"),
            "{words}"
        );
        assert!(!words.contains("each counts"), "{words}");
        results.runs.iter_mut().for_each(|run| run.summary.available_share = Some(0.5));
        let words = verdict(&results);
        assert!(words.contains("rapid at 4 of 4 sweep points (50.00 %)"), "{words}");
        assert!(words.contains("; where several are best, each counts."));
    }
}
