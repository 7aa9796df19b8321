//! Where what is loaded can be found again: a BPF file system of our own at `/run/packetscale`, one folder per name.
//!
//! Not under `/sys/fs/bpf`: `ip netns exec` mounts a fresh `/sys`, which hides it. And always in the mount namespace of
//! process 1, whatever this process sees: what is pinned in a private one vanishes with it.

use crate::Error;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const ROOT: &str = "/run/packetscale";

/// The folder of what is loaded under `name`.
pub fn folder(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

/// Runs `work` where the pins are. On a thread of its own, since a mount namespace is entered for good.
pub fn among_pins<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    let enter = || -> Result<(), nix::Error> {
        let Ok(first) = File::open("/proc/1/ns/mnt") else { return Ok(()) };
        unshare(CloneFlags::CLONE_FS)?;
        setns(first, CloneFlags::CLONE_NEWNS)
    };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            enter().map_err(|error| Error::machine("entering the mount namespace of process 1", error))?;
            work()
        });
        worker.join().unwrap_or_else(|_| Err(Error::Machine("a worker thread panicked".to_string())))
    })
}

fn is_mounted() -> bool {
    statfs(ROOT).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// Makes the folder of `name`, empty. To be called among the pins, as all that follows.
pub fn create(name: &str) -> Result<PathBuf, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::machine(ROOT, error);
    if !is_mounted() {
        fs::create_dir_all(ROOT).map_err(|error| failed(&error))?;
        mount(Some("bpf"), ROOT, Some("bpf"), MsFlags::empty(), Some("mode=0700")).map_err(|error| failed(&error))?;
    }
    let folder = folder(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed(&error))?;
    }
    fs::create_dir(&folder).map_err(|error| failed(&error))?;
    Ok(folder)
}

/// A pin called `pin` in any folder.
pub fn find(pin: &str) -> Option<PathBuf> {
    let folders = fs::read_dir(ROOT).ok()?;
    folders.filter_map(|folder| Some(folder.ok()?.path().join(pin))).find(|path| path.exists())
}

/// Removes the folder of `name`, and the file system with the last one.
pub fn remove(name: &str) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::machine(ROOT, error);
    let folder = folder(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed(&error))?;
    }
    // Some kernels put files of their own into every BPF file system.
    let is_folder = |entry: std::io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.path().is_dir());
    let empty = || fs::read_dir(ROOT).is_ok_and(|mut entries| !entries.any(is_folder));
    if is_mounted() && empty() {
        umount2(ROOT, MntFlags::empty()).map_err(|error| failed(&error))?;
        fs::remove_dir(ROOT).map_err(|error| failed(&error))?;
    }
    Ok(())
}
