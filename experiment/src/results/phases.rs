//! What flows got phase by phase, over the replications: what compares flows compares those that are active at the same time.

use crate::results::columns::{GAP, ends, to_lines};
use crate::results::figures::PhaseResult;
use crate::results::numbers;
use crate::results::statistics::{Group, Interval};
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr;

/// A phase of all replications of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase<'a> {
    /// When it begins and ends, on average; seconds.
    pub from_s: f64,
    /// See `from_s`.
    pub to_s: f64,
    /// Jain's index of the flows' throughput.
    pub fairness_jain: Option<Interval>,
    /// Waiting time at the bottleneck: the 99th percentile.
    pub queue_delay_p99_s: Option<Interval>,
    /// What each controller got.
    pub got: Vec<Got<'a>>,
}

/// What the flows of one controller got in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Got<'a> {
    /// The controller, as tables name it.
    pub controller: &'a str,
    /// Its flows that are active.
    pub flows: u64,
    /// Their throughput together.
    pub throughput_bps: Option<Interval>,
    /// The same over that of all flows.
    pub share: Option<Interval>,
}

/// Phases shorter than this part of all of them say little: printed tables and sentences leave them out.
const SHORTEST: f64 = 0.02;

impl<'a> Group<'a> {
    /// Returns the phases, in order of time; nothing where the replications differ in how many there are. The shortest ones
    /// are left out.
    pub fn phases(&self) -> Vec<Phase<'a>> {
        let Some(first) = self.runs.first() else { return Vec::new() };
        if self.runs.iter().any(|run| run.phases.len() != first.phases.len()) {
            return Vec::new();
        }
        let all: Vec<Phase> = (0..first.phases.len()).filter_map(|number| self.phase(number)).collect();
        let whole_s = all.last().map_or(0.0, |last| last.to_s) - all.first().map_or(0.0, |first| first.from_s);
        all.into_iter().filter(|phase| phase.to_s - phase.from_s >= SHORTEST * whole_s).collect()
    }

    /// Returns the phase in which most flows are active, the longest of these.
    pub fn fullest(&self) -> Option<Phase<'a>> {
        let flows = |phase: &Phase| phase.got.iter().map(|got| got.flows).sum::<u64>();
        let longer = |a: &Phase, b: &Phase| (a.to_s - a.from_s).total_cmp(&(b.to_s - b.from_s));
        self.phases().into_iter().reduce(|best, other| {
            let order = flows(&other).cmp(&flows(&best)).then(longer(&other, &best));
            if order.is_gt() { other } else { best }
        })
    }

    fn phase(&self, number: usize) -> Option<Phase<'a>> {
        let of = |value: &dyn Fn(&PhaseResult) -> Option<f64>| {
            let values: Vec<f64> = self.runs.iter().filter_map(|run| value(&run.phases[number])).collect();
            Interval::of_runs(&values)
        };
        Some(Phase {
            from_s: of(&|phase| Some(phase.from_s))?.mean,
            to_s: of(&|phase| Some(phase.to_s))?.mean,
            fairness_jain: of(&|phase| phase.fairness_jain),
            queue_delay_p99_s: of(&|phase| phase.queue_delay_p99_s),
            got: self.got(u32::try_from(number).ok()?),
        })
    }

    /// What each controller got in a phase. Where the flows have one controller, it got all.
    fn got(&self, number: u32) -> Vec<Got<'a>> {
        let Some(first) = self.runs.first() else { return Vec::new() };
        let names = first.shares.iter().filter(|share| share.phase == Some(number)).map(|share| &*share.controller);
        let of = |name: &'a str| {
            let shares = self.runs.iter().flat_map(|run| &run.shares);
            let own: Vec<_> = shares.filter(|share| share.phase == Some(number) && share.controller == name).collect();
            Got {
                controller: name,
                flows: own.first().map_or(0, |share| share.flows),
                throughput_bps: Interval::of_runs(&own.iter().filter_map(|s| s.throughput_bps).collect::<Vec<_>>()),
                share: Interval::of_runs(&own.iter().filter_map(|s| s.share).collect::<Vec<_>>()),
            }
        };
        let got: Vec<Got> = names.map(of).collect();
        let phases = || self.runs.iter().filter_map(|run| run.phases.get(number as usize));
        let alone = || Got {
            controller: self.controller,
            flows: phases().next().map_or(0, |phase| phase.flows),
            throughput_bps: Interval::of_runs(&phases().filter_map(|phase| phase.throughput_bps).collect::<Vec<_>>()),
            share: None,
        };
        if got.is_empty() { vec![alone()] } else { got }
    }
}

