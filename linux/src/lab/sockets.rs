//! Sockets of flows: their controllers, the receiver's ports, and their state.

use crate::lab::path::DCTCP;
use crate::lab::tcp_info::TcpInfo;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, sockopt};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes per write.
pub(crate) const BLOCK: usize = 16 * 1024;

/// Ports of the receiver: of most flows, and of those whose receiver needs the sender's controller.
pub(crate) const PORT: u16 = 5_000;
pub(crate) const DCTCP_PORT: u16 = 5_001;

/// Returns Linux's names of a controller; the first that the kernel has is meant. Mainline's `bbr` is BBR version 1.
/// Kernels with version 3 call it `bbr` and version 1 `bbr1`, as scenarios do (github.com/google/bbr, branch v3).
pub(crate) fn kernel_names(controller: &str) -> Vec<&str> {
    match controller {
        "newreno" => vec!["reno"],
        "bbr1" => vec!["bbr1", "bbr"],
        other => vec![other],
    }
}

/// A flow under way, as seen from outside.
#[derive(Default)]
pub(crate) struct Connection {
    pub(crate) socket: OnceLock<OwnedFd>,
    pub(crate) completed_ns: AtomicU64,
}

impl Connection {
    /// Returns the kernel's `TCP_INFO` of it; `None` before it has begun.
    pub fn info(&self) -> Option<TcpInfo> {
        TcpInfo::of(self.socket.get()?.as_fd()).ok()
    }

    /// When everything was delivered; `None` if the flow has neither an end nor a stop, or did not reach it.
    pub fn completed_ns(&self) -> Option<u64> {
        Some(self.completed_ns.load(Ordering::Acquire)).filter(|ns| *ns > 0)
    }
}

/// The receiver's port for a controller.
pub(crate) fn port_for(controller: &str) -> u16 {
    if controller == DCTCP { DCTCP_PORT } else { PORT }
}

/// Makes a socket.
pub(crate) fn stream() -> io::Result<OwnedFd> {
    Ok(socket::socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?)
}

/// Makes a socket with this controller of a scenario.
pub(crate) fn stream_with(controller: &str) -> io::Result<OwnedFd> {
    let names = kernel_names(controller);
    let first = names.iter().find_map(|name| match stream_with_kernels(name) {
        Err(error) if is_missing(&error) => None,
        tried => Some(tried),
    });
    first.unwrap_or_else(|| Err(io::Error::from_raw_os_error(libc::ENOENT)))
}

/// Makes a socket with the kernel's congestion control of this name.
fn stream_with_kernels(name: &str) -> io::Result<OwnedFd> {
    let socket = stream()?;
    socket::setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(name))?;
    Ok(socket)
}

/// Whether `error` means that the kernel lacks a controller.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOENT)
}

/// Reads to the end.
pub(crate) fn drain(connection: &OwnedFd) -> io::Result<()> {
    let mut block = vec![0u8; 4 * BLOCK];
    loop {
        match nix::unistd::read(connection, &mut block) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::EINTR) => {}
            // Connections are cut when the run ends.
            Err(_) => return Ok(()),
        }
    }
}
