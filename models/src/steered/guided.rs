//! A steered controller with a built-in policy: for runs without an agent outside.

use crate::congestion::{
    AckSample, Controller, Decision, Extras, Idle, Loss, LossResponse, Marked, Needs, Sent, Timeout, Undo,
};
use crate::steered::controller::Steered;
use crate::units::{Rate, Time};
use core::fmt::Debug;

/// A policy: the action for an observation.
pub trait Policy: Clone + Debug {
    /// Returns the action.
    fn act(&mut self, observation: &[f32]) -> f32;
}

/// The controller. An interval ends with the first event that is not before its end.
#[derive(Clone, Debug)]
pub struct Guided<P> {
    steered: Steered,
    policy: P,
}

impl<P: Policy> Guided<P> {
    /// Steers by this policy.
    pub fn new(steered: Steered, policy: P) -> Guided<P> {
        Guided { steered, policy }
    }

    fn act_if_due(&mut self, now: Time) {
        if now >= self.steered.due() {
            self.steered.end_interval(now);
            let action = self.policy.act(self.steered.observation());
            self.steered.act(action);
        }
    }
}

impl<P: Policy> Controller for Guided<P> {
    fn on_sent(&mut self, sent: &Sent) {
        self.steered.on_sent(sent);
        self.act_if_due(sent.now);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.steered.on_ack(ack);
        self.act_if_due(ack.now);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.steered.on_loss(loss);
    }

    fn on_mark(&mut self, marked: &Marked) {
        self.steered.on_mark(marked);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.steered.on_timeout(timeout);
        self.act_if_due(timeout.now);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.steered.on_idle(idle);
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.steered.on_undo(undo);
    }

    fn decision(&self) -> Decision {
        self.steered.decision()
    }

    fn loss_response(&self) -> LossResponse {
        self.steered.loss_response()
    }

    fn needs(&self) -> Needs {
        self.steered.needs()
    }

    fn slow_start_threshold(&self) -> u32 {
        self.steered.slow_start_threshold()
    }
}

impl<P: Policy> Extras for Guided<P> {
    fn rate(&self) -> Option<Rate> {
        self.steered.rate()
    }
}