/// Returns a phase's time: `10 to 30 s`.
pub fn time(phase: &Phase) -> String {
    let short = |s: f64| numbers::trimmed(s, 2);
    format!("{} to {} s", short(phase.from_s), short(phase.to_s))
}

/// Columns of words; figures follow.
const WORDS: usize = 2;
const HEAD: [&str; 7] = ["when", "flows of", "flows", "Mbit/s", "share %", "Jain", "queue p99 ms"];
/// The column of the flows' names, which are cut where lines are too wide, to this width at least.
const NAMES: usize = 1;
const LEAST_NAME: usize = 12;

/// More lines are left to the files.
const MOST_LINES: usize = 60;

/// Returns a table of the phases of all groups, at most `width` columns wide where names that are cut still differ. Of groups
/// with one phase only where `single` asks for it and several controllers meet. Where there are several groups, each has a
/// heading.
pub(crate) fn to_phases(groups: &[Group], single: bool, width: usize) -> String {
    let mut lines: Vec<Vec<String>> = vec![HEAD.map(str::to_string).to_vec()];
    let mut headings: BTreeMap<usize, String> = BTreeMap::new();
    let same = groups.iter().all(|group| group.controller == groups[0].controller);
    let mut left_out = 0;
    for group in groups {
        let phases = group.phases();
        if phases.len() < 2 && !(single && phases.iter().any(|phase| phase.got.len() > 1)) {
            continue;
        }
        for (number, phase) in phases.iter().enumerate() {
            if left_out > 0 || lines.len() > 1 && lines.len() + phase.got.len() > 1 + MOST_LINES {
                left_out += 1;
                continue;
            }
            if number == 0 && groups.len() > 1 {
                headings.insert(lines.len(), if same { group.point() } else { group.name() });
            }
            lines.extend(rows(phase));
        }
    }
    if lines.len() < 2 {
        return String::new();
    }
    cut_names(&mut lines, width);
    let mut out = String::new();
    for (number, line) in to_lines(&lines, WORDS..HEAD.len()).lines().enumerate() {
        let heading = headings.get(&number).map(|name| ends(name, width));
        heading.iter().map(String::as_str).chain([line]).for_each(|line| out += &format!("\n{line}"));
    }
    let phases = if left_out == 1 { "phase" } else { "phases" };
    let more =
        if left_out > 0 { format!("... and {left_out} more {phases}: the files have all\n") } else { String::new() };
    format!("{out}\n{more}")
}

/// Cuts the names of flows so that lines fit a width, if they still differ then.
fn cut_names(lines: &mut [Vec<String>], width: usize) {
    let widest = |column: usize| lines.iter().map(|line| line[column].width()).max().unwrap_or(0);
    let all: usize = (0..HEAD.len()).map(|column| widest(column) + GAP).sum::<usize>() - GAP;
    let most = widest(NAMES).saturating_sub(all.saturating_sub(width)).max(LEAST_NAME);
    let distinct =
        |of: &dyn Fn(&str) -> String| lines.iter().map(|line| of(&line[NAMES])).collect::<BTreeSet<_>>().len();
    if distinct(&|name| ends(name, most)) == distinct(&str::to_string) {
        lines.iter_mut().for_each(|line| line[NAMES] = ends(&line[NAMES], most));
    }
}

/// The rows of a phase: its own figures are in the first.
fn rows(phase: &Phase) -> Vec<Vec<String>> {
    let row = |(number, got): (usize, &Got)| {
        let of_phase = |text: String| if number == 0 { text } else { String::new() };
        vec![
            of_phase(time(phase)),
            got.controller.to_string(),
            got.flows.to_string(),
            number_of(got.throughput_bps, 1e-6, 2),
            number_of(got.share, 100.0, 1),
            of_phase(number_of(phase.fairness_jain, 1.0, 3)),
            of_phase(number_of(phase.queue_delay_p99_s, 1e3, 2)),
        ]
    };
    phase.got.iter().enumerate().map(row).collect()
}

