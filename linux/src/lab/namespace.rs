//! Network namespaces without a name in the file system. Each exists while a descriptor, a thread or a socket of
//! this process refers to it. When the process ends, killed or not, the kernel removes its namespaces, their devices,
//! queues and attached programs, so no cleanup is needed.
//!
//! To look inside during a run, use `nsenter --net --target TID`. TID is the thread of this process that has the host's
//! name (`ps -L -o tid,comm`).

use crate::lab::error::LabError;
use harness::realtime::priority::{Urgency, set_priority};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// One host of the lab. Clones name the same host.
#[derive(Clone)]
pub(crate) struct Namespace {
    /// Its name in messages, and the name of its threads.
    pub name: &'static str,
    descriptor: Arc<OwnedFd>,
}

impl Namespace {
    /// Makes an empty namespace, whose loopback device is down.
    pub fn new(name: &'static str) -> Result<Namespace, LabError> {
        let made = std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                unshare(CloneFlags::CLONE_NEWNET).map_err(std::io::Error::from)?;
                File::open("/proc/thread-self/ns/net")
            });
            inside.join().unwrap_or_else(|_| Err(std::io::Error::other("the thread ended early")))
        });
        let descriptor: File = made.map_err(LabError::doing("a network namespace cannot be made"))?;
        Ok(Namespace { name, descriptor: Arc::new(descriptor.into()) })
    }

    /// Moves the calling thread into it. The thread stays there.
    pub fn enter(&self) -> std::io::Result<()> {
        setns(&*self.descriptor, CloneFlags::CLONE_NEWNET).map_err(std::io::Error::from)
    }

    /// Runs `what` inside, on a new thread.
    pub fn inside<T: Send>(&self, what: impl FnOnce() -> Result<T, LabError> + Send) -> Result<T, LabError> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name(self.name.to_string()).spawn_scoped(scope, || {
                self.enter().map_err(LabError::doing(format!("the {} cannot be entered", self.name)))?;
                what()
            });
            let thread = thread.map_err(LabError::doing("no thread to run on"))?;
            thread.join().unwrap_or_else(|_| Err(LabError(format!("a thread of the {} failed", self.name))))
        })
    }

    /// Returns a path by which other programs can name this namespace while this process lives.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.descriptor.as_raw_fd())
    }

    /// Runs these lines of `ip` inside.
    pub fn ip(&self, lines: &[String]) -> Result<(), LabError> {
        self.batch("ip", lines)
    }

    /// Runs these lines of `tc` inside.
    pub fn tc(&self, lines: &[String]) -> Result<(), LabError> {
        self.batch("tc", lines)
    }

    /// Writes a setting below `/proc/sys/net/`.
    pub fn sysctl(&self, key: &str, value: &str) -> Result<(), LabError> {
        let path = format!("/proc/sys/net/{key}");
        self.inside(|| std::fs::write(&path, value).map_err(LabError::doing(format!("{path} = {value}"))))
    }

    fn batch(&self, program: &str, lines: &[String]) -> Result<(), LabError> {
        self.inside(|| {
            let mut command = Command::new(program);
            command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
            let child = command.spawn();
            let mut child = child.map_err(LabError::doing(format!("{program} (Debian package iproute2)")))?;
            let mut text = lines.join("\n");
            text.push('\n');
            let fed = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
            let output = child.wait_with_output().map_err(LabError::doing(program))?;
            if output.status.success() {
                return fed.map_err(LabError::doing(program));
            }
            Err(LabError(self.complaint(program, lines, &String::from_utf8_lossy(&output.stderr))))
        })
    }

    /// Returns which line of the batch was refused, and why. Both programs end with `Command failed -:LINE`.
    fn complaint(&self, program: &str, lines: &[String], output: &str) -> String {
        let number = output.rsplit("-:").next().and_then(|rest| rest.trim().parse::<usize>().ok());
        let line = number.and_then(|number| lines.get(number.checked_sub(1)?)).map_or("", String::as_str);
        let reason: Vec<&str> = output.lines().filter(|line| !line.starts_with("Command failed")).collect();
        format!("in the {}: {program} {line}: {}", self.name, reason.join("; "))
    }
}

/// Starts a thread in a namespace, and names it after the host. Its stack is small: there may be thousands of threads.
pub(crate) fn spawn<T: Send + 'static>(
    place: &Namespace,
    urgency: Urgency,
    what: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<JoinHandle<io::Result<T>>> {
    let place = place.clone();
    Builder::new().name(place.name.to_string()).stack_size(128 * 1024).spawn(move || {
        place.enter()?;
        set_priority(urgency)?;
        what()
    })
}
