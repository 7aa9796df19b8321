//! Loads and unloads the congestion control.

use crate::tcp::machine::able;
use crate::tcp::options::{CONTROL, Options, check_name};
use crate::tcp::pins::refuse_user_controller;
use crate::tcp::selftest::Trial;
use crate::tcp::steps::{able_to_load, active, is_ours, is_registered, load_afresh, not_ours, undo, unload_locked};
use crate::tcp::{Error, lost, pins, replace};

/// Returns the bytes of the law's C struct of parameters with which connections begin; only the packet size differs.
pub fn raw_params(options: &Options) -> Vec<u8> {
    options.law.raw()
}

/// Registers the congestion control, and tests it with one connection. First removes the remains of an interrupted load.
/// Connections of an earlier load that is being unloaded continue.
///
/// # Errors
/// The options are invalid, the name is already loaded, or this machine cannot run it. A failed load changes nothing.
pub fn load(options: &Options) -> Result<Trial, Error> {
    options.check()?;
    able_to_load()?;
    let name = options.name.as_str();
    let _lock = pins::lock()?;
    refuse_user_controller(name)?;
    if is_registered(name) {
        return Err(match is_ours(name)? {
            true => Error::Machine(format!(
                "{name} is already loaded; --replace replaces it, `packetscale tcp unload` removes it, and \
                 another --name loads a second one"
            )),
            false => not_ours(name),
        });
    }
    if pins::among_pins(|| Ok(pins::generations(name).iter().any(|folder| active(folder) > 0)))? {
        return replace::over(options).map(|replaced| replaced.trial);
    }
    pins::among_pins(|| undo(name).and_then(|()| lost::restore_devices()))?;
    load_afresh(options)
}

/// Whether Rapid is loaded or can be loaded, as a sentence: if it is not, it is loaded under another name, tried and unloaded.
///
/// # Errors
/// What is missing, as a load says it.
pub fn readiness() -> Result<String, Error> {
    able_to_load()?;
    if !is_registered(CONTROL) {
        let _lock = pins::lock()?;
        let trial = replace::try_apart(&Options::default())?;
        let without = match trial.without_option {
            None => String::new(),
            Some(why) => format!(", without the TCP option ({why})"),
        };
        return Ok(format!("can be loaded: packetscale tcp load{without}"));
    }
    let status = crate::tcp::status(CONTROL)?;
    Ok(format!("loaded; {} of {} connections", status.connections.len(), status.flows))
}

/// Removes the congestion control, and restores what the load changed. CUBIC takes over its connections once arrival reports
/// stop. Returns whether there was anything to remove.
///
/// # Errors
/// This machine refused a step.
pub fn unload(name: &str) -> Result<bool, Error> {
    check_name(name)?;
    able()?;
    let _lock = pins::lock()?;
    unload_locked(name)
}
