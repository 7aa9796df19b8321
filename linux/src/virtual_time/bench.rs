//! A machine in which ordinary programs run: tests of what the kernel does, on a clock that nothing else moves.
//!
//! It is kept as the machines of runs are ([`base`](crate::virtual_time::base)), but Rapid is not loaded: a test loads what it tests.
//! Each program gets a copy of its own, so nothing that one leaves behind reaches another.

use crate::virtual_time::base::{Base, last_words};
use crate::virtual_time::error::VirtualError;
use crate::virtual_time::host::wait;
use crate::virtual_time::image::Program;
use crate::virtual_time::job::{self, Ended, Errand, answered};
use crate::virtual_time::kernels::Kernel;
use packetscale_models::units::Span;
use std::path::Path;

/// A kept machine, and what may run in it.
pub struct Bench {
    base: Base,
}

impl Bench {
    /// Finds it in the cache, or makes it. `own` is the first process: a program that calls [`crate::virtual_time::guest`] where it is
    /// process 1. `programs` come with the libraries that they are linked to.
    ///
    /// # Errors
    /// What is missing or failed.
    pub fn new(kernel: &Kernel, own: &Path, programs: &[Program]) -> Result<Bench, VirtualError> {
        Base::of(kernel, own, Some(programs)).map(|base| Bench { base })
    }

    /// Runs a program in a copy of the machine. Says from time to time how much of the machine's time has passed.
    ///
    /// # Errors
    /// Why there is no answer.
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
