//! A controller whose rate or window is set from outside, at the end of each interval.

use crate::congestion::{
    AckSample, Controller, Decision, Extras, Idle, Loss, LossResponse, Marked, Needs, Sent, Setup, Timeout, Undo,
};
use crate::settings::SettingError;
use crate::steered::aurora::{self, Aurora};
use crate::steered::interval::{Interval, Monitor};
use crate::steered::orca::{self, Orca};
use crate::units::{Rate, Span, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The definition of observation, action and reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// As in Aurora, with rates up to this one.
    Aurora {
        /// The largest rate.
        most: Rate,
    },
    /// As in Orca.
    Orca,
}

impl Scheme {
    /// Bounds of the values observed of one interval.
    pub fn bounds(self) -> &'static [(f32, f32)] {
        match self {
            Scheme::Aurora { .. } => &aurora::BOUNDS,
            Scheme::Orca => &orca::BOUNDS,
        }
    }

    /// The largest action; the smallest is its opposite.
    pub fn most_action(self) -> f32 {
        match self {
            Scheme::Aurora { .. } => aurora::MOST_ACTION,
            Scheme::Orca => orca::MOST_ACTION,
        }
    }

    fn before(self) -> &'static [f32] {
        match self {
            Scheme::Aurora { .. } => &aurora::BEFORE,
            Scheme::Orca => &orca::BEFORE,
        }
    }
}

#[derive(Clone, Debug)]
enum Law {
    Aurora(Aurora),
    Orca(Box<Orca>),
}

/// The outcome of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The reward of its scheme.
    pub reward: f64,
    /// The observation.
    pub interval: Interval,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Steered {
    scheme: Scheme,
    law: Law,
    monitor: Monitor,
    due: Time,
    /// Intervals, the newest last.
    observation: Vec<f32>,
}

impl Steered {
    /// Builds the controller, which observes this many intervals.
    ///
    /// # Errors
    /// None that is known: CUBIC is built with its defaults.
    pub fn new(scheme: Scheme, intervals: usize, setup: &Setup) -> Result<Steered, SettingError> {
        let (law, first) = match scheme {
            Scheme::Aurora { most } => (Law::Aurora(Aurora::new(setup, most)), Aurora::first_length(setup)),
            Scheme::Orca => (Law::Orca(Box::new(Orca::new(setup)?)), Orca::length()),
        };
        Ok(Steered {
            scheme,
            law,
            monitor: Monitor::new(setup.now, setup.packet, setup.handshake_rtt),
            due: setup.now.saturating_add(first),
            observation: scheme.before().repeat(intervals.max(1)),
        })
    }

    /// When the interval under way is due to end.
    pub fn due(&self) -> Time {
        self.due
    }

    /// Ends the interval under way, and begins the next.
    pub fn end_interval(&mut self, now: Time) -> Outcome {
        let interval = self.monitor.end(now);
        let (reward, length) = match &mut self.law {
            Law::Aurora(aurora) => {
                let (observed, reward) = aurora.judge(&interval);
                remember(&mut self.observation, self.scheme, &observed);
                (reward, aurora.length())
            }
            Law::Orca(orca) => {
                let (observed, reward) = orca.judge(&interval);
                remember(&mut self.observation, self.scheme, &observed);
                (reward, Orca::length())
            }
        };
        self.due = now.saturating_add(length.max(Span::from_picos(1)));
        Outcome { reward, interval }
    }

    /// Observations of the last intervals, the newest last.
    pub fn observation(&self) -> &[f32] {
        &self.observation
    }

    /// Sets rate or window. What is outside of the bounds of actions becomes the nearest inside; what is no number, 0.
    pub fn act(&mut self, action: f32) {
        let most = self.scheme.most_action();
        let action = if action.is_nan() { 0.0 } else { action.clamp(-most, most) };
        match &mut self.law {
            Law::Aurora(aurora) => aurora.act(action),
            Law::Orca(orca) => orca.act(action),
        }
    }
}

/// Puts the newest interval last.
fn remember(observation: &mut [f32], scheme: Scheme, observed: &[f32]) {
    observation.rotate_left(observed.len());
    let newest = observation.len() - observed.len();
    for ((place, value), (least, most)) in observation[newest..].iter_mut().zip(observed).zip(scheme.bounds()) {
        *place = value.clamp(*least, *most);
    }
}

impl Controller for Steered {
    fn on_sent(&mut self, sent: &Sent) {
        self.monitor.on_sent(sent);
        match &mut self.law {
            Law::Aurora(aurora) => aurora.on_sent(sent),
            Law::Orca(orca) => orca.cubic.on_sent(sent),
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.monitor.on_ack(ack);
        if let Law::Orca(orca) = &mut self.law {
            orca.cubic.on_ack(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.monitor.on_loss(loss);
        if let Law::Orca(orca) = &mut self.law {
            orca.cubic.on_loss(loss);
        }
    }

    fn on_mark(&mut self, marked: &Marked) {
        if let Law::Orca(orca) = &mut self.law {
            orca.cubic.on_mark(marked);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if let Law::Orca(orca) = &mut self.law {
            orca.cubic.on_timeout(timeout);
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        if let Law::Orca(orca) = &mut self.law {
            orca.cubic.on_idle(idle);
        }
    }

    fn on_undo(&mut self, undo: &Undo) {
        if let Law::Orca(orca) = &mut self.law {
            orca.cubic.on_undo(undo);
        }
    }

    fn decision(&self) -> Decision {
        match &self.law {
            Law::Aurora(aurora) => aurora.decision(),
            Law::Orca(orca) => orca.cubic.decision(),
        }
    }

    fn loss_response(&self) -> LossResponse {
        match &self.law {
            Law::Aurora(_) => LossResponse::OwnWindow,
            Law::Orca(orca) => orca.cubic.loss_response(),
        }
    }

    fn needs(&self) -> Needs {
        match &self.law {
            Law::Aurora(_) => Needs::NOTHING,
            Law::Orca(orca) => orca.cubic.needs(),
        }
    }

    fn slow_start_threshold(&self) -> u32 {
        match &self.law {
            Law::Aurora(_) => u32::MAX,
            Law::Orca(orca) => orca.cubic.slow_start_threshold(),
        }
    }
}

impl Extras for Steered {
    fn rate(&self) -> Option<Rate> {
        match &self.law {
            Law::Aurora(aurora) => Some(aurora.rate()),
            Law::Orca(_) => None,
        }
    }
}
