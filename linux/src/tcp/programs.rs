//! The compiled programs, and how they share their maps.
//!
//! `sender` is the congestion control, with one law or the other. `option` negotiates, writes and reads the TCP option that returns arrival times.
//! `stamp` records arrivals at a device. `option` and `stamp` share the map `stamps`; `option` and `sender` share the
//! map `feedback`.

use crate::tcp::objects::{
    OPTION_OBJECT, SENDER_OBJECT, SENDER_THESIS_OBJECT, STAMP_OBJECT, broken, failed, listen_to_libbpf, open,
};
use crate::tcp::options::{CONTROL, Law, OPTION, Options, STAMP};
use crate::tcp::report::{STREAMS, records};
use crate::tcp::wire::bytes_of;
use crate::tcp::{Error, list, machine, pins, registration};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, MapMut, Object, OpenObject, ProgramMut};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

/// Maps that user space opens again later, by their pins.
const KEPT: [&str; 8] = [CONTROL, "conns", "slots", "config", "fallen", "events", "counters", "falls"];

/// The map of arrival times that peers report.
const FEEDBACK: &str = "feedback";
/// Map of the congestion controls whose connections request arrivals.
const ASKERS: &str = "askers";
/// Maps that survive a replacement of the arrival programs.
const HANDED_ON: [&str; 6] = [FEEDBACK, ASKERS, "stamps", "deaf", "answered", "wanting"];

/// The sender's constant for the number of transmissions remembered per connection, less one.
const RECORD_MASK: &str = ".rodata.records";

/// All programs, loaded but not yet attached.
pub struct Programs {
    pub sender: Object,
    /// Bytes of kernel memory that its maps take.
    memory: u64,
    pub receiver: Option<Receiver>,
    /// Why this kernel refuses the option, if it does. Then only microsecond timestamps remain.
    pub without_option: Option<Error>,
    /// Why this kernel refuses to list the connections that CUBIC has taken over, if it does.
    pub without_list: Option<Error>,
}

/// The programs that record and return arrivals. One copy serves all our congestion controls on this machine: two
/// copies would write two options.
pub struct Receiver {
    pub option: Object,
    pub stamp: Object,
}

impl Programs {
    pub fn load(options: &Options) -> Result<Programs, Error> {
        listen_to_libbpf();
        let mut sender = open(sender_of(options))?;
        let memory = provide(&mut sender, options)?;
        machine::has_memory(memory, options)?;
        let (mut receiver, mut without_option) = (None, None);
        if is_reported() {
            let feedback = MapHandle::from_pinned_path(pins::arrivals().join(FEEDBACK)).map_err(failed(FEEDBACK))?;
            reuse(&mut sender, FEEDBACK, feedback.as_fd())?;
        } else {
            match Receiver::load(options.volunteer) {
                Ok(loaded) => share(&mut sender, &receiver.insert(loaded).option, FEEDBACK)?,
                Err(error) => without_option = Some(error),
            }
        }
        list::leave_out(&mut sender);
        let sender = sender.load().map_err(failed("loading the sender"))?;
        Ok(Programs { sender, memory, receiver, without_option, without_list: None })
    }

    /// Fills the maps that connections need from the start, and pins the maps and programs that user space opens later.
    pub fn settle(&mut self, options: &Options, folder: &Path) -> Result<(), Error> {
        for mut map in self.sender.maps_mut() {
            fill(&map, options, self.memory).map_err(failed("filling a map"))?;
            if let Some(name) = KEPT.iter().find(|name| map.name() == **name) {
                map.pin(folder.join(name)).map_err(failed(name))?;
            }
        }
        self.without_list = list::keep(sender_of(options), &self.sender, folder)?;
        Ok(())
    }
}

/// The sender of a user, or the one compiled with this law.
fn sender_of(options: &Options) -> &[u8] {
    let own = match options.law {
        Law::Default(_) => SENDER_OBJECT,
        Law::Thesis(_) => SENDER_THESIS_OBJECT,
    };
    options.sender.as_deref().unwrap_or(own)
}

/// Whether arrivals are recorded and reported, for a loaded name. The link is pinned last.
fn is_reported() -> bool {
    pins::arrivals().join(OPTION).exists()
}

