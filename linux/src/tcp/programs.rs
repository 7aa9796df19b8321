//! The compiled programs, and how they share their maps.
//!
//! `sender` is the congestion control, with one law or the other. `option` negotiates, writes and reads the TCP option that returns arrival times.
//! `stamp` records arrivals at a device. `option` and `stamp` share the map `stamps`; `option` and `sender` share the
//! map `feedback`.

use crate::tcp::options::{CONTROL, Law, OPTION, Options, STAMP};
use crate::tcp::report::{STREAMS, records};
use crate::tcp::wire::bytes_of;
use crate::tcp::{Error, list, machine, pins};
use libbpf_rs::{
    Link, MapCore, MapFlags, MapHandle, MapMut, Object, ObjectBuilder, OpenObject, PrintLevel, ProgramMut,
};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

// Compiled by `linux/build-programs.sh`.
pub static SENDER_OBJECT: &[u8] = include_bytes!("../../objects/sender.bpf.o");
pub static SENDER_THESIS_OBJECT: &[u8] = include_bytes!("../../objects/sender_thesis.bpf.o");
static OPTION_OBJECT: &[u8] = include_bytes!("../../objects/option.bpf.o");
static STAMP_OBJECT: &[u8] = include_bytes!("../../objects/stamp.bpf.o");

/// Maps that user space opens again later, by their pins.
const KEPT: [&str; 8] = [CONTROL, "conns", "slots", "config", "fallen", "events", "counters", "falls"];

/// The map of arrival times that peers report.
const FEEDBACK: &str = "feedback";
/// The map of the congestion controls whose connections ask for arrivals.
const ASKERS: &str = "askers";
/// The maps that what tells arrivals hands on when it is replaced.
const HANDED_ON: [&str; 6] = [FEEDBACK, ASKERS, "stamps", "deaf", "answered", "wanting"];

/// The constant of the sender that says how many transmissions a connection remembers, less one.
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

/// The last messages of libbpf. It prints its messages; kept here, they can go into errors.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// How many lines are kept, and how many of them go into an error: the verifier's verdict is the fifth from the end.
const LINES: usize = 12;
const TOLD: usize = 5;
/// What libbpf puts before the name of a program, and says of one that the kernel refuses; and the verifier's last line.
const PROGRAM: &str = "prog '";
const REFUSED: &str = "': failed to load";
const STATISTICS: &str = "processed ";
/// What it says of one that fails to load or to attach, before the error's name; and what it puts before the verifier's log.
const FAILED: [&str; 2] = ["': BPF program load failed: -", "': failed to attach to iterator: -"];
const LOG: &str = "BEGIN PROG LOAD LOG";

fn listen(_level: PrintLevel, text: String) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    said.extend(text.lines().filter(|line| !line.trim().is_empty()).map(|line| line.trim().to_string()));
    let surplus = said.len().saturating_sub(LINES);
    said.drain(..surplus);
}

pub fn failed(what: &str) -> impl Fn(libbpf_rs::Error) -> Error + '_ {
    move |error| Error::machine(what, with_what_was_said(format!("{error:#}")))
}

/// Adds libbpf's last messages to a text.
pub fn with_what_was_said(text: String) -> String {
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let words = wordless_of(&said).unwrap_or_else(|| said[said.len().saturating_sub(TOLD)..].join("; "));
    if words.is_empty() { text } else { format!("{text} ({words})") }
}

/// The refusal of a program of which the verifier says nothing, in words.
fn wordless_of(said: &[String]) -> Option<String> {
    if said.iter().any(|line| line.contains(LOG)) {
        return None;
    }
    let named = |line: &String| {
        let (program, error) = FAILED.iter().find_map(|failed| line.split_once(PROGRAM)?.1.split_once(failed))?;
        Some((program.to_string(), error.to_string()))
    };
    let (program, error) = said.iter().rev().find_map(named)?;
    let why = match error.as_str() {
        "EPERM" => "lockdown, a security module, or a missing capability (CAP_BPF, CAP_PERFMON)",
        _ => "it gives no reason",
    };
    Some(format!("the kernel refuses the program `{program}` with {error}: {why}"))
}

/// The program that the kernel has just refused, and why: the verifier's last line before its statistics.
pub fn verdict() -> Option<(String, String)> {
    verdict_of(&SAID.lock().unwrap_or_else(PoisonError::into_inner))
}

