//! Reports of Rapid's programs on their flows, and their needs at the receiver.

use crate::lab::error::LabError;
use crate::lab::owner::FIRST_FLOW_PORT;
use crate::lab::path::{Path, RECEIVING_DEVICE};
use crate::tcp::{self, Reason};
use experiment::scenario::Experiment;
use serde::{Deserialize, Serialize};

/// Name of the congestion control.
pub(crate) const RAPID: &str = "rapid";

/// The result of a flow that Rapid steers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Steered {
    /// Probe streams completed, and those that gave no estimate. `None` after CUBIC has taken over: the counts are
    /// lost.
    pub streams: Option<(u64, u64)>,
    /// Why CUBIC has taken over, if it has.
    pub fell_back: Option<String>,
}

/// Makes the receiver record arrival times, if a flow needs them.
pub(crate) fn note_arrivals(path: &Path, experiment: &Experiment) -> Result<(), LabError> {
    if !is_wanted(experiment) {
        return Ok(());
    }
    path.receiver.inside(|| {
        let noted = tcp::note_arrivals(RAPID, RECEIVING_DEVICE);
        noted.map_err(|error| LabError(format!("the receiver cannot record arrival times: {error}")))
    })
}

/// Returns the result of each flow, by number, in a run that began at `zero_ns`; `None` for other controllers' flows.
pub(crate) fn steered(experiment: &Experiment, zero_ns: u64) -> Result<Vec<Option<Steered>>, LabError> {
    let mut steered: Vec<Option<Steered>> = vec![None; experiment.flows.len()];
    if !is_wanted(experiment) {
        return Ok(steered);
    }
    let status = tcp::status(RAPID).map_err(|error| LabError(error.to_string()))?;
    let flow = |port: u16| port.checked_sub(FIRST_FLOW_PORT).map(usize::from);
    for report in status.connections.iter().filter(|report| report.began_ns >= zero_ns) {
        if let Some(steered) = flow(report.address.local().port()).and_then(|flow| steered.get_mut(flow)) {
            steered.get_or_insert_default().streams = Some((report.streams, report.unusable));
        }
    }
    for (address, fallen) in status.fallen.iter().filter(|(_, fallen)| fallen.at_ns >= zero_ns) {
        if let Some(steered) = flow(address.local().port()).and_then(|flow| steered.get_mut(flow)) {
            *steered = Some(Steered { streams: None, fell_back: Some(in_words(fallen.why()).to_string()) });
        }
    }
    Ok(steered)
}

pub(crate) fn is_wanted(experiment: &Experiment) -> bool {
    experiment.flows.iter().any(|flow| flow.controller.kind == RAPID)
}

fn in_words(reason: Reason) -> &'static str {
    match reason {
        Reason::TooManyConnections => "too many connections",
        Reason::NoStamps => "no arrival times",
        Reason::CannotPace => "this machine cannot pace",
        Reason::Bursts => "packets leave in bursts",
        Reason::SwitchedOff => "Rapid was switched off",
        Reason::TooManyOfUser => "too many connections of one user",
        Reason::Unknown => "for an unknown reason",
    }
}
