//! Rapid on this machine's own kernel: loaded, used for some packets, unloaded. It judges nothing that a busy machine
//! changes; the rest is judged in virtual time (`hosts/virtual/tests/in_a_machine.rs`). Needs root.

use packetscale_tcp::{self as tcp, Options};
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

#[test]
fn this_kernel_takes_rapid_and_its_connections_carry_data() {
    if !nix::unistd::geteuid().is_root() || !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        return eprintln!("skipped: Rapid needs root and a kernel with type information (BTF)");
    }
    let name = format!("r_smoke_{}", std::process::id() % 10_000);
    tcp::load(&Options { name: name.clone(), flows: 2, ..Options::default() })
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
    assert!(!status.connections.is_empty() || !status.fallen.is_empty(), "nobody steered it");
    assert_eq!(receiver.join().expect("no panic").expect("reads"), AMOUNT);
    assert!(unloaded.expect("unloads") && !tcp::is_registered(&name), "something stays");
}
