//! Devices: makes them send packets one by one, and records arrivals at them.
//!
//! TCP hands a device super-packets of many segments; the device, and not the congestion control, then decides the gaps
//! between them. `gso_max_segs 1` prevents this, for every flow of the device. A tc program at the device's ingress
//! records arrivals. A pinned map keeps each device's earlier settings, so that any later unload can restore them.

use crate::options::STAMP;
use crate::wire::{Plain, bytes_of, value_of};
use crate::{Error, pins, programs};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType, Program, TC_INGRESS, TcHook};
use nix::sched::{CloneFlags, setns};
use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// The map of devices that a load has changed.
const TOUCHED: &str = "devices";
const MOST_DEVICES: u32 = 64;
/// Handle and priority of our filter; another program is unlikely to use them.
const HANDLE: u32 = 0x5241;
const PRIORITY: u32 = 0x5241;

/// A device, by its network namespace and its index there.
#[repr(C)]
#[derive(Clone, Copy)]
struct Key {
    namespace: u64,
    index: u32,
    reserved: u32,
}

/// The device's settings before the load.
#[repr(C)]
#[derive(Clone, Copy)]
struct Before {
    gso_max_segs: u32,
    had_clsact: u32,
}

// SAFETY: words and double words; the padding is named.
unsafe impl Plain for Key {}
// SAFETY: words.
unsafe impl Plain for Before {}

fn namespace() -> Result<u64, Error> {
    let here =
        fs::metadata("/proc/thread-self/ns/net").map_err(|error| Error::machine("/proc/thread-self/ns/net", error))?;
    Ok(here.ino())
}

fn index_of(device: &str) -> Result<u32, Error> {
    nix::net::if_::if_nametoindex(device)
        .map_err(|_| Error::Input(format!("device {device:?}: this network namespace has no device of that name")))
}

fn ip(arguments: &[&str]) -> Result<Vec<u8>, Error> {
    let failed = |said: &dyn std::fmt::Display| Error::machine(&format!("ip {}", arguments.join(" ")), said);
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

fn gso_max_segs(device: &str) -> Result<u32, Error> {
    let said: serde_json::Value = serde_json::from_slice(&ip(&["-j", "-d", "link", "show", "dev", device])?)
        .map_err(|error| Error::machine("reading the output of ip", error))?;
    let segments = said[0]["gso_max_segs"].as_u64().and_then(|n| u32::try_from(n).ok());
    segments
        .ok_or_else(|| Error::Machine(format!("ip does not show the gso_max_segs of {device}; is iproute2 too old?")))
}

fn set_gso_max_segs(device: &str, segments: u32) -> Result<(), Error> {
    ip(&["link", "set", "dev", device, "gso_max_segs", &segments.to_string()]).map(drop)
}

fn hook(program: BorrowedFd<'_>, index: u32) -> TcHook {
    let mut hook = TcHook::new(program);
    hook.ifindex(index as i32).handle(HANDLE).priority(PRIORITY).attach_point(TC_INGRESS);
    hook
}

/// Prepares the devices of this network namespace, and keeps their earlier settings.
pub fn prepare(folder: &Path, devices: &[String]) -> Result<(), Error> {
    let failed = |error| Error::machine("keeping the devices' earlier settings", error);
    let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as libbpf_rs::libbpf_sys::size_t,
        ..Default::default()
    };
    let (key, value) = (size_of::<Key>() as u32, size_of::<Before>() as u32);
    let mut touched =
        MapHandle::create(MapType::Hash, Some(TOUCHED), key, value, MOST_DEVICES, &options).map_err(failed)?;
    touched.pin(folder.join(TOUCHED)).map_err(failed)?;
    let namespace = namespace()?;
    for device in devices {
        let index = index_of(device)?;
        let before = Before { gso_max_segs: gso_max_segs(device)?, had_clsact: u32::from(has_clsact(device)?) };
        let key = Key { namespace, index, reserved: 0 };
        touched.update(bytes_of(&key), bytes_of(&before), MapFlags::ANY).map_err(failed)?;
        set_gso_max_segs(device, 1)?;
        attach(index)?;
    }
    Ok(())
}

fn has_clsact(device: &str) -> Result<bool, Error> {
    let output = Command::new("tc").args(["qdisc", "show", "dev", device, "clsact"]).output();
    let output = output.map_err(|error| Error::machine("tc qdisc show", error))?;
    Ok(String::from_utf8_lossy(&output.stdout).contains("clsact"))
}

