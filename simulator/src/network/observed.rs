//! A run with an observer of each event. Its loop is separate, so that other runs do not pay for it.

use super::Network;
use crate::RunError;
use crate::agenda::EventSource;
use crate::endpoints::Flow;
use experiment::scenario::Experiment;
use harness::packets::{Event, LinkStart, Observer, Start};
use packetscale_models::units::Time;

/// Runs to the end, and reports events of senders and links to `observer`, and progress at every interval of
/// `record.step`.
pub(crate) fn observe(
    network: &mut Network<'_>,
    experiment: &Experiment,
    observer: &mut dyn Observer,
    watch: &dyn Fn(Time),
) -> Result<(), RunError> {
    network.endpoints.note();
    network.notes.begin_events();
    observer.begin(&start(network, experiment)).map_err(RunError::Unwritable)?;
    while let Some((now, source)) = network.agenda.next(network.course.end) {
        network.happen(now, source);
        report(network, observer, now).map_err(RunError::Unwritable)?;
        if source == EventSource::Sampler {
            watch(now);
        }
    }
    Ok(())
}

/// The values known before the first event.
fn start(network: &Network<'_>, experiment: &Experiment) -> Start {
    let flows = network.endpoints.flows().iter().zip(&experiment.flows);
    let links = experiment.links.iter();
    Start {
        end: network.course.end,
        step: experiment.record.step,
        packets: experiment.record.packets,
        flows: flows.map(|(flow, spec)| flow.beginning(&spec.controller.label)).collect(),
        links: links
            .map(|link| LinkStart { name: link.name.clone(), outages: link.impairments.outages.clone() })
            .collect(),
        measured: experiment.bottleneck,
    }
}

/// Reports what was noted since the last call, then the state of the senders that acted.
fn report(network: &mut Network<'_>, observer: &mut dyn Observer, now: Time) -> std::io::Result<()> {
    for (at, event) in network.notes.take_events() {
        observer.see(at, &event)?;
    }
    let mut acted = None;
    for event in network.endpoints.noted() {
        observer.see(now, &event)?;
        acted = event.flow();
    }
    // One event is about one flow.
    let state = |flow: usize| network.endpoints.flows().get(flow).map(Flow::state);
    match acted.and_then(|flow| Some((flow, state(flow)?))) {
        Some((flow, state)) => observer.see(now, &Event::Sender { flow, state }),
        None => Ok(()),
    }
}
