//! Lets connections end before what steers them goes, and the switch that takes Rapid from all of them at once.

use crate::tcp::machine::able;
use crate::tcp::options::check_name;
use crate::tcp::pins::refuse_user_controller;
use crate::tcp::registration::unregister;
use crate::tcp::report::{SWITCHED_CLOSED, SWITCHED_OFF};
use crate::tcp::steps::{active, is_registered, unload_locked};
use crate::tcp::{Error, config, namespaces, pins};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Poll interval for the end of connections.
const POLL: Duration = Duration::from_millis(100);

/// Result of draining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Whether anything was loaded.
    pub there: bool,
    /// Connections handed to CUBIC at the deadline. For a user controller: its remaining users, which keep it.
    pub left: usize,
    /// Whether the name was loaded again meanwhile; that stays.
    pub again: bool,
}

/// Sets the switch of everything under this name. Returns whether there is anything. For whoever holds the lock.
pub fn set(name: &str, switched: u32) -> Result<bool, Error> {
    pins::among_pins(|| {
        let folders = pins::generations(name);
        folders.iter().try_for_each(|folder| config::switch(folder, switched))?;
        Ok(!folders.is_empty())
    })
}

/// Switches Rapid on or off. Off: CUBIC takes over each connection at its next acknowledgment, and every new one at once; the
/// programs stay loaded.
///
/// # Errors
/// Nothing is loaded under `name`; or it is being unloaded and cannot be switched on.
pub fn switch(name: &str, on: bool) -> Result<(), Error> {
    check_name(name)?;
    able()?;
    let _lock = pins::lock()?;
    refuse_user_controller(name)?;
    if pins::among_pins(|| Ok(pins::generations(name).is_empty()))? {
        return Err(pins::not_loaded(name));
    }
    if on && !is_registered(name) {
        return Err(Error::Machine(format!(
            "{name} is being unloaded, or its unload was interrupted: it has no new connections to switch on; `packetscale \
             tcp load` loads it again"
        )));
    }
    set(name, if on { 0 } else { SWITCHED_CLOSED | SWITCHED_OFF }).map(drop)
}

/// Unloads, but lets the connections end first, for at most `limit`: meanwhile there are no new ones. If the name is loaded
/// again meanwhile, that stays.
///
/// # Errors
/// As [`crate::tcp::unload`].
pub fn drain(name: &str, limit: Option<Duration>) -> Result<Drained, Error> {
    check_name(name)?;
    able()?;
    let began = Instant::now();
    {
        let _lock = pins::lock()?;
        if !set(name, SWITCHED_CLOSED)? {
            return unload_locked(name).map(|there| Drained { there, left: 0, again: false });
        }
        pins::among_pins(|| {
            pins::generations(name).iter().try_for_each(|folder| unregister(folder))?;
            namespaces::set_default(name, None)
        })?;
    }
    loop {
        let left: usize = pins::among_pins(|| Ok(draining(name).iter().map(|folder| active(folder)).sum()))?;
        if left > 0 && limit.is_none_or(|limit| began.elapsed() < limit) {
            std::thread::sleep(POLL);
            continue;
        }
        let _lock = pins::lock()?;
        let again = is_registered(name);
        if again {
            end(name)?
        } else {
            unload_locked(name).map(drop)?
        }
        return Ok(Drained { there: true, left, again });
    }
}

/// Folders to drain: all but the one that was loaded again meanwhile.
fn draining(name: &str) -> Vec<PathBuf> {
    let (place, again) = (pins::folder(name), is_registered(name));
    pins::generations(name).into_iter().filter(|folder| !(again && *folder == place)).collect()
}

/// Ends them: CUBIC takes over their connections, if any. A load made meanwhile stays.
fn end(name: &str) -> Result<(), Error> {
    pins::among_pins(|| {
        draining(name).iter().try_for_each(|folder| {
            config::switch(folder, SWITCHED_CLOSED | SWITCHED_OFF)?;
            pins::remove(folder)
        })
    })
}
