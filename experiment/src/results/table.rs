//! The table for the terminal.

use crate::results::above::why_above_all;
use crate::results::columns::{GAP, aligned, beginning};
use crate::results::completions::to_completions;
use crate::results::numbers;
use crate::results::oversenders::oversenders;
use crate::results::phases::to_phases;
use crate::results::remarks;
use crate::results::schema::{ExpectationOutcome, Results};
use crate::results::statistics::{Group, Interval, NO_INTERVAL, groups, nothing_drawn};
use crate::results::ways::to_ways;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use unicode_width::UnicodeWidthStr;

/// How a table is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Print {
    /// Names have the colours of the page.
    pub colours: bool,
    /// All columns, however wide. Else those that fit [`WIDTH`] columns of text.
    pub wide: bool,
}

/// What a table that is not wide fits, in columns of a terminal.
pub const WIDTH: usize = 100;

/// A figure of the table.
struct Figure {
    head: &'static str,
    metric: &'static str,
    scale: f64,
    decimals: usize,
    /// Where columns do not fit, those with the highest number are left out first; 0 stays, and so does what is expected.
    dispensable: u8,
}

/// Rates differ by orders of magnitude: small ones have more decimals.
const RATE: &str = "throughput_bps";
const USED: &str = "utilisation";
const AVAILABLE_SHARE: &str = "available_share";

const FIGURES: &[Figure] = &[
    figure("Mbit/s", RATE, 1e-6, 1, 0),
    figure("used %", USED, 100.0, 2, 7),
    figure("available share %", AVAILABLE_SHARE, 100.0, 2, 0),
    figure("loss %", "loss_ratio", 100.0, 4, 0),
    figure("queue p50 ms", "queue_delay_p50_s", 1e3, 3, 6),
    figure("queue p99 ms", "queue_delay_p99_s", 1e3, 3, 2),
    figure("RTT ms", "rtt_mean_s", 1e3, 3, 5),
    figure("Jain", "fairness_jain", 1.0, 4, 4),
];

const fn figure(head: &'static str, metric: &'static str, scale: f64, decimals: usize, dispensable: u8) -> Figure {
    Figure { head, metric, scale, decimals, dispensable }
}

/// What is said of two replications in a table that has both values, and no mean.
const BOTH_VALUES: &str = "2 runs: both values, smaller first; no interval.";

/// More lines are left to the files.
const MOST_LINES: usize = 200;

/// The heading of the column that is there where several controllers meet. Where it is left out, the phases show the shares.
const SHARES: &str = "share of each %";

/// Longer names of controllers are cut where the table is not wide and they differ all the same.
const LONGEST_NAME: usize = 40;

/// A cell without a figure.
const NOTHING: &str = "-";

/// A column: its heading, a cell for each group, the figure, none where it holds words, and [`Figure::dispensable`].
struct Column {
    head: String,
    cells: Vec<String>,
    metric: &'static str,
    dispensable: u8,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().chain([&self.head]).map(|cell| cell.width()).max().unwrap_or(0)
    }
}

/// Whether to use colours: standard output is a terminal and `NO_COLOR` is not set (no-color.org).
pub fn colours_wanted() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// What the terminal's table has: lines of cells, of which the first is the heading, and what is said below them.
#[derive(Debug)]
pub struct Comparison {
    /// A line per controller and sweep point, the first [`MOST_LINES`] of them.
    pub lines: Vec<Vec<String>>,
    /// Whether a column has numbers.
    pub numbers: Vec<bool>,
    /// What the figures are and what is left out, the tables of phases, completions and ways.
    pub notes: String,
}

