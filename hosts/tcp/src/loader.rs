//! Loads and unloads the congestion control.

use crate::programs::{Programs, Receiver, broken};
use crate::report::Config;
use crate::selftest::Trial;
use crate::wire::bytes_of;
use crate::{Error, devices, pins, programs, selftest};
use libbpf_rs::{MapCore, MapHandle};
use rapid::Params;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use units::{Bytes, Span};

/// The map that registers the congestion control, and its usual name.
pub const CONTROL: &str = "rapid";
/// The program that records arrivals.
pub const STAMP: &str = "stamp_arrival";
/// The program of the option, and where its link is pinned.
const OPTION: &str = "stamp_option";

/// What to load, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the congestion control.
    pub name: String,
    /// The law's settings. Each connection uses its own packet size.
    pub params: Params,
    /// Most connections that Rapid steers at a time; CUBIC steers the others.
    pub flows: u32,
    /// The most of each gap that is spent waiting in a loop: better gaps, at the price of a busy processor.
    pub spin: Span,
    /// Devices that shall send packets one by one.
    pub devices: Vec<String>,
    /// Whether connections of other congestion controls offer arrival times too. This serves senders that use Rapid but
    /// did not open the connection.
    pub volunteer: bool,
    /// The cgroup2 whose sockets may negotiate the TCP option. `None`: the root, and so every socket.
    pub cgroup: Option<PathBuf>,
    /// For tests: how arrivals are falsified (`enum lie`).
    #[doc(hidden)]
    pub lie: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            name: CONTROL.to_string(),
            params: Params::new(Bytes::new(1500)),
            flows: 256,
            spin: Span::ZERO,
            devices: Vec::new(),
            volunteer: false,
            cgroup: None,
            lie: 0,
        }
    }
}

/// Most flows. Each takes 170 kB of kernel memory: 4096 records of 32 B, 256 streams of 144 B, 3008 B of state.
const MOST_FLOWS: u32 = 16384;
/// Spinning holds back the bottom halves of interrupts, so it must stay short.
const LONGEST_SPIN: Span = Span::from_micros(50);

/// The law averages over round trips. Between two hosts of one machine, where no delay is added, a round trip takes
/// some microseconds, and an average over it would measure the noise of timers.
const SHORTEST_ROUND_TRIP: Span = Span::from_millis(20);

impl Options {
    fn check(&self) -> Result<(), Error> {
        let wrong = |message: String| Err(Error::Input(message));
        if self.name.is_empty()
            || self.name.len() > 15
            || !self.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        {
            return wrong(format!("name {:?}: expected 1 to 15 letters, digits or underscores", self.name));
        }
        if self.flows == 0 || self.flows > MOST_FLOWS {
            return wrong(format!("flows = {}: expected 1 to {MOST_FLOWS}", self.flows));
        }
        if self.spin > LONGEST_SPIN {
            return wrong(format!("spin = {} ns: expected at most {} ns", self.spin.nanos(), LONGEST_SPIN.nanos()));
        }
        Ok(())
    }

    pub(super) fn config(&self) -> Config {
        Config {
            params: Params { shortest_round_trip: SHORTEST_ROUND_TRIP, ..self.params }.raw(),
            log: 0,
            lie: self.lie,
            spin_ns: self.spin.nanos() as u32,
            option_noise_ns: 5_000,
            timestamp_noise_ns: 10_000,
            reserved: 0,
        }
    }
}

/// Returns the bytes of `struct rapid_params` with which connections begin; only the packet size differs.
pub fn raw_params(options: &Options) -> Vec<u8> {
    bytes_of(&options.config().params).to_vec()
}

/// Whether the kernel has a congestion control of this name, whoever registered it.
pub fn is_registered(name: &str) -> bool {
    let listed = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    listed.split_whitespace().any(|word| word == name)
}

/// Registers the congestion control, and tries it with one connection.
///
/// # Errors
/// The options are not valid, the name is loaded already, or this machine cannot run it. A failed load leaves nothing
/// behind.
pub fn load(options: &Options) -> Result<Trial, Error> {
    options.check()?;
    able()?;
    let name = options.name.as_str();
    if is_registered(name) {
        return Err(Error::Machine(match pins::among_pins(|| Ok(pins::folder(name).join(CONTROL).exists()))? {
            true => format!("{name} is loaded already; `packetscale tcp unload` removes it"),
            false => format!("this kernel has a congestion control named {name} already, which is not ours"),
        }));
    }
    let undone = |error| {
        let _ = pins::among_pins(|| undo(name));
        error
    };
    let without_option = pins::among_pins(|| register(options)).map_err(undone)?.map(|error| error.to_string());
    match options.lie {
        // The trial connection is in the cgroup of this process.
        0 => selftest::try_out(name, options.cgroup.is_none(), without_option).map_err(undone),
        _ => Ok(Trial::default()),
    }
}

