//! Lets connections end before what steers them goes, and the switch that takes Rapid from all of them at once.

use crate::machine::able;
use crate::report::{Config, SWITCHED_CLOSED, SWITCHED_OFF};
use crate::steps::{active, is_registered, unload_locked, unregister};
use crate::wire::{bytes_of, value_of};
use crate::{Error, namespaces, pins};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::time::{Duration, Instant};

/// How often one looks whether connections have ended.
const LOOK: Duration = Duration::from_millis(100);

/// What draining has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Whether anything was loaded.
    pub there: bool,
    /// Connections that had not ended in time; CUBIC has them now.
    pub left: usize,
}

fn all_active(name: &str) -> Result<usize, Error> {
    pins::among_pins(|| Ok(pins::generations(name).iter().map(|folder| active(folder)).sum()))
}

/// Whether what is loaded under this name is switched off.
pub fn is_off(name: &str) -> Result<bool, Error> {
    let Ok(map) = MapHandle::from_pinned_path(pins::folder(name).join("config")) else { return Ok(false) };
    let found = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(|error| Error::machine("the switch", error))?;
    Ok(found.and_then(|bytes| value_of::<Config>(&bytes)).is_some_and(|config| config.switched & SWITCHED_OFF != 0))
}

/// Sets the switch of everything under this name. Returns whether there is anything.
fn set(name: &str, switched: u32) -> Result<bool, Error> {
    let failed = |error| Error::machine("the switch", error);
    pins::among_pins(|| {
        let (folders, key) = (pins::generations(name), 0u32.to_ne_bytes());
        for folder in &folders {
            let Ok(map) = MapHandle::from_pinned_path(folder.join("config")) else { continue };
            let found = map.lookup(&key, MapFlags::ANY).map_err(failed)?;
            let Some(config) = found.and_then(|bytes| value_of::<Config>(&bytes)) else { continue };
            map.update(&key, bytes_of(&Config { switched, ..config }), MapFlags::ANY).map_err(failed)?;
        }
        Ok(!folders.is_empty())
    })
}

/// Switches Rapid on, or off: then CUBIC takes each connection over at its next acknowledgment, and every new one at once.
/// Nothing is unloaded.
///
/// # Errors
/// Nothing is loaded under `name`.
pub fn switch(name: &str, on: bool) -> Result<(), Error> {
    able()?;
    match set(name, if on { 0 } else { SWITCHED_CLOSED | SWITCHED_OFF })? {
        true => Ok(()),
        false => Err(Error::Machine(format!("{name} is not loaded; `packetscale tcp load` loads it"))),
    }
}

/// Unloads, but lets the connections end first, for at most `limit`: meanwhile there are no new ones. If the name is loaded
/// again meanwhile, that stays.
///
/// # Errors
/// As [`crate::unload`].
pub fn drain(name: &str, limit: Option<Duration>) -> Result<Drained, Error> {
    able()?;
    let began = Instant::now();
    {
        let _lock = pins::lock()?;
        if !set(name, SWITCHED_CLOSED)? {
            return unload_locked(name).map(|there| Drained { there, left: 0 });
        }
        pins::among_pins(|| {
            pins::generations(name).iter().try_for_each(|folder| unregister(folder))?;
            namespaces::set_default(name, None)
        })?;
    }
    loop {
        let left = all_active(name)?;
        if left > 0 && limit.is_none_or(|limit| began.elapsed() < limit) {
            std::thread::sleep(LOOK);
            continue;
        }
        let _lock = pins::lock()?;
        return match is_registered(name) {
            true => Ok(Drained { there: true, left: 0 }),
            false => unload_locked(name).map(|there| Drained { there, left }),
        };
    }
}
