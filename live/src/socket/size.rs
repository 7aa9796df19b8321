//! Largest packet of a path. All packets carry "don't fragment": a router drops one that is too large and reports its
//! limit, which the kernel stores for the path (RFC 1191, RFC 8201); from then on it refuses larger ones with EMSGSIZE.

use nix::libc;
use nix::sys::socket::{getsockopt, setsockopt, sockopt};
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

sockopt_impl!(
    /// Path MTU discovery for IPv4.
    Discovery4,
    SetOnly,
    libc::IPPROTO_IP,
    libc::IP_MTU_DISCOVER,
    libc::c_int
);
sockopt_impl!(
    /// The same for IPv6.
    Discovery6,
    SetOnly,
    libc::IPPROTO_IPV6,
    libc::IPV6_MTU_DISCOVER,
    libc::c_int
);
sockopt_impl!(
    /// Path MTU of a connected IPv6 socket.
    Mtu6,
    GetOnly,
    libc::IPPROTO_IPV6,
    libc::IPV6_MTU,
    libc::c_int
);

/// Disables fragmentation for this socket.
///
/// # Errors
/// The system's.
pub(super) fn never_fragment(socket: &UdpSocket) -> io::Result<()> {
    // IPv6 sockets also carry IPv4.
    setsockopt(socket, Discovery4, &libc::IP_PMTUDISC_DO)?;
    if socket.local_addr()?.is_ipv6() {
        setsockopt(socket, Discovery6, &libc::IPV6_PMTUDISC_DO)?;
    }
    Ok(())
}

/// Whether a packet was refused because it exceeds the path's MTU.
pub fn is_too_large(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EMSGSIZE)
}

/// The largest IP packet that the path to an address takes unfragmented, as far as this machine knows: its device's
/// limit, or one that routers have reported. `None` without a route.
pub fn path_mtu(to: SocketAddr) -> Option<u16> {
    let to = SocketAddr::new(to.ip().to_canonical(), to.port());
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(to).ok()?;
    let found = if to.is_ipv4() { getsockopt(&socket, sockopt::IpMtu) } else { getsockopt(&socket, Mtu6) };
    // The loopback device's is 65 536, more than an IP packet can have.
    found.ok().and_then(|mtu| u16::try_from(mtu.clamp(0, u16::MAX.into())).ok())
}
