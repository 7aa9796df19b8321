//! Departures from the measured link, packet by packet: traces to replay.

use super::Network;
use crate::held::Held;
use crate::{Mode, RunError};
use experiment::scenario::{Experiment, TrafficKind, TrafficSpec};
use experiment::traffic::CrossPacket;
use packetscale_models::units::{Rate, Time};

/// The packets of the `index`-th traffic source of unresponsive users, copy by copy: departures from the
/// measured link with the path to themselves. They keep their index among the sources, and so their draws; the
/// others are silent.
pub(crate) fn alone(experiment: &Experiment, index: usize) -> Result<Vec<Vec<CrossPacket>>, RunError> {
    let spec = &experiment.traffic[index];
    let mut alone = TrafficSpec { shaper: None, ..spec.clone() };
    if let TrafficKind::Web(web) = &mut alone.kind {
        web.responsive = true;
    }
    let kind = TrafficKind::Cbr { rate: Rate::from_mbps(1) };
    let silent = TrafficSpec { kind, copies: 1, stop: Time::ZERO, shaper: None, ..spec.clone() };
    let mut traffic = vec![silent; index];
    traffic.push(alone);
    let mut alone = Experiment { flows: Vec::new(), traffic, ..experiment.clone() };
    alone.record.detail = false;
    alone.record.windows.clear();
    departures(&alone, spec.copies)
}

/// Departures from the measured link, packet by packet, copy by copy of users.
pub(crate) fn departures(experiment: &Experiment, copies: u32) -> Result<Vec<Vec<CrossPacket>>, RunError> {
    let mut network = Network::new(Held::Lent(experiment), Mode::Fused)?;
    network.notes.set_tap(copies);
    network.run(&|_| {});
    network.check()?;
    Ok(network.notes.take_tap())
}
