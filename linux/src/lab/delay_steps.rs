//! Changes the delay of the wire during a run. A thread sleeps until each step, and tells a `tc` that was started before
//! and reads its standard input: that takes microseconds, where starting one takes milliseconds.
//!
//! Netem lets packets overtake where its delay falls. But where it has a rate, each packet's time counts from that of
//! the packet before it, if that is later (`netem_enqueue` of sch_netem.c): a FIFO. With [`RATE`], a packet adds about a
//! nanosecond.

use crate::lab::error::LabError;
use crate::lab::namespace::{Namespace, spawn};
use harness::realtime::clock::{monotonic_ns, sleep_until};
use harness::realtime::priority::Urgency;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The rate of a netem that keeps the order of packets, as `tc` writes it.
pub(crate) const RATE: &str = "10tbit";

/// Lines of `tc`, and when they are due, in nanoseconds of CLOCK_MONOTONIC.
pub(crate) type Step = (u64, Vec<String>);

/// The thread at work.
pub(crate) struct DelaySteps {
    thread: JoinHandle<io::Result<()>>,
    stop: Arc<AtomicBool>,
}

impl DelaySteps {
    /// Starts it in a namespace; `None` where there is no step.
    pub fn start(place: &Namespace, steps: Vec<Step>) -> Result<Option<DelaySteps>, LabError> {
        if steps.is_empty() {
            return Ok(None);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = spawn(place, Urgency::Path, move || take(&steps, &stopped));
        let thread = thread.map_err(LabError::doing("no thread for steps of the delay"))?;
        Ok(Some(DelaySteps { thread, stop }))
    }

    /// Stops it.
    ///
    /// # Errors
    /// What `tc` refused.
    pub fn end(self) -> Result<(), LabError> {
        self.stop.store(true, Ordering::Release);
        let ended = self.thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread failed")));
        ended.map_err(LabError::doing("steps of the delay"))
    }
}

/// Longest sleep before the thread looks whether it is to stop.
const LONGEST_SLEEP_NS: u64 = 50_000_000;

fn take(steps: &[Step], stop: &AtomicBool) -> io::Result<()> {
    let mut command = Command::new("tc");
    command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut tc = command.spawn()?;
    let mut input = tc.stdin.take().ok_or_else(|| io::Error::other("no pipe to tc"))?;
    for (due_ns, lines) in steps {
        while monotonic_ns() < *due_ns && !stop.load(Ordering::Acquire) {
            sleep_until((*due_ns).min(monotonic_ns() + LONGEST_SLEEP_NS));
        }
        if stop.load(Ordering::Acquire) {
            break;
        }
        input.write_all(format!("{}\n", lines.join("\n")).as_bytes())?;
    }
    drop(input);
    let output = tc.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("tc: {}", String::from_utf8_lossy(&output.stderr).trim())))
}
