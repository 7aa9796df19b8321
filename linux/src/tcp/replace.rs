//! Replaces a load while connections use it.
//!
//! 1. The new version is loaded under its own name, and tested. If that fails, nothing has changed.
//! 2. The programs that record and report arrivals are replaced; their maps stay.
//! 3. The pins of the old version are renamed, and the new ones take their names.
//! 4. The name is registered again: the link that registers it changes to the new version. Without links, before Linux 6.4, a
//!    name is registered once, so the old registration is removed first, which waits for an RCU grace period; meanwhile the new
//!    one retries.
//!
//! Existing connections keep the old programs and maps until they end, and so do sockets that selected the controller earlier,
//! listeners and the connections that they accept included. New sockets get the new version.

use crate::tcp::config::Settings;
use crate::tcp::drain::set;
use crate::tcp::options::{ON_TRIAL, Options};
use crate::tcp::pins::refuse_user_controller;
use crate::tcp::programs::Receiver;
use crate::tcp::registration::{LINK, unregister};
use crate::tcp::report::{SWITCHED_CLOSED, SWITCHED_OFF};
use crate::tcp::selftest::Trial;
use crate::tcp::steps::{
    able_to_load, attach, is_ours, is_registered, load_afresh, not_ours, provide, remove_unused, undo,
};
use crate::tcp::{Error, devices, namespaces, pins};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Connections of the trial.
const TRIED_FLOWS: u32 = 2;
/// How long the old registration may take to go.
const PATIENCE: Duration = Duration::from_secs(10);

/// Result of a replacement.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// The trial of the new version.
    pub trial: Trial,
    /// Connections that continue with the earlier version.
    pub old: usize,
}

/// Replaces the load of this name by one with `options`, or loads it if there is none. Prepared devices stay prepared.
///
/// # Errors
/// As [`crate::tcp::load`]. A new version that this machine cannot run changes nothing.
pub fn replace(options: &Options) -> Result<Replaced, Error> {
    options.check()?;
    able_to_load()?;
    let name = options.name.as_str();
    let _lock = pins::lock()?;
    refuse_user_controller(name)?;
    match (is_registered(name), is_ours(name)?) {
        (true, false) => Err(not_ours(name)),
        (_, true) => over(options),
        (false, false) => load_afresh(options).map(|trial| Replaced { trial, old: 0 }),
    }
}

/// Replaces, with the lock in hand.
pub fn over(options: &Options) -> Result<Replaced, Error> {
    let trial = try_apart(options)?;
    let old = pins::among_pins(|| swap(options))?;
    Ok(Replaced { trial, old })
}

/// Loads a small copy under the name of trials, tries it, and unloads it.
pub fn try_apart(options: &Options) -> Result<Trial, Error> {
    let apart = Options {
        name: ON_TRIAL.to_string(),
        flows: TRIED_FLOWS,
        flows_per_user: None,
        devices: Vec::new(),
        ..options.clone()
    };
    pins::among_pins(|| undo(ON_TRIAL))?;
    let trial = load_afresh(&apart)?;
    pins::among_pins(|| undo(ON_TRIAL))?;
    Ok(trial)
}

fn swap(options: &Options) -> Result<usize, Error> {
    let name = options.name.as_str();
    let off = match Settings::within(&pins::folder(name)) {
        Some(settings) => settings.read()?.is_off(),
        None => false,
    };
    Receiver::replace(options.volunteer)?;
    let (new, place) = (pins::vacant(name), pins::folder(name));
    let mut programs = provide(options, &new).inspect_err(|_| drop(pins::remove(&new)))?;
    if place.exists() {
        hand_on(&place, &new)?;
        rename(&place, &pins::vacant(name))?;
    }
    rename(&new, &place)?;
    if off {
        set(name, SWITCHED_CLOSED | SWITCHED_OFF)?;
    }
    let earlier: Vec<_> = pins::generations(name).into_iter().filter(|folder| *folder != place).collect();
    exchange(&earlier, || attach(&mut programs, &place))?;
    namespaces::set_default(name, Some(name))?;
    devices::prepare(&place, &options.devices)?;
    devices::attach_again(&place)?;
    remove_unused(earlier)
}

/// Takes the registrations of these folders away, and registers another, again and again until they are gone.
pub fn exchange(earlier: &[PathBuf], mut register: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    std::thread::scope(|scope| {
        let going = scope.spawn(|| earlier.iter().try_for_each(|folder| unregister(folder)));
        let began = Instant::now();
        let registered = loop {
            match register() {
                // Without an earlier version there is no registration to wait for.
                Err(_) if !earlier.is_empty() && began.elapsed() < PATIENCE => {}
                registered => break registered,
            }
        };
        going.join().unwrap_or_else(|_| Err(Error::Machine("a worker thread panicked".to_string())))?;
        registered
    })
}

/// Hands the device settings and the link that registers on to the new version.
pub fn hand_on(from: &Path, to: &Path) -> Result<(), Error> {
    let mut there = [devices::TOUCHED, LINK].into_iter().filter(|pin| from.join(pin).exists());
    there.try_for_each(|pin| rename(&from.join(pin), &to.join(pin)))
}

pub fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(|error| Error::machine(&format!("{} to {}", from.display(), to.display()), error))
}
