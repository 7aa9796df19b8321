//! `kill -9` at system calls of load, replace and unload that change anything outside the process (at every one of them with
//! `PACKETSCALE_LONG`, else at a few); the unload after it leaves the machine as it was.
//!
//! This program runs itself under ptrace: the child makes one change, and dies at the n-th of these calls, before the kernel
//! carries it out. So a death between two calls is tried, for every two. (Other calls change the process alone, which is
//! gone.) Programs that the child has started live on, as they do when a user kills it.

use super::namespaces::{Bottleneck, MANY_SEGMENTS, Path as Route, inside, printed};
use super::{able, alone, clang, long};
use libbpf_rs::{ObjectBuilder, TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHook};
use linux::tcp::{self, Options};
use nix::libc;
use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The child's operation, and its namespace.
const CHANGE: &str = "PACKETSCALE_KILLED_CHANGE";
const NAMESPACE: &str = "PACKETSCALE_KILLED_NAMESPACE";
const CHILD: &str = "killed::one_change_of_a_child";
const NAME: &str = "r_killed";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Load,
    Replace,
    Unload,
}

impl Change {
    /// One call in this many is tested, unless all are requested: each takes seconds. A replacement makes hundreds of attempts to
    /// register.
    fn part(self) -> usize {
        if self == Change::Replace { 61 } else { 9 }
    }
}

fn options() -> Options {
    Options {
        name: NAME.to_string(),
        flows: 1,
        devices: vec!["out".to_string()],
        sender: Some(clang::compiled("tests/tcp/little.bpf.c", &[])),
        ..Options::default()
    }
}

fn make(change: Change) {
    match change {
        Change::Load => drop(tcp::load(&options()).expect("loads")),
        Change::Replace => drop(tcp::replace(&options()).expect("replaces")),
        Change::Unload => assert!(tcp::unload(NAME).expect("unloads")),
    }
}

/// Runs only in a child.
#[test]
fn one_change_of_a_child() {
    let (Ok(change), Ok(namespace)) = (std::env::var(CHANGE), std::env::var(NAMESPACE)) else { return };
    let change = [Change::Load, Change::Replace, Change::Unload].into_iter().find(|one| format!("{one:?}") == change);
    inside(&namespace, || make(change.expect("a change")));
}

/// Whether a system call, by its number and arguments, can change what outlives its process.
fn changes(call: u64, arguments: [u64; 3]) -> bool {
    /// Commands of bpf(2), include/uapi/linux/bpf.h: elements updated and deleted, pins, programs and links attached.
    const BPF: [u64; 8] = [2, 3, 6, 8, 9, 28, 29, 34];
    match call as i64 {
        libc::SYS_bpf => BPF.contains(&arguments[0]),
        libc::SYS_openat => arguments[2] & libc::O_CREAT as u64 != 0,
        // Programs that are started, and their ends.
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_vfork | libc::SYS_wait4 | libc::SYS_waitid => true,
        // Settings are written to files; output goes to descriptors 1 and 2.
        libc::SYS_write => arguments[0] > 2,
        libc::SYS_mkdir | libc::SYS_mkdirat | libc::SYS_rmdir | libc::SYS_unlink | libc::SYS_unlinkat => true,
        libc::SYS_rename | libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_mount | libc::SYS_umount2 => true,
        libc::SYS_sendto | libc::SYS_sendmsg => true,
        _ => false,
    }
}

/// How a child ended: killed, or after this many calls.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Killed,
    Done { calls: u64, code: i32 },
}

fn trace(request: libc::c_uint, process: libc::pid_t, data: u64) -> i64 {
    // SAFETY: no request here reads or writes this process's memory.
    unsafe { libc::ptrace(request, process, 0u64, data) }
}

fn registers(process: libc::pid_t) -> libc::user_regs_struct {
    // SAFETY: plain words, which the kernel fills.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        libc::ptrace(libc::PTRACE_GETREGS, process, 0u64, &raw mut registers);
        registers
    }
}