/// Checks what every load needs.
fn able() -> Result<(), Error> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::Machine("loading needs root; try sudo".to_string()));
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(Error::Machine(
            "/sys/kernel/btf/vmlinux does not exist: this kernel was built without CONFIG_DEBUG_INFO_BTF".to_string(),
        ));
    }
    Ok(())
}

/// Returns whether Rapid is loaded or can be loaded, in words.
///
/// # Errors
/// What is missing.
pub fn readiness() -> Result<String, Error> {
    able()?;
    cgroup_root()?;
    devices::able()?;
    if !is_registered(CONTROL) {
        return Ok("can be loaded: packetscale tcp load".to_string());
    }
    let status = crate::status(CONTROL)?;
    Ok(format!("loaded; {} of {} connections", status.connections.len(), status.flows))
}

fn register(options: &Options) -> Result<Option<Error>, Error> {
    let folder = pins::create(&options.name)?;
    let mut programs = Programs::load(options)?;
    programs.settle(options, &folder)?;
    if let Some(receiver) = &programs.receiver {
        attach_option(receiver, options.cgroup.as_deref(), &folder)?;
    }
    programs::ask(&options.name)?;
    devices::prepare(&folder, &options.devices)?;
    let mut control = programs.sender.maps_mut().find(|map| map.name() == CONTROL).ok_or_else(|| broken(CONTROL))?;
    // The kernel keeps the registration until its map's entry is deleted. Dropping the link would delete it.
    std::mem::forget(control.attach_struct_ops().map_err(|error| Error::machine("registering", format!("{error:#}")))?);
    Ok(programs.without_option)
}

/// Attaches the TCP option to the connections of a cgroup.
fn attach_option(receiver: &Receiver, cgroup: Option<&Path>, folder: &Path) -> Result<(), Error> {
    let cgroup = cgroup.map_or_else(cgroup_root, |cgroup| Ok(cgroup.to_path_buf()))?;
    let what = format!("attaching the TCP option to the cgroup {}", cgroup.display());
    let failed = |error: &dyn std::fmt::Display| Error::machine(&what, error);
    let root = File::open(&cgroup).map_err(|error| failed(&error))?;
    let program = receiver.option.progs_mut().find(|program| program.name() == OPTION).ok_or_else(|| broken(OPTION))?;
    let mut link = program.attach_cgroup(root.as_raw_fd()).map_err(|error| failed(&error))?;
    link.pin(folder.join(OPTION)).map_err(|error| failed(&error))
}

/// Returns where cgroup2 is mounted.
fn cgroup_root() -> Result<PathBuf, Error> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut words = mounts.lines().map(|line| line.split(' '));
    words
        .find_map(|mut line| Some((line.nth(1)?, line.next()?)).filter(|(_, kind)| *kind == "cgroup2"))
        .map(|(place, _)| PathBuf::from(place))
        .ok_or_else(|| Error::Machine("cgroup2 is not mounted; the TCP option needs it".to_string()))
}

/// Opens a map of the congestion control loaded under `name`.
pub(super) fn open(name: &str, map: &str) -> Result<MapHandle, Error> {
    able()?;
    pins::among_pins(|| {
        let folder = pins::folder(name);
        if !folder.exists() {
            return Err(Error::Machine(format!("{name} is not loaded; `packetscale tcp load` loads it")));
        }
        MapHandle::from_pinned_path(folder.join(map)).map_err(|error| Error::machine(map, error))
    })
}

/// Removes the congestion control, and restores what the load changed. Connections that use it keep it until they end.
/// Returns whether there was anything to remove.
///
/// # Errors
/// This machine refused a step.
pub fn unload(name: &str) -> Result<bool, Error> {
    able()?;
    pins::among_pins(|| {
        let there = pins::folder(name).exists();
        undo(name)?;
        Ok(there)
    })
}

/// Undoes every step of a load in reverse order; skips steps that were not made.
fn undo(name: &str) -> Result<(), Error> {
    let folder = pins::folder(name);
    if folder.join(CONTROL).exists() {
        let control =
            MapHandle::from_pinned_path(folder.join(CONTROL)).map_err(|error| Error::machine(CONTROL, error))?;
        // Fails where it was never registered; then there is nothing to delete.
        let _ = control.delete(&0u32.to_ne_bytes());
    }
    devices::restore(&folder)?;
    programs::ask_no_more(name)?;
    pins::remove(name)
}
