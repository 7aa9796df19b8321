//! A packet socket captures what passes a device, independently of everything under test.

#![expect(unsafe_code, reason = "socket options and messages that no safe wrapper covers")]

use std::io;
use std::mem::{size_of, zeroed};
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::libc;

use super::net::Namespace;

/// A captured TCP segment.
#[derive(Clone, Debug)]
pub struct Segment {
    /// When the kernel received it, by the realtime clock.
    pub ns: u64,
    /// Whether this device sent it, rather than received it.
    pub outgoing: bool,
    pub source_port: u16,
    pub target_port: u16,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub payload: u32,
    /// Each option's kind and all its bytes; padding is left out.
    pub options: Vec<(u8, Vec<u8>)>,
}

impl Segment {
    pub fn end(&self) -> u32 {
        self.seq.wrapping_add(self.payload)
    }

    /// Whether it is an acknowledgment without data.
    pub fn is_pure_ack(&self) -> bool {
        self.flags & 0x17 == 0x10 && self.payload == 0
    }

    pub fn option(&self, kind: u8) -> Option<&[u8]> {
        self.options.iter().find(|(k, _)| *k == kind).map(|(_, bytes)| bytes.as_slice())
    }

    /// Returns the right edge of the first SACK block.
    pub fn first_sacked(&self) -> Option<u32> {
        self.option(5).map(|sack| u32::from_be_bytes(sack[6..10].try_into().expect("a block")))
    }

    fn read(ns: u64, outgoing: bool, packet: &[u8]) -> Option<Segment> {
        let (header, total) = match packet.first()? >> 4 {
            4 if packet[9] == 6 => (usize::from(packet[0] & 15) * 4, u16_at(packet, 2)?.into()),
            6 if packet[6] == 6 => (40, 40 + u32::from(u16_at(packet, 4)?)),
            _ => return None,
        };
        let tcp = packet.get(header..)?;
        let length = usize::from(tcp.get(12)? >> 4) * 4;
        Some(Segment {
            ns,
            outgoing,
            source_port: u16_at(tcp, 0)?,
            target_port: u16_at(tcp, 2)?,
            seq: u32_at(tcp, 4)?,
            ack: u32_at(tcp, 8)?,
            flags: tcp[13],
            payload: total - header as u32 - length as u32,
            options: options(tcp.get(20..length)?),
        })
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn options(mut rest: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut found = Vec::new();
    while let Some(&kind) = rest.first() {
        let length = match kind {
            0 => break,
            1 => 1,
            _ => rest.get(1).map_or(0, |&l| usize::from(l)),
        };
        if length == 0 || length > rest.len() {
            break;
        }
        if kind != 1 {
            found.push((kind, rest[..length].to_vec()));
        }
        rest = &rest[length..];
    }
    found
}

/// A packet socket on the device `wire` of a namespace.
pub struct Capture {
    stop: Arc<AtomicBool>,
    reader: JoinHandle<Vec<Segment>>,
}

impl Capture {
    pub fn start(namespace: &Namespace) -> io::Result<Capture> {
        static STAMPING: OnceLock<UdpSocket> = OnceLock::new();
        STAMPING.get_or_init(|| stamping().expect("a socket"));
        let socket = namespace.inside(|| open("wire"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let reader = thread::spawn(move || {
            let mut seen = Vec::new();
            loop {
                match receive(&socket) {
                    Some((ns, outgoing, packet)) => seen.extend(Segment::read(ns, outgoing, &packet)),
                    None if stopped.load(Ordering::Relaxed) => return seen,
                    None => {}
                }
            }
        });
        Ok(Capture { stop, reader })
    }

    /// Stops, and returns everything captured, in order.
    pub fn finish(self) -> Vec<Segment> {
        self.stop.store(true, Ordering::Relaxed);
        self.reader.join().expect("the reader does not panic")
    }
}

/// While this socket exists, the kernel stamps packets on arrival. It starts some time after the first socket requests
/// it; earlier packets are stamped when they are read.
fn stamping() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::ReceiveTimestampns, &true)?;
    thread::sleep(Duration::from_millis(100));
    Ok(socket)
}

fn open(device: &str) -> io::Result<OwnedFd> {
    let index = nix::net::if_::if_nametoindex(device)?;
    // SAFETY: plain system calls on a descriptor that has an owner after the first check.
    unsafe {
        let fd = libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = OwnedFd::from_raw_fd(fd);
        let set = |level, option, value: libc::c_int, bytes: libc::timeval| {
            let (at, size) = if option == libc::SO_RCVTIMEO {
                ((&raw const bytes).cast::<libc::c_void>(), size_of::<libc::timeval>())
            } else {
                ((&raw const value).cast(), size_of::<libc::c_int>())
            };
            libc::setsockopt(fd.as_raw_fd(), level, option, at, size as u32)
        };
        let pause = libc::timeval { tv_sec: 0, tv_usec: 50_000 };
        set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 64 << 20, pause);
        set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1, pause);
        set(libc::SOL_SOCKET, libc::SO_RCVTIMEO, 0, pause);
        let mut address: libc::sockaddr_ll = zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index as i32;
        let size = size_of::<libc::sockaddr_ll>() as u32;
        if libc::bind(fd.as_raw_fd(), (&raw const address).cast(), size) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(fd)
    }
}

fn receive(socket: &OwnedFd) -> Option<(u64, bool, Vec<u8>)> {
    let mut packet = vec![0u8; 128];
    let mut control = [0u64; 16];
    // SAFETY: every pointer in the message points to a local of the size given with it.
    unsafe {
        let mut from: libc::sockaddr_ll = zeroed();
        let mut part = libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: packet.len() };
        let mut message: libc::msghdr = zeroed();
        message.msg_name = (&raw mut from).cast();
        message.msg_namelen = size_of::<libc::sockaddr_ll>() as u32;
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let length = libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0);
        if length < 0 {
            return None;
        }
        packet.truncate(length as usize);
        let mut ns = 0;
        let mut next = libc::CMSG_FIRSTHDR(&raw const message);
        while !next.is_null() {
            if (*next).cmsg_level == libc::SOL_SOCKET && (*next).cmsg_type == libc::SCM_TIMESTAMPNS {
                let time: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(next).cast());
                ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
            }
            next = libc::CMSG_NXTHDR(&raw const message, next);
        }
        Some((ns, from.sll_pkttype == libc::PACKET_OUTGOING, packet))
    }
}
