//! The table for the terminal.

use crate::results::columns::aligned;
use crate::results::completions::to_completions;
use crate::results::numbers;
use crate::results::phases::to_phases;
use crate::results::remarks;
use crate::results::schema::{ExpectationOutcome, Results};
use crate::results::statistics::{Group, Interval, NO_INTERVAL, WHY_ABOVE_ALL, groups, nothing_drawn};
use crate::results::ways::to_ways;
use std::io::IsTerminal;

/// A column of the table: its heading, the figure, its factor, and the number of decimals.
type Figure = (&'static str, &'static str, f64, usize);

/// Rates differ by orders of magnitude: small ones have more decimals.
const RATE: &str = "throughput_bps";

const FIGURES: &[Figure] = &[
    ("Mbit/s", RATE, 1e-6, 1),
    ("used %", "utilisation", 100.0, 2),
    ("of what is left %", "available_share", 100.0, 2),
    ("loss %", "loss_ratio", 100.0, 4),
    ("queue p50 ms", "queue_delay_p50_s", 1e3, 3),
    ("p99 ms", "queue_delay_p99_s", 1e3, 3),
    ("RTT ms", "rtt_mean_s", 1e3, 3),
    ("Jain", "fairness_jain", 1.0, 4),
];

/// More lines are left to the files.
const MOST_LINES: usize = 200;

/// The heading of the column that is there where several controllers meet.
const SHARES: &str = "share of each %";

/// Whether to use colours: standard output is a terminal and `NO_COLOR` is not set (no-color.org).
pub fn colours_wanted() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns one line per controller and sweep point, the first [`MOST_LINES`] of them, then the expectations. From three replications on, each figure has
/// the half-width of its 95 % confidence interval.
pub fn to_table(results: &Results, colours: bool) -> String {
    let groups = groups(&results.runs);
    let keys: Vec<&String> = groups.first().map_or(Vec::new(), |group| group.params.keys().collect());
    let head = ["controller"].into_iter().chain(keys.iter().map(|key| key.as_str()));
    let mixed = groups.iter().any(|group| !group.shares().is_empty() && group.phases().len() < 2);
    let head = head.chain(FIGURES.iter().map(|figure| figure.0)).chain(mixed.then_some(SHARES)).map(str::to_string);
    let mut lines: Vec<Vec<String>> = vec![head.collect()];
    lines.extend(groups.iter().take(MOST_LINES).map(|group| {
        let params = keys.iter().map(|key| group.params.get(*key).cloned().unwrap_or_default());
        let figures = FIGURES.iter().map(|figure| shown(group, figure));
        let shares = mixed.then(|| shares(group));
        std::iter::once(group.controller.to_string()).chain(params).chain(figures).chain(shares).collect()
    }));
    let paint = |line: usize| if colours { line.checked_sub(1).and_then(|at| ansi(groups[at].colour)) } else { None };
    let expectations = results.expectations.iter().map(|outcome| said(outcome, colours));
    let words = 1 + keys.len();
    let table = aligned(&lines, |column| column < words || column >= words + FIGURES.len(), &paint);
    let note = if groups.iter().any(Group::above_all) { format!("{WHY_ABOVE_ALL}\n") } else { String::new() };
    let two = groups.iter().any(|group| group.runs.len() == 2 && !group.repeats());
    let two = if two { format!("{NO_INTERVAL}\n") } else { String::new() };
    let more = groups.len().saturating_sub(MOST_LINES);
    let more = if more > 0 { format!("... and {more} more lines: the files have all\n") } else { String::new() };
    table
        + &more
        + &two
        + &nothing_drawn(&groups)
        + &note
        + &remarks(&results.runs).into_iter().map(|said| said + "\n").collect::<String>()
        + &to_phases(&groups)
        + &to_completions(&groups)
        + &to_ways(&groups)
        + &expectations.collect::<String>()
}

fn shown(group: &Group<'_>, (_, metric, scale, decimals): &Figure) -> String {
    let Some(interval) = group.interval(metric) else {
        return "-".to_string();
    };
    let decimals = if *metric == RATE { numbers::decimals(interval.mean * scale, *decimals) } else { *decimals };
    let number = |value: f64| format!("{:.*}", decimals, value * scale);
    let mean = numbers::in_decimals(interval, *scale, decimals);
    match group.range(metric).map(|(low, high)| (number(low), number(high))) {
        Some((low, high)) if low != high => format!("{mean} ({low} to {high})"),
        _ => mean,
    }
}

/// What each controller of a mix got: `rapid 25.0 ± 1.2, cubic 75.0 ± 1.2`.
fn shares(group: &Group<'_>) -> String {
    let one = |(name, share): &(&str, Interval)| format!("{name} {}", numbers::in_decimals(*share, 100.0, 1));
    group.shares().iter().map(one).collect::<Vec<_>>().join(", ")
}

fn said(outcome: &ExpectationOutcome, colours: bool) -> String {
    let (word, colour) = if outcome.met { ("met", "\x1b[32m") } else { ("MISSED", "\x1b[31m") };
    let word = if colours { format!("{colour}{word}\x1b[0m") } else { word.to_string() };
    let (bound, found) = (outcome.bound_in_words(), outcome.found_in_words());
    let why = if outcome.why.is_empty() { String::new() } else { format!(" [{}]", outcome.why) };
    format!("{word}: {} {bound}: found {found} ({}){why}\n", outcome.metric, outcome.selected)
}

/// Returns the escape sequence of a colour like `#D55E00`.
fn ansi(colour: &str) -> Option<String> {
    let hex = colour.strip_prefix('#').filter(|hex| hex.len() == 6 && hex.is_ascii())?;
    let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
    Some(format!("\x1b[38;2;{};{};{}m", part(0)?, part(2)?, part(4)?))
}