fn verdict_of(said: &[String]) -> Option<(String, String)> {
    let named = |line: &String| Some(line.split_once(PROGRAM)?.1.split_once(REFUSED)?.0.to_string());
    let (program, end) = (said.iter().find_map(named)?, said.iter().position(|line| line.starts_with(STATISTICS))?);
    Some((program, said.get(end.checked_sub(1)?)?.clone()))
}

/// From now on, keeps the messages of libbpf instead of printing them.
pub fn listen_to_libbpf() {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
    libbpf_rs::set_print(Some((PrintLevel::Warn, listen)));
}

impl Programs {
    pub fn load(options: &Options) -> Result<Programs, Error> {
        listen_to_libbpf();
        let mut sender = open(sender_of(options))?;
        let memory = provide(&mut sender, options)?;
        machine::has_room(memory, options)?;
        let (mut receiver, mut without_option) = (None, None);
        if is_told() {
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

/// Whether arrivals are noted and told, for a name that is loaded. The link is pinned last.
fn is_told() -> bool {
    pins::arrivals().join(OPTION).exists()
}

impl Receiver {
    /// Attaches the option to the connections of a cgroup, and keeps it and what it needs. What a load that was killed has
    /// kept of it goes first.
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

    /// Takes the place of what notes and tells arrivals now, with its memory: connections notice nothing.
    pub fn replace(volunteer: bool) -> Result<(), Error> {
        const NEXT: &str = "next";
        let folder = pins::arrivals();
        if !is_told() {
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
    // Fails where it never asked; then there is nothing to delete.
    let _ = askers.delete(&asker(name));
    Ok(())
}

/// Makes the programs use the maps pinned in `folder`, if they mean the same. An older version may have kept fewer.
fn take_maps(option: &mut OpenObject, folder: &Path) -> Result<(), Error> {
    for name in HANDED_ON.into_iter().filter(|name| folder.join(name).exists()) {
        let old = MapHandle::from_pinned_path(folder.join(name)).map_err(failed(name))?;
        let mut map = option.maps_mut().find(|map| map.name() == name).ok_or_else(|| broken(name))?;
        let (here, there) = ((map.key_size(), map.value_size()), (old.key_size(), old.value_size()));
        if here != there {
            return Err(Error::Machine(format!(
                "the map {name} of what is loaded has keys and values of {there:?} B, this version's of {here:?} B: it \
                 cannot be replaced in use; unload --drain, then load"
            )));
        }
        map.reuse_fd(old.as_fd()).map_err(failed(name))?;
    }
    Ok(())
}

pub fn open(object: &[u8]) -> Result<OpenObject, Error> {
    ObjectBuilder::default().open_memory(object).map_err(failed("opening a compiled object"))
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

pub fn broken(what: &str) -> Error {
    Error::Machine(format!("the compiled objects have no {what}: this is a broken build"))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As libbpf 1.7 says it, line by line.
    #[test]
    fn the_verdict_is_the_line_before_the_verifiers_statistics() {
        let said = [
            "libbpf: prog 'acked': BPF program load failed: -EACCES",
            "libbpf: prog 'acked': -- BEGIN PROG LOAD LOG --",
            "0: R1=ctx() R10=fp0",
            "write access at off 1340 with size 4",
            "processed 5 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0",
            "-- END PROG LOAD LOG --",
            "libbpf: prog 'acked': failed to load: -EACCES",
            "libbpf: failed to load object ''",
        ];
        let said = said.map(str::to_string);
        let expected = ("acked".to_string(), "write access at off 1340 with size 4".to_string());
        assert_eq!(verdict_of(&said), Some(expected));
        assert_eq!(verdict_of(&said[5..]), None);
        assert_eq!(wordless_of(&said), None);
    }

    /// As libbpf 1.7 says it to root under a limit of locked memory.
    #[test]
    fn a_refusal_without_a_log_names_the_program_and_what_may_forbid_it() {
        let said = |line: &str| {
            let lines = [line, "libbpf: permission error while running as root; try raising 'ulimit -l'?"];
            wordless_of(&lines.map(str::to_string)).unwrap_or_default()
        };
        for refused in ["BPF program load failed: -EPERM", "failed to attach to iterator: -EPERM"] {
            let words = said(&format!("libbpf: prog 'list_taken': {refused}"));
            for word in ["`list_taken`", "EPERM", "lockdown", "CAP_BPF"] {
                assert!(words.contains(word), "{words}");
            }
            assert!(!words.contains("ulimit"), "{words}");
        }
        assert!(!said("libbpf: prog 'acked': BPF program load failed: -EINVAL").contains("lockdown"));
        assert_eq!(said("libbpf: failed to find valid kernel BTF"), "");
    }
}
