//! Single packets, for the pictures of packets in flight and of packets by number over time.

use experiment::results::{Run, SequenceRecord};
use serde::Serialize;

/// Maximum number of flows of a run whose packets are drawn.
pub const MOST_FLOWS: usize = 4;
/// Points of all lists together: about 1.5 MB of text.
const MOST_POINTS: usize = 100_000;
/// With fewer points a list is useless, so later runs are omitted instead.
const FEWEST_POINTS: usize = 200;
const LISTS: usize = 5;

/// Time in seconds, and number.
type Points = Vec<(f64, u64)>;

/// The packets of one flow. Lists as in [`SequenceRecord`].
#[derive(Debug, PartialEq, Serialize)]
pub struct PacketData {
    flow: u32,
    sent: Points,
    sent_again: Points,
    acknowledged: Points,
    lost: Points,
    in_flight: Points,
}

/// How many points the lists of a page may have.
pub struct Room {
    per_list: usize,
    left: usize,
}

impl Room {
    /// Shares the page among these runs.
    pub fn of(runs: &[Run]) -> Room {
        let flows: usize = runs.iter().map(|run| run.sequences.len().min(MOST_FLOWS)).sum();
        Room { per_list: (MOST_POINTS / (flows * LISTS).max(1)).max(FEWEST_POINTS), left: MOST_POINTS }
    }

    /// The packets of the run's first flows; empty once the page is full.
    pub fn packets(&mut self, run: &Run) -> Vec<PacketData> {
        let flows: Vec<PacketData> = run.sequences.iter().take(MOST_FLOWS).map(|flow| self.flow(flow)).collect();
        let points = flows.iter().map(PacketData::points).sum();
        match self.left.checked_sub(points) {
            Some(left) => {
                self.left = left;
                flows
            }
            None => Vec::new(),
        }
    }

    fn flow(&self, record: &SequenceRecord) -> PacketData {
        let list = |points: &[(f64, u64)]| -> Points {
            let every = points.len().div_ceil(self.per_list).max(1);
            points.iter().step_by(every).map(|(at, number)| ((at * 1e6).round() / 1e6, *number)).collect()
        };
        PacketData {
            flow: record.flow,
            sent: list(&record.sent),
            sent_again: list(&record.sent_again),
            acknowledged: list(&record.acknowledged),
            lost: list(&record.lost),
            in_flight: list(&record.in_flight),
        }
    }
}

impl PacketData {
    fn points(&self) -> usize {
        [&self.sent, &self.sent_again, &self.acknowledged, &self.lost, &self.in_flight].map(Vec::len).iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn few_flows_keep_points_and_many_fit() {
        let results = example::packets();
        let found = Room::of(&results.runs).packets(&results.runs[0]);
        let lists = [&found[1].sent, &found[1].acknowledged, &found[1].lost, &found[1].sent_again].map(Vec::len);
        assert_eq!((found.len(), lists), (2, [2000, 2000, 2, 2]));
        let many = vec![results.runs[0].clone(); 100];
        let mut room = Room::of(&many);
        let all: Vec<_> = many.iter().map(|run| room.packets(run)).collect();
        let points: usize = all.iter().flatten().map(PacketData::points).sum();
        assert!(points <= MOST_POINTS && !all[0].is_empty() && all[0][0].sent.len() == 200, "{points}");
    }
}
