//! Shards: a plan divided among commands that know nothing of each other.
//!
//! Every command computes the same division from the plan alone: the runs in falling order of what they cost, each to the
//! shard that has least so far (Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17, 1969: the
//! longest shard is at most 4/3 of the shortest possible). Runs of equal cost are taken in the order of their ids, which is
//! like chance: no shard gets all of one controller.

use crate::runner::job::Job;
use packetscale_models::units::Span;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::fmt;
use std::str::FromStr;

/// The most shards of a plan.
const MOST: u32 = 100_000;

/// One of several parts of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Shard {
    /// Shard `number` of `of`, from 1; `None` if out of range.
    pub fn new(number: u32, of: u32) -> Option<Shard> {
        (number >= 1 && number <= of && of <= MOST).then_some(Shard { number, of })
    }

    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// The number of shards.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Its runs.
    pub(crate) fn jobs<'j, 'a>(self, jobs: &'j [Job<'a>]) -> Vec<&'j Job<'a>> {
        let numbers = divide(jobs, self.of);
        jobs.iter().zip(numbers).filter(|(_, number)| *number == Some(self.number)).map(|(job, _)| job).collect()
    }
}

/// For each run, the number of its shard, from 1; `None` for a repetition of an earlier run of the plan.
pub fn divide(jobs: &[Job<'_>], shards: u32) -> Vec<Option<u32>> {
    let mut known = BTreeSet::new();
    let mut order: Vec<usize> = (0..jobs.len()).filter(|at| known.insert(&jobs[*at].id)).collect();
    order.sort_by_key(|at| (Reverse(jobs[*at].cost), &jobs[*at].id));
    let mut numbers = vec![None; jobs.len()];
    let mut loads: BinaryHeap<Reverse<(u128, u32)>> = (1..=shards).map(|number| Reverse((0, number))).collect();
    for at in order {
        if let Some(Reverse((load, number))) = loads.pop() {
            numbers[at] = Some(number);
            loads.push(Reverse((load + u128::from(jobs[at].cost.picos()), number)));
        }
    }
    numbers
}

/// How many shards take about this long each, one run at a time.
pub fn shards_of(jobs: &[Job<'_>], each: Span) -> u32 {
    let all: u128 = jobs.iter().map(|job| u128::from(job.cost.picos())).sum();
    let shards = all.div_ceil(u128::from(each.picos().max(1))).clamp(1, jobs.len().max(1) as u128);
    u32::try_from(shards).map_or(MOST, |shards| shards.min(MOST))
}

impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let shard = text.split_once('/').and_then(|(number, of)| Shard::new(number.parse().ok()?, of.parse().ok()?));
        shard.ok_or_else(|| format!("found \"{text}\"; expected K/N with K from 1 to N, N up to {MOST}"))
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}
