//! The end of a run: what the simulator knows of it, handed to the recorder.

use super::Network;
use experiment::results::Run;
use experiment::scenario::Experiment;
use harness::measure::Seen;

/// Returns the run. Connections are traffic: results know nothing of their flows.
pub(crate) fn finish(mut network: Network<'_>, experiment: &Experiment, cpu_s: f64) -> Run {
    network.hops += network.endpoints.finish(&mut network.agenda, network.course.end);
    let Network { agenda, topology, endpoints, background, recorder, hops, .. } = network;
    let readings = topology.readings();
    let flows = endpoints.flows().iter().zip(&experiment.flows);
    let seen = Seen {
        flows: flows.map(|(flow, spec)| flow.seen(spec.rtt)).collect(),
        arrivals: background.arrivals_seen(&endpoints),
        transmissions: true,
        path_unknown: false,
        burstiness_eta: readings.burstiness_mean.map(|(mean, _)| mean),
        streams: Vec::new(),
        link_marks: Some(topology.marked()),
        hops: Some(hops),
        events: Some(agenda.events()),
        cpu_s: Some(cpu_s),
    };
    // Free the state of up to a million flows before the results are allocated.
    drop((agenda, endpoints));
    recorder.finish(experiment, seen)
}
