//! Pins: a private BPF file system at `/run/packetscale` makes loads findable.
//!
//! ```text
//! NAME          the load of this name
//! NAME-COUNT    a replaced load of this name that still has connections
//! -arrivals     the programs that record and report arrivals: one copy for all names, removed with the last
//! -queues       the queue discipline, for all devices
//! ```
//!
//! It is not under `/sys/fs/bpf`, because `ip netns exec` mounts a fresh `/sys`, which hides it. It is always in the
//! mount namespace of process 1, because pins in a private mount namespace vanish with that namespace.

use crate::tcp::Error;
use crate::tcp::machine::able;
use crate::tcp::options::check_name;
use libbpf_rs::MapHandle;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ROOT: &str = "/run/packetscale";
/// The pin of the map that registers a controller of a file. That of Rapid has another name.
pub const USER_PIN: &str = "brought";
const ARRIVALS: &str = "-arrivals";
const QUEUES: &str = "-queues";
/// Lock file for changes of loads.
const LOCK: &str = "/run/packetscale.lock";
/// Maximum wait for the lock, and the poll interval.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

/// Folder of the load of this name.
pub fn folder(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

/// Returns the folder of the programs that all names share.
pub fn arrivals() -> PathBuf {
    Path::new(ROOT).join(ARRIVALS)
}

/// Returns the folder of the queue discipline.
pub fn queues() -> PathBuf {
    Path::new(ROOT).join(QUEUES)
}

/// Inode numbers of the first PID namespace (include/linux/proc_ns.h), and of the first mount namespace since Linux 6.17
/// (include/uapi/linux/nsfs.h).
const FIRST_PROCESSES: u64 = 0xEFFF_FFFC;
const FIRST_MOUNTS: u64 = 0xEFFF_FFF8;

fn namespace(kind: &str) -> Option<u64> {
    fs::metadata(format!("/proc/thread-self/ns/{kind}")).ok().map(|found| found.ino())
}

fn is_here(mounts: &File) -> bool {
    mounts.metadata().is_ok_and(|found| Some(found.ino()) == namespace("mnt"))
}

/// The mount namespace of process 1; `None`: this thread is in it.
fn of_process_1() -> Result<Option<File>, Error> {
    const FIRST: &str = "/proc/1/ns/mnt";
    match File::open(FIRST) {
        Ok(first) => Ok(Some(first).filter(|first| !is_here(first))),
        Err(_) if namespace("mnt") == Some(FIRST_MOUNTS) => Ok(None),
        Err(error) => Err(Error::Machine(format!(
            "{FIRST}: {error}: pins in another mount namespace than that of process 1 could end before what they hold; run this \
             outside of containers and of `unshare --mount`, with all capabilities of process 1"
        ))),
    }
}

/// Refuses a load from a container, whose process 1 and its mount namespace end before the kernel does.
pub fn lasting() -> Result<(), Error> {
    match namespace("pid") {
        Some(FIRST_PROCESSES) => Ok(()),
        _ => Err(Error::Machine(
            "this process is in a PID namespace of its own (a container), which may end before what it loads: load outside of it"
                .to_string(),
        )),
    }
}

/// Runs `work` in the mount namespace that has the pins, on a new thread, because a thread that enters a mount namespace stays
/// there.
pub fn among_pins<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    let first = of_process_1()?;
    let enter = || -> Result<(), nix::Error> {
        let Some(first) = first else { return Ok(()) };
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

/// Permission to change loads. The kernel releases it when the process ends.
pub struct Lock(#[expect(dead_code, reason = "the open file holds the lock")] File);

/// Waits for the lock.
pub fn lock() -> Result<Lock, Error> {
    let failed = |error: io::Error| Error::machine(LOCK, error);
    let began = Instant::now();
    among_pins(|| {
        loop {
            let file = File::options().write(true).create(true).truncate(false).open(LOCK).map_err(failed)?;
            match file.try_lock() {
                // Its last holder has removed the file, so no other process can find this lock.
                Ok(()) if !is_at(&file, LOCK) => {}
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => std::thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Machine(format!(
                        "{LOCK}: another packetscale tcp load or unload has been at work for {} s",
                        PATIENCE.as_secs()
                    )));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    })
}

fn is_at(file: &File, path: &str) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    file.metadata().ok().map(identity) == fs::metadata(path).ok().map(identity)
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = among_pins(|| fs::remove_file(LOCK).map_err(|error| Error::machine(LOCK, error)));
    }
}

fn is_mounted() -> bool {
    statfs(ROOT).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// Makes a folder, with the file system that holds it. Call this and the functions below inside [`among_pins`].
pub fn create(folder: &Path) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::machine(ROOT, error);
    if !is_mounted() {
        fs::create_dir_all(ROOT).map_err(|error| failed(&error))?;
        mount(Some("bpf"), ROOT, Some("bpf"), MsFlags::empty(), Some("mode=0700")).map_err(|error| failed(&error))?;
    }
    fs::create_dir(folder).map_err(|error| failed(&error))
}

/// Removes a folder, if it is there.
pub fn remove(folder: &Path) -> Result<(), Error> {
    match folder.exists() {
        true => fs::remove_dir_all(folder).map_err(|error| Error::machine(ROOT, error)),
        false => Ok(()),
    }
}

/// The folders of names. Some kernels put their own files into every BPF file system.
pub fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(ROOT).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.is_dir() && !path.ends_with(ARRIVALS) && !path.ends_with(QUEUES)).collect();
    found.sort();
    found
}

