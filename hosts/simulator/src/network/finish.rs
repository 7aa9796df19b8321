//! The end of a run: what the simulator knows of it, handed to the recorder.

use super::Network;
use measure::Seen;
use results::Run;
use scenario::Experiment;

impl Network<'_> {
    /// Returns the run. Connections are traffic: results know nothing of their flows.
    pub(crate) fn finish(mut self, experiment: &Experiment, cpu_s: f64) -> Run {
        self.endpoints.make_up_all(&mut self.agenda, self.end);
        let readings = self.topology.readings();
        let flows = self.endpoints.flows().iter().zip(&experiment.flows);
        let seen = Seen {
            flows: flows.map(|(flow, spec)| flow.seen(spec.rtt)).collect(),
            arrivals: self.background.arrivals_seen(&self.endpoints),
            transmissions: true,
            burstiness_eta: readings.burstiness_mean.map(|(mean, _)| mean),
            streams: Vec::new(),
            link_marks: Some(self.topology.marked()),
            hops: Some(self.hops),
            events: Some(self.agenda.events()),
            cpu_s: Some(cpu_s),
        };
        self.recorder.finish(experiment, seen)
    }
}