fn number_of(interval: Option<Interval>, scale: f64, decimals: usize) -> String {
    interval.map_or("-".to_string(), |interval| numbers::in_decimals(interval, scale, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{ControllerShare, Run, groups};

    fn run(ends_s: f64, mbit: &[&[(&str, f64)]]) -> Run {
        let phase = |(number, got): (usize, &&[(&str, f64)])| PhaseResult {
            phase: number as u32,
            from_s: 10.0 * number as f64,
            to_s: if number + 1 == mbit.len() { ends_s } else { 10.0 * (number + 1) as f64 },
            flows: got.len() as u64,
            ..PhaseResult::default()
        };
        let share = |number: usize, (controller, mbit): &(&str, f64)| ControllerShare {
            phase: Some(number as u32),
            controller: controller.to_string(),
            flows: 1,
            throughput_bps: Some(mbit * 1e6),
            ..ControllerShare::default()
        };
        let all = mbit.iter().enumerate();
        Run {
            controller: "mix".to_string(),
            phases: mbit.iter().enumerate().map(phase).collect(),
            shares: all.flat_map(|(number, got)| got.iter().map(move |one| share(number, one))).collect(),
            ..Run::default()
        }
    }

    #[test]
    fn fullest_phase_has_most_flows() {
        let runs = [run(60.0, &[&[("a", 9.0)], &[("a", 2.0), ("b", 7.0)], &[("b", 9.0)]])];
        let fullest = groups(&runs)[0].fullest().expect("a phase");
        assert_eq!((fullest.from_s, fullest.to_s, fullest.got.len()), (10.0, 20.0, 2));
        assert_eq!(time(&fullest), "10 to 20 s");
        let table = to_phases(&groups(&runs), false, 100);
        assert_eq!(table.lines().count(), 6, "{table}");
        assert!(table.contains("10 to 20 s"), "{table}");
    }

    /// 35 mixes of two phases with one and with two flows: three lines each, of which 60 are shown.
    #[test]
    fn a_table_of_several_groups_fits_its_width_and_says_how_many_phases_it_leaves_out() {
        let name = |end: &str| format!("混雑制御 with a label of many more words than fit {end}");
        let (a, b) = (name("A"), name("B"));
        let mix = |number: usize| Run {
            controller: format!("{a} beside {b}, {number}"),
            ..run(20.0, &[&[(a.as_str(), 9.0)], &[(a.as_str(), 2.0), (b.as_str(), 7.0)]])
        };
        let runs: Vec<Run> = (0..35).map(mix).collect();
        let table = to_phases(&groups(&runs), false, 100);
        assert!(table.ends_with("\n... and 30 more phases: the files have all\n"), "{table}");
        assert!(table.lines().all(|line| line.width() <= 100), "{table}");
        assert!(table.contains("…") && table.contains("fit A  ") && table.contains("fit B  "), "{table}");
        // Heading, 60 lines, a heading for each of 20 mixes, what is left out, and the empty line before.
        assert_eq!(table.lines().count(), 1 + 60 + 20 + 1 + 1);
        assert!(to_phases(&groups(&runs), false, usize::MAX).contains(&a));
    }

    #[test]
    fn one_phase_has_no_table_and_a_short_one_is_left_out() {
        assert_eq!(to_phases(&groups(&[run(9.0, &[&[("a", 9.0), ("b", 1.0)]])]), false, 100), "");
        let short = [run(10.1, &[&[("a", 9.0)], &[("a", 2.0), ("b", 7.0)]])];
        assert_eq!(groups(&short)[0].phases().len(), 1);
    }

    #[test]
    fn replications_are_means_and_differ_in_no_number_of_phases() {
        let two = [
            run(30.0, &[&[("a", 4.0)], &[("a", 1.0), ("b", 5.0)]]),
            run(20.0, &[&[("a", 8.0)], &[("a", 3.0), ("b", 5.0)]]),
        ];
        let phases = groups(&two)[0].phases();
        assert_eq!(phases[1].to_s, 25.0);
        assert_eq!(phases[1].got[0].throughput_bps.map(|interval| interval.mean), Some(2e6));
        let differ = [run(20.0, &[&[("a", 4.0)]]), run(20.0, &[&[("a", 4.0)], &[("a", 4.0)]])];
        assert!(groups(&differ)[0].phases().is_empty());
    }
}
