//! A machine that runs ordinary programs: tests of the kernel's behaviour with a deterministic clock.
//!
//! It is stored like the machines of runs ([`base`](crate::virtual_time::base)), but without Rapid: a test loads what it tests.
//! Each program gets a fresh copy, so programs cannot affect each other.

use crate::virtual_time::base::{Base, last_words};
use crate::virtual_time::error::VirtualError;
use crate::virtual_time::host::wait;
use crate::virtual_time::image::Program;
use crate::virtual_time::job::{self, Ended, Errand, answered};
use crate::virtual_time::kernels::Kernel;
use packetscale_models::units::Span;
use std::path::Path;

/// A stored machine, and its programs.
pub struct Bench {
    base: Base,
}

impl Bench {
    /// Loads it from the cache, or makes it. `own` is the first process: a program that calls [`crate::virtual_time::guest`] as
    /// process 1. `programs` include their shared libraries.
    ///
    /// # Errors
    /// What is missing or failed.
    pub fn new(kernel: &Kernel, own: &Path, programs: &[Program]) -> Result<Bench, VirtualError> {
        Base::of(kernel, own, Some(programs)).map(|base| Bench { base })
    }

    /// Runs a program in a copy of the machine. Reports the machine's time from time to time.
    ///
    /// # Errors
    /// Why it did not run.
    pub fn run(&self, errand: &Errand, reached: &(dyn Fn(Span) + Sync)) -> Result<Ended, VirtualError> {
        let place = tempfile::tempdir().map_err(VirtualError::doing("a temporary folder"))?;
        let mut machine = self.base.copy(place.path())?;
        machine.board.put(&job::write_errand(errand)?)?;
        machine.go_on()?;
        let cpu_s = wait(&mut machine, reached)?;
        let answer = machine.board.take();
        let ended = answered(&answer).and_then(|text| serde_json::from_slice(text).map_err(VirtualError::doing("it")));
        ended
            .map(|ended: Ended| Ended { cpu_s, ..ended })
            .map_err(|error| VirtualError(format!("{error}; {}", last_words(&place.path().join("console")))))
    }

    /// The kernel's release.
    pub fn release(&self) -> &str {
        &self.base.facts.release
    }
}
