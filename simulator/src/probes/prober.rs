//! Probe streams one at a time: the next is sent when the last has been answered, at a rate that may follow from the answer.
//!
//! The answer comes back over a way as long as the bottleneck's delay, without a queue; then the sender pauses. Path, host
//! and truth are those of [`super`].

use super::{ProbedPath, ProbingHost, probe};
use crate::{RunError, Simulator};
use experiment::scenario::{Experiment, ProbeSpec};
use experiment::traffic::chance::{Purpose, seed};
use experiment::traffic::{AnySource, Superposition};
use harness::probing::{ProbeHost, ProbeStream, ProbingError};
use packetscale_models::units::{Rate, Span, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A sender of probe streams on one path, with its cross traffic and its receiving host.
pub struct Prober {
    spec: ProbeSpec,
    path: ProbedPath,
    host: ProbingHost,
    random: Pcg64Mcg,
    /// When the sender may send again.
    now: Time,
    /// Nothing is begun from here on.
    end: Time,
    /// Numbers of streams, from 0.
    next: u32,
    /// When the first stream began, and what cross traffic had offered by then.
    begun: Option<(Time, u64)>,
    /// When the last packet had left.
    closed: Time,
}

impl Prober {
    /// # Errors
    /// A traffic source that cannot be opened.
    ///
    /// # Panics
    /// If the experiment has no probe streams.
    pub fn new(experiment: &Experiment) -> Result<Prober, RunError> {
        let spec = experiment.probe.expect("the experiment has probe streams");
        Ok(Prober {
            spec,
            path: ProbedPath::new(experiment)?,
            host: ProbingHost::new(experiment),
            random: Pcg64Mcg::seed_from_u64(seed(experiment.seed, Purpose::ProbeStreams, 0)),
            now: Time::ZERO + experiment.warmup,
            end: Time::ZERO + experiment.duration,
            next: 0,
            begun: None,
            closed: Time::ZERO,
        })
    }

    /// Sends one stream of this many packets, at least two, in the scenario's rates about this mean, and waits for the answer.
    /// `None`: the run would be over before it had been sent.
    pub fn send(&mut self, packets: u32, mean: Rate) -> Option<ProbeStream> {
        let half = self.spec.pause.picos() / 2;
        let start = self.now + Span::from_picos(self.random.random_range(half..=half + self.spec.pause.picos()));
        if start + mean.time_for(self.spec.packet).saturating_mul(u64::from(packets)) > self.end {
            return None;
        }
        let spec = ProbeSpec { packets: packets.max(2), ..self.spec };
        let before = self.path.offered_until(start);
        self.begun.get_or_insert((start, before));
        let (mut probe, _, closed) = self.path.carry(&spec, &mut self.host, 0, mean, start);
        self.path.hand_over(std::slice::from_mut(&mut probe));
        let answered = probe.packets.last().map_or(closed, |packet| packet.seen) + self.path.delay();
        probe.number = self.next;
        self.next += 1;
        (self.now, self.closed) = (answered.max(closed), closed);
        Some(probe)
    }

    /// How long it has been sending, and what was available over that time.
    pub fn available(&mut self) -> (Span, Rate) {
        let Some((start, before)) = self.begun else { return (Span::ZERO, Rate::ZERO) };
        let time = self.closed.since(start);
        let offered = self.path.offered_until(self.closed);
        (time, self.path.available(offered - before, time))
    }

    /// # Errors
    /// A trace that could not be read while it was replayed.
    pub fn check(&self) -> Result<(), RunError> {
        let failed = self.path.sources.iter().flat_map(Superposition::sources).find_map(AnySource::failure);
        failed.map_or(Ok(()), |error| Err(RunError::Replay(error.to_string())))
    }
}

impl ProbeHost for Simulator {
    fn send(&self, experiment: &Experiment) -> Result<Vec<ProbeStream>, ProbingError> {
        probe(experiment).map_err(unsent)
    }

    fn prober(&self, experiment: &Experiment) -> Result<Box<dyn harness::probing::Prober>, ProbingError> {
        Ok(Box::new(Prober::new(experiment).map_err(unsent)?))
    }
}

impl harness::probing::Prober for Prober {
    fn send(&mut self, packets: u32, mean: Rate) -> Option<ProbeStream> {
        Prober::send(self, packets, mean)
    }

    fn available(&mut self) -> (Span, Rate) {
        Prober::available(self)
    }

    fn check(&self) -> Result<(), ProbingError> {
        Prober::check(self).map_err(unsent)
    }
}

fn unsent(error: RunError) -> ProbingError {
    ProbingError::Sending(error.to_string())
}
