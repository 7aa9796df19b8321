//! What leaves the measured link, packet by packet: traces to replay.

use super::Network;
use crate::transit::Transit;
use crate::{Mode, RunError};
use scenario::{Experiment, TrafficKind, TrafficSpec};
use traffic::CrossPacket;
use units::Time;

/// Packets that left the bottleneck, by the copy of users they are for. Packets of no copy are with the first.
pub(super) struct Tap {
    copies: Vec<Vec<CrossPacket>>,
}

impl Tap {
    fn new(copies: u32) -> Tap {
        Tap { copies: vec![Vec::new(); copies.max(1) as usize] }
    }

    pub(super) fn record(&mut self, copy: Option<usize>, transit: &Transit, departure: Time) {
        let place = copy.unwrap_or(0).min(self.copies.len() - 1);
        self.copies[place].push(CrossPacket { at: departure, size: transit.size() });
    }
}

/// What users who do not react to the path send, copy by copy: what leaves the measured link when they have the path to
/// themselves.
pub(crate) fn alone(experiment: &Experiment, spec: &TrafficSpec) -> Result<Vec<Vec<CrossPacket>>, RunError> {
    let mut alone = TrafficSpec { shaper: None, ..spec.clone() };
    if let TrafficKind::Web(web) = &mut alone.kind {
        web.responsive = true;
    }
    let mut alone = Experiment { flows: Vec::new(), traffic: vec![alone], ..experiment.clone() };
    alone.record.detail = false;
    alone.record.windows.clear();
    departures(&alone, spec.copies)
}

/// What leaves the measured link, packet by packet, copy by copy of users.
pub(crate) fn departures(experiment: &Experiment, copies: u32) -> Result<Vec<Vec<CrossPacket>>, RunError> {
    let mut network = Network::new(experiment, Mode::Fused)?;
    network.logging = true;
    network.tap = Some(Tap::new(copies));
    network.run();
    network.check()?;
    Ok(network.tap.take().map(|tap| tap.copies).unwrap_or_default())
}
