//! Rates that change, and opportunities, by the bottleneck's token bucket.
//!
//! A new rate is a change of `tc-tbf`, which fills the bucket: one packet leaves at once. If the link has opportunities, only
//! a change at each of them refills the bucket, which holds the data of one opportunity; unused ones are lost, as with
//! `mm-link`.
//!
//! A change does not wake the bucket, which sleeps until its first packet has its tokens at the old rate. An arriving packet
//! does. So a [`nudge`] is sent, which `tc-tbf` drops because it is larger than the bucket.

#![expect(unsafe_code, reason = "an address of a packet socket, which nix does not make")]

use crate::lab::devices::HEADER;
use experiment::scenario::{Experiment, Variation};
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{self, AddressFamily, MsgFlags, SockFlag, SockType};
use packetscale_models::units::{Bytes, Rate, Span, Time};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Capacity of the bottleneck from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Carried {
    /// A rate; zero: no packet passes.
    AtRate(Rate),
    /// This much at that instant, then none until the next.
    AtOnce(Bytes),
}

/// Opportunities are those of a millisecond, as their files count them.
const OPPORTUNITIES: Span = Span::from_millis(1);

/// The bottleneck's capacity over time; empty if constant.
pub(crate) fn of(experiment: &Experiment) -> Vec<(Time, Carried)> {
    let link = &experiment.links[experiment.bottleneck];
    let Some(variation) = &link.service.variation else { return Vec::new() };
    let end = Time::ZERO + experiment.duration;
    if !variation.has_opportunities() {
        return variation.capacity.rates(end).into_iter().map(|(at, rate)| (at, Carried::AtRate(rate))).collect();
    }
    opportunities(variation, end)
}

fn opportunities(variation: &Variation, end: Time) -> Vec<(Time, Carried)> {
    let mut account = variation.capacity.account();
    let mut carried = Bytes::ZERO;
    let mut found = vec![(Time::ZERO, Carried::AtRate(Rate::ZERO))];
    let mut at = Time::ZERO;
    while at < end {
        let until = account.until(at);
        if until > carried {
            found.push((at, Carried::AtOnce(until - carried)));
            carried = until;
        }
        at += OPPORTUNITIES;
    }
    found
}

/// A rate so low that its bucket is not refilled between two steps: eight bytes in a second.
const NOTHING: u64 = 64;

impl Carried {
    /// Rate of the token bucket in bit/s, and its size, given `at_rate`, the size for a rate.
    pub fn bucket(self, at_rate: impl Fn(Rate) -> u64) -> (u64, u64) {
        match self {
            Carried::AtRate(Rate::ZERO) => (NOTHING, at_rate(Rate::ZERO)),
            Carried::AtRate(rate) => (rate.bps(), at_rate(rate)),
            Carried::AtOnce(bytes) => (NOTHING, bytes.get()),
        }
    }
}

/// The largest MTU of a virtual device: that of the bottleneck's, so that a nudge passes as far as its queue.
pub(crate) const NUDGE_MTU: u64 = 65_535;

/// The largest bucket that no nudge fits into.
pub(crate) const MOST_BUCKET: u64 = 60_000;

/// `NUDGE` of bpf/bottleneck.bpf.c: a type of Ethernet for local experiments (IEEE 802).
const TYPE: u16 = 0x88b5;

/// Wakes a token bucket.
pub(crate) struct Nudge {
    socket: OwnedFd,
    frame: Vec<u8>,
}

impl Nudge {
    /// For a device of the namespace that the calling thread is in.
    pub fn new(device: &str) -> io::Result<Nudge> {
        let socket = socket::socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
        let index = nix::net::if_::if_nametoindex(device)?;
        // SAFETY: all bytes zero are a valid address.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        (address.sll_family, address.sll_ifindex) = (libc::AF_PACKET as u16, index as i32);
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the kernel reads one address, which outlives the call.
        let bound = unsafe { libc::bind(socket.as_raw_fd(), std::ptr::from_ref(&address).cast(), length) };
        if bound != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut frame = vec![0; (NUDGE_MTU + HEADER) as usize];
        frame[12..14].copy_from_slice(&TYPE.to_be_bytes());
        Ok(Nudge { socket, frame })
    }

    /// Wakes it.
    pub fn give(&self) -> io::Result<()> {
        match socket::send(self.socket.as_raw_fd(), &self.frame, MsgFlags::empty()) {
            // The bucket has dropped it.
            Err(Errno::ENOBUFS) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Scenario;
    use std::path::Path;

    fn experiment(path: &str, folder: &Path) -> Experiment {
        let text = format!(
            "run = {{ duration = \"9 ms\" }}\nflow = [{{ controller = \"cubic\" }}]\n\
             path = {{ delay = \"5 ms\", buffer = \"40 packets\", {path} }}\n"
        );
        Scenario::parse(&text, &folder.join("test.toml"), &[]).expect("a scenario").plan().remove(0)
    }

    #[test]
    fn steps_start_at_rate_and_repeat() {
        let path = "rate = \"10 Mbit/s\", rate_steps = [[\"2 ms\", \"1 Mbit/s\"]], rate_repeat = \"5 ms\"";
        let at = |ms, mbps| (Time::ZERO + Span::from_millis(ms), Carried::AtRate(Rate::from_mbps(mbps)));
        assert_eq!(of(&experiment(path, Path::new(""))), [at(0, 10), at(2, 1), at(5, 10), at(7, 1)]);
        assert!(of(&experiment("rate = \"1 Mbit/s\"", Path::new(""))).is_empty());
    }

    #[test]
    fn opportunities_within_millisecond_merge() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.mahi"), "1\n3\n3\n5\n").expect("written");
        let found = of(&experiment("rate_trace = { file = \"a.mahi\" }", folder.path()));
        let at = |ms, packets: u64| (Time::ZERO + Span::from_millis(ms), Carried::AtOnce(Bytes::new(1_500) * packets));
        assert_eq!(found[0], (Time::ZERO, Carried::AtRate(Rate::ZERO)));
        assert_eq!(found[1..], [at(1, 1), at(3, 2), at(5, 1), at(6, 1), at(8, 2)]);
    }
}
