//! Pins: our own BPF file system at `/run/packetscale`, with one folder per name, keeps what is loaded findable.
//!
//! It is not under `/sys/fs/bpf`, because `ip netns exec` mounts a fresh `/sys`, which hides it. It is always in the
//! mount namespace of process 1, because pins in a private mount namespace vanish with that namespace.

use crate::Error;
use crate::machine::able;
use libbpf_rs::MapHandle;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const ROOT: &str = "/run/packetscale";

/// Returns the folder for what is loaded under `name`.
pub fn folder(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

/// Runs `work` in the mount namespace that holds the pins. Uses a thread of its own, because a thread that enters a
/// mount namespace stays there.
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

/// Makes an empty folder for `name`. Call this and the functions below inside [`among_pins`].
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

/// Returns a pin called `pin` from any folder.
pub fn find(pin: &str) -> Option<PathBuf> {
    let folders = fs::read_dir(ROOT).ok()?;
    folders.filter_map(|folder| Some(folder.ok()?.path().join(pin))).find(|path| path.exists())
}

/// Removes the folder of `name`. With the last folder, unmounts the file system.
pub fn remove(name: &str) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::machine(ROOT, error);
    let folder = folder(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed(&error))?;
    }
    // Some kernels put their own files into every BPF file system, so only folders count.
    let is_folder = |entry: std::io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.path().is_dir());
    let empty = || fs::read_dir(ROOT).is_ok_and(|mut entries| !entries.any(is_folder));
    if is_mounted() && empty() {
        umount2(ROOT, MntFlags::empty()).map_err(|error| failed(&error))?;
        fs::remove_dir(ROOT).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Opens a map of the congestion control loaded under `name`.
pub fn open(name: &str, map: &str) -> Result<MapHandle, Error> {
    able()?;
    among_pins(|| {
        let folder = folder(name);
        if !folder.exists() {
            return Err(Error::Machine(format!("{name} is not loaded; `packetscale tcp load` loads it")));
        }
        MapHandle::from_pinned_path(folder.join(map)).map_err(|error| Error::machine(map, error))
    })
}
