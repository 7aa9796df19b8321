//! The sending end of a connection that tries a congestion control.

use nix::libc;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use std::ffi::OsString;
use std::io;
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

/// Bytes of a segment: those of a usual path, where a loopback's are fifty times as large.
const SEGMENT: u32 = 1400;

/// Connects under the congestion control `name`.
pub fn connected(name: &str, to: SocketAddrV4) -> nix::Result<TcpStream> {
    let socket: OwnedFd = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, SockProtocol::Tcp)?;
    setsockopt(&socket, sockopt::TcpMaxSeg, &SEGMENT)?;
    setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(name))?;
    connect(socket.as_raw_fd(), &SockaddrIn::from(to))?;
    Ok(TcpStream::from(socket))
}

/// `TCP_INFO` of the connection.
pub fn info(stream: &TcpStream) -> io::Result<libc::tcp_info> {
    // SAFETY: plain words; the kernel fills those that it knows.
    unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let at = (&raw mut info).cast();
        if libc::getsockopt(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, at, &mut length) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(info)
    }
}