/// Runs the change in a child, and kills it before the call of this number.
fn killed_at(change: Change, namespace: &str, number: u64) -> End {
    const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_EXITKILL;
    const AT_CALL: i32 = libc::SIGTRAP | 0x80;
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", CHILD, "--nocapture", "--test-threads", "1"]);
    command.env(CHANGE, format!("{change:?}")).env(NAMESPACE, namespace);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: one system call.
    unsafe {
        command.pre_exec(|| {
            if trace(libc::PTRACE_TRACEME, 0, 0) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        })
    };
    let child = command.spawn().expect("starts").id() as libc::pid_t;
    let (mut calls, mut set, mut killed, mut end) = (0, false, false, None);
    // A stop at a call is its beginning, or its end; by thread.
    let mut inside_call = std::collections::BTreeMap::new();
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes one integer.
        let stopped = unsafe { libc::waitpid(-1, &mut status, libc::__WALL) };
        if stopped < 0 {
            // The child, its threads and its children have ended.
            return end.expect("the child has ended");
        }
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            if stopped == child {
                end = Some(if killed { End::Killed } else { End::Done { calls, code: libc::WEXITSTATUS(status) } });
            }
            continue;
        }
        if !set {
            set = trace(libc::PTRACE_SETOPTIONS, stopped, OPTIONS as u64) == 0;
        }
        let signal = libc::WSTOPSIG(status);
        if signal == AT_CALL {
            let within = inside_call.entry(stopped).or_insert(false);
            *within = !*within;
            if *within && !killed {
                let seen = registers(stopped);
                if changes(seen.orig_rax, [seen.rdi, seen.rsi, seen.rdx]) {
                    calls += 1;
                    if calls == number {
                        killed = true;
                        // SAFETY: our own child.
                        unsafe { libc::kill(child, libc::SIGKILL) };
                        continue;
                    }
                }
            }
        }
        let passed_on = if [AT_CALL, libc::SIGTRAP, libc::SIGSTOP].contains(&signal) { 0 } else { signal };
        trace(libc::PTRACE_SYSCALL, stopped, passed_on as u64);
    }
}

/// The machine as others see it.
pub fn machine(route: &Route) -> Vec<String> {
    let a = route.host("a");
    let listed = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names.join(" ")
    };
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    vec![
        printed(&format!("tc -n {a} qdisc show dev out")),
        printed(&format!("tc -n {a} filter show dev out ingress")),
        printed(&format!("tc -n {a} filter show dev out egress")),
        route.device().0.to_string(),
        inside(&a, || read("/proc/sys/net/ipv4/tcp_congestion_control")),
        read("/proc/sys/net/ipv4/tcp_available_congestion_control"),
        read("/proc/mounts").lines().filter(|line| line.contains("packetscale")).collect(),
        listed("/run"),
        format!("{} programs at the root cgroup", programs_of_connections()),
    ]
}

/// How many sock_ops programs every connection has.
fn programs_of_connections() -> u32 {
    let Ok(root) = fs::File::open("/sys/fs/cgroup") else { return 0 };
    let (mut flags, mut ids, mut count) = (0, [0; 16], 16);
    // SAFETY: the pointers point to locals, and `count` says how many numbers fit into `ids`.
    unsafe {
        let kind = libbpf_rs::libbpf_sys::BPF_CGROUP_SOCK_OPS;
        libbpf_rs::libbpf_sys::bpf_prog_query(root.as_raw_fd(), kind, 0, &mut flags, ids.as_mut_ptr(), &mut count);
    }
    count
}

/// Attaches a foreign filter to the sender's device.
pub fn foreign_filter(point: TcAttachPoint, handle: u32, priority: u32) {
    let mut builder = ObjectBuilder::default();
    let object = builder.open_memory(&clang::compiled("tests/tcp/pass.bpf.c", &[])).expect("an object");
    let object = object.load().expect("loads");
    let program = object.progs().next().expect("a program");
    let index = nix::net::if_::if_nametoindex("out").expect("the device");
    let mut hook = TcHook::new(program.as_fd());
    hook.ifindex(index as i32).handle(handle).priority(priority).attach_point(point);
    // Fails where the device already has a clsact.
    let _ = hook.create();
    hook.attach().expect("attaches");
}

fn at_every_call(test: &str, change: Change) {
    let route = Route::new(test, &Bottleneck { mbit: 100, limit: 100_000 });
    route.segments(MANY_SEGMENTS);
    route.inside("a", || [TC_INGRESS, TC_EGRESS].map(|point| foreign_filter(point, 1, 7)));
    let (a, was) = (route.host("a"), machine(&route));
    for number in (1..).step_by(if long() { 1 } else { change.part() }) {
        if change != Change::Load {
            route.inside("a", || make(Change::Load));
        }
        let end = killed_at(change, &a, number);
        tcp::unload(NAME).unwrap_or_else(|error| panic!("{change:?} killed at call {number}: {error}"));
        assert_eq!(machine(&route), was, "{change:?} killed at call {number}");
        if let End::Done { calls, code } = end {
            // Their number may differ by some: a registration is tried again and again.
            eprintln!("{change:?}: {calls} calls");
            assert!(code == 0 && calls > 10, "{calls} calls, ended with {code}");
            break;
        }
    }
}

#[test]
#[ignore = "long: make test-long"]
fn unload_repairs_load_killed_at_any_call() {
    if able() {
        let _alone = alone();
        at_every_call("kl", Change::Load);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn unload_repairs_replacement_killed_at_any_call() {
    if able() {
        let _alone = alone();
        at_every_call("kr", Change::Replace);
    }
}

#[test]
fn second_unload_finishes_killed_one() {
    if able() {
        let _alone = alone();
        at_every_call("ku", Change::Unload);
    }
}

pub fn objects() -> [Vec<u8>; 2] {
    ["tests/tcp/little.bpf.c", "tests/tcp/pass.bpf.c"].map(|source| clang::compiled(source, &[]))
}
