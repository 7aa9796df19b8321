//! Changes a path during a run. A thread sleeps until each step, and writes it to the standard input of a running `tc`: that
//! takes microseconds, whereas starting one takes milliseconds.

use crate::lab::error::LabError;
use crate::lab::namespace::{Namespace, spawn};
use harness::realtime::clock::sleep_unless;
use harness::realtime::priority::Urgency;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Lines of `tc`, and when they are due, in nanoseconds of CLOCK_MONOTONIC.
pub(crate) type Step = (u64, Vec<String>);

/// Action after `tc` has performed a step.
pub(crate) struct Afterwards {
    /// A line of `tc` that prints one line: so it is known that the lines before are done.
    pub written_by: String,
    pub act: Box<dyn Fn() -> io::Result<()> + Send>,
}

/// The thread at work.
pub(crate) struct Steps {
    thread: JoinHandle<io::Result<()>>,
    stop: Arc<AtomicBool>,
}

impl Steps {
    /// Starts it in a namespace; `None` where there is no step.
    pub fn start(place: &Namespace, steps: Vec<Step>, then: Option<Afterwards>) -> Result<Option<Steps>, LabError> {
        if steps.is_empty() {
            return Ok(None);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = spawn(place, Urgency::Path, move || take(&steps, then.as_ref(), &stopped));
        let thread = thread.map_err(LabError::doing("no thread for steps of the path"))?;
        Ok(Some(Steps { thread, stop }))
    }

    /// Stops it.
    ///
    /// # Errors
    /// The step that `tc` refused.
    pub fn end(self) -> Result<(), LabError> {
        self.stop.store(true, Ordering::Release);
        let ended = self.thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread failed")));
        ended.map_err(LabError::doing("steps of the path"))
    }
}

fn take(steps: &[Step], then: Option<&Afterwards>, stop: &AtomicBool) -> io::Result<()> {
    let mut command = Command::new("tc");
    command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut tc = command.spawn()?;
    let no_pipe = || io::Error::other("no pipe to tc");
    let mut input = tc.stdin.take().ok_or_else(no_pipe)?;
    let mut output = BufReader::new(tc.stdout.take().ok_or_else(no_pipe)?);
    let mut line = String::new();
    for (due_ns, lines) in steps {
        if !sleep_unless(stop, *due_ns) {
            break;
        }
        let after = then.map_or(String::new(), |then| format!("{}\n", then.written_by));
        // If tc has ended, its message explains more than the broken pipe.
        if input.write_all(format!("{}\n{after}", lines.join("\n")).as_bytes()).is_err() {
            break;
        }
        if let Some(then) = then {
            if output.read_line(&mut line)? == 0 {
                break;
            }
            (then.act)()?;
        }
    }
    drop((input, output));
    let ended = tc.wait_with_output()?;
    if ended.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("tc: {}", String::from_utf8_lossy(&ended.stderr).trim())))
}
