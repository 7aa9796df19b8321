//! Loads and unloads the congestion control.

use crate::machine::{able, cgroup_root};
use crate::options::{CONTROL, OPTION, Options};
use crate::programs::{Programs, Receiver, broken};
use crate::selftest::Trial;
use crate::wire::bytes_of;
use crate::{Error, devices, pins, programs, selftest};
use libbpf_rs::{MapCore, MapHandle};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

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
            true => format!(
                "{name} is loaded already; `packetscale tcp unload` removes it, and another --name loads one beside it"
            ),
            false => format!("this kernel has a congestion control named {name} already, which is not ours"),
        }));
    }
    let undone = |error| {
        let _ = pins::among_pins(|| undo(name));
        error
    };
    let without_option = pins::among_pins(|| register(options)).map_err(undone)?.map(|error| error.to_string());
    match options.sender {
        // The trial connection is in the cgroup of this process.
        None => selftest::try_out(name, options.cgroup.is_none(), without_option).map_err(undone),
        Some(_) => Ok(Trial::default()),
    }
}

/// Returns whether Rapid is loaded or can be loaded, in words.
///
/// # Errors
/// What is missing.
pub fn readiness() -> Result<String, Error> {
    able()?;
    pins::among_pins(cgroup_root)?;
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
