//! User controllers: congestion controls that users have written as eBPF, loaded with the same checks as Rapid.
//!
//! 1. Read and check the file ([`file`]).
//! 2. Load it under an unused name, so the kernel's verifier checks it, and test it with transfers ([`trial`]).
//! 3. Register it under its name. A pin holds it; it needs no process.
//!
//! Replacing works as for Rapid: sockets with the old version use it until they end. The kernel has no call to move them.

mod file;
mod trial;

use crate::tcp::machine::able;
use crate::tcp::options::{ON_TRIAL, check_name, check_new_name};
use crate::tcp::pins::{USER_PIN, is_user_controller};
use crate::tcp::registration::register;
use crate::tcp::replace::{exchange, hand_on, rename};
use crate::tcp::steps::{able_to_load, active, is_ours, is_registered, not_ours, remove_unused, undo};
use crate::tcp::{Error, namespaces, pins};
use file::File;
use libbpf_rs::{MapCore, Object};
use std::ffi::OsStr;
use std::path::Path;
pub use trial::{Pair, Transfer, Tried};

/// A loaded user controller, and the results of its trial.
#[derive(Clone, Debug)]
pub struct LoadedFile {
    /// The name under which it is registered.
    pub name: String,
    /// Its trial.
    pub tried: Tried,
    /// Users of an earlier version, which keep it.
    pub old: usize,
}

/// State of a user controller in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserController {
    /// Whether sockets can choose it. If not, it is unloaded when its users have ended.
    pub registered: bool,
    /// Sockets that use it, listeners included, and namespaces whose default it is.
    pub users: usize,
    /// The same for earlier versions.
    pub earlier: usize,
}

/// Registers the controller of a compiled file (`FILE.bpf.o`) if it passes the checks and the trial. `name`: overrides the
/// file's name. `replace`: replace the user controller of this name.
///
/// # Errors
/// What is wrong with the file, the name or this machine. In that case the machine is unchanged.
pub fn load_file(path: &Path, name: Option<&str>, replace: bool) -> Result<LoadedFile, Error> {
    let file = File::read(path)?;
    let own = file.name();
    // A given name replaces an invalid one in the file.
    let name = match name {
        Some(name) => name.to_string(),
        None => own?,
    };
    check_new_name(&name)?;
    able_to_load()?;
    let _lock = pins::lock()?;
    make_way(&name, replace)?;
    let tried = try_apart(&file).map_err(|error| called(path, error))?;
    let old = pins::among_pins(|| offer(&file, &name))?;
    Ok(LoadedFile { name, tried, old })
}

fn called(path: &Path, error: Error) -> Error {
    match error {
        Error::Machine(what) if !what.starts_with(&path.display().to_string()) => {
            Error::Machine(format!("{}: {what}", path.display()))
        }
        other => other,
    }
}

/// Checks that the name may be used; removes the remains of an interrupted load.
fn make_way(name: &str, replace: bool) -> Result<(), Error> {
    let (registered, is_user) = (is_registered(name), is_user_controller(name)?);
    let refused = |why: &str| Err(Error::Machine(format!("{name} {why}")));
    match (registered, is_ours(name)?) {
        (true, false) => Err(not_ours(name)),
        (true, true) if !is_user => refused("is Rapid; unload it first, or give another --name"),
        (true, true) if !replace => refused("is already loaded; --replace replaces it"),
        (false, true) => pins::among_pins(|| match pins::generations(name).iter().any(|folder| active(folder) > 0) {
            true if !is_user => refused("still has connections of Rapid; `packetscale tcp unload` ends that"),
            true => Ok(()),
            false => undo(name),
        }),
        _ => Ok(()),
    }
}

fn try_apart(file: &File) -> Result<Tried, Error> {
    pins::among_pins(|| {
        undo(ON_TRIAL)?;
        let folder = pins::folder(ON_TRIAL);
        let tried = keep(file, ON_TRIAL, &folder).and_then(|(mut object, map)| {
            register(&mut object, &map, &folder)?;
            trial::try_out(ON_TRIAL)
        });
        undo(ON_TRIAL).and(tried)
    })
}

/// Loads it, and keeps it in `folder`; sockets cannot choose it yet.
fn keep(file: &File, name: &str, folder: &Path) -> Result<(Object, std::ffi::OsString), Error> {
    let (mut object, map) = file.load(name)?;
    pins::create(folder)?;
    let mut control = object.maps_mut().find(|found| found.name() == map);
    let pinned = control.as_mut().map(|control| control.pin(folder.join(USER_PIN)));
    match pinned {
        Some(Ok(())) => Ok((object, map)),
        Some(Err(error)) => Err(Error::machine(USER_PIN, format!("{error:#}"))),
        None => Err(Error::machine(USER_PIN, format!("no map {}", OsStr::to_string_lossy(&map)))),
    }
}

/// Registers it, replacing the current version. Returns the users of that one.
fn offer(file: &File, name: &str) -> Result<usize, Error> {
    let (new, place) = (pins::vacant(name), pins::folder(name));
    let (mut object, map) = keep(file, name, &new).inspect_err(|_| {
        let _ = pins::remove(&new).and_then(|()| pins::leave_no_trace());
    })?;
    if place.exists() {
        hand_on(&place, &new)?;
        rename(&place, &pins::vacant(name))?;
    }
    rename(&new, &place)?;
    let earlier: Vec<_> = pins::generations(name).into_iter().filter(|folder| *folder != place).collect();
    if let Err(error) = exchange(&earlier, || register(&mut object, &map, &place)) {
        let _ = undo(name);
        return Err(error);
    }
    // The default of a namespace is a version, too.
    if !earlier.is_empty() {
        namespaces::set_default(name, Some(name))?;
    }
    remove_unused(earlier)
}

/// State of a user controller; `None` if the name is not a user controller's.
///
/// # Errors
/// Not root, or no such machine.
pub fn user_controller(name: &str) -> Result<Option<UserController>, Error> {
    check_name(name)?;
    able()?;
    if !is_user_controller(name)? {
        return Ok(None);
    }
    pins::among_pins(|| {
        let place = pins::folder(name);
        let earlier = pins::generations(name).into_iter().filter(|folder| *folder != place);
        let earlier = earlier.map(|folder| active(&folder)).sum();
        Ok(Some(UserController { registered: is_registered(name), users: active(&place), earlier }))
    })
}
