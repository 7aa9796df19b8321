//! Network namespaces: which there are, which is which, and work inside one.

use crate::tcp::Error;
use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const HERE: &str = "/proc/thread-self/ns/net";

/// A network namespace. The kernel gives the number of its file to another once it is gone, its cookie never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub cookie: u64,
    pub number: u64,
}

/// The namespace of this thread.
pub fn here() -> Result<Identity, Error> {
    Ok(Identity { cookie: cookie()?, number: number()? })
}

/// Inode number of the namespace of this thread.
pub fn number() -> Result<u64, Error> {
    Ok(fs::metadata(HERE).map_err(|error| Error::machine(HERE, error))?.ino())
}

fn cookie() -> Result<u64, Error> {
    let failed = |error: std::io::Error| Error::machine("the cookie of a network namespace", error);
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
        .map_err(|error| failed(error.into()))?;
    let (mut cookie, mut size) = (0u64, size_of::<u64>() as libc::socklen_t);
    // SAFETY: the kernel writes one double word, which outlives the call.
    let refused = unsafe {
        let place = (&raw mut cookie).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_NETNS_COOKIE, place, &mut size)
    };
    if refused == 0 { Ok(cookie) } else { Err(failed(std::io::Error::last_os_error())) }
}

/// Of include/uapi/asm-generic/socket.h, Linux 5.14.
const SO_NETNS_COOKIE: libc::c_int = 71;

/// Every namespace that a mount, or a process, holds.
fn places() -> impl Iterator<Item = PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path().join("ns/net"));
    [PathBuf::from(HERE)].into_iter().chain(mounted()).chain(processes)
}

/// Where network namespaces are mounted: under `/run/netns` by `ip netns`, elsewhere by others.
fn mounted() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap_or_default();
    mounts.lines().filter_map(mounted_namespace).collect()
}

/// Parses a line of `/proc/PID/mountinfo` (proc_pid_mountinfo(5)): the fourth word is the mounted root, the fifth the mount
/// point; a space there is `\040`.
fn mounted_namespace(line: &str) -> Option<PathBuf> {
    let mut words = line.split(' ').skip(3);
    let (what, place) = (words.next()?, words.next()?);
    what.starts_with("net:[").then(|| PathBuf::from(place.replace(r"\040", " ")))
}

/// Runs `work` in each of them, once.
pub fn each(work: impl Fn() -> Result<(), Error> + Sync) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for place in places() {
        let Ok(found) = fs::metadata(&place) else { continue };
        if seen.insert(found.ino()) {
            enter(&place, &work)?;
        }
    }
    Ok(())
}

/// Runs `work` in this namespace, if it is still there.
pub fn within(wanted: Identity, work: impl Fn() -> Result<(), Error> + Sync) -> Result<(), Error> {
    if here()? == wanted {
        return work();
    }
    let place = places().find(|place| fs::metadata(place).is_ok_and(|found| found.ino() == wanted.number));
    let Some(place) = place else { return Ok(()) };
    enter(&place, || if here()? == wanted { work() } else { Ok(()) })
}

/// Runs on a new thread, because a thread that enters a namespace stays there. Skips a namespace that is gone.
fn enter(place: &Path, work: impl FnOnce() -> Result<(), Error> + Send) -> Result<(), Error> {
    let Ok(namespace) = File::open(place) else { return Ok(()) };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| match setns(&namespace, CloneFlags::CLONE_NEWNET) {
            Ok(()) => work(),
            // An unmounted name, not a namespace.
            Err(nix::Error::EINVAL) => Ok(()),
            Err(error) => Err(Error::machine("a network namespace", error)),
        });
        worker.join().unwrap_or_else(|_| Err(Error::Machine("a worker thread panicked".to_string())))
    })
}

/// The current namespace's default congestion control.
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// The namespace that the machine began with, and what every kernel can use.
const FIRST: &str = "/proc/1/ns/net";
const ALWAYS: [&str; 2] = ["cubic", "reno"];

/// Whether this is a controller of the kernel's own that no load can have left.
pub fn is_always(name: &str) -> bool {
    ALWAYS.contains(&name)
}

fn default_here() -> String {
    fs::read_to_string(DEFAULT).unwrap_or_default().trim().to_string()
}

/// Wherever `name` is the default, replaces it by the first that the kernel accepts: `wanted`, the default of the first
/// namespace (or of this one, if that is not readable), CUBIC. A namespace keeps its default even after that is unregistered;
/// setting the same name again selects the current registration.
pub fn set_default(name: &str, wanted: Option<&str>) -> Result<(), Error> {
    let first = Mutex::new(String::new());
    enter(Path::new(FIRST), || {
        *first.lock().unwrap_or_else(PoisonError::into_inner) = default_here();
        Ok(())
    })?;
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    let own = default_here();
    // Empty if process 1's namespace is not readable; writing an empty word changes nothing, without an error.
    let first = [first.as_str(), &own].into_iter().find(|first| !first.is_empty()).filter(|first| *first != name);
    each(|| {
        let mut instead = wanted.into_iter().chain(first).chain(ALWAYS);
        match default_here() != name || instead.any(|other| fs::write(DEFAULT, other).is_ok()) {
            true => Ok(()),
            false => Err(Error::Machine(format!("{DEFAULT} stays {name}: the kernel accepts no other controller"))),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as Linux 6.1 has them.
    #[test]
    fn finds_network_namespace_at_any_mount() {
        let found = |line| mounted_namespace(line).map(|place| place.display().to_string());
        let named = "36 33 0:4 net:[4026532281] /run/netns/one rw - nsfs nsfs rw";
        assert_eq!(found(named), Some("/run/netns/one".to_string()));
        let elsewhere = r"37 1 0:4 net:[4026532290] /var/lib/my\040pods/two rw shared:9 - nsfs nsfs rw";
        assert_eq!(found(elsewhere), Some("/var/lib/my pods/two".to_string()));
        assert_eq!(found("38 1 0:4 mnt:[4026532291] /run/three rw - nsfs nsfs rw"), None);
        assert_eq!(found("22 1 0:20 / /proc rw - proc proc rw"), None);
    }
}
