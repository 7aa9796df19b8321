//! What a load has left whose pins are gone: `/run/packetscale` was unmounted, or was in a mount namespace that has ended. It is
//! found by names and numbers in the kernel: the map that registers the name, and our filter at a device, whose program holds the
//! map of the device's earlier settings.

use crate::tcp::options::{CONTROL, STAMP};
use crate::tcp::{Error, devices, filters, namespaces, pins};
use libbpf_rs::query::{MapInfoIter, ProgInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use std::sync::atomic::{AtomicBool, Ordering};

/// The map that registers `name`, if it is one of ours: its value has the name, with zeros behind it.
fn registering(name: &str) -> Option<MapHandle> {
    let mut wanted = [0; 16];
    wanted[..name.len()].copy_from_slice(name.as_bytes());
    let ours = MapInfoIter::default().filter(|map| map.ty == MapType::StructOps && map.name == CONTROL);
    ours.filter_map(|map| MapHandle::from_map_id(map.id).ok()).find(|map| {
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten();
        value.is_some_and(|value| value.windows(wanted.len()).any(|bytes| bytes == wanted))
    })
}

/// Unregisters `name` if a map of ours registers it. Returns whether there was one.
pub fn unregister(name: &str) -> bool {
    // Fails for the map of a replaced version, which sockets still use.
    registering(name).is_some_and(|map| map.delete(&0u32.to_ne_bytes()).is_ok())
}

/// Restores the devices that such a load has prepared, if nothing is loaded. Returns whether there were any.
pub fn restore_devices() -> Result<bool, Error> {
    let found = AtomicBool::new(false);
    if !pins::folders().is_empty() || !ProgInfoIter::default().any(|program| program.name.to_string_lossy() == STAMP) {
        return Ok(false);
    }
    namespaces::each(|| {
        let names = nix::net::if_::if_nameindex().map_err(|error| Error::machine("listing devices", error))?;
        for device in &names {
            let Some(maps) = filters::maps_of_ours(device.index()) else { continue };
            if devices::restore_lost(&device.name().to_string_lossy(), device.index(), &maps)? {
                found.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(found.into_inner())
}
