//! Compiles the eBPF programs under test from their source, and loads them.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::OnceLock;

use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, TC_INGRESS, TcAttachPoint, TcHook};

use super::clang;
use super::net::{Cgroup, Namespace, cgroup2_root};

/// The sources that are compiled for the tests.
pub const SOURCES: [&str; 3] = ["bpf/option.bpf.c", "bpf/stamp.bpf.c", "tests/stamps/path.bpf.c"];
pub const STAMPS: u32 = 1;
pub const WANTS: u32 = 2;

/// Returns why this machine cannot run the programs, if it cannot.
pub fn refusal() -> Option<&'static str> {
    if !nix::unistd::geteuid().is_root() {
        return Some("eBPF programs and network namespaces need root");
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Some("the kernel has no type information (BTF)");
    }
    if !clang::is_installed() {
        return Some("clang is not installed");
    }
    if root_is_taken() {
        return Some("a sock_ops program is attached to every connection of this machine (packetscale tcp load?)");
    }
    None
}

/// Whether every connection already has sock_ops programs. Those would write options where the tests expect none.
#[expect(unsafe_code, reason = "a query that libbpf-rs does not wrap")]
fn root_is_taken() -> bool {
    let Some(root) = cgroup2_root().ok().and_then(|root| File::open(root).ok()) else { return false };
    let (mut flags, mut ids, mut count) = (0, [0; 16], 16);
    // SAFETY: the pointers point to locals, and `count` says how many numbers fit into `ids`.
    let found = unsafe {
        let kind = libbpf_rs::libbpf_sys::BPF_CGROUP_SOCK_OPS;
        libbpf_rs::libbpf_sys::bpf_prog_query(root.as_raw_fd(), kind, 0, &mut flags, ids.as_mut_ptr(), &mut count)
    };
    found == 0 && count > 0
}

fn object_of(cell: &'static OnceLock<Vec<u8>>, source: &str) -> &'static [u8] {
    cell.get_or_init(|| clang::compiled(source, &[]))
}

/// One host's programs.
pub struct Programs {
    pub option: Object,
    pub stamp: Object,
}

impl Programs {
    /// Loads both. The host offers `offered` in its SYNs, whatever the congestion control.
    pub fn load(offered: u32) -> Programs {
        let programs = Programs::load_unasked(offered);
        let askers = programs.option.maps().find(|m| m.name() == "askers").expect("the map of askers");
        let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("a list");
        for name in known.split_whitespace() {
            let mut key = [0; 16];
            key[..name.len()].copy_from_slice(name.as_bytes());
            askers.update(&key, &1u32.to_ne_bytes(), MapFlags::ANY).expect("an entry");
        }
        programs
    }

    /// Loads both; no congestion control requests arrivals.
    pub fn load_unasked(offered: u32) -> Programs {
        static OPTION: OnceLock<Vec<u8>> = OnceLock::new();
        static STAMP: OnceLock<Vec<u8>> = OnceLock::new();
        let mut builder = ObjectBuilder::default();
        let mut open = builder.open_memory(object_of(&OPTION, "bpf/option.bpf.c")).expect("an object");
        for mut map in open.maps_mut() {
            if map.name().to_string_lossy().ends_with(".rodata") {
                map.initial_value_mut().expect("constants")[..4].copy_from_slice(&offered.to_ne_bytes());
            }
        }
        let option = open.load().expect("the verifier accepts option.bpf.c");
        let mut open = builder.open_memory(object_of(&STAMP, "bpf/stamp.bpf.c")).expect("an object");
        for mut map in open.maps_mut() {
            if map.name() == "stamps" {
                let shared = option.maps().find(|m| m.name() == "stamps").expect("the map of stamps");
                map.reuse_fd(shared.as_fd()).expect("the same map");
            }
        }
        let stamp = open.load().expect("the verifier accepts stamp.bpf.c");
        Programs { option, stamp }
    }

    /// Attaches the option to a cgroup, until the link is dropped.
    pub fn attach_option(&self, cgroup: &Cgroup) -> Link {
        let directory: File = cgroup.open().expect("our own cgroup");
        let program = self.option.progs_mut().find(|p| p.name() == "stamp_option").expect("the program");
        program.attach_cgroup(directory.as_raw_fd()).expect("attaches")
    }

    /// Attaches the stamp to the device `wire`, for as long as the namespace lives.
    pub fn attach_stamp(&self, namespace: &Namespace) {
        attach(&self.stamp, "stamp_arrival", namespace, TC_INGRESS, 1);
    }
}

/// Faults that the programs of `path.bpf.c` inject.
#[derive(Clone, Copy, Default)]
pub struct Fate {
    /// The packets to lose, of each hundred data packets: packet `i` is lost where bit `i` is set.
    pub lost: u64,
    /// VLAN tags pushed and popped.
    pub tags: u32,
    pub lie: Lie,
}

/// Kind of forgery: `enum lie`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lie {
    #[default]
    Truth,
    Zero,
    Frozen,
    Random,
    Backwards,
    Fast,
    Slow,
    Stripped,
    Corrupt,
    Unsent,
    /// Honest at first, then unreadable options.
    Spoilt,
}

/// A path that does things to packets.
pub struct Way(Object);

impl Way {
    pub fn load(fate: Fate) -> Way {
        static PATH: OnceLock<Vec<u8>> = OnceLock::new();
        let mut builder = ObjectBuilder::default();
        let mut open = builder.open_memory(object_of(&PATH, "tests/stamps/path.bpf.c")).expect("an object");
        for mut map in open.maps_mut() {
            if map.name().to_string_lossy().ends_with(".rodata") {
                let constants = map.initial_value_mut().expect("constants");
                constants[..8].copy_from_slice(&fate.lost.to_ne_bytes());
                constants[8..12].copy_from_slice(&fate.tags.to_ne_bytes());
                constants[12..16].copy_from_slice(&(fate.lie as u32).to_ne_bytes());
            }
        }
        Way(open.load().expect("the verifier accepts path.bpf.c"))
    }

    pub fn attach(&self, program: &str, namespace: &Namespace, point: TcAttachPoint) {
        attach(&self.0, program, namespace, point, 2);
    }

    /// Attaches a program that fills the options of SYN-ACKs, until the link is dropped.
    pub fn crowd(&self, cgroup: &Cgroup) -> Link {
        let directory: File = cgroup.open().expect("our own cgroup");
        let program = self.0.progs_mut().find(|p| p.name() == "path_crowd").expect("the program");
        program.attach_cgroup(directory.as_raw_fd()).expect("attaches")
    }

    /// Totals so far: packets dropped, options changed.
    pub fn done(&self) -> (u64, u64) {
        let counters = self.0.maps().find(|m| m.name().to_string_lossy().ends_with(".bss")).expect("counters");
        let bytes = counters.lookup(&[0; 4], MapFlags::ANY).expect("a lookup").expect("the counters");
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        (word(8), word(16))
    }
}

/// Attaches a tc program to `wire`; lower priorities come first.
fn attach(object: &Object, program: &str, namespace: &Namespace, point: TcAttachPoint, priority: u32) {
    let program = object.progs().find(|p| p.name() == program).expect("the program");
    namespace.inside(|| {
        let index = nix::net::if_::if_nametoindex("wire").expect("the device");
        let mut hook = TcHook::new(program.as_fd());
        hook.ifindex(index as i32).handle(1).priority(priority).attach_point(point);
        // Fails where the device already has a clsact.
        let _ = hook.create();
        hook.attach().expect("attaches");
    });
}
