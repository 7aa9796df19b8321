//! The kernel's list of the connections that CUBIC has taken over: an iterator over the storage of their sockets. It is
//! loaded apart from the rest, because a kernel that refuses it can still run Rapid.

use crate::tcp::machine::able;
use crate::tcp::objects::{SENDER_OBJECT, broken, failed, listen_to_libbpf, open};
use crate::tcp::report::{Address, Fall, Fallen};
use crate::tcp::wire::value_of;
use crate::tcp::{Error, pins};
use libbpf_rs::{Iter, Link, MapCore, MapFlags, MapHandle, MapType, Object, OpenObject, libbpf_sys};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// The storage of the sockets that CUBIC has taken over, and the program that lists them: reading its pin gives the list.
const TAKEN: &str = "taken";
const LIST_TAKEN: &str = "list_taken";
/// Map with the reason for a missing list.
const UNLISTED: &str = "unlisted";

/// Excludes the iterator from the load.
pub fn leave_out(sender: &mut OpenObject) {
    sender.progs_mut().filter(|program| program.name() == LIST_TAKEN).for_each(|mut list| list.set_autoload(false));
}

/// Pins the list over the storage of a loaded sender, whose object file is `object`; if the kernel refuses it, pins and returns
/// the reason. Foreign senders may lack such storage.
pub fn keep(object: &[u8], sender: &Object, folder: &Path) -> Result<Option<Error>, Error> {
    let Some(taken) = sender.maps().find(|map| map.name() == TAKEN) else { return Ok(None) };
    let list = iterator(object, Some(taken.as_fd()));
    let Err(why) = list.and_then(|mut link| link.pin(folder.join(LIST_TAKEN)).map_err(failed(LIST_TAKEN))) else {
        return Ok(None);
    };
    // Later failures have other causes.
    listen_to_libbpf();
    note(folder, &why.to_string()).map_err(failed(UNLISTED))?;
    Ok(Some(why))
}

/// Loads the iterator, and iterates once. Without `taken` it has its own storage.
fn iterator(object: &[u8], taken: Option<BorrowedFd<'_>>) -> Result<Link, Error> {
    let refused = failed(LIST_TAKEN);
    listen_to_libbpf();
    let mut opened = open(object)?;
    for mut map in opened.maps_mut() {
        match taken.filter(|_| map.name() == TAKEN) {
            Some(taken) => map.reuse_fd(taken).map_err(&refused)?,
            None => map.set_autocreate(map.name() == TAKEN).map_err(&refused)?,
        }
    }
    for mut program in opened.progs_mut() {
        program.set_autoload(program.name() == LIST_TAKEN);
    }
    let loaded = opened.load().map_err(&refused)?;
    // Warnings of a load that went well do not explain what fails after it.
    listen_to_libbpf();
    let taken = loaded.maps().find(|map| map.name() == TAKEN).ok_or_else(|| broken(TAKEN))?;
    let taken = taken.as_fd().try_clone_to_owned().map_err(|error| Error::machine(TAKEN, error))?;
    let list = loaded.progs_mut().find(|program| program.name() == LIST_TAKEN).ok_or_else(|| broken(LIST_TAKEN))?;
    let link = list.attach_iter(taken.as_fd()).map_err(&refused)?;
    Iter::new(&link).map_err(&refused)?;
    Ok(link)
}

/// Keeps the reason in a pinned map.
fn note(folder: &Path, why: &str) -> Result<(), libbpf_rs::Error> {
    let options =
        libbpf_sys::bpf_map_create_opts { sz: size_of::<libbpf_sys::bpf_map_create_opts>() as _, ..Default::default() };
    let mut map = MapHandle::create(MapType::Array, Some(UNLISTED), 4, why.len() as u32, 1, &options)?;
    map.update(&0u32.to_ne_bytes(), why.as_bytes(), MapFlags::ANY)?;
    map.pin(folder.join(UNLISTED))
}

/// The connections that CUBIC has taken over and that have not ended, as the kernel lists them; or why it does not.
pub fn read(folder: &Path) -> Result<Result<BTreeMap<Address, Fallen>, String>, Error> {
    let unlisted = folder.join(UNLISTED);
    if unlisted.exists() {
        let map = MapHandle::from_pinned_path(unlisted).map_err(failed(UNLISTED))?;
        let why = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(failed(UNLISTED))?;
        return Ok(Err(String::from_utf8_lossy(&why.unwrap_or_default()).into_owned()));
    }
    let list = fs::read(folder.join(LIST_TAKEN)).map_err(|error| Error::machine(LIST_TAKEN, error))?;
    let falls = list.chunks_exact(size_of::<Fall>()).filter_map(value_of::<Fall>);
    Ok(Ok(falls.map(|fall| (fall.address, fall.fallen)).collect()))
}

/// Tries whether this kernel lists the connections that CUBIC has taken over, as a load does.
///
/// # Errors
/// Not root, or the kernel refuses the list.
pub fn listable() -> Result<(), Error> {
    able()?;
    pins::among_pins(|| iterator(SENDER_OBJECT, None).map(drop))
}
