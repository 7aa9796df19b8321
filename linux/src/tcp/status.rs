//! The state of the connections: what they measure and do.

use crate::tcp::config::Settings;
use crate::tcp::counters::{Counters, counters};
use crate::tcp::options::MIB;
use crate::tcp::report::{Address, Fallen, Mode, Report};
use crate::tcp::wire::value_of;
use crate::tcp::{Error, list, pins};
use libbpf_rs::{MapCore, MapFlags};
use std::collections::{BTreeMap, BTreeSet};

/// The state of the congestion control loaded under a name.
#[derive(Clone, Debug)]
pub struct Status {
    /// Maximum number of concurrent Rapid connections.
    pub flows: u32,
    /// Most packets in flight of one of them.
    pub window: u32,
    /// Bytes of kernel memory that the load has taken.
    pub memory: u64,
    /// Whether Rapid is switched off.
    pub off: bool,
    /// Whether there are no new connections, because it is unloaded when the others have ended.
    pub draining: bool,
    /// Connections steered by Rapid now.
    pub connections: Vec<Report>,
    /// The slot of each connection in `connections`; events name connections by their slots.
    pub slots: Vec<u32>,
    /// The connections that CUBIC has taken over: those that have not ended, and the latest of the others.
    pub fallen: Vec<(Address, Fallen)>,
    /// The addresses of those that have not ended. Without the kernel's list it is empty, and `fallen` has the latest only.
    pub open: BTreeSet<Address>,
    /// Why the kernel does not list the connections that CUBIC has taken over, if it does not.
    pub unlisted: Option<String>,
    /// Totals of all connections.
    pub counters: Counters,
    /// The present time by the monotonic clock, nanoseconds.
    pub now_ns: u64,
}

/// Maximum number of concurrent Rapid connections.
///
/// # Errors
/// Nothing is loaded under `name`.
pub fn flows(name: &str) -> Result<u32, Error> {
    Ok(pins::open(name, "conns")?.max_entries() - 1)
}

/// Bytes of kernel memory of the load.
///
/// # Errors
/// Nothing is loaded under `name`.
pub fn memory(name: &str) -> Result<u64, Error> {
    Ok(u64::from(Settings::of(name)?.read()?.memory_mib) * MIB)
}

/// Whether Rapid is switched off, and whether it is unloaded once its connections have ended.
///
/// # Errors
/// Nothing is loaded under `name`.
pub fn switched(name: &str) -> Result<(bool, bool), Error> {
    let config = Settings::of(name)?.read()?;
    Ok((config.is_off(), config.is_draining()))
}

/// Reads the state of every connection.
///
/// # Errors
/// Nothing is loaded under `name`, or its maps cannot be read.
pub fn status(name: &str) -> Result<Status, Error> {
    let conns = pins::open(name, "conns")?;
    let fallen = pins::open(name, "fallen")?;
    let flows = conns.max_entries() - 1;
    let read = |error| Error::machine("reading the state of connections", error);
    let (mut connections, mut slots) = (Vec::new(), Vec::new());
    for slot in 1..=flows {
        let value = conns.lookup(&slot.to_ne_bytes(), MapFlags::ANY).map_err(read)?;
        let report: Option<Report> = value.and_then(|bytes| value_of(&bytes));
        if let Some(report) = report.filter(|report| report.mode() != Mode::Free) {
            connections.push(report);
            slots.push(slot);
        }
    }
    let mut taken = Vec::new();
    for key in fallen.keys() {
        let value = fallen.lookup(&key, MapFlags::ANY).map_err(read)?;
        taken.extend(value_of(&key).zip(value.and_then(|bytes| value_of::<Fallen>(&bytes))));
    }
    let listed = pins::among_pins(|| list::read(&pins::folder(name)))?;
    let (open, unlisted) = listed.map_or_else(|why| (BTreeMap::new(), Some(why)), |open| (open, None));
    taken.retain(|(address, _)| !open.contains_key(address));
    taken.extend(open.iter().map(|(address, fallen)| (*address, *fallen)));
    taken.sort_by_key(|(_, fallen): &(Address, Fallen)| fallen.at_ns);
    let open = open.into_keys().collect();
    let config = Settings::of(name)?.read()?;
    Ok(Status {
        flows,
        window: config.window,
        memory: u64::from(config.memory_mib) * MIB,
        off: config.is_off(),
        draining: config.is_draining(),
        connections,
        slots,
        fallen: taken,
        open,
        unlisted,
        counters: counters(name)?,
        now_ns: now_ns(),
    })
}

/// Returns the present time by the programs' clock, nanoseconds.
pub fn now_ns() -> u64 {
    let now =
        nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap_or(nix::sys::time::TimeSpec::new(0, 0));
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}
