//! A run that waits is the run that does not: the oracle is the same experiment, made at once.

use super::*;
use experiment::plugins::{Maker, Own};
use experiment::scenario::ControllerSpec;
use packetscale_models::congestion::newreno::NewReno;
use packetscale_models::congestion::{
    AckSample, AnyController, Controller, Decision, External, Extras, Loss, Sent, Setup, Timeout,
};
use packetscale_models::settings::Settings;
use simulator::Paused;
use std::sync::{Arc, Mutex};

type Log = Arc<Mutex<Vec<(Time, &'static str)>>>;

/// NewReno, of which each event is noted; paced where `gap` is not zero.
#[derive(Clone, Debug)]
struct Witness {
    law: NewReno,
    log: Log,
    gap: Span,
    next: Time,
}

impl Witness {
    fn note(&mut self, now: Time, what: &'static str) {
        self.log.lock().expect("one thread").push((now, what));
    }
}

impl Controller for Witness {
    fn on_sent(&mut self, sent: &Sent) {
        self.note(sent.now, "sent");
        self.next = sent.now + self.gap;
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.note(ack.now, "acknowledged");
        self.law.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.note(loss.now, "lost");
        self.law.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.note(timeout.now, "expired");
        self.law.on_timeout(timeout);
    }

    fn decision(&self) -> Decision {
        let departure = if self.gap == Span::ZERO { Time::ZERO } else { self.next };
        Decision { departure, ..self.law.decision() }
    }
}

impl Extras for Witness {}

struct Witnesses {
    log: Log,
    gap: Span,
}

impl Maker for Witnesses {
    fn make(&self, setup: &Setup) -> Box<dyn External> {
        let law = NewReno::build(setup, &Settings::new()).expect("no settings fit");
        Box::new(Witness { law, log: Arc::clone(&self.log), gap: self.gap, next: setup.now })
    }
}

const SCENARIO: &str = "
[run]
duration = \"3 s\"
[path]
rate = \"4 Mbit/s\"
delay = \"10 ms\"
buffer = \"8 packets\"
[[flow]]
controller = \"newreno\"
[[traffic]]
kind = \"poisson\"
rate = \"1 Mbit/s\"
";

fn watched(gap: Span) -> (Experiment, Log) {
    let mut experiment = planned(SCENARIO);
    let log = Log::default();
    let own = Own::new("witness", "", Arc::new(Witnesses { log: Arc::clone(&log), gap }));
    experiment.flows[0].controller = ControllerSpec { own: Some(own), ..ControllerSpec::default() };
    (experiment, log)
}

/// Events of a sender that is inspected at this interval; without pauses for `None`.
fn noted(gap: Span, pause: Option<Span>) -> Vec<(Time, &'static str)> {
    let (experiment, log) = watched(gap);
    match pause {
        None => drop(run(&experiment)),
        Some(pause) => {
            let mut run = Paused::new(Arc::new(experiment)).expect("a run");
            while !run.is_over() {
                run.advance(run.now() + pause).expect("nothing is read");
                run.with_controller(0, |controller: &mut AnyController| {
                    assert!(matches!(controller, AnyController::External(_)));
                });
            }
        }
    }
    let log = log.lock().expect("one thread").clone();
    assert!(["sent", "acknowledged", "lost"].iter().all(|what| log.iter().any(|(_, noted)| noted == what)));
    log
}

#[test]
fn a_paused_run_equals_an_unpaused_one() {
    // Clocked by acknowledgments, and paced: a packet each 3.1 ms, which is 3.9 Mbit/s next to 1 Mbit/s on a link of 4.
    for gap in [Span::ZERO, Span::from_micros(3100)] {
        let whole = noted(gap, None);
        for pause in [Span::from_micros(700), Span::from_millis(11), Span::from_secs(2)] {
            let waited = noted(gap, Some(pause));
            let same = whole.iter().zip(&waited).take_while(|(one, other)| one == other).count();
            assert!(whole == waited, "{gap:?}, {pause:?}: {:?} {:?}", whole.get(same), waited.get(same));
        }
    }
}
