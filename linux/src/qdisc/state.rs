//! What the queues know, as their maps have it.

use crate::qdisc::Qlbp;
use crate::tcp::objects::failed;
use crate::tcp::wire::{Plain, value_of};
use crate::tcp::{Error, machine, namespaces, pins};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::ffi::CStr;

pub const QUEUES: &str = "queues";
pub const SETTINGS: &str = "settings";

/// A device in its namespace: `struct place` of `linux/bpf/qdisc.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    netns: u32,
    device: u32,
}

/// `struct qlbp_settings` of `linux/bpf/qlbp.bpf.c`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Settings {
    mu_min: u64,
    mu_max: u64,
    q_max: u32,
    reserved: u32,
    limit: u32,
    also_reserved: u32,
}

/// `struct queue` of `linux/bpf/qlbp.bpf.c`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Raw {
    lock: [u32; 2],
    line: [u64; 2],
    pub place: Place,
    law: [u64; 3],
    ready_ns: u64,
    began_ns: u64,
    changed_ns: u64,
    waiting: u64,
    area: u64,
    queued: u64,
    sent: u64,
    dropped: u64,
}

// SAFETY: words, without padding.
unsafe impl Plain for Place {}
// SAFETY: words, without padding.
unsafe impl Plain for Settings {}
// SAFETY: words, without padding.
unsafe impl Plain for Raw {}

/// One queue, since it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its device; `None`: it is in another network namespace.
    pub device: Option<String>,
    /// Inode number of the network namespace.
    pub netns: u32,
    /// Index of the device.
    pub index: u32,
    /// Packets that wait.
    pub waiting: u64,
    /// Packets that came and were queued.
    pub queued: u64,
    /// Packets that left.
    pub sent: u64,
    /// Packets dropped at the limit.
    pub dropped: u64,
    /// Integral of the queue's length over time, in packets times nanoseconds, up to `changed_ns`.
    pub area: u64,
    /// When the queue began, and when its length last changed, of the monotonic clock.
    pub began_ns: u64,
    /// See `began_ns`.
    pub changed_ns: u64,
}

impl Settings {
    pub fn of(qlbp: &Qlbp) -> Settings {
        Settings {
            mu_min: qlbp.rate_min.bps() / 8,
            mu_max: qlbp.rate_max.bps() / 8,
            q_max: qlbp.q_max.get() as u32,
            reserved: 0,
            limit: qlbp.limit.get() as u32,
            also_reserved: 0,
        }
    }
}

impl Place {
    /// The device of this name, in the network namespace of this thread.
    pub fn of(device: &str) -> Result<Place, Error> {
        let unknown = |_| Error::Input(format!("--device: found {device}; expected a network device of this machine"));
        Ok(Place { device: nix::net::if_::if_nametoindex(device).map_err(unknown)?, netns: netns()? })
    }

    /// The name of the device, in this network namespace.
    fn name(self) -> Option<String> {
        let mut name = [0; nix::libc::IF_NAMESIZE];
        // SAFETY: room for a name.
        let found = unsafe { nix::libc::if_indextoname(self.device, name.as_mut_ptr()) };
        if found.is_null() || netns().ok() != Some(self.netns) {
            return None;
        }
        // SAFETY: the call has written a string that ends with zero.
        Some(unsafe { CStr::from_ptr(found) }.to_string_lossy().into_owned())
    }
}

fn netns() -> Result<u32, Error> {
    // The kernel's own field has 32 bits.
    Ok(namespaces::number()? as u32)
}

/// Opens a map of the load, among the pins.
pub fn map(name: &str) -> Result<MapHandle, Error> {
    MapHandle::from_pinned_path(pins::queues().join(name)).map_err(failed(name))
}

pub fn entries(queues: &MapHandle) -> Result<Vec<Raw>, Error> {
    let mut found = Vec::new();
    for key in queues.keys() {
        // One that has ended meanwhile has no value.
        let value = queues.lookup(&key, MapFlags::ANY).map_err(failed(QUEUES))?;
        found.extend(value.and_then(|bytes| value_of::<Raw>(&bytes)));
    }
    found.sort_by_key(|raw| (raw.place.netns, raw.place.device));
    Ok(found)
}

/// All queues of this machine.
///
/// # Errors
/// Not root, or this machine refuses.
pub fn status() -> Result<Vec<Queue>, Error> {
    machine::able()?;
    pins::among_pins(|| {
        if !pins::queues().join(QUEUES).exists() {
            return Ok(Vec::new());
        }
        let queue = |raw: Raw| Queue {
            device: raw.place.name(),
            netns: raw.place.netns,
            index: raw.place.device,
            waiting: raw.waiting,
            queued: raw.queued,
            sent: raw.sent,
            dropped: raw.dropped,
            area: raw.area,
            began_ns: raw.began_ns,
            changed_ns: raw.changed_ns,
        };
        Ok(entries(&map(QUEUES)?)?.into_iter().map(queue).collect())
    })
}
