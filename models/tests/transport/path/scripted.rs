//! A controller with a scripted window, which records its reports.

use packetscale_models::congestion::{
    AckSample, Controller, Decision, Extras, Loss, LossResponse, Marked, Needs, Sent, Timeout, Undo,
};
use packetscale_models::units::{Span, Time};

/// One event of a controller, without the fields that tests do not read.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
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
    pub reports: Vec<Report>,
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
            reports: Vec::new(),
            sent: Vec::new(),
        }
    }

    pub fn losses(&self) -> Vec<&Report> {
        self.reports.iter().filter(|report| !matches!(report, Report::Ack { .. } | Report::Arrivals(_))).collect()
    }
}

impl Controller for Scripted {
    fn on_sent(&mut self, sent: &Sent) {
        self.sent.push(*sent);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.reports.push(Report::Ack {
            delivered: ack.delivered,
            cumulative: ack.cumulative,
            in_flight: ack.in_flight,
            rtt: ack.rtt,
            window_limited: ack.window_limited,
            in_recovery: ack.in_recovery,
        });
        if self.wants_arrivals {
            self.reports.push(Report::Arrivals(ack.arrivals.iter().map(|a| (a.transmission, a.arrived)).collect()));
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
        self.reports.push(Report::Loss { lost: loss.lost, enters_recovery: loss.enters_recovery, transmissions });
    }

    fn on_mark(&mut self, marked: &Marked) {
        let Marked { congestion, burstiness, answer, .. } = *marked;
        self.reports.push(Report::Marked { congestion, burstiness, answer });
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.before = self.window;
        }
        self.window = 1;
        self.reports.push(Report::Timeout { in_flight: timeout.in_flight, first: timeout.first });
    }

    fn on_undo(&mut self, _undo: &Undo) {
        self.window = self.before;
        self.reports.push(Report::Undo);
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
