//! A plugin controlling one flow.

use crate::plugins::guard;
use crate::plugins::object::Object;
use crate::plugins::state::State;
use crate::plugins::{bounds, events};
use packetscale_controller::abi;
use packetscale_models::congestion::{
    AckSample, AnyController, Controller, Decision, Extras, Loss, LossResponse, Marked, Needs, Sent, Setup, Timeout,
    Undo,
};
use packetscale_models::settings::{SettingError, Settings, check_names};
use packetscale_models::units::{Rate, Time};

/// The state of a flow, and the decision that holds.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    object: &'static Object,
    state: State,
    /// Within bounds.
    decision: abi::Decision,
    /// Room for what an event lists; kept, so that no event allocates.
    arrivals: Vec<abi::Arrival>,
    flights: Vec<abi::LostFlight>,
}

impl Running {
    /// Begins a flow with these values of its settings.
    ///
    /// # Errors
    /// The index of the setting that it refuses.
    pub fn start(object: &'static Object, setup: &Setup, values: &[u64]) -> Result<Running, usize> {
        let mut running = Running {
            object,
            state: State::zeroed(object.layout),
            decision: abi::Decision {
                departure_ps: 0,
                rate_bps: abi::NONE,
                window_packets: setup.initial_window,
                threshold_packets: abi::NO_THRESHOLD,
            },
            arrivals: Vec::new(),
            flights: Vec::new(),
        };
        let event = events::setup(setup, values);
        // Safety: the state is of the size and alignment that the object asked for, the rest lives as long as the call.
        let start = || unsafe { (object.calls.start)(running.state.pointer(), &event, &mut running.decision) };
        let answer = guard::call(object.file, start);
        match usize::try_from(answer) {
            Ok(0) => {
                running.bound(setup.now);
                Ok(running)
            }
            Ok(number) => Err(number - 1),
            Err(_) => Err(usize::MAX),
        }
    }

    /// Reports what happened, and bounds what is decided.
    #[inline]
    fn tell<Event>(&mut self, call: abi::On<Event>, event: &Event, now: Time) {
        // Safety: `start` has made the state, and no other call is under way. The rest lives as long as the call.
        guard::call(self.object.file, || unsafe { call(self.state.pointer(), event, &mut self.decision) });
        self.bound(now);
    }

    #[inline]
    fn bound(&mut self, now: Time) {
        let decision = &mut self.decision;
        decision.window_packets = bounds::window(decision.window_packets);
        decision.departure_ps = bounds::departure(Time::from_picos(decision.departure_ps), now).picos();
    }
}

impl Controller for Running {
    fn on_sent(&mut self, sent: &Sent) {
        if let Some(call) = self.object.calls.on_sent {
            self.tell(call, &events::sent(sent), sent.now);
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.clear();
        arrivals.extend(ack.arrivals.iter().map(events::arrival));
        let rate = ack.rate.as_ref().map(events::rate_sample);
        self.tell(self.object.calls.on_ack, &events::ack(ack, &arrivals, rate.as_ref()), ack.now);
        self.arrivals = arrivals;
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let mut flights = std::mem::take(&mut self.flights);
        flights.clear();
        flights.extend(loss.flights.iter().map(events::flight));
        self.tell(self.object.calls.on_loss, &events::loss(loss, &flights), loss.now);
        self.flights = flights;
    }

    fn on_mark(&mut self, marked: &Marked) {
        if let Some(call) = self.object.calls.on_mark {
            self.tell(call, &events::mark(marked), marked.now);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.tell(self.object.calls.on_timeout, &events::timeout(timeout), timeout.now);
    }

    fn on_undo(&mut self, undo: &Undo) {
        if let Some(call) = self.object.calls.on_undo {
            self.tell(call, &abi::Undo { now_ps: undo.now.picos() }, undo.now);
        }
    }

    fn decision(&self) -> Decision {
        Decision { window: self.decision.window_packets, departure: Time::from_picos(self.decision.departure_ps) }
    }

    fn loss_response(&self) -> LossResponse {
        self.object.loss_response
    }

    fn needs(&self) -> Needs {
        self.object.needs
    }

    fn slow_start_threshold(&self) -> u32 {
        self.decision.threshold_packets
    }
}

impl Extras for Running {
    fn on_offer(&mut self, now: Time, rate: Rate) {
        if let Some(call) = self.object.calls.on_offer {
            self.tell(call, &feedback(now, rate), now);
        }
    }

    fn on_available(&mut self, now: Time, available: Rate) {
        if let Some(call) = self.object.calls.on_available {
            self.tell(call, &feedback(now, available), now);
        }
    }

    fn rate(&self) -> Option<Rate> {
        (self.decision.rate_bps != abi::NONE).then(|| Rate::from_bps(self.decision.rate_bps))
    }
}

impl Object {
    /// Builds the controller of a flow.
    ///
    /// # Errors
    /// Settings that it does not have, that are out of range, or that it refuses.
    pub fn build(&'static self, setup: &Setup, settings: &Settings) -> Result<AnyController, SettingError> {
        check_names(settings, self.parameters)?;
        let values: Result<Vec<u64>, _> = self.declared.iter().map(|one| one.number(settings)).collect();
        match Running::start(self, setup, &values?) {
            Ok(running) => Ok(AnyController::External(Box::new(running))),
            Err(refused) => {
                let name = self.declared.get(refused).map_or("kind", |one| one.name());
                Err(SettingError::invalid(name, format!("a value that {} accepts here", self.name)))
            }
        }
    }
}

fn feedback(now: Time, rate: Rate) -> abi::RateFeedback {
    abi::RateFeedback { now_ps: now.picos(), rate_bps: rate.bps() }
}
