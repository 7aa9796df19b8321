//! Devices: limits them to single packets or small groups, and records arrivals at them.
//!
//! TCP hands a device super-packets of many segments; then the device determines the gaps between them, not the congestion
//! control. A small `gso_max_segs` prevents this, for every flow of the device. A tc program at the device's ingress records
//! arrivals. A pinned map stores each device's earlier settings, so that a later unload can restore them; an entry is written
//! before the device is changed.

use crate::tcp::config::Settings;
use crate::tcp::namespaces::{self, Identity};
use crate::tcp::wire::{Plain, bytes_of, value_of};
use crate::tcp::{Error, filters, pins};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The map of devices that a load has changed.
pub const TOUCHED: &str = "devices";
const MOST_DEVICES: u32 = 64;
/// Default segments per super-packet of a prepared device.
const ONE_BY_ONE: u32 = 1;

/// Segments per super-packet of devices prepared by the load in this folder.
fn taken_at_a_time(folder: &Path) -> u32 {
    let settings = Settings::within(folder).and_then(|settings| settings.read().ok());
    settings.map_or(ONE_BY_ONE, |config| u32::from(config.together).max(ONE_BY_ONE))
}

/// A device, by its network namespace and its index there.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    cookie: u64,
    index: u32,
    reserved: u32,
}

/// The device before the load: its settings, and what else it is known by, since another may come to have its index.
#[repr(C)]
#[derive(Clone, Copy)]
struct Before {
    namespace: u64,
    gso_max_segs: u32,
    had_clsact: u32,
    name: [u8; 16],
    address: [u8; 64],
}

// SAFETY: words and double words; the padding is named.
unsafe impl Plain for Key {}
// SAFETY: double words, words and bytes; no padding.
unsafe impl Plain for Before {}

fn index_of(device: &str) -> Result<u32, Error> {
    nix::net::if_::if_nametoindex(device)
        .map_err(|_| Error::Input(format!("device {device:?}: this network namespace has no device of that name")))
}

fn ip(arguments: &[&str]) -> Result<Vec<u8>, Error> {
    let failed = |output: &dyn std::fmt::Display| Error::machine(&format!("ip {}", arguments.join(" ")), output);
    let output = Command::new("ip").args(arguments).output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(output.stdout)
}

/// Whether the programs of iproute2 are installed.
pub fn able() -> Result<(), Error> {
    let missing = |program: &&&str| Command::new(program).arg("-V").output().is_err();
    match ["ip", "tc"].iter().find(missing) {
        Some(program) => Err(Error::Machine(format!("{program} is not installed; run apt-get install iproute2"))),
        None => Ok(()),
    }
}

/// A device's maximum of segments per super-packet, and its address.
fn limit_of(device: &str) -> Result<(u32, [u8; 64]), Error> {
    let output: serde_json::Value = serde_json::from_slice(&ip(&["-j", "-d", "link", "show", "dev", device])?)
        .map_err(|error| Error::machine("reading the output of ip", error))?;
    let segments = output[0]["gso_max_segs"].as_u64().and_then(|n| u32::try_from(n).ok());
    let segments = segments.ok_or_else(|| {
        Error::Machine(format!("ip does not show the gso_max_segs of {device}; is iproute2 too old?"))
    })?;
    Ok((segments, text(output[0]["address"].as_str().unwrap_or_default())))
}

/// A text as zero-padded bytes, truncated if too long.
fn text<const SIZE: usize>(text: &str) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    bytes
}

fn set_gso_max_segs(device: &str, segments: u32) -> Result<(), Error> {
    ip(&["link", "set", "dev", device, "gso_max_segs", &segments.to_string()]).map(drop)
}

/// The map of a folder, made if it is not there.
fn touched(folder: &Path) -> Result<MapHandle, Error> {
    let failed = |error| Error::machine("keeping the devices' earlier settings", error);
    let pin = folder.join(TOUCHED);
    if pin.exists() {
        return MapHandle::from_pinned_path(pin).map_err(failed);
    }
    let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as libbpf_rs::libbpf_sys::size_t,
        ..Default::default()
    };
    let (key, value) = (size_of::<Key>() as u32, size_of::<Before>() as u32);
    let mut map =
        MapHandle::create(MapType::Hash, Some(TOUCHED), key, value, MOST_DEVICES, &options).map_err(failed)?;
    map.pin(pin).map_err(failed)?;
    Ok(map)
}

/// Another folder that has an entry for the device, and the entry.
fn known_elsewhere(folder: &Path, key: &Key) -> Option<(PathBuf, Before)> {
    pins::folders().into_iter().filter(|other| other != folder).find_map(|other| {
        let map = MapHandle::from_pinned_path(other.join(TOUCHED)).ok()?;
        let before = value_of(&map.lookup(bytes_of(key), MapFlags::ANY).ok().flatten()?)?;
        Some((other, before))
    })
}

/// Prepares the devices of this network namespace, and keeps their earlier settings.
pub fn prepare(folder: &Path, devices: &[String]) -> Result<(), Error> {
    let failed = |error| Error::machine("keeping the devices' earlier settings", error);
    let touched = touched(folder)?;
    filters::hold(touched.as_fd())?;
    let here = namespaces::here()?;
    for device in devices {
        let key = Key { cookie: here.cookie, index: index_of(device)?, reserved: 0 };
        if touched.lookup(bytes_of(&key), MapFlags::ANY).map_err(failed)?.is_none() {
            let before = match known_elsewhere(folder, &key) {
                Some((_, before)) => before,
                None => current(here, device)?,
            };
            touched.update(bytes_of(&key), bytes_of(&before), MapFlags::ANY).map_err(failed)?;
        }
        set_gso_max_segs(device, taken_at_a_time(folder))?;
        filters::attach(key.index)?;
    }
    Ok(())
}

