//! Phases: the times between starts and ends of flows, in which the same flows are active. Figures that compare flows are
//! counted within a phase: over flows with different lifetimes, a share reflects the lifetime rather than the rate.
//!
//! Phases cover the time after the warm-up. Starts and stops that the scenario plans are known from the beginning; a flow that
//! ends because all it has to send has arrived splits the phase in which that happens. Hosts may report what a flow receives
//! ahead of another flow's earlier end: such packets, at most those on the wire, count in the phase before.

use crate::measure::contenders::Contenders;
use crate::measure::lives::{Life, compared_starts};
use crate::measure::owners::Account;
use crate::measure::period::Period;
use crate::measure::waits::{Waits, histogram_ns, quantiles};
use hdrhistogram::Histogram;
use packetscale_models::units::{Span, Time};

/// Where the active flows change more often, no phase is long enough to compare them in.
const MOST_CHANGES: usize = 64;

/// The account of one phase: after `from`, up to `to`.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// Bytes that reached the receivers of each flow of the scenario, then of each table of flows that arrive.
    pub(crate) bytes: Vec<u64>,
    /// Bytes of traffic that arrived at the measured link.
    pub(crate) offered_bytes: u64,
    /// At the measured link: all packets, then those of each controller, in the order of [`Contenders::labels`].
    pub(crate) waits: Waits,
    pub(crate) waits_of: Vec<Waits>,
}

impl Phase {
    fn new(from: Time, to: Time, parts: usize) -> Phase {
        Phase { from, to, bytes: vec![0; parts], offered_bytes: 0, waits: None, waits_of: Vec::new() }
    }

    /// Whether a flow is active in all of it.
    pub(crate) fn has(&self, start: Time, life: &Life) -> bool {
        start <= self.from && life.over >= self.to
    }
}

/// The account of all phases of a run.
#[derive(Clone, Debug)]
pub(crate) struct Phases {
    /// In order of time, without gaps.
    phases: Vec<Phase>,
    /// The phase of the packet that the measured link served last, and the waiting times in it.
    serving: usize,
    waits_ns: Histogram<u64>,
    contenders: Option<Box<Contenders>>,
}

impl Phases {
    /// `None` where the same flows are active all the time after the warm-up, or where they change too often. `parts`: flows
    /// of the scenario, and tables of arriving flows. Takes the contenders, so that waiting times are counted by phase.
    pub(crate) fn of(
        starts: &[Time],
        lives: &[Life],
        period: Period,
        parts: usize,
        contenders: &mut Option<Box<Contenders>>,
    ) -> Option<Box<Phases>> {
        let stops = lives.iter().filter(|life| life.compared).map(|life| life.over);
        let within = |at: &Time| *at > period.warm && *at < period.end;
        let mut changes: Vec<Time> = compared_starts(starts, lives).chain(stops).filter(within).collect();
        changes.sort_unstable();
        changes.dedup();
        let ending = lives.iter().filter(|life| life.compared && life.ends()).count();
        let possible = changes.len() + ending;
        if possible == 0 || possible > MOST_CHANGES || compared_starts(starts, lives).count() < 2 {
            return None;
        }
        let bounds: Vec<Time> = [period.warm].into_iter().chain(changes).chain([period.end]).collect();
        let phases = bounds.windows(2).map(|bounds| Phase::new(bounds[0], bounds[1], parts)).collect();
        Some(Box::new(Phases { phases, serving: 0, waits_ns: histogram_ns(), contenders: contenders.take() }))
    }

    /// The phase of an instant; `None` in the warm-up.
    fn at(&mut self, at: Time) -> Option<&mut Phase> {
        let number = self.phases.partition_point(|phase| phase.to < at);
        self.phases.get_mut(number).filter(|phase| phase.from < at)
    }

    /// A packet reaches a receiver.
    pub(crate) fn delivered(&mut self, part: usize, bytes: u64, at: Time) {
        if let Some(phase) = self.at(at) {
            phase.bytes[part] += bytes;
        }
    }

    /// Traffic arrives at the measured link.
    pub(crate) fn arrives(&mut self, now: Time, bytes: u64) {
        if let Some(phase) = self.at(now) {
            phase.offered_bytes += bytes;
        }
    }

    /// The measured link serves a packet. In order of time.
    pub(crate) fn served(&mut self, account: Account, wait: Span, departs: Time) {
        if departs <= self.phases[0].from {
            return;
        }
        while self.phases[self.serving].to < departs && self.serving + 1 < self.phases.len() {
            self.close();
            self.serving += 1;
        }
        self.waits_ns.saturating_record(wait.nanos());
        if let Some(contenders) = &mut self.contenders {
            contenders.waited(account, wait);
        }
    }

    /// A flow ends: other flows are active from now on.
    pub(crate) fn ends(&mut self, at: Time) {
        let number = self.phases.partition_point(|phase| phase.to < at);
        let Some(phase) = self.phases.get_mut(number).filter(|phase| phase.from < at && at < phase.to) else { return };
        let rest = Phase::new(at, phase.to, phase.bytes.len());
        phase.to = at;
        self.phases.insert(number + 1, rest);
        self.serving += usize::from(self.serving > number);
    }

    /// Keeps the waiting times of the phase that is over.
    fn close(&mut self) {
        let phase = &mut self.phases[self.serving];
        phase.waits = quantiles(&self.waits_ns);
        self.waits_ns.reset();
        if let Some(contenders) = &mut self.contenders {
            phase.waits_of = contenders.take();
        }
    }

    /// All phases, at the end of the run, and the contenders.
    pub(crate) fn finish(mut self) -> (Vec<Phase>, Option<Box<Contenders>>) {
        self.close();
        (self.phases, self.contenders)
    }
}
