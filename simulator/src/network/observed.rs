//! A run of which somebody is told, event by event. Its loop is not that of other runs, which ask nobody.

use super::Network;
use crate::RunError;
use crate::agenda::EventSource;
use crate::endpoints::Flow;
use experiment::scenario::Experiment;
use harness::packets::{Event, LinkStart, Observer, Start};
use packetscale_models::units::Time;

impl Network<'_> {
    /// Runs to the end, and tells `observer` what senders and links do. At every interval of `record.step` it is said
    /// how far the run is.
    pub(crate) fn observed(
        &mut self,
        experiment: &Experiment,
        observer: &mut dyn Observer,
        watch: &dyn Fn(Time),
    ) -> Result<(), RunError> {
        self.endpoints.note();
        (self.logging, self.noted) = (true, Some(Vec::new()));
        observer.begin(&self.start(experiment)).map_err(RunError::Unwritable)?;
        while let Some((now, source)) = self.agenda.next(self.end) {
            self.happen(now, source);
            self.tell(observer, now).map_err(RunError::Unwritable)?;
            if source == EventSource::Sampler {
                watch(now);
            }
        }
        Ok(())
    }

    /// What is known before the first event.
    fn start(&self, experiment: &Experiment) -> Start {
        let flows = self.endpoints.flows().iter().zip(&experiment.flows);
        let links = experiment.links.iter();
        Start {
            end: self.end,
            step: experiment.record.step,
            packets: experiment.record.packets,
            flows: flows.map(|(flow, spec)| flow.beginning(&spec.controller.label)).collect(),
            links: links
                .map(|link| LinkStart { name: link.name.clone(), outages: link.impairments.outages.clone() })
                .collect(),
            measured: experiment.bottleneck,
        }
    }

    /// Tells what was noted since the last call, then what the senders say of themselves that did something.
    fn tell(&mut self, observer: &mut dyn Observer, now: Time) -> std::io::Result<()> {
        for (at, event) in self.noted.as_mut().map_or_else(Vec::new, std::mem::take) {
            observer.see(at, &event)?;
        }
        let mut acted = None;
        for event in self.endpoints.noted() {
            observer.see(now, &event)?;
            acted = event.flow();
        }
        // One event is about one flow.
        let state = |flow: usize| self.endpoints.flows().get(flow).map(Flow::state);
        match acted.and_then(|flow| Some((flow, state(flow)?))) {
            Some((flow, state)) => observer.see(now, &Event::Sender { flow, state }),
            None => Ok(()),
        }
    }
}