impl Receiver {
    /// Attaches the option to the connections of a cgroup, and pins it and its dependencies. First removes the remains of an
    /// interrupted load.
    pub fn settle(&mut self, cgroup: &Path) -> Result<(), Error> {
        let folder = pins::arrivals();
        pins::remove(&folder)?;
        pins::create(&folder)?;
        self.stamp()?.pin(folder.join(STAMP)).map_err(failed(STAMP))?;
        self.keep_maps(&folder)?;
        let what = format!("attaching the TCP option to the cgroup {}", cgroup.display());
        let root = fs::File::open(cgroup).map_err(|error| Error::machine(&what, error))?;
        let mut link = self.option()?.attach_cgroup(root.as_raw_fd()).map_err(|error| Error::machine(&what, error))?;
        link.pin(folder.join(OPTION)).map_err(|error| Error::machine(&what, error))
    }

    /// Replaces the programs that record and report arrivals, keeping their maps: connections are not disturbed.
    pub fn replace(volunteer: bool) -> Result<(), Error> {
        const NEXT: &str = "next";
        let folder = pins::arrivals();
        if !is_reported() {
            return Ok(());
        }
        let mut new = Receiver::load_over(volunteer, Some(&folder))?;
        let mut link = Link::open(folder.join(OPTION)).map_err(failed(OPTION))?;
        let option = new.option.progs().find(|program| program.name() == OPTION).ok_or_else(|| broken(OPTION))?;
        link.update_prog(&option).map_err(failed(OPTION))?;
        // A replacement that was killed may have left one.
        let _ = fs::remove_file(folder.join(NEXT));
        new.stamp()?.pin(folder.join(NEXT)).map_err(failed(STAMP))?;
        fs::rename(folder.join(NEXT), folder.join(STAMP)).map_err(|error| Error::machine(STAMP, error))?;
        new.keep_maps(&folder)
    }

    /// Pins the maps that are handed on, where they are not pinned yet.
    fn keep_maps(&mut self, folder: &Path) -> Result<(), Error> {
        for mut map in self.option.maps_mut() {
            let Some(name) = HANDED_ON.iter().find(|name| map.name() == **name) else { continue };
            if !folder.join(name).exists() {
                map.pin(folder.join(name)).map_err(failed(name))?;
            }
        }
        Ok(())
    }

    fn option(&mut self) -> Result<ProgramMut<'_>, Error> {
        self.option.progs_mut().find(|program| program.name() == OPTION).ok_or_else(|| broken(OPTION))
    }

    fn stamp(&mut self) -> Result<ProgramMut<'_>, Error> {
        self.stamp.progs_mut().find(|program| program.name() == STAMP).ok_or_else(|| broken(STAMP))
    }

    fn load(volunteer: bool) -> Result<Receiver, Error> {
        Receiver::load_over(volunteer, None)
    }

    /// Loads both, with the maps of another copy that are pinned in `folder`.
    fn load_over(volunteer: bool, folder: Option<&Path>) -> Result<Receiver, Error> {
        let mut option = open(OPTION_OBJECT)?;
        if let Some(folder) = folder {
            take_maps(&mut option, folder)?;
        }
        if !volunteer {
            // The second constant is the offer of other connections; the first is the offer of our own.
            let mut constants = option.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".rodata"));
            let value =
                constants.as_mut().and_then(|map| map.initial_value_mut()).ok_or_else(|| broken("constants"))?;
            value[4..8].fill(0);
        }
        let option = option.load().map_err(failed("loading option.bpf.o"))?;
        let mut stamp = open(STAMP_OBJECT)?;
        share(&mut stamp, &option, "stamps")?;
        let stamp = stamp.load().map_err(failed("loading stamp.bpf.o"))?;
        Ok(Receiver { option, stamp })
    }
}

/// Returns a congestion control's key in the map `askers`.
fn asker(name: &str) -> [u8; 16] {
    let mut key = [0; 16];
    key[..name.len()].copy_from_slice(name.as_bytes());
    key
}

fn askers() -> Result<Option<MapHandle>, Error> {
    let pinned = pins::arrivals().join(ASKERS);
    pinned.exists().then(|| MapHandle::from_pinned_path(pinned).map_err(failed(ASKERS))).transpose()
}