fn current(here: Identity, device: &str) -> Result<Before, Error> {
    let (gso_max_segs, address) = limit_of(device)?;
    let had_clsact = u32::from(filters::has_clsact(device)?);
    Ok(Before { namespace: here.number, gso_max_segs, had_clsact, name: text(device), address })
}

/// Records arrivals at `device` of the current network namespace, for the congestion control loaded under `name`, until the
/// device or its clsact is removed; [`crate::tcp::unload`] does not remove it.
///
/// # Errors
/// The device does not exist, nothing is loaded under `name`, or tc refuses.
pub fn note_arrivals(name: &str, device: &str) -> Result<(), Error> {
    let index = index_of(device)?;
    pins::among_pins(|| match pins::folder(name).exists() {
        true => filters::attach(index),
        false => Err(Error::Machine(format!("{name} is not loaded"))),
    })
}

/// Prepares the loopback device of a private network namespace: brings it up, makes it send packets as a prepared device
/// does, and records arrivals at it.
pub fn prepare_loopback(name: &str) -> Result<(), Error> {
    let segments = pins::among_pins(|| Ok(taken_at_a_time(&pins::folder(name))))?;
    ip(&["link", "set", "dev", "lo", "gso_max_segs", &segments.to_string(), "up"])?;
    note_arrivals(name, "lo")
}

/// Does `work` with each device of the folder that is still there, in its network namespace.
fn each(folder: &Path, work: impl Fn(&str, &Key, &Before) -> Result<(), Error> + Sync) -> Result<(), Error> {
    let Ok(touched) = MapHandle::from_pinned_path(folder.join(TOUCHED)) else { return Ok(()) };
    for bytes in touched.keys() {
        let found = touched.lookup(&bytes, MapFlags::ANY).ok().flatten();
        let Some((key, before)) = value_of::<Key>(&bytes).zip(found.and_then(|value| value_of::<Before>(&value)))
        else {
            continue;
        };
        let namespace = Identity { cookie: key.cookie, number: before.namespace };
        namespaces::within(namespace, || match name_of(key.index) {
            Some(device) if is_the_same(&device, &before)? => work(&device, &key, &before),
            _ => Ok(()),
        })?;
    }
    Ok(())
}

/// Attaches the current arrival-recording program to the devices of the folder, and sets their maximum of segments per
/// super-packet, which may differ between versions.
pub fn attach_again(folder: &Path) -> Result<(), Error> {
    let segments = taken_at_a_time(folder);
    each(folder, |device, key, _| {
        set_gso_max_segs(device, segments)?;
        filters::attach(key.index)
    })
}

/// Restores the devices that still exist. A device that another folder also uses gets that one's settings.
pub fn restore(folder: &Path) -> Result<(), Error> {
    let ours = taken_at_a_time(folder);
    each(folder, |device, key, before| match known_elsewhere(folder, key) {
        Some((other, _)) => reset_gso_max_segs(device, ours, taken_at_a_time(&other)),
        None => restore_one(device, key.index, ours, before),
    })?;
    // The programs of other loads may hold the map for longer.
    if let Ok(touched) = MapHandle::from_pinned_path(folder.join(TOUCHED)) {
        touched.keys().for_each(|key| drop(touched.delete(&key)));
    }
    Ok(())
}

/// Restores a device of a load whose pins are gone, by the maps that the program of our filter there holds. Returns whether one of
/// them has the device's earlier settings; [`note_arrivals`] keeps none.
pub fn restore_lost(device: &str, index: u32, maps: &[u32]) -> Result<bool, Error> {
    let key = Key { cookie: namespaces::here()?.cookie, index, reserved: 0 };
    let before = maps.iter().find_map(|id| {
        let map = MapHandle::from_map_id(*id).ok().filter(|map| map.name() == TOUCHED)?;
        value_of::<Before>(&map.lookup(bytes_of(&key), MapFlags::ANY).ok().flatten()?)
    });
    let Some(before) = before else { return Ok(false) };
    restore_one(device, index, limit_of(device)?.0, &before).map(|()| true)
}

fn restore_one(device: &str, index: u32, ours: u32, before: &Before) -> Result<(), Error> {
    filters::detach(index);
    if before.had_clsact == 0 {
        filters::remove_empty_clsact(device)?;
    }
    reset_gso_max_segs(device, ours, before.gso_max_segs)
}

/// Changes the device's segment limit from `ours`. Does not touch a limit that someone else has set meanwhile.
fn reset_gso_max_segs(device: &str, ours: u32, to: u32) -> Result<(), Error> {
    if limit_of(device)?.0 == ours { set_gso_max_segs(device, to) } else { Ok(()) }
}

/// Whether the device at that index is the one that was prepared: by its name, or by its address.
fn is_the_same(device: &str, before: &Before) -> Result<bool, Error> {
    Ok(text(device) == before.name || limit_of(device)?.1 == before.address)
}

fn name_of(index: u32) -> Option<String> {
    let names = nix::net::if_::if_nameindex().ok()?;
    names.iter().find(|entry| entry.index() == index).map(|entry| entry.name().to_string_lossy().into_owned())
}
