//! A controller whose window a test sets, and which records what it was told.

use packetscale_models::congestion::{
    AckSample, Controller, Decision, Extras, Loss, LossResponse, Marked, Needs, Sent, Timeout, Undo,
};
use packetscale_models::units::{Span, Time};

/// One event that a controller was told about, without the fields that tests do not read.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Ack { delivered: u32, cumulative: u32, in_flight: u32, rtt: Option<Span>, window_limited: bool, in_recovery: bool },
    Arrivals(Vec<(u64, Option<Time>)>),
    Loss { lost: u32, enters_recovery: bool, transmissions: Vec<u64> },
    Marked { congestion: u32, burstiness: u32, answer: bool },
    Timeout { in_flight: u32, first: bool },
    Undo,
}

/// Halves its window on entering recovery, sets it to one on a timeout, reverts either on an undo, and never grows.
#[derive(Clone, Debug)]
pub struct Scripted {
    pub window: u32,
    pub before: u32,
    pub departure: Time,
    pub response: LossResponse,
    pub wants_arrivals: bool,
    pub told: Vec<Told>,
    pub sent: Vec<Sent>,
}

impl Scripted {
    pub fn new(window: u32) -> Scripted {
        Scripted {
            window,
            before: window,
            departure: Time::ZERO,
            response: LossResponse::ProportionalReduction,
            wants_arrivals: false,
            told: Vec::new(),
            sent: Vec::new(),
        }
    }

    pub fn losses(&self) -> Vec<&Told> {
        self.told.iter().filter(|told| !matches!(told, Told::Ack { .. } | Told::Arrivals(_))).collect()
    }
}

impl Controller for Scripted {
    fn on_sent(&mut self, sent: &Sent) {
        self.sent.push(*sent);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.told.push(Told::Ack {
            delivered: ack.delivered,
            cumulative: ack.cumulative,
            in_flight: ack.in_flight,
            rtt: ack.rtt,
            window_limited: ack.window_limited,
            in_recovery: ack.in_recovery,
        });
        if self.wants_arrivals {
            self.told.push(Told::Arrivals(ack.arrivals.iter().map(|a| (a.transmission, a.arrived)).collect()));
        } else {
            assert!(ack.arrivals.is_empty(), "not asked for");
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.enters_recovery {
            self.before = self.window;
            self.window /= 2;
        }
        let transmissions = loss.transmissions.to_vec();
        self.told.push(Told::Loss { lost: loss.lost, enters_recovery: loss.enters_recovery, transmissions });
    }

    fn on_mark(&mut self, marked: &Marked) {
        let Marked { congestion, burstiness, answer, .. } = *marked;
        self.told.push(Told::Marked { congestion, burstiness, answer });
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.before = self.window;
        }
        self.window = 1;
        self.told.push(Told::Timeout { in_flight: timeout.in_flight, first: timeout.first });
    }

    fn on_undo(&mut self, _undo: &Undo) {
        self.window = self.before;
        self.told.push(Told::Undo);
    }

    fn decision(&self) -> Decision {
        Decision { window: self.window, departure: self.departure }
    }

    fn loss_response(&self) -> LossResponse {
        self.response
    }

    fn needs(&self) -> Needs {
        Needs { arrivals: self.wants_arrivals, ecn: packetscale_models::units::Ecn::Ect0, ..Needs::NOTHING }
    }
}

impl Extras for Scripted {}
