//! Registers a congestion control: by a BPF link where the kernel has these (Linux 6.4), so that the registration goes with its
//! pin; else by its map's entry, which stays until it is deleted.

use crate::tcp::Error;
use crate::tcp::objects::broken;
use crate::tcp::options::CONTROL;
use crate::tcp::pins::USER_PIN;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;
use libbpf_rs::{Link, MapCore, MapHandle, Object, OpenMapMut, libbpf_sys};
use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The pin of the link.
pub const LINK: &str = "link";
/// How long the kernel may take to remove a link whose last holder has gone.
const PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(2);

/// Whether this kernel registers congestion controls by links.
fn by_link() -> bool {
    static BY_LINK: OnceLock<bool> = OnceLock::new();
    *BY_LINK.get_or_init(|| {
        Btf::from_vmlinux().is_ok_and(|types| types.type_by_name::<Struct<'_>>("bpf_struct_ops_link").is_some())
    })
}

/// Prepares the map that registers, before it is loaded.
pub fn prepare(control: &mut OpenMapMut<'_>) -> Result<(), libbpf_rs::Error> {
    let others = control.map_flags() & !libbpf_sys::BPF_F_LINK;
    control.set_map_flags(others | if by_link() { libbpf_sys::BPF_F_LINK } else { 0 })
}

/// Registers the congestion control of an object, by the map of this name. A link in `folder`, which was another version's,
/// changes to this one.
pub fn register(object: &mut Object, name: &OsStr, folder: &Path) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::machine("registering", error);
    let mut control =
        object.maps_mut().find(|map| map.name() == name).ok_or_else(|| broken(&name.to_string_lossy()))?;
    let link = folder.join(LINK);
    match control.attach_struct_ops() {
        Ok(mut registered) if by_link() => registered.pin(&link).map_err(|error| failed(&format!("{error:#}"))),
        Ok(registered) => {
            // Dropping it would delete the entry.
            std::mem::forget(registered);
            Ok(())
        }
        // The name is taken, by the version that has the link.
        Err(_) if link.exists() => {
            let open = Link::open(&link).map_err(|error| failed(&error))?;
            // SAFETY: two descriptors and no options.
            let refused = unsafe {
                libbpf_sys::bpf_link_update(open.as_fd().as_raw_fd(), control.as_fd().as_raw_fd(), std::ptr::null())
            };
            if refused == 0 { Ok(()) } else { Err(failed(&std::io::Error::last_os_error())) }
        }
        Err(error) => Err(failed(&format!("{error:#}"))),
    }
}

/// Unregisters the load in this folder.
pub fn unregister(folder: &Path) -> Result<(), Error> {
    let link = folder.join(LINK);
    if link.exists() {
        let open = Link::open(&link).map_err(|error| Error::machine(LINK, error))?;
        let id = open.info().map_err(|error| Error::machine(LINK, error))?.id;
        // Linux 6.11 and later; and it fails where an interrupted unload has done it.
        let _ = open.detach();
        fs::remove_file(&link).map_err(|error| Error::machine(LINK, error))?;
        drop(open);
        wait_for_end(id);
    }
    for pinned in [CONTROL, USER_PIN].map(|pin| folder.join(pin)).iter().filter(|pinned| pinned.exists()) {
        let control = MapHandle::from_pinned_path(pinned).map_err(|error| Error::machine(CONTROL, error))?;
        // Fails if it was never registered, or by a link.
        let _ = control.delete(&0u32.to_ne_bytes());
    }
    Ok(())
}

/// The kernel removes a link some time after its last pin.
fn wait_for_end(id: u32) {
    let began = Instant::now();
    // SAFETY: a number; the descriptor is closed here.
    while let Some(_held) = unsafe { held(libbpf_sys::bpf_link_get_fd_by_id(id)) } {
        if began.elapsed() > PATIENCE {
            break;
        }
        std::thread::sleep(POLL);
    }
}

/// # Safety
/// A descriptor that nothing else owns, or an error below zero.
unsafe fn held(descriptor: i32) -> Option<OwnedFd> {
    // SAFETY: the caller's promise.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) })
}
