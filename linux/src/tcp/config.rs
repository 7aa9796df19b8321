//! The map `config` of a load: only this module reads and changes it.

use crate::tcp::report::{Config, SWITCHED_CLOSED, SWITCHED_OFF};
use crate::tcp::wire::{bytes_of, value_of};
use crate::tcp::{Error, pins};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::path::Path;

const NAME: &str = "config";
const KEY: [u8; 4] = 0u32.to_ne_bytes();

/// Settings of the load in one folder.
pub struct Settings(MapHandle);

impl Settings {
    /// Settings of the load with this name.
    pub fn of(name: &str) -> Result<Settings, Error> {
        pins::open(name, NAME).map(Settings)
    }

    /// Those of a folder, if it has any. Call this inside [`pins::among_pins`].
    pub fn within(folder: &Path) -> Option<Settings> {
        MapHandle::from_pinned_path(folder.join(NAME)).ok().map(Settings)
    }

    pub fn read(&self) -> Result<Config, Error> {
        let found = self.0.lookup(&KEY, MapFlags::ANY).map_err(|error| Error::machine(NAME, error))?;
        let config = found.and_then(|bytes| value_of(&bytes));
        config.ok_or_else(|| Error::Machine(format!("the map `{NAME}` has no entry")))
    }

    /// Read-modify-write. The caller must hold the lock of [`pins`], otherwise a concurrent change would be lost.
    pub fn change(&self, change: impl FnOnce(&mut Config)) -> Result<(), Error> {
        let mut config = self.read()?;
        change(&mut config);
        self.0.update(&KEY, bytes_of(&config), MapFlags::ANY).map_err(|error| Error::machine(NAME, error))
    }
}

/// Sets the switch of the load in a folder, if it has one. The caller holds the lock, inside [`pins::among_pins`].
pub fn switch(folder: &Path, switched: u32) -> Result<(), Error> {
    let settings = Settings::within(folder);
    settings.map_or(Ok(()), |settings| settings.change(|config| config.switched = switched))
}

impl Config {
    /// Whether Rapid is switched off.
    pub fn is_off(&self) -> bool {
        self.switched & SWITCHED_OFF != 0
    }

    /// Whether there are no new connections, because it is unloaded when the others have ended.
    pub fn is_draining(&self) -> bool {
        self.switched == SWITCHED_CLOSED
    }
}
