//! A point of a sweep of probe streams.

use crate::probing::ProbeStream;
use std::collections::BTreeMap;

/// The streams of one point of a sweep, run by run: streams of one run met the same traffic.
pub struct SweepPoint {
    /// Swept keys and their values.
    pub params: BTreeMap<String, String>,
    /// Rates in each stream.
    pub levels: u32,
    /// Replication by replication.
    pub runs: Vec<Vec<ProbeStream>>,
}

impl SweepPoint {
    /// Streams to show: from the middle of the first run on, those with rates that cover the available one.
    pub fn shown(&self) -> impl Iterator<Item = &ProbeStream> {
        let run = self.runs.first().map_or(&[][..], Vec::as_slice);
        let covering = |probe: &&ProbeStream| probe.packets.len() > 2 && (self.levels == 1 || probe.covers_truth());
        run.iter().skip(run.len() / 2).filter(covering)
    }
}
