//! Loads and unloads the congestion control.

use crate::machine::{able, cgroup_root};
use crate::options::{CONTROL, Options};
use crate::programs::{Programs, broken};
use crate::selftest::Trial;
use crate::wire::bytes_of;
use crate::{Error, devices, drain, namespaces, pins, programs, replace, selftest};
use libbpf_rs::{MapCore, MapHandle};
use std::fs;
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

/// Whether we have loaded something under this name, or begun to.
pub fn is_ours(name: &str) -> Result<bool, Error> {
    pins::among_pins(|| Ok(!pins::generations(name).is_empty()))
}

pub fn not_ours(name: &str) -> Error {
    Error::Machine(format!("this kernel has a congestion control named {name} already, which is not ours"))
}

/// Registers the congestion control, and tries it with one connection. What a load that was killed has left is undone first.
/// Connections of what is being unloaded under this name go on.
///
/// # Errors
/// The options are not valid, the name is loaded already, or this machine cannot run it. A failed load leaves nothing
/// behind.
pub fn load(options: &Options) -> Result<Trial, Error> {
    options.check()?;
    able()?;
    let name = options.name.as_str();
    let _lock = pins::lock()?;
    if is_registered(name) {
        return Err(match is_ours(name)? {
            true => Error::Machine(format!(
                "{name} is loaded already; --replace puts another in its place, `packetscale tcp unload` removes it, and \
                 another --name loads one beside it"
            )),
            false => not_ours(name),
        });
    }
    if pins::among_pins(|| Ok(pins::generations(name).iter().any(|folder| drain::active(folder) > 0)))? {
        return replace::over(options).map(|replaced| replaced.trial);
    }
    pins::among_pins(|| undo(name))?;
    load_afresh(options)
}

/// Loads where nothing is loaded under this name.
pub fn load_afresh(options: &Options) -> Result<Trial, Error> {
    let name = options.name.as_str();
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
    let folder = pins::folder(&options.name);
    let mut programs = provide(options, &folder)?;
    devices::prepare(&folder, &options.devices)?;
    attach(&mut programs)?;
    Ok(programs.without_option)
}

/// Loads the programs, and keeps in `folder` what later commands need; connections do not use them yet.
pub fn provide(options: &Options, folder: &Path) -> Result<Programs, Error> {
    pins::create(folder)?;
    let mut programs = Programs::load(options)?;
    programs.settle(options, folder)?;
    if let Some(receiver) = &mut programs.receiver {
        let cgroup = options.cgroup.clone().map_or_else(cgroup_root, Ok)?;
        receiver.settle(&cgroup)?;
    }
    programs::ask(&options.name)?;
    Ok(programs)
}

/// Registers the congestion control.
pub fn attach(programs: &mut Programs) -> Result<(), Error> {
    let mut control = programs.sender.maps_mut().find(|map| map.name() == CONTROL).ok_or_else(|| broken(CONTROL))?;
    // The kernel keeps the registration until its map's entry is deleted. Dropping the link would delete it.
    std::mem::forget(control.attach_struct_ops().map_err(|error| Error::machine("registering", format!("{error:#}")))?);
    Ok(())
}

/// From now on, the name of what is in this folder finds nothing.
pub fn unregister(folder: &Path) -> Result<(), Error> {
    let pinned = folder.join(CONTROL);
    if pinned.exists() {
        let control = MapHandle::from_pinned_path(pinned).map_err(|error| Error::machine(CONTROL, error))?;
        // Fails where it was never registered; then there is nothing to delete.
        let _ = control.delete(&0u32.to_ne_bytes());
    }
    Ok(())
}

/// Removes the congestion control, and restores what the load changed. CUBIC takes its connections over once no arrivals
/// are told any more. Returns whether there was anything to remove.
///
/// # Errors
/// This machine refused a step.
pub fn unload(name: &str) -> Result<bool, Error> {
    able()?;
    let _lock = pins::lock()?;
    unload_locked(name)
}

pub fn unload_locked(name: &str) -> Result<bool, Error> {
    pins::among_pins(|| {
        let there = !pins::generations(name).is_empty();
        undo(replace::ON_TRIAL)?;
        undo(name)?;
        Ok(there)
    })
}

/// Undoes every step of a load in reverse order; skips steps that were not made.
pub fn undo(name: &str) -> Result<(), Error> {
    let folders = pins::generations(name);
    folders.iter().try_for_each(|folder| unregister(folder))?;
    if !folders.is_empty() {
        namespaces::set_default(name, None)?;
        programs::ask_no_more(name)?;
    }
    for folder in folders {
        devices::restore(&folder)?;
        pins::remove(&folder)?;
    }
    pins::leave_no_trace()
}
