//! A file with a user's controller: reads and checks it before the kernel does.

use crate::tcp::objects::{self, listen_to_libbpf};
use crate::tcp::pins::USER_PIN;
use crate::tcp::{Error, options, registration};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::{AsRawLibbpf, MapType, Object, ObjectBuilder, OpenObject, ProgramType, libbpf_sys};
use std::ffi::OsString;
use std::path::Path;

/// Type of a congestion control's variable, in the kernel and in the file.
const CONTROLLER: &str = "tcp_congestion_ops";
/// Required functions (`tcp_validate_congestion_control` of net/ipv4/tcp_cong.c): one of each line.
const NEEDED: [&[&str]; 3] = [&["ssthresh"], &["undo_cwnd"], &["cong_avoid", "cong_control"]];
/// `TCP_CA_NAME_MAX` of include/net/tcp.h, with the zero at the end.
const NAME_SIZE: usize = 16;
/// ELF magic; offset of the machine field; and its value for eBPF (`EM_BPF` of linux/elf-em.h).
const ELF: &[u8] = b"\x7fELF";
const MACHINE_AT: std::ops::Range<usize> = 18..20;
const MACHINE: u16 = 247;

/// Content and name of a file.
pub struct File {
    called: String,
    bytes: Vec<u8>,
}

/// Where the controller of a file is, and the members of its structure that it sets.
struct Found {
    map: OsString,
    members: Vec<(String, usize)>,
    value: Vec<u8>,
}

impl File {
    pub fn read(path: &Path) -> Result<File, Error> {
        let called = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Error::Input(format!("{called}: {error}")))?;
        let file = File { called, bytes };
        match file.bytes.get(MACHINE_AT).map(|two| u16::from_le_bytes([two[0], two[1]])) {
            Some(MACHINE) if file.bytes.starts_with(ELF) => Ok(file),
            _ => Err(file.wrong("found something else; expected an ELF file for eBPF (clang -target bpf -g -O2 -c)")),
        }
    }

    fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::Input(format!("{}: {what}", self.called))
    }

    fn open(&self) -> Result<OpenObject, Error> {
        listen_to_libbpf();
        let opened = ObjectBuilder::default().open_memory(&self.bytes);
        opened.map_err(|error| self.wrong(objects::with_messages(format!("libbpf cannot read it: {error:#}"))))
    }

    /// Checks the file; returns the name of its controller.
    pub fn name(&self) -> Result<String, Error> {
        let found = self.find(&mut self.open()?)?;
        let name = found.name().ok_or_else(|| self.wrong(format!("its {CONTROLLER} has no member `name`")))?;
        options::check_new_name(&name).map_err(|error| self.wrong(format!("{error}; --name gives it another")))?;
        Ok(name)
    }

    /// Loads only the controller of the file, under this name, without registering it. Returns the name of the map that
    /// registers it.
    pub fn load(&self, name: &str) -> Result<(Object, OsString), Error> {
        let mut opened = self.open()?;
        let Found { map, members, .. } = self.find(&mut opened)?;
        for mut control in opened.maps_mut().filter(|control| control.name() == map) {
            let at = members.iter().find(|(member, _)| member == "name").map_or(0, |(_, at)| *at);
            let value = control.initial_value_mut().and_then(|value| value.get_mut(at..at + NAME_SIZE));
            let value = value.ok_or_else(|| self.wrong(format!("its {CONTROLLER} is too short")))?;
            value.fill(0);
            value[..name.len()].copy_from_slice(name.as_bytes());
            let settled = registration::prepare(&mut control).and_then(|()| control.set_autocreate(true));
            settled.map_err(|error| Error::machine(USER_PIN, error))?;
        }
        for map in opened.maps_mut() {
            // Pinned maps would survive the load, with the trial's data.
            // SAFETY: the map lives as long as its object.
            unsafe { libbpf_sys::bpf_map__set_pin_path(map.as_libbpf_object().as_ptr(), std::ptr::null()) };
        }
        for mut program in opened.progs_mut().filter(|program| program.prog_type() != ProgramType::StructOps) {
            program.set_autoload(false);
        }
        let object = opened.load().map_err(|error| self.refused(&error))?;
        Ok((object, map))
    }

    /// The kernel's refusal, with the verifier's message if there is one.
    fn refused(&self, error: &libbpf_rs::Error) -> Error {
        match objects::verdict() {
            Some((program, why)) if why.contains("GPL") => {
                self.wrong(format!("the kernel refuses the licence for `{program}`: {why}"))
            }
            Some((program, why)) => self.wrong(format!("the kernel's verifier refuses `{program}`: {why}")),
            None => self.wrong(objects::with_messages(format!("the kernel refuses it: {error:#}"))),
        }
    }

    fn find(&self, opened: &mut OpenObject) -> Result<Found, Error> {
        let mut kinds: Vec<(OsString, u32, Vec<u8>)> = Vec::new();
        for map in opened.maps().filter(|map| map.map_type() == MapType::StructOps) {
            // SAFETY: the map lives as long as its object.
            let kind = unsafe { libbpf_sys::bpf_map__btf_value_type_id(map.as_libbpf_object().as_ptr()) };
            kinds.push((map.name().to_owned(), kind, map.initial_value().unwrap_or_default().to_vec()));
        }
        // SAFETY: the object lives as long as what is read of its types here.
        let types = unsafe { Btf::from_bpf_object(opened.as_libbpf_object().as_ref()) };
        let types = types.ok().flatten().ok_or_else(|| self.wrong("it has no types (BTF): compile with -g"))?;
        let structure = |kind: u32| types.type_by_id::<Struct<'_>>(kind.into());
        let is_controller = |kind: u32| {
            let name = structure(kind).and_then(|found| Some(found.name()?.to_string_lossy().into_owned()));
            // libbpf allows a suffix that distinguishes variants of a structure.
            name.is_some_and(|name| name.split("___").next() == Some(CONTROLLER))
        };
        kinds.retain(|(_, kind, _)| is_controller(*kind));
        let [(map, kind, value)] = &kinds[..] else {
            let found = kinds.len();
            return Err(self.wrong(format!("found {found} variables of struct {CONTROLLER}; expected one")));
        };
        let controller = structure(*kind).ok_or_else(|| self.wrong("its types (BTF) are broken"))?;
        let members = controller.iter().filter_map(|member| match member.attr {
            MemberAttr::Normal { offset } => Some((member.name?.to_string_lossy().into_owned(), offset as usize / 8)),
            MemberAttr::BitField { .. } => None,
        });
        let found = Found { map: map.clone(), members: members.collect(), value: value.clone() };
        match NEEDED.iter().find(|names| !names.iter().any(|name| found.has(name))) {
            Some(names) => {
                Err(self.wrong(format!("its {CONTROLLER} has no function `{}`; TCP needs one", names.join("` or `"))))
            }
            None => Ok(found),
        }
    }
}

impl Found {
    fn member(&self, name: &str, size: usize) -> Option<&[u8]> {
        let (_, at) = self.members.iter().find(|(member, _)| member == name)?;
        self.value.get(*at..at + size)
    }

    /// Whether the member is set to a function.
    fn has(&self, name: &str) -> bool {
        self.member(name, size_of::<u64>()).is_some_and(|pointer| pointer.iter().any(|byte| *byte != 0))
    }

    fn name(&self) -> Option<String> {
        let bytes = self.member("name", NAME_SIZE)?;
        let text: Vec<u8> = bytes.iter().copied().take_while(|byte| *byte != 0).collect();
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}
