//! The kernel's figures of a connection: `TCP_INFO` (`struct tcp_info` of include/uapi/linux/tcp.h). The structure only
//! ever grows at its end, so fields are read at their offsets. Fields that an older kernel does not fill are absent.

#![expect(unsafe_code, reason = "getsockopt into plain bytes")]

use nix::libc;
use serde::{Deserialize, Serialize};
use std::os::fd::{AsRawFd, BorrowedFd};

/// The fields that the lab reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TcpInfo {
    /// Smoothed round-trip time; zero before the first sample.
    pub smoothed_rtt_us: u32,
    /// Congestion window in packets.
    pub window: u32,
    /// Slow-start threshold in packets; [`NO_THRESHOLD`] before the first reduction.
    pub threshold: u32,
    /// Retransmitted packets.
    pub retransmitted: u32,
    /// Least round-trip time; `u32::MAX` before the first sample.
    pub least_rtt_us: u32,
    /// Retransmission timeouts (Linux 6.7 and later).
    pub timeouts: Option<u16>,
}

/// `TCP_INFINITE_SSTHRESH` of include/net/tcp.h.
pub(crate) const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// Size of the buffer: the structure may grow.
const ROOM: usize = 512;

impl TcpInfo {
    /// Reads the figures of this connection.
    pub fn of(socket: BorrowedFd<'_>) -> std::io::Result<TcpInfo> {
        let mut bytes = [0u8; ROOM];
        let mut length = ROOM as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes into `bytes`, and the new length into `length`.
        let done = unsafe {
            let (to, room) = (bytes.as_mut_ptr().cast(), &mut length);
            libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, to, room)
        };
        if done != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(TcpInfo::parse(&bytes[..length as usize]))
    }

    fn parse(bytes: &[u8]) -> TcpInfo {
        let word =
            |at: usize| bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_ne_bytes);
        let half = |at: usize| bytes.get(at..at + 2).and_then(|half| half.try_into().ok()).map(u16::from_ne_bytes);
        TcpInfo {
            smoothed_rtt_us: word(68),
            window: word(80),
            threshold: word(76),
            retransmitted: word(100),
            least_rtt_us: word(148),
            timeouts: half(240),
        }
    }
}
