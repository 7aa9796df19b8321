//! Controllers written in Python: a class, of which each flow has an instance.
//!
//! A run calls it from the thread that makes the run, and takes the interpreter's lock for each call. An exception unwinds
//! the run; [`Stoppable`](crate::waiting::Stoppable) catches it, and the caller of `run` gets it with its traceback.

use crate::fault::{Fault, Input};
use experiment::plugins::{Maker, NameError};
use packetscale_models::congestion::{
    AckSample, Controller, Decision, External, Extras, Loss, Marked, Needs, Sent, Setup, Timeout, Undo,
};
use packetscale_models::units::{Ecn, Span, Time};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::panic::resume_unwind;
use std::sync::Arc;

/// Payload of a run's unwinding: an exception of a controller.
pub struct Raised(pub PyErr);

fn or_unwind<T>(result: PyResult<T>) -> T {
    result.unwrap_or_else(|error| resume_unwind(Box::new(Raised(error))))
}

/// Converts the contract's picoseconds to nanoseconds, rounded down.
fn nanos(span: Span) -> u64 {
    span.picos() / PICOS
}

fn at(time: Time) -> u64 {
    time.picos() / PICOS
}

/// Picoseconds of a nanosecond.
const PICOS: u64 = 1000;

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident { $($(#[$means:meta])* $field:ident: $type:ty),* $(,)? })*) => {
        $($(#[$doc])* #[pyclass(frozen, get_all, module = "packetscale")]
        pub struct $name { $($(#[$means])* $field: $type),* }

        #[pymethods]
        impl $name {
            fn __repr__(&self) -> String {
                let fields = [$(format!(concat!(stringify!($field), "={:?}"), self.$field)),*];
                format!(concat!("<packetscale.", stringify!($name), " {}>"), fields.join(" "))
            }
        })*
    };
}

events! {
    /// Parameters of a flow, for its controller.
    Start {
        /// When: nanoseconds since the run began.
        now_ns: u64,
        /// Size of a full packet on the wire, payload and headers.
        packet_bytes: u64,
        /// Round-trip time of the handshake.
        handshake_rtt_ns: u64,
        /// Window to start with (RFC 6928: 10).
        initial_window_packets: u32,
        /// Seed for random choices of the controller.
        seed: u64,
    }
    /// A packet has left; retransmissions count too.
    Left {
        /// When it left: nanoseconds since the run began.
        now_ns: u64,
        /// Number of this transmission in its flow: 0, 1, 2, ... without holes.
        transmission: u64,
        /// Size on the wire.
        size_bytes: u64,
        /// Packets in flight, this one included.
        in_flight_packets: u32,
        /// Whether the flow had no other data to send.
        app_limited: bool,
        /// Whether it is a retransmission.
        retransmission: bool,
    }
    /// An acknowledgment arrived.
    Ack {
        /// When: nanoseconds since the run began.
        now_ns: u64,
        /// Round-trip time of the newest transmission that it covers; None if ambiguous (RFC 6298, Karn).
        rtt_ns: Option<u64>,
        /// Smoothed round-trip time (RFC 6298).
        srtt_ns: u64,
        /// Smallest round-trip time of this flow so far.
        min_rtt_ns: u64,
        /// Packets newly delivered: acknowledged cumulatively or selectively.
        delivered_packets: u32,
        /// Of those, the ones acknowledged cumulatively.
        cumulative_packets: u32,
        /// Packets in flight before it (RFC 6675, pipe).
        prior_in_flight_packets: u32,
        /// Packets in flight after it.
        in_flight_packets: u32,
        /// Number of the first packet that is not acknowledged: all before it have arrived.
        next_unacked: u64,
        /// Number of the next packet that was never sent.
        next_unsent: u64,
        /// Whether the window limits the flow, not the application or the receiver.
        window_limited: bool,
        /// Whether the sender is in recovery, after a loss or after a timeout.
        in_recovery: bool,
    }
    /// Packets were declared lost.
    Lost {
        /// When: nanoseconds since the run began.
        now_ns: u64,
        /// Smoothed round-trip time.
        srtt_ns: u64,
        /// Packets declared lost.
        lost_packets: u32,
        /// Packets in flight before the loss was declared.
        prior_in_flight_packets: u32,
        /// Whether it is the first loss of an episode: the one to react to (RFC 6675, section 5).
        enters_recovery: bool,
    }
    /// Packets arrived marked.
    Marks {
        /// When this became known: nanoseconds since the run began.
        now_ns: u64,
        /// Smoothed round-trip time.
        srtt_ns: u64,
        /// Packets marked with congestion experienced.
        congestion_packets: u32,
        /// Packets marked with the burstiness bit.
        burstiness_packets: u32,
        /// Whether it is the first congestion mark of a window, outside recovery: the one to react to (RFC 3168, section 6.1.2).
        answer: bool,
    }
    /// The retransmission timer expired.
    Expired {
        /// When: nanoseconds since the run began.
        now_ns: u64,
        /// Packets in flight when it expired.
        in_flight_packets: u32,
        /// Whether it is the first expiry for this data; later ones only back off.
        first: bool,
    }
    /// The last reduction proved needless.
    Undone {
        /// When this became known: nanoseconds since the run began.
        now_ns: u64,
    }
}

/// A class, and which of the calls that it may lack it has.
#[derive(Clone, Copy, Debug)]
struct Calls {
    sent: bool,
    mark: bool,
    undo: bool,
}

struct Class {
    class: Py<PyAny>,
    calls: Calls,
}

/// Gives a class to the scenarios that are read from now on. See `packetscale.controller`.
#[pyfunction]
pub fn register(name: &str, class_: Bound<'_, PyAny>, source: &str) -> PyResult<()> {
    let has = |call: &str| class_.hasattr(call);
    let calls = Calls { sent: has("on_sent")?, mark: has("on_mark")?, undo: has("on_undo")? };
    let maker = Arc::new(Class { class: class_.unbind(), calls });
    experiment::plugins::register(name, source, maker).map_err(|error| misnamed(&error))
}

/// A name that no controller can have.
pub fn misnamed(error: &NameError) -> PyErr {
    let (message, key) = (format!("name: {error}"), Some("name".to_string()));
    Fault::Input(Input { message, key, ..Input::default() }).into()
}

impl Maker for Class {
    fn make(&self, setup: &Setup) -> Box<dyn External> {
        let start = Start {
            now_ns: at(setup.now),
            packet_bytes: setup.packet.get(),
            handshake_rtt_ns: nanos(setup.handshake_rtt),
            initial_window_packets: setup.initial_window,
            seed: setup.seed,
        };
        Box::new(or_unwind(Python::attach(|py| {
            let object = self.class.call1(py, (start,))?;
            let decision = decision(object.bind(py), setup.now)?;
            Ok(Instance { object, calls: self.calls, decision })
        })))
    }
}

/// The controller of one flow, and the decision that holds.
#[derive(Debug)]
struct Instance {
    object: Py<PyAny>,
    calls: Calls,
    decision: Decision,
}

impl Clone for Instance {
    fn clone(&self) -> Instance {
        let copy = |py: Python<'_>| Ok(py.import("copy")?.call_method1("deepcopy", (&self.object,))?.unbind());
        Instance { object: or_unwind(Python::attach(copy)), ..*self }
    }
}

impl Instance {
    /// Reports an event, and reads the decision.
    fn notify<Event>(&mut self, now: Time, event: Event, name: for<'py> fn(Python<'py>) -> &'py Bound<'py, PyString>)
    where
        for<'py> (Event,): PyCallArgs<'py>,
    {
        self.decision = or_unwind(Python::attach(|py| {
            let object = self.object.bind(py);
            object.call_method1(name(py), (event,))?;
            decision(object, now)
        }));
    }
}

/// The object's decision: `(window_packets, departure_ns or None)`.
fn decision(object: &Bound<'_, PyAny>, now: Time) -> PyResult<Decision> {
    let found = object.call_method0(intern!(object.py(), "decision"))?;
    let read = || -> PyResult<(f64, Option<f64>)> {
        let pair = found.cast::<PyTuple>()?;
        pair.extract()
    };
    let (window, departure) = read().map_err(|_| {
        let found = found.repr().map_or_else(|_| "another value".to_string(), |text| text.to_string());
        let expected = "expected (window_packets, departure_ns), two numbers, or None as the second";
        PyTypeError::new_err(format!("decision: found {found}; {expected}"))
    })?;
    if window.is_nan() || departure.is_some_and(f64::is_nan) {
        return Err(PyValueError::new_err("decision: found a value that is not a number; expected numbers"));
    }
    // Conversions of numbers that are too large, or negative, end at the nearest bound.
    let departure = departure.map_or(Time::ZERO, |ns| Time::from_picos((ns * PICOS as f64) as u64));
    Ok(Decision {
        window: experiment::plugins::window(window as u32),
        departure: experiment::plugins::departure(departure, now),
    })
}

impl Controller for Instance {
    fn on_sent(&mut self, sent: &Sent) {
        if self.calls.sent {
            let event = Left {
                now_ns: at(sent.now),
                transmission: sent.transmission,
                size_bytes: sent.size.get(),
                in_flight_packets: sent.in_flight,
                app_limited: sent.app_limited,
                retransmission: sent.retransmission,
            };
            self.notify(sent.now, event, |py| intern!(py, "on_sent"));
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let event = Ack {
            now_ns: at(ack.now),
            rtt_ns: ack.rtt.map(nanos),
            srtt_ns: nanos(ack.srtt),
            min_rtt_ns: nanos(ack.min_rtt),
            delivered_packets: ack.delivered,
            cumulative_packets: ack.cumulative,
            prior_in_flight_packets: ack.prior_in_flight,
            in_flight_packets: ack.in_flight,
            next_unacked: ack.next_unacked,
            next_unsent: ack.next_unsent,
            window_limited: ack.window_limited,
            in_recovery: ack.in_recovery,
        };
        self.notify(ack.now, event, |py| intern!(py, "on_ack"));
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let event = Lost {
            now_ns: at(loss.now),
            srtt_ns: nanos(loss.srtt),
            lost_packets: loss.lost,
            prior_in_flight_packets: loss.prior_in_flight,
            enters_recovery: loss.enters_recovery,
        };
        self.notify(loss.now, event, |py| intern!(py, "on_loss"));
    }

    fn on_mark(&mut self, marked: &Marked) {
        if self.calls.mark {
            let event = Marks {
                now_ns: at(marked.now),
                srtt_ns: nanos(marked.srtt),
                congestion_packets: marked.congestion,
                burstiness_packets: marked.burstiness,
                answer: marked.answer,
            };
            self.notify(marked.now, event, |py| intern!(py, "on_mark"));
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let event = Expired { now_ns: at(timeout.now), in_flight_packets: timeout.in_flight, first: timeout.first };
        self.notify(timeout.now, event, |py| intern!(py, "on_timeout"));
    }

    fn on_undo(&mut self, undo: &Undo) {
        if self.calls.undo {
            self.notify(undo.now, Undone { now_ns: at(undo.now) }, |py| intern!(py, "on_undo"));
        }
    }

    fn decision(&self) -> Decision {
        self.decision
    }

    /// A controller with `on_mark` responds to marks.
    fn needs(&self) -> Needs {
        Needs { ecn: if self.calls.mark { Ecn::Ect0 } else { Ecn::NotEct }, ..Needs::NOTHING }
    }
}

impl Extras for Instance {}
