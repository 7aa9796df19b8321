//! Loads with fewer capabilities than root has: what `doctor` says is what `load` does, and a refusal leaves nothing.

use crate::able;
use linux::tcp::{self, Options};
use nix::libc;

/// Numbers of include/uapi/linux/capability.h.
const NET_ADMIN: u32 = 12;
const SYS_PTRACE: u32 = 19;
const SYS_ADMIN: u32 = 21;
const SYS_RESOURCE: u32 = 24;
const PERFMON: u32 = 38;
const BPF: u32 = 39;
/// All that a 64-bit set can have.
const ALL: u64 = u64::MAX;

const fn bit(capability: u32) -> u64 {
    1 << capability
}

/// Sets of capabilities, and what a load with them lacks.
const SETS: [(&str, u64, Option<&str>); 7] = [
    ("all", ALL, None),
    ("all but SYS_RESOURCE", ALL & !bit(SYS_RESOURCE), None),
    // SYS_ADMIN includes it.
    ("all but PERFMON", ALL & !bit(PERFMON), None),
    ("SYS_ADMIN, NET_ADMIN, SYS_PTRACE", bit(SYS_ADMIN) | bit(NET_ADMIN) | bit(SYS_PTRACE), None),
    ("all but NET_ADMIN", ALL & !bit(NET_ADMIN), Some("CAP_NET_ADMIN")),
    ("BPF, NET_ADMIN, PERFMON", bit(BPF) | bit(NET_ADMIN) | bit(PERFMON), Some("CAP_SYS_ADMIN")),
    ("none", 0, Some("CAP_SYS_ADMIN")),
];

/// `struct __user_cap_header_struct` and `__user_cap_data_struct` of include/uapi/linux/capability.h.
#[repr(C)]
struct Header {
    version: u32,
    process: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Part {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

/// Takes all other capabilities from this thread, from threads that it starts and from programs that they run.
fn keep_only(set: u64) {
    // The kernel ends the list with an error.
    for capability in 0..64 {
        if set & bit(capability) == 0 {
            // SAFETY: numbers only.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        }
    }
    let header = Header { version: VERSION, process: 0 };
    let mut parts = [Part::default(); 2];
    // SAFETY: both structures are of this version, and outlive the calls.
    unsafe {
        assert_eq!(libc::syscall(libc::SYS_capget, &header, parts.as_mut_ptr()), 0);
        for (part, kept) in parts.iter_mut().zip([set as u32, (set >> 32) as u32]) {
            part.effective &= kept;
            part.permitted &= kept;
            part.inheritable &= kept;
        }
        assert_eq!(libc::syscall(libc::SYS_capset, &header, parts.as_ptr()), 0);
    }
}

/// What `doctor` and `load` say with these capabilities.
fn said(set: u64) -> [Result<(), String>; 2] {
    let work = move || {
        keep_only(set);
        let doctor = tcp::readiness().map(drop).map_err(|error| error.to_string());
        let load = tcp::load(&Options { flows: 4, ..Options::default() }).map(drop).map_err(|error| error.to_string());
        [doctor, load]
    };
    std::thread::spawn(work).join().expect("it ends")
}

#[test]
fn doctor_and_load_agree_for_each_set_of_capabilities() {
    if !able() {
        return;
    }
    for (name, set, lacks) in SETS {
        let [doctor, load] = said(set);
        println!("{name}: doctor {doctor:?}, load {load:?}");
        assert_eq!(doctor, load, "{name}");
        match lacks {
            None => assert_eq!(load, Ok(()), "{name}"),
            Some(lacks) => assert!(load.is_err_and(|why| why.contains(lacks)), "{name}"),
        }
        let loaded = tcp::unload("rapid").expect("unloads");
        assert_eq!((loaded, tcp::is_registered("rapid")), (lacks.is_none(), false), "{name}");
        assert!(!std::path::Path::new("/run/packetscale").exists(), "{name}");
    }
}
