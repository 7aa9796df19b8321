//! The end of a run: what the simulator knows of it, handed to the recorder.

use crate::network::Network;
use measure::Seen;
use results::Run;
use scenario::Experiment;

impl Network {
    /// The run. Connections are traffic: results know nothing of their flows.
    pub(crate) fn finish(self, experiment: &Experiment, cpu_s: f64) -> Run {
        let readings = self.links[self.bottleneck].server.readings();
        let flows = self.flows.iter().zip(&experiment.flows).map(|(flow, spec)| flow.seen(spec.rtt)).collect();
        let seen = Seen {
            flows,
            transmissions: true,
            burstiness_eta: readings.burstiness_mean.map(|(mean, _)| mean),
            streams: Vec::new(),
            hops: Some(self.hops),
            events: Some(self.events),
            cpu_s: Some(cpu_s),
        };
        self.recorder.finish(experiment, seen)
    }
}