/// Returns the program that records arrivals, whichever load pinned it; `None` where this kernel refuses the option.
fn stamp() -> Result<Option<OwnedFd>, Error> {
    let Some(pinned) = pins::find(STAMP) else { return Ok(None) };
    Program::fd_from_pinned_path(pinned).map(Some).map_err(|error| Error::machine(STAMP, error))
}

fn attach(index: u32) -> Result<(), Error> {
    let failed =
        |error: libbpf_rs::Error| Error::machine("attaching the program that records arrivals", format!("{error:#}"));
    let Some(program) = stamp()? else { return Ok(()) };
    let mut hook = hook(program.as_fd(), index);
    // Fails where the device already has a clsact. If something else is wrong, attaching reports it.
    programs::listen_to_libbpf();
    let _ = hook.create();
    hook.replace(true);
    hook.attach().map_err(failed).map(drop)
}

/// Records arrivals at `device` of the current network namespace, for the congestion control loaded under `name`. Lasts
/// until the device or its clsact is removed; [`crate::unload`] does not remove it.
///
/// # Errors
/// The device does not exist, nothing is loaded under `name`, or tc refuses.
pub fn note_arrivals(name: &str, device: &str) -> Result<(), Error> {
    let index = index_of(device)?;
    pins::among_pins(|| match pins::folder(name).exists() {
        true => attach(index),
        false => Err(Error::Machine(format!("{name} is not loaded"))),
    })
}

/// Prepares the loopback device of a private network namespace: brings it up, makes it send packets one by one, and
/// records arrivals at it.
pub fn prepare_loopback(name: &str) -> Result<(), Error> {
    ip(&["link", "set", "dev", "lo", "gso_max_segs", "1", "up"])?;
    note_arrivals(name, "lo")
}

/// Restores the devices that still exist.
pub fn restore(folder: &Path) -> Result<(), Error> {
    let Ok(touched) = MapHandle::from_pinned_path(folder.join(TOUCHED)) else { return Ok(()) };
    let program = stamp()?;
    let here = namespace()?;
    for bytes in touched.keys() {
        let found = touched.lookup(&bytes, MapFlags::ANY).ok().flatten();
        let Some((key, before)) = value_of::<Key>(&bytes).zip(found.and_then(|value| value_of::<Before>(&value)))
        else {
            continue;
        };
        let put_back = || restore_one(key.index, &before, program.as_ref());
        if key.namespace == here {
            put_back()?;
        } else if let Some(there) = find_namespace(key.namespace) {
            inside(&there, put_back)?;
        }
    }
    Ok(())
}

fn restore_one(index: u32, before: &Before, program: Option<&OwnedFd>) -> Result<(), Error> {
    let Some(device) = name_of(index) else { return Ok(()) };
    if let Some(program) = program {
        let mut hook = hook(program.as_fd(), index);
        let _ = hook.detach();
    }
    if before.had_clsact == 0 {
        let _ = Command::new("tc").args(["qdisc", "del", "dev", &device, "clsact"]).output();
    }
    set_gso_max_segs(&device, before.gso_max_segs)
}

/// Returns the network namespace of this number, if a name or a process still holds it.
fn find_namespace(number: u64) -> Option<File> {
    let entries = |folder| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut places = entries("/run/netns").chain(entries("/proc").map(|process| process.join("ns/net")));
    let place = places.find(|place| fs::metadata(place).is_ok_and(|found| found.ino() == number))?;
    File::open(place).ok()
}

/// Runs `work` in a network namespace. Uses a thread of its own, because a thread that enters a namespace stays there.
fn inside(namespace: &File, work: impl FnOnce() -> Result<(), Error> + Send) -> Result<(), Error> {
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            setns(namespace, CloneFlags::CLONE_NEWNET).map_err(|error| Error::machine("a network namespace", error))?;
            work()
        });
        worker.join().unwrap_or_else(|_| Err(Error::Machine("a worker thread panicked".to_string())))
    })
}

fn name_of(index: u32) -> Option<String> {
    let names = nix::net::if_::if_nameindex().ok()?;
    names.iter().find(|entry| entry.index() == index).map(|entry| entry.name().to_string_lossy().into_owned())
}
