//! Work on another thread, while the caller's waits for it: without the interpreter's lock, and responsive to Ctrl-C.
//!
//! Python runs signal handlers only on its main thread and only between its own instructions. So the calling thread
//! returns to Python ten times a second, and reports progress. A run of the simulator
//! is stopped at the next interval of its `record.step`, by unwinding: the run itself never checks whether to
//! continue.

use crate::controller::Raised;
use crate::fault::Fault;
use experiment::results::{HostLabel, Run};
use experiment::scenario::Experiment;
use harness::runner::{Checkpoint, Clock, Host, Progress, Refusal, Unfit};
use packetscale_models::units::Span;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time between two checks for Ctrl-C.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// How long to wait after Ctrl-C.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Until the work ends; it is asked to stop: it writes files, and must not continue.
    TheEnd,
    /// Half a second: the work only computes. Otherwise it continues unused.
    AWhile,
}

const A_WHILE: Duration = Duration::from_millis(500);

/// How far the work is, and whether it shall stop.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    planned: AtomicUsize,
    made: AtomicUsize,
    /// The parts of the runs under way that are done.
    under_way: Mutex<BTreeMap<usize, f64>>,
    lines: Mutex<Vec<String>>,
    /// The first exception of a controller.
    raised: Mutex<Option<PyErr>>,
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watch {
    /// Whether the work shall stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the other runs, too.
    fn raise(&self, error: PyErr) {
        locked(&self.raised).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Runs that are done, those under way by their part.
    fn done(&self) -> f64 {
        self.made.load(Ordering::Relaxed) as f64 + locked(&self.under_way).values().sum::<f64>()
    }

    /// Reports progress to Python, and lets it handle signals.
    fn check(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        for line in std::mem::take(&mut *locked(&self.lines)) {
            py.import("logging")?.call_method1("getLogger", ("packetscale",))?.call_method1("info", (line,))?;
        }
        let planned = self.planned.load(Ordering::Relaxed);
        match progress {
            Some(progress) if planned > 0 => progress.call1(py, (self.done(), planned)).map(drop),
            _ => Ok(()),
        }
    }
}

impl Progress for Watch {
    fn note(&self, line: &str) {
        locked(&self.lines).push(line.to_string());
    }

    fn begin(&self, checkpoint: &Arc<Checkpoint>) {
        let sealed = checkpoint.seal();
        self.planned.store(sealed.planned(), Ordering::Relaxed);
        self.made.store(sealed.done(), Ordering::Relaxed);
        locked(&self.under_way).clear();
    }

    fn within(&self, run: usize, at: Span, all: Span) {
        let part = at.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        locked(&self.under_way).insert(run, part);
    }

    fn made(&self, run: usize) {
        locked(&self.under_way).remove(&run);
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    fn end(&self) {}
}

/// Does the work and waits for it. `progress` is called with the number of finished runs, with fractions, and of planned ones.
///
/// # Errors
/// An error of the work; `KeyboardInterrupt`; an exception of `progress` or a controller, which also stops the work.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    after: After,
    work: impl FnOnce(&Watch) -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    let (watch, (sender, receiver)) = (Arc::new(Watch::default()), channel());
    let theirs = Arc::clone(&watch);
    std::thread::spawn(move || sender.send(work(&theirs)));
    py.detach(move || {
        let mut raised: Option<(PyErr, Instant)> = None;
        loop {
            match (receiver.recv_timeout(BETWEEN_LOOKS), raised.take()) {
                (Err(RecvTimeoutError::Timeout), None) => {
                    let checked = Python::attach(|py| watch.check(py, progress.as_ref()));
                    if let Err(error) = checked {
                        watch.stop.store(true, Ordering::Relaxed);
                        raised = Some((error, Instant::now()));
                    }
                }
                (Err(RecvTimeoutError::Timeout), Some((error, since))) => {
                    if after == After::AWhile && since.elapsed() > A_WHILE {
                        return Err(error);
                    }
                    raised = Some((error, since));
                }
                (_, Some((error, _))) => return Err(error),
                (Ok(done), None) => {
                    Python::attach(|py| watch.check(py, progress.as_ref()))?;
                    let raised = locked(&watch.raised).take();
                    return raised.map_or(done.map_err(PyErr::from), Err);
                }
                (Err(RecvTimeoutError::Disconnected), None) => {
                    return Err(PyRuntimeError::new_err("the work ended in a fault of packetscale's own"));
                }
            }
        }
    })
}

/// A host whose runs can be stopped.
pub struct Stoppable<'a> {
    /// Where they are made.
    pub host: &'a dyn Host,
    /// Decides when to stop.
    pub watch: &'a Watch,
}

/// Payload of the unwinding.
struct Stopped;

impl Stoppable<'_> {
    fn interrupted() -> Refusal {
        Refusal::Machine("interrupted".to_string())
    }
}

impl Host for Stoppable<'_> {
    fn name(&self) -> &'static str {
        self.host.name()
    }

    fn word(&self) -> &'static str {
        self.host.word()
    }

    fn summary(&self) -> &'static str {
        self.host.summary()
    }

    fn label(&self) -> HostLabel {
        self.host.label()
    }

    fn ability(&self) -> Result<String, String> {
        self.host.ability()
    }

    fn clock(&self) -> Clock {
        self.host.clock()
    }

    fn at_once(&self) -> Option<u16> {
        self.host.at_once()
    }

    fn tools(&self) -> Result<Vec<String>, Refusal> {
        self.host.tools()
    }

    fn accept(&self, plan: &[Experiment]) -> Result<(), Unfit> {
        self.host.accept(plan)
    }

    fn check(&self, plan: &[Experiment]) -> Result<Vec<String>, Refusal> {
        self.host.check(plan)
    }

    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        self.run_watched(experiment, &|_| {})
    }

    fn run_watched(&self, experiment: &Experiment, watch: &(dyn Fn(Span) + Sync)) -> Result<Run, Refusal> {
        if self.watch.stopped() {
            return Err(Stoppable::interrupted());
        }
        let watched = |at: Span| {
            if self.watch.stopped() {
                resume_unwind(Box::new(Stopped));
            }
            watch(at);
        };
        let made = || self.host.run_watched(experiment, &watched);
        // Unwinding drops everything that the run owns.
        let made = || catch_unwind(AssertUnwindSafe(made));
        // Python makes a state for a thread that comes to it, and drops it when the thread leaves. A run with controllers
        // in Python comes once, not once for each event.
        let calls_python = experiment.controllers().any(|controller| controller.own.is_some());
        match if calls_python { Python::attach(|py| py.detach(made)) } else { made() } {
            Ok(made) => made,
            Err(why) if why.is::<Stopped>() => Err(Stoppable::interrupted()),
            Err(why) => {
                let Raised(error) = *why.downcast().unwrap_or_else(|why| resume_unwind(why));
                self.watch.raise(error);
                Err(Stoppable::interrupted())
            }
        }
    }
}
