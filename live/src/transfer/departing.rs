//! Reports packets to a controller at their real departure: the host sends a packet, reads the kernel's departure time, and
//! then notifies the controller. So the controller computes with the gaps that were created.

use packetscale_models::congestion::{
    AckSample, Controller, Decision, Extras, Loss, LossResponse, Marked, Needs, Probing, Sent, Timeout, Undo,
};
use packetscale_models::units::{Rate, Time};

/// A controller between a [`packetscale_models::transport::Sender`] and the host. The host calls [`Departing::departed`] after each packet.
#[derive(Clone, Debug)]
pub struct Departing<C> {
    inner: C,
    /// Has been handed to the host, and has not left yet.
    leaving: Option<Sent>,
    /// When losses were judged, and of how many packets.
    losses: Vec<(Time, u32)>,
}

impl<C: Extras> Departing<C> {
    /// In front of this controller.
    pub fn new(inner: C) -> Departing<C> {
        Departing { inner, leaving: None, losses: Vec::new() }
    }

    /// Departure time of the last packet handed out; not before it was handed out.
    #[inline]
    pub fn departed(&mut self, at: Time) {
        if let Some(sent) = self.leaving.take() {
            self.inner.on_sent(&Sent { now: sent.now.max(at), ..sent });
        }
    }

    /// Replaces the controller from now on.
    pub fn replace(&mut self, inner: C) {
        self.settle();
        self.inner = inner;
    }

    /// The losses declared since the last call.
    pub fn take_losses(&mut self) -> Vec<(Time, u32)> {
        std::mem::take(&mut self.losses)
    }

    /// Called before an event: the packet handed out has left by now.
    #[inline]
    fn settle(&mut self) {
        self.departed(Time::ZERO);
    }
}

impl<C: Extras> Controller for Departing<C> {
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        self.settle();
        self.leaving = Some(*sent);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.settle();
        self.inner.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.settle();
        self.losses.push((loss.now, loss.lost));
        self.inner.on_loss(loss);
    }

    fn on_mark(&mut self, marked: &Marked) {
        self.settle();
        self.inner.on_mark(marked);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.settle();
        self.inner.on_timeout(timeout);
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.settle();
        self.inner.on_undo(undo);
    }

    #[inline]
    fn decision(&self) -> Decision {
        self.inner.decision()
    }

    fn loss_response(&self) -> LossResponse {
        self.inner.loss_response()
    }

    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn slow_start_threshold(&self) -> u32 {
        self.inner.slow_start_threshold()
    }
}

impl<C: Extras> Extras for Departing<C> {
    fn on_offer(&mut self, now: Time, rate: Rate) {
        self.settle();
        self.inner.on_offer(now, rate);
    }

    fn on_available(&mut self, now: Time, available: Rate) {
        self.settle();
        self.inner.on_available(now, available);
    }

    fn mark_response(&self) -> LossResponse {
        self.inner.mark_response()
    }

    fn rate(&self) -> Option<Rate> {
        self.inner.rate()
    }

    fn probing(&self) -> Option<&dyn Probing> {
        self.inner.probing()
    }

    fn probing_mut(&mut self) -> Option<&mut dyn Probing> {
        self.inner.probing_mut()
    }
}
