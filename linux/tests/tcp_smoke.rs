//! Rapid on this machine's own kernel: loaded, used for some packets, unloaded. It judges only what a busy machine does not
//! change; the rest is judged in virtual time (`linux/tests/in_a_machine.rs`). Needs root.

use linux::tcp::{self, Options};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;

use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};

/// Bytes to send.
const AMOUNT: usize = 200_000;

/// A connection to this port of the own machine.
fn open(control: &str, port: u16) -> std::io::Result<TcpStream> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), SockProtocol::Tcp)?;
    setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(control))?;
    connect(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)))?;
    Ok(TcpStream::from(socket))
}

/// Whether this machine can load; prints why not.
fn able() -> bool {
    let able = nix::unistd::geteuid().is_root() && std::path::Path::new("/sys/kernel/btf/vmlinux").exists();
    if !able {
        eprintln!("skipped: Rapid needs root and a kernel with type information (BTF)");
    }
    able
}

/// The compiled sender, with an iterator that no kernel has.
fn sender_without_list() -> Vec<u8> {
    let (known, unknown) = (b"iter/bpf_sk_storage_map", b"iter/bpf_no_such_thing_");
    let mut object = include_bytes!("../objects/sender.bpf.o").to_vec();
    // The section's name appears among the sections and among the types.
    while let Some(at) = object.windows(known.len()).position(|bytes| bytes == known) {
        object[at..at + known.len()].copy_from_slice(unknown);
    }
    object
}

#[test]
fn rapid_runs_on_this_kernel() {
    if !able() {
        return;
    }
    let name = format!("r_smoke_{}", std::process::id() % 10_000);
    let trial = tcp::load(&Options { name: name.clone(), flows: 2, ..Options::default() })
        .unwrap_or_else(|error| panic!("{error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let receiver = std::thread::spawn(move || {
        let mut received = Vec::new();
        listener.accept().expect("a connection").0.read_to_end(&mut received).map(|_| received.len())
    });
    let sent = open(&name, port).and_then(|mut stream| {
        stream.write_all(&vec![0; AMOUNT])?;
        tcp::status(&name).map_err(std::io::Error::other)
    });
    let unloaded = tcp::unload(&name);
    let status = sent.expect("sends");
    // Steered, or fallen back for a reason.
    assert!(!status.connections.is_empty() || !status.fallen.is_empty(), "no controller steered it");
    assert_eq!(receiver.join().expect("no panic").expect("reads"), AMOUNT);
    assert!(unloaded.expect("unloads") && !tcp::is_registered(&name), "something stays");
    assert_eq!(status.unlisted.is_some(), trial.without_list.is_some(), "status and load disagree");
    if let Some(why) = status.unlisted {
        eprintln!("skipped: this kernel refuses the list of connections taken over: {why}");
    }
}

#[test]
fn loads_and_replaces_without_list_iterator() {
    if !able() {
        return;
    }
    let name = format!("r_none_{}", std::process::id() % 10_000);
    let options = Options { name: name.clone(), flows: 2, sender: Some(sender_without_list()), ..Options::default() };
    let seen = [tcp::load(&options), tcp::replace(&options).map(|replaced| replaced.trial)].map(|trial| {
        let status = tcp::status(&name).map(|status| (status.unlisted, status.open.len()));
        trial.and_then(|trial| Ok((trial.without_list, status?)))
    });
    let listed = tcp::replace(&Options { sender: None, ..options })
        .and_then(|replaced| Ok((replaced.trial.without_list, tcp::status(&name)?.unlisted)));
    let unloaded = tcp::unload(&name);
    for seen in seen {
        let (of_load, (of_status, open)) = seen.unwrap_or_else(|error| panic!("{error}"));
        for why in [of_load, of_status] {
            assert!(why.as_ref().is_some_and(|why| why.contains("list_taken")), "{why:?}");
        }
        assert_eq!(open, 0);
    }
    let (of_load, of_status) = listed.unwrap_or_else(|error| panic!("{error}"));
    let here = tcp::listable();
    assert_eq!([of_load.is_none(), of_status.is_none()], [here.is_ok(); 2], "{here:?}");
    assert!(unloaded.expect("unloads") && !tcp::is_registered(&name), "something stays");
}

/// Set where this program runs in a PID namespace of its own.
const CONTAINED: &str = "PACKETSCALE_TEST_CONTAINED";

/// A container's mount namespace ends with it, and with that the pins; the registration of older kernels and the settings of
/// devices do not.
#[test]
fn refuses_load_from_pid_namespace() {
    if !able() {
        return;
    }
    let name = format!("r_pid_{}", std::process::id() % 10_000);
    if std::env::var_os(CONTAINED).is_some() {
        let refused = tcp::load(&Options { name: name.clone(), flows: 2, ..Options::default() });
        let why = refused.expect_err("refused").to_string();
        assert!(why.contains("PID namespace"), "{why}");
        assert!(!tcp::is_registered(&name));
        return;
    }
    let mut contained = std::process::Command::new("unshare");
    contained.args(["--pid", "--fork", "--mount-proc"]).arg(std::env::current_exe().expect("this program"));
    contained.args(["--exact", "refuses_load_from_pid_namespace", "--nocapture"]).env(CONTAINED, "1");
    let output = contained.output().expect("unshare");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