/// Folders of the load of this name and of earlier ones.
pub fn generations(name: &str) -> Vec<PathBuf> {
    let of_name = |path: &PathBuf| {
        let folder = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folder.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    folders().into_iter().filter(of_name).collect()
}

/// An unused folder for a load that is about to be replaced.
pub fn vacant(name: &str) -> PathBuf {
    let numbered = |number: u32| folder(&format!("{name}-{number}"));
    (1..).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| numbered(0))
}

/// After the last load is gone, removes the shared programs, and unmounts the file system.
pub fn leave_no_trace() -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::machine(ROOT, error);
    if !folders().is_empty() {
        return Ok(());
    }
    if is_mounted() {
        remove(&arrivals())?;
        if queues().exists() {
            return Ok(());
        }
        umount2(ROOT, MntFlags::empty()).map_err(|error| failed(&error))?;
    }
    if Path::new(ROOT).exists() {
        fs::remove_dir(ROOT).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Whether the load of this name is a user controller, registered or not.
pub fn is_user_controller(name: &str) -> Result<bool, Error> {
    among_pins(|| Ok(generations(name).iter().any(|folder| folder.join(USER_PIN).exists())))
}

/// The refusal of what only Rapid can do.
pub fn refuse_user_controller(name: &str) -> Result<(), Error> {
    match is_user_controller(name)? {
        true => Err(Error::Machine(format!(
            "{name} was loaded from a file: it has no measurements and no switch, and Rapid does not replace it; \
             `packetscale tcp status` and `unload` serve it"
        ))),
        false => Ok(()),
    }
}

pub fn not_loaded(name: &str) -> Error {
    Error::Machine(format!("{name} is not loaded; `packetscale tcp load` loads it"))
}

/// Opens a map of the congestion control loaded under `name`.
pub fn open(name: &str, map: &str) -> Result<MapHandle, Error> {
    check_name(name)?;
    able()?;
    refuse_user_controller(name)?;
    among_pins(|| {
        let folder = folder(name);
        if !folder.exists() {
            return Err(not_loaded(name));
        }
        if !folder.join(map).exists() {
            return Err(Error::Machine(format!(
                "a load or unload of {name} was interrupted: `packetscale tcp unload` cleans up"
            )));
        }
        MapHandle::from_pinned_path(folder.join(map)).map_err(|error| Error::machine(map, error))
    })
}
