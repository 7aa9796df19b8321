//! Data received by each flow of the scenario.

use crate::measure::lives::{EntryWindow, Life, compared_starts, entry_windows};
use crate::measure::period::Period;
use crate::measure::tally::Tally;
use experiment::scenario::Experiment;
use packetscale_models::units::Time;

/// The account of all receivers.
#[derive(Clone, Debug)]
pub(crate) struct Receivers {
    period: Period,
    /// When the last flow that is compared had started (and the warm-up was over).
    shared: Time,
    /// When the first such flow's receiver had all that the flow has to send; the end, if none had.
    unshared: Time,
    /// The data that each flow has to send, and when its receiver had it.
    pub(crate) lives: Vec<Life>,
    /// Whether any flow sends a fixed amount: checked first for every packet, before the flow is looked up.
    some_end: bool,
    pub(crate) starts: Vec<Time>,
    pub(crate) flows: Vec<Tally>,
    /// Packets, those of flows that arrived too.
    pub(crate) packets: u64,
    /// Of these, after the warm-up.
    pub(crate) packets_warm: u64,
    pub(crate) entries: Vec<EntryWindow>,
}

impl Receivers {
    pub(crate) fn new(experiment: &Experiment, starts: &[Time]) -> Receivers {
        let period = Period::of(experiment);
        let life = |flow: usize| Life::of(experiment.flows.get(flow).map(|spec| &**spec), experiment.bottleneck);
        let lives: Vec<Life> = (0..starts.len()).map(life).collect();
        let over = lives.iter().filter(|life| life.compared).map(|life| life.over);
        let mut receivers = Receivers {
            period,
            shared: period.warm,
            unshared: over.fold(period.end, Time::min),
            entries: entry_windows(starts, &lives, period.end),
            some_end: lives.iter().any(Life::ends),
            lives,
            starts: starts.to_vec(),
            flows: vec![Tally::default(); starts.len()],
            packets: 0,
            packets_warm: 0,
        };
        receivers.shared = receivers.last_start().max(period.warm);
        receivers
    }

    /// When the last flow starts that is compared.
    pub(crate) fn last_start(&self) -> Time {
        compared_starts(&self.starts, &self.lives).max().unwrap_or(Time::ZERO)
    }

    /// A packet reaches the receiver of a flow of the scenario, in the run. Returns whether a flow that is compared ends with it.
    #[inline]
    pub(crate) fn delivered(&mut self, flow: usize, bytes: u64, at: Time) -> bool {
        self.packets += 1;
        let tally = &mut self.flows[flow];
        if at > self.period.warm {
            self.packets_warm += 1;
            tally.received_bytes += bytes;
            tally.shared_bytes += if at > self.shared && at <= self.unshared { bytes } else { 0 };
        } else {
            tally.early_bytes += bytes;
        }
        let ends = self.some_end && self.lives[flow].sends(bytes, at) && self.lives[flow].compared;
        if ends {
            self.unshared = self.unshared.min(at);
            self.entries.iter_mut().filter(|window| window.from < at).for_each(|window| window.to = window.to.min(at));
        }
        if !self.entries.is_empty() {
            let ended = self.entries.partition_point(|window| window.to < at);
            if let Some(window) = self.entries.get_mut(ended).filter(|window| window.from < at) {
                window.bytes[flow] += bytes;
            }
        }
        ends
    }

    /// A packet reaches the receiver of a flow that arrived. Returns whether that is after the warm-up.
    pub(crate) fn delivered_to_arrived(&mut self, at: Time) -> bool {
        let counts = at > self.period.warm;
        self.packets += 1;
        self.packets_warm += u64::from(counts);
        counts
    }
}
