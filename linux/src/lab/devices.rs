//! The devices between the hosts, as `ip` makes them.

use crate::lab::namespace::Namespace;

/// Bytes of an Ethernet header: the difference between a frame and the packet (MTU) in it.
pub(crate) const HEADER: u64 = 14;

/// The device that delays, drops and reorders packets behind the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    /// A thread between two TUN devices, for kernels without a queue discipline for it.
    DelayLine,
    /// The kernel's own queue disciplines, on a clock that is never late.
    Qdiscs,
}

/// The line of `ip` that makes a veth pair, its far end in another place.
pub(crate) fn pair(near: &str, far: &str, place: &Namespace) -> String {
    format!("link add {near} type veth peer name {far} netns {}", place.path())
}

/// The lines of `ip` that bring a device up, with an address.
pub(crate) fn up(device: &str, address: &str, mtu: u64, more: &str) -> [String; 2] {
    [format!("link set {device} mtu {mtu} {more} up"), format!("address add {address} dev {device}")]
}
