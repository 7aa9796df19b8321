//! A processor for each machine. The emulator has two threads that hand over to each other at each timer and each idle
//! spell of the guest, some 17 times for a packet. On one processor that is a switch; between two, one processor
//! interrupts the other. What comes out is the same.

use crate::virtual_time::kernels::cache;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::path::Path;

/// A processor that no other machine of this user has while this value lives.
pub(crate) struct Processor {
    number: usize,
    _taken: File,
}

impl Processor {
    /// Reserves a processor that this process may use. `None` if all are reserved, or reservations cannot be stored: then the
    /// system schedules the threads.
    pub fn take() -> Option<Processor> {
        Processor::take_in(&cache().ok()?.join("processors"))
    }

    /// Takes one; `folder` has a file for each that was ever taken.
    fn take_in(folder: &Path) -> Option<Processor> {
        fs::create_dir_all(folder).ok()?;
        let allowed = sched_getaffinity(Pid::this()).ok()?;
        let mut numbers: Vec<usize> =
            (0..CpuSet::count()).filter(|&one| allowed.is_set(one).unwrap_or(false)).collect();
        // Other users' machines are invisible here: start at different processors.
        let first = std::process::id() as usize % numbers.len().max(1);
        numbers.rotate_left(first);
        numbers.into_iter().find_map(|number| {
            let taken = File::create(folder.join(number.to_string())).ok()?;
            taken.try_lock().ok()?;
            Some(Processor { number, _taken: taken })
        })
    }

    /// Puts the calling process there. Safe between fork and exec: one system call.
    pub fn enter(number: usize) -> std::io::Result<()> {
        let mut only = CpuSet::new();
        only.set(number)?;
        Ok(sched_setaffinity(Pid::from_raw(0), &only)?)
    }

    pub fn number(&self) -> usize {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn machines_get_different_processors() {
        let folder = tempfile::tempdir().expect("a folder");
        let taken: Vec<Processor> = std::iter::from_fn(|| Processor::take_in(folder.path())).collect();
        let numbers: BTreeSet<usize> = taken.iter().map(Processor::number).collect();
        assert!(!numbers.is_empty());
        assert_eq!(numbers.len(), taken.len());
        drop(taken);
        assert!(Processor::take_in(folder.path()).is_some());
    }
}
