//! A run of which somebody is told, event by event. Its loop is not that of other runs, which ask nobody.

use super::Network;
use crate::RunError;
use crate::agenda::EventSource;
use crate::endpoints::Flow;
use packets::{Event, Observer};
use units::Time;

impl Network<'_> {
    /// Runs to the end, and tells `observer` what senders and links do. At every interval of `record.step` it is said
    /// how far the run is.
    pub(crate) fn observed(&mut self, observer: &mut dyn Observer, watch: &dyn Fn(Time)) -> Result<(), RunError> {
        let flows = self.endpoints.note();
        (self.logging, self.noted) = (true, Some(Vec::new()));
        observer.begin(&flows).map_err(RunError::Unwritable)?;
        while let Some((now, source)) = self.agenda.next(self.end) {
            self.happen(now, source);
            self.tell(observer, now).map_err(RunError::Unwritable)?;
            if source == EventSource::Sampler {
                watch(now);
            }
        }
        Ok(())
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
