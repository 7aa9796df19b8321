//! The tc program at a device's ingress that records arrivals, among those of others.

use crate::tcp::options::STAMP;
use crate::tcp::{Error, objects, pins};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Program, TC_INGRESS, TcHook, libbpf_sys};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::Command;

/// Handle and priority of our filter; another program is unlikely to use them.
const HANDLE: u32 = 0x5241;
const PRIORITY: u32 = 0x5241;

fn hook(program: BorrowedFd<'_>, index: u32) -> TcHook {
    let mut hook = TcHook::new(program);
    hook.ifindex(index as i32).handle(HANDLE).priority(PRIORITY).attach_point(TC_INGRESS);
    hook
}

/// Returns the program that records arrivals; `None` where this kernel refuses the option.
fn stamp() -> Result<Option<OwnedFd>, Error> {
    let pinned = pins::arrivals().join(STAMP);
    if !pinned.exists() {
        return Ok(None);
    }
    Program::fd_from_pinned_path(pinned).map(Some).map_err(|error| Error::machine(STAMP, error))
}

/// Whether the program at our hook is ours; `None`: there is none.
fn is_ours(hook: &mut TcHook) -> Option<bool> {
    let id = hook.query().ok()?;
    Some(ProgInfoIter::default().any(|program| program.id == id && program.name.to_string_lossy() == STAMP))
}

/// Records arrivals at a device of this network namespace from now on.
pub fn attach(index: u32) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::machine("attaching the program that records arrivals", error);
    let Some(program) = stamp()? else { return Ok(()) };
    let mut hook = hook(program.as_fd(), index);
    // Fails where the device already has a clsact. If something else is wrong, attaching reports it.
    objects::listen_to_libbpf();
    let _ = hook.create();
    if is_ours(&mut hook) == Some(false) {
        return Err(failed(&format!("another filter has handle {HANDLE:#x} and priority {PRIORITY}")));
    }
    hook.replace(true);
    hook.attach().map_err(|error| failed(&format!("{error:#}"))).map(drop)
}

/// Our filter at a device of this network namespace: its hook, and the number of its program.
fn ours(index: u32) -> Option<(TcHook, u32)> {
    let any = ProgInfoIter::default().find(|program| program.name.to_string_lossy() == STAMP)?;
    let program = Program::fd_from_id(any.id).ok()?;
    objects::listen_to_libbpf();
    let mut hook = hook(program.as_fd(), index);
    let id = hook.query().ok()?;
    // The hook outlives the descriptor, which only attaching needs.
    (is_ours(&mut hook) == Some(true)).then_some((hook, id))
}

/// Records no arrivals any more. Filters of others stay.
pub fn detach(index: u32) {
    if let Some((mut hook, _)) = ours(index) {
        // Fails where the device has gone meanwhile.
        let _ = hook.detach();
    }
}

/// Numbers of the maps that the program of our filter at a device holds; `None` without such a filter.
pub fn maps_of_ours(index: u32) -> Option<Vec<u32>> {
    let (_, id) = ours(index)?;
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    ProgInfoIter::with_query_opts(options).find(|program| program.id == id).map(|program| program.map_ids)
}

/// Makes the program that records arrivals hold a map for as long as a device has it.
pub fn hold(map: BorrowedFd<'_>) -> Result<(), Error> {
    let Some(program) = stamp()? else { return Ok(()) };
    // SAFETY: two descriptors and no options.
    match unsafe { libbpf_sys::bpf_prog_bind_map(program.as_raw_fd(), map.as_raw_fd(), std::ptr::null()) } {
        0 => Ok(()),
        _ => Err(Error::machine(STAMP, std::io::Error::last_os_error())),
    }
}

fn tc(words: &[&str]) -> Result<String, Error> {
    let output = Command::new("tc").args(words).output();
    let output = output.map_err(|error| Error::machine(&format!("tc {}", words.join(" ")), error))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether filters can be attached to the device: it has a clsact.
pub fn has_clsact(device: &str) -> Result<bool, Error> {
    Ok(tc(&["qdisc", "show", "dev", device, "clsact"])?.contains("clsact"))
}

/// Removes the device's clsact unless it has other filters.
pub fn remove_empty_clsact(device: &str) -> Result<(), Error> {
    for side in ["ingress", "egress"] {
        if !tc(&["filter", "show", "dev", device, side])?.trim().is_empty() {
            return Ok(());
        }
    }
    // Fails where it has gone meanwhile.
    tc(&["qdisc", "del", "dev", device, "clsact"]).map(drop)
}