impl Comparison {
    /// Of all columns, or of those that fit [`WIDTH`]. From three replications on, each figure has the half-width of its 95 %
    /// confidence interval.
    pub fn of(results: &Results, groups: &[Group<'_>], wide: bool) -> Comparison {
        let mut columns = columns(&groups[..groups.len().min(MOST_LINES)], wide);
        let expected = |metric: &str| results.expectations.iter().any(|outcome| outcome.metric == metric);
        columns.iter_mut().filter(|column| expected(column.metric)).for_each(|column| column.dispensable = 0);
        let left_out = !wide && {
            said_once(&mut columns, expected);
            fit(&mut columns)
        };
        let shares = columns.iter().any(|column| column.head == SHARES);
        let line = |cell: &dyn Fn(&Column) -> String| columns.iter().map(cell).collect::<Vec<_>>();
        let rows = (0..groups.len().min(MOST_LINES)).map(|row| line(&|column| column.cells[row].clone()));
        Comparison {
            lines: std::iter::once(line(&|column| column.head.clone())).chain(rows).collect(),
            numbers: columns.iter().map(|column| !column.metric.is_empty()).collect(),
            notes: notes(results, groups, left_out, wide)
                + &remarks(&results.runs).into_iter().map(|said| said + "\n").collect::<String>()
                + &to_phases(groups, !shares, if wide { usize::MAX } else { WIDTH })
                + &to_completions(groups)
                + &to_ways(groups),
        }
    }
}

/// Returns the comparison in columns, then the expectations.
pub fn to_table(results: &Results, print: Print) -> String {
    let groups = groups(&results.runs);
    let Comparison { lines, numbers, notes } = Comparison::of(results, &groups, print.wide);
    let paint =
        |line: usize| if print.colours { line.checked_sub(1).and_then(|at| ansi(groups[at].colour)) } else { None };
    aligned(&lines, |column| !numbers[column], &paint) + &notes + &to_expectations(results, print.colours)
}

/// Returns a line per expectation.
pub fn to_expectations(results: &Results, colours: bool) -> String {
    results.expectations.iter().map(|outcome| said(outcome, colours)).collect()
}

/// What is said below the table, a line each.
fn notes(results: &Results, groups: &[Group<'_>], left_out: bool, wide: bool) -> String {
    let more = groups.len().saturating_sub(MOST_LINES);
    let more = (more > 0).then(|| format!("... and {more} more lines: the files have all\n"));
    let two = groups.iter().any(|group| group.runs.len() == 2 && !group.repeats());
    let two = two.then(|| format!("{}\n", if wide { NO_INTERVAL } else { BOTH_VALUES }));
    let above = why_above_all(results, groups).map(|said| said + "\n");
    let left_out = left_out.then(|| "More columns: --wide\n".to_string());
    let oversent = oversenders(groups).into_iter().map(|said| said + "\n").collect();
    [more, left_out, two, Some(nothing_drawn(groups)), above, Some(oversent)].into_iter().flatten().collect()
}

fn columns(groups: &[Group<'_>], wide: bool) -> Vec<Column> {
    let words = |head: &str, dispensable: u8, of: &dyn Fn(&Group<'_>) -> String| Column {
        head: head.to_string(),
        cells: groups.iter().map(of).collect(),
        metric: "",
        dispensable,
    };
    let named = if wide { |name: &str| name.to_string() } else { cut };
    let names: BTreeSet<&str> = groups.iter().map(|group| group.controller).collect();
    let apart = names.iter().map(|name| named(name)).collect::<BTreeSet<_>>().len() == names.len();
    let controller = |group: &Group<'_>| if apart { named(group.controller) } else { group.controller.to_string() };
    let mut columns = vec![words("controller", 0, &controller)];
    for key in groups.first().map_or(Vec::new(), |group| group.params.keys().collect()) {
        columns.push(words(key, 0, &|group| group.params.get(key).cloned().unwrap_or_default()));
    }
    columns.extend(FIGURES.iter().map(|figure| Column {
        head: figure.head.to_string(),
        cells: groups.iter().map(|group| shown(group, figure, wide)).collect(),
        metric: figure.metric,
        dispensable: figure.dispensable,
    }));
    if groups.iter().any(|group| !group.shares().is_empty() && group.phases().len() < 2) {
        columns.push(words(SHARES, 3, &shares));
    }
    columns
}

/// The first letters of a long name.
fn cut(name: &str) -> String {
    beginning(name, LONGEST_NAME)
}

/// Leaves out columns that say nothing or the same as another.
fn said_once(columns: &mut Vec<Column>, expected: impl Fn(&str) -> bool) {
    let cells = |metric: &str| columns.iter().find(|column| column.metric == metric).map(|column| &column.cells);
    let twice = cells(USED) == cells(AVAILABLE_SHARE);
    if twice {
        let other = if expected(AVAILABLE_SHARE) { USED } else { AVAILABLE_SHARE };
        columns.retain(|column| column.metric != other);
        columns.iter_mut().filter(|column| column.metric == USED).for_each(|column| column.dispensable = 0);
    }
    columns.retain(|column| column.metric.is_empty() || column.cells.iter().any(|cell| cell != NOTHING));
}

/// Leaves out columns until the others fit [`WIDTH`]. Returns whether it did.
fn fit(columns: &mut Vec<Column>) -> bool {
    let all = columns.len();
    while columns.iter().map(|column| column.width() + GAP).sum::<usize>() > WIDTH + GAP {
        let most = columns.iter().map(|column| column.dispensable).max().unwrap_or(0);
        let Some(at) = columns.iter().position(|column| column.dispensable == most && most > 0) else { break };
        columns.remove(at);
    }
    columns.len() < all
}

/// A figure with its interval; of two runs both values, in a wide table the mean, too.
fn shown(group: &Group<'_>, figure: &Figure, wide: bool) -> String {
    let Figure { metric, scale, decimals, .. } = figure;
    let Some(interval) = group.interval(metric) else {
        return NOTHING.to_string();
    };
    let decimals = if *metric == RATE { numbers::decimals(interval.mean * scale, *decimals) } else { *decimals };
    let number = |value: f64| format!("{:.*}", decimals, value * scale);
    let mean = numbers::in_decimals(interval, *scale, decimals);
    match group.range(metric).map(|(low, high)| (number(low), number(high))) {
        Some((low, high)) if low != high && wide => format!("{mean} ({low} to {high})"),
        Some((low, high)) if low != high => format!("{low} to {high}"),
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