/// From now on, connections of this congestion control ask for arrival times, if the option is loaded.
pub fn ask(name: &str) -> Result<(), Error> {
    let Some(askers) = askers()? else { return Ok(()) };
    askers.update(&asker(name), &1u32.to_ne_bytes(), MapFlags::ANY).map_err(failed(ASKERS))
}

/// From now on, connections of this congestion control do not ask for arrival times.
pub fn ask_no_more(name: &str) -> Result<(), Error> {
    let Some(askers) = askers()? else { return Ok(()) };
    // Fails if it was never registered there.
    let _ = askers.delete(&asker(name));
    Ok(())
}

/// Reuses the maps pinned in `folder` if their layout agrees. Older versions may have fewer.
fn take_maps(option: &mut OpenObject, folder: &Path) -> Result<(), Error> {
    for name in HANDED_ON.into_iter().filter(|name| folder.join(name).exists()) {
        let old = MapHandle::from_pinned_path(folder.join(name)).map_err(failed(name))?;
        let mut map = option.maps_mut().find(|map| map.name() == name).ok_or_else(|| broken(name))?;
        let (here, there) = ((map.key_size(), map.value_size()), (old.key_size(), old.value_size()));
        if here != there {
            return Err(Error::Machine(format!(
                "the loaded map {name} has keys and values of {there:?} B, this version's of {here:?} B: it \
                 cannot be replaced in use; unload --drain, then load"
            )));
        }
        map.reuse_fd(old.as_fd()).map_err(failed(name))?;
    }
    Ok(())
}

/// Makes `into` use the map `name` of `owner`.
fn share(into: &mut OpenObject, owner: &Object, name: &str) -> Result<(), Error> {
    let owned = owner.maps().find(|map| map.name() == name).ok_or_else(|| broken(name))?;
    reuse(into, name, owned.as_fd())
}

fn reuse(into: &mut OpenObject, name: &str, map: BorrowedFd<'_>) -> Result<(), Error> {
    let mut shared = into.maps_mut().find(|map| map.name() == name).ok_or_else(|| broken(name))?;
    shared.reuse_fd(map).map_err(failed(name))
}

/// Sizes the maps for `options.flows` connections, and names the congestion control. Returns the bytes that the maps take.
fn provide(sender: &mut OpenObject, options: &Options) -> Result<u64, Error> {
    let slots = options.flows + 1;
    let records = records(options.window);
    let mut bytes = 0;
    for mut map in sender.maps_mut() {
        let entries = match map.name().to_str() {
            Some("conns") => slots,
            Some("slots") => options.flows,
            Some("records") => slots * records,
            Some("streams") => slots * STREAMS,
            Some("gaps") => slots,
            Some(CONTROL) => {
                registration::prepare(&mut map).map_err(failed(CONTROL))?;
                // The name is the first member.
                let value = map.initial_value_mut().filter(|value| value.len() >= 16).ok_or_else(|| broken(CONTROL))?;
                value[..16].fill(0);
                value[..options.name.len()].copy_from_slice(options.name.as_bytes());
                continue;
            }
            Some(RECORD_MASK) => {
                let value =
                    map.initial_value_mut().filter(|value| value.len() >= 4).ok_or_else(|| broken(RECORD_MASK))?;
                value[..4].copy_from_slice(&(records - 1).to_ne_bytes());
                continue;
            }
            _ => continue,
        };
        map.set_max_entries(entries).map_err(failed("sizing a map"))?;
        // The kernel rounds values up to words.
        bytes += u64::from(entries) * u64::from(map.value_size().next_multiple_of(8));
    }
    Ok(bytes)
}

fn fill(map: &MapMut<'_>, options: &Options, memory: u64) -> Result<(), libbpf_rs::Error> {
    match map.name().to_str() {
        Some("slots") => (1..=options.flows).try_for_each(|slot| map.update(&[], &slot.to_ne_bytes(), MapFlags::ANY)),
        Some("params") => map.update(&0u32.to_ne_bytes(), &options.law.raw(), MapFlags::ANY),
        Some("config") => map.update(&0u32.to_ne_bytes(), bytes_of(&options.config(memory)), MapFlags::ANY),
        _ => Ok(()),
    }
}
