//! Flows that arrived, by table and size, over the replications of each group.

use crate::results::columns::to_lines;
use crate::results::figures::CompletionResult;
use crate::results::statistics::{Group, Interval};

/// The flows of one size, in each replication of a group.
#[derive(Clone, Debug)]
pub struct Completions<'a> {
    /// The group.
    pub group: &'a Group<'a>,
    /// One entry per replication.
    pub rows: Vec<&'a CompletionResult>,
}

/// Returns the flows that arrived, size by size, group by group. Leaves out sizes of which none arrived.
pub fn completions<'a>(groups: &'a [Group<'a>]) -> Vec<Completions<'a>> {
    let of = |group: &'a Group<'a>| {
        let most = group.runs.iter().map(|run| run.completions.len()).max().unwrap_or(0);
        (0..most).map(move |at| {
            let rows = group.runs.iter().filter_map(|run| run.completions.get(at)).collect();
            Completions { group, rows }
        })
    };
    groups.iter().flat_map(of).filter(|all| all.rows.iter().any(|row| row.arrived > 0)).collect()
}

impl Completions<'_> {
    /// Returns the sizes in words: `up to 10 kB`, `10 kB to 100 kB`, `above 10 MB`, `all`.
    pub fn sizes(&self) -> String {
        match self.rows.first().map(|row| (row.from_bytes.unwrap_or(0), row.to_bytes)) {
            Some((0, Some(to))) => format!("up to {}", kilobytes(to)),
            Some((from, Some(to))) => format!("{} to {}", kilobytes(from), kilobytes(to)),
            Some((from @ 1.., None)) => format!("above {}", kilobytes(from)),
            Some((0, None)) | None => "all".to_string(),
        }
    }

    /// Returns the sum of a count over the replications.
    pub fn count(&self, of: fn(&CompletionResult) -> u64) -> u64 {
        self.rows.iter().map(|row| of(row)).sum()
    }

    /// Returns the mean of a figure and its interval, over the replications that have it.
    pub fn interval(&self, of: fn(&CompletionResult) -> Option<f64>) -> Option<Interval> {
        Interval::of_runs(&self.rows.iter().filter_map(|row| of(row)).collect::<Vec<f64>>())
    }
}

fn kilobytes(bytes: u64) -> String {
    if bytes >= 1_000_000 { format!("{} MB", bytes / 1_000_000) } else { format!("{} kB", bytes / 1000) }
}

/// A column: its heading, the figure, its factor, and the number of decimals.
type Figure = (&'static str, fn(&CompletionResult) -> Option<f64>, f64, usize);

const FIGURES: [Figure; 5] = [
    ("time p50 ms", |row| row.completion_time_p50_s, 1e3, 3),
    ("p99 ms", |row| row.completion_time_p99_s, 1e3, 3),
    ("slowdown mean", |row| row.slowdown_mean, 1.0, 2),
    ("p50", |row| row.slowdown_p50, 1.0, 2),
    ("p99", |row| row.slowdown_p99, 1.0, 2),
];

/// The table for the terminal; nothing where no flows arrive.
pub(crate) fn to_completions(groups: &[Group<'_>]) -> String {
    let all = completions(groups);
    if all.is_empty() {
        return String::new();
    }
    let head = ["flows that arrived", "table", "size", "arrived", "ended"].into_iter();
    let mut lines = vec![head.chain(FIGURES.iter().map(|figure| figure.0)).map(str::to_string).collect::<Vec<_>>()];
    lines.extend(all.iter().map(|one| {
        let table = one.rows.first().map_or(String::new(), |row| row.table.to_string());
        let counts = [one.count(|row| row.arrived), one.count(|row| row.completed)].map(|count| count.to_string());
        let figures = FIGURES.iter().map(|(_, of, scale, decimals)| {
            one.interval(*of).map_or("-".to_string(), |found| format!("{:.*}", *decimals, found.mean * scale))
        });
        [one.group.name(), table, one.sizes()].into_iter().chain(counts).chain(figures).collect()
    }));
    format!("\n{}", to_lines(&lines, 3..3 + 2 + FIGURES.len()))
}
