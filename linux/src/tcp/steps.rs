//! The steps of loading and unloading. Whoever takes them holds the lock of [`pins`].

use crate::tcp::options::{CONTROL, ON_TRIAL, Options};
use crate::tcp::pins::USER_PIN;
use crate::tcp::programs::Programs;
use crate::tcp::registration::{self, LINK};
use crate::tcp::report::{Mode, Report, SWITCHED_CLOSED, SWITCHED_OFF};
use crate::tcp::selftest::Trial;
use crate::tcp::wire::value_of;
use crate::tcp::{Error, config, devices, lost, machine, namespaces, pins, programs, selftest};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Checks what every load needs, before it begins.
pub fn able_to_load() -> Result<(), Error> {
    machine::able()?;
    machine::may_load()?;
    pins::lasting()?;
    devices::able()
}

/// Whether the kernel has a congestion control of this name, whoever registered it.
pub fn is_registered(name: &str) -> bool {
    let listed = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    listed.split_whitespace().any(|word| word == name)
}

/// Whether we have loaded something under this name, or begun to.
pub fn is_ours(name: &str) -> Result<bool, Error> {
    pins::among_pins(|| Ok(!pins::generations(name).is_empty()))
}

pub fn not_ours(name: &str) -> Error {
    Error::Machine(format!("this kernel has a congestion control named {name} already, which is not ours"))
}

/// Number of connections that use the load in this folder.
pub fn active(folder: &Path) -> usize {
    if let Ok(control) = MapHandle::from_pinned_path(folder.join(USER_PIN)) {
        return users(&control).saturating_sub(usize::from(folder.join(LINK).exists()));
    }
    let Ok(conns) = MapHandle::from_pinned_path(folder.join("conns")) else { return 0 };
    let is_used = |slot: &u32| {
        let bytes = conns.lookup(&slot.to_ne_bytes(), MapFlags::ANY).ok().flatten();
        bytes.and_then(|bytes| value_of::<Report>(&bytes)).is_some_and(|report| report.mode() != Mode::Free)
    };
    (1..conns.max_entries()).filter(is_used).count()
}

/// Users of a registering map, as the kernel counts them, and the link that registers it.
fn users(control: &MapHandle) -> usize {
    /// `BPF_STRUCT_OPS_STATE_INUSE` of kernel/bpf/bpf_struct_ops.c: the registration is there.
    const IN_USE: u32 = 1;
    let Ok(Some(value)) = control.lookup(&0u32.to_ne_bytes(), MapFlags::ANY) else { return 0 };
    let word =
        |at: usize| value.get(at..at + 4).map_or(0, |word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
    let (count, state) = (word(0), word(4));
    count.saturating_sub(u32::from(state == IN_USE)) as usize
}

/// Removes the folders without users; returns the number of connections of the others.
pub fn remove_unused(folders: Vec<PathBuf>) -> Result<usize, Error> {
    let mut used = 0;
    for folder in folders {
        match active(&folder) {
            0 => pins::remove(&folder)?,
            some => used += some,
        }
    }
    Ok(used)
}

/// Loads under a name without a load.
pub fn load_afresh(options: &Options) -> Result<Trial, Error> {
    let name = options.name.as_str();
    let undone = |error| {
        let _ = pins::among_pins(|| undo(name));
        error
    };
    let programs = pins::among_pins(|| register(options)).map_err(undone)?;
    let [without_option, without_list] =
        [programs.without_option, programs.without_list].map(|why| why.map(|error| error.to_string()));
    let trial = match options.sender {
        // The trial connection is in the cgroup of this process.
        None => selftest::try_out(name, options.cgroup.is_none(), without_option).map_err(undone)?,
        Some(_) => Trial::default(),
    };
    Ok(Trial { without_list, ..trial })
}

fn register(options: &Options) -> Result<Programs, Error> {
    let folder = pins::folder(&options.name);
    let mut programs = provide(options, &folder)?;
    devices::prepare(&folder, &options.devices)?;
    attach(&mut programs, &folder)?;
    Ok(programs)
}

/// Loads the programs, and keeps in `folder` what later commands need; connections do not use them yet.
pub fn provide(options: &Options, folder: &Path) -> Result<Programs, Error> {
    pins::create(folder)?;
    let mut programs = Programs::load(options)?;
    programs.settle(options, folder)?;
    if let Some(receiver) = &mut programs.receiver {
        let cgroup = options.cgroup.clone().map_or_else(machine::cgroup_root, Ok)?;
        receiver.settle(&cgroup)?;
    }
    programs::ask(&options.name)?;
    Ok(programs)
}

/// Registers the congestion control; `folder` keeps the registration.
pub fn attach(programs: &mut Programs, folder: &Path) -> Result<(), Error> {
    registration::register(&mut programs.sender, OsStr::new(CONTROL), folder)
}

pub fn unload_locked(name: &str) -> Result<bool, Error> {
    pins::among_pins(|| {
        let there = !pins::generations(name).is_empty();
        undo(ON_TRIAL)?;
        undo(name)?;
        let lost = lost::unregister(name);
        let restored = lost::restore_devices()?;
        if is_registered(name) && !namespaces::is_always(name) {
            return Err(not_ours(name));
        }
        Ok(there || lost || restored)
    })
}

/// Undoes every step of a load in reverse order; skips steps that were not made.
pub fn undo(name: &str) -> Result<(), Error> {
    let folders = pins::generations(name);
    folders.iter().try_for_each(|folder| registration::unregister(folder))?;
    if !folders.is_empty() {
        namespaces::set_default(name, None)?;
        programs::ask_no_more(name)?;
    }
    for folder in folders {
        // Arrivals may continue under another name, so its connections must be ended explicitly. Another version's settings have
        // an unknown layout; its connections end without it.
        let _ = config::switch(&folder, SWITCHED_CLOSED | SWITCHED_OFF);
        devices::restore(&folder)?;
        pins::remove(&folder)?;
    }
    pins::leave_no_trace()
}
