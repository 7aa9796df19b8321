//! Records that the programs write for user space: the mirror of `bpf/report.h`.

use crate::tcp::wire::Plain;
use packetscale_models::rapid::{RawParams, RawThesisParams};
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How many streams a connection remembers, as in `bpf/memory.h`.
pub const STREAMS: u32 = 256;
/// Minimum and maximum number of transmissions remembered: the programs distinguish those in flight by 16 bits.
const FEWEST_RECORDS: u32 = 1 << 12;
const MOST_RECORDS: u32 = 1 << 16;

/// Buckets of the histogram of gap errors: quarter octaves from 64 ns.
pub const GAP_BUCKETS: usize = 64;

/// `struct address`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    family: u32,
    local_port: u16,
    remote_port: u16,
    local: [u32; 4],
    remote: [u32; 4],
}

// SAFETY: words, halves in pairs.
unsafe impl Plain for Address {}

impl Address {
    fn ip(&self, words: &[u32; 4]) -> IpAddr {
        if self.family == libc_family_inet6() {
            let mut bytes = [0; 16];
            for (four, word) in bytes.chunks_exact_mut(4).zip(words) {
                four.copy_from_slice(&word.to_ne_bytes());
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        } else {
            IpAddr::V4(Ipv4Addr::from(words[0].to_ne_bytes()))
        }
    }

    /// Returns the address of a connection between these two.
    pub fn between(local: SocketAddr, remote: SocketAddr) -> Address {
        let words = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => [u32::from_ne_bytes(ip.octets()), 0, 0, 0],
            IpAddr::V6(ip) => {
                let octets = ip.octets();
                [0, 4, 8, 12].map(|at| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| octets[at + byte])))
            }
        };
        Address {
            family: if local.is_ipv6() { libc_family_inet6() } else { libc_family_inet() },
            local_port: local.port(),
            remote_port: remote.port(),
            local: words(local.ip()),
            remote: words(remote.ip()),
        }
    }

    /// Returns this end's address.
    pub fn local(&self) -> SocketAddr {
        SocketAddr::new(self.ip(&self.local), self.local_port)
    }

    /// Returns the peer's address.
    pub fn remote(&self) -> SocketAddr {
        SocketAddr::new(self.ip(&self.remote), self.remote_port)
    }
}

fn libc_family_inet6() -> u32 {
    nix::sys::socket::AddressFamily::Inet6 as u32
}

fn libc_family_inet() -> u32 {
    nix::sys::socket::AddressFamily::Inet as u32
}

/// The controller of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// No connection uses this slot.
    Free,
    /// Rapid.
    Rapid,
    /// The kernel's CUBIC has taken over.
    Cubic,
}

/// Phase of a Rapid connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// It sends, and has not seen whether arrival reports will come: TCP's slow start.
    Waits,
    /// It sends no data, as at a connection's receiving end.
    Receives,
    /// Start-up.
    StartsUp,
    /// The law steers it.
    Sends,
}

/// Where arrival times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Not decided yet.
    Undecided,
    /// The TCP option.
    Option,
    /// TCP timestamps of microseconds.
    Timestamps,
    /// There are none.
    None,
}

impl Source {
    pub(super) fn from_raw(raw: u32) -> Source {
        [Source::Undecided, Source::Option, Source::Timestamps].get(raw as usize).copied().unwrap_or(Source::None)
    }
}

/// Why CUBIC has taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// There are more connections than the `flows` set at load.
    TooManyConnections,
    /// The peer reports no arrival times.
    NoStamps,
    /// At this rate, this machine ends its gaps far too late.
    CannotPace,
    /// Packets leave in groups, because the device segments them.
    Bursts,
    /// Rapid was switched off, or is being unloaded.
    SwitchedOff,
    /// The user of this network namespace has as many connections of Rapid as `flows_per_user`.
    TooManyOfUser,
    /// A reason that this build does not know.
    Unknown,
}

impl Reason {
    /// The reasons that the programs know, in the order of their numbers, which begin with one.
    pub const ALL: [Reason; 6] = [
        Reason::TooManyConnections,
        Reason::NoStamps,
        Reason::CannotPace,
        Reason::Bursts,
        Reason::SwitchedOff,
        Reason::TooManyOfUser,
    ];

    pub(super) fn from_raw(raw: u32) -> Reason {
        let known = Reason::ALL.into_iter().find(|reason| reason.number() == raw as usize);
        known.unwrap_or(Reason::Unknown)
    }

    pub(super) fn number(self) -> usize {
        self as usize + 1
    }
}

/// Limits other than the law's that hold packets back, as in `bpf/report.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The application has no data.
    Application,
    /// The receiver's window is full.
    Receiver,
    /// As many packets are in flight as a connection has records for.
    Window,
}

impl Limit {
    /// All of them, in the order of their numbers.
    pub const ALL: [Limit; 3] = [Limit::Application, Limit::Receiver, Limit::Window];
}

/// Maximum window for a number of remembered transmissions, as in `bpf/counters.h`: an eighth of them may be retransmissions.
const fn window_of(records: u32) -> u32 {
    records - records / 8
}

/// Default maximum window, in packets.
pub const WINDOW_USUAL: u32 = window_of(FEWEST_RECORDS);
/// Largest allowed maximum window, in packets.
pub const WINDOW_MOST: u32 = window_of(MOST_RECORDS);

/// Number of transmissions to remember for a maximum window in packets.
pub fn records(window: u32) -> u32 {
    let mut records = FEWEST_RECORDS;
    while window_of(records) < window && records < MOST_RECORDS {
        records *= 2;
    }
    records
}

/// `struct report`: one connection, cumulative since its start. Rates are bytes per second, IP header included; times
/// are nanoseconds of the monotonic clock.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Report {
    pub address: Address,
    pub mode: u32,
    pub source: u32,
    pub startup: u32,
    pub waiting: u32,
    pub began_ns: u64,
    pub acked_ns: u64,
    pub rate: u64,
    pub available: u64,
    pub estimated_ns: u64,
    pub queue_ns: u64,
    pub queue_max_ns: u64,
    pub rtt_ns: u64,
    pub srtt_ns: u64,
    pub packets: u64,
    pub bytes: u64,
    pub delivered: u64,
    pub stamped: u64,
    pub lost: u64,
    pub retransmitted: u64,
    pub streams: u64,
    pub unusable: u64,
    pub capped: u64,
    pub bursts: u64,
    pub malformed: u64,
    pub unlogged: u64,
    pub limited_ns: [u64; Limit::ALL.len()],
    pub gap_error: [u64; GAP_BUCKETS],
}

// SAFETY: words; the padding that C would add is named.
unsafe impl Plain for Report {}

impl Report {
    /// Returns what steers the connection in this slot.
    pub fn mode(&self) -> Mode {
        if self.mode == 0 { Mode::Free } else { Mode::Rapid }
    }

    /// The connection's phase.
    pub fn activity(&self) -> Activity {
        match self {
            Report { waiting: 1.., .. } => Activity::Waits,
            Report { packets: 0, .. } => Activity::Receives,
            Report { startup: 1.., .. } => Activity::StartsUp,
            _ => Activity::Sends,
        }
    }

    /// Returns where its arrival times come from.
    pub fn source(&self) -> Source {
        Source::from_raw(self.source)
    }

    /// Returns the quantile `part` of the gap errors (created minus intended; late is positive), in nanoseconds, to a
    /// quarter octave. `None` before the first gap.
    pub fn gap_error_ns(&self, part: f64) -> Option<u64> {
        let total: u64 = self.gap_error.iter().sum();
        let wanted = (total as f64 * part).ceil().max(1.0) as u64;
        let mut seen = 0;
        let bucket = self.gap_error.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        (total > 0).then(|| top_of_bucket(bucket))
    }
}

/// Returns the bound that gap errors in bucket `i` stay below.
fn top_of_bucket(i: usize) -> u64 {
    let octave = 6 + i as u64 / 4;
    (1 << octave) + (i as u64 % 4) * (1 << (octave - 2))
}

/// `struct fallen`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Fallen {
    pub at_ns: u64,
    pub packets: u64,
    /// The law's; 0: it never set the clock.
    pub rate: u64,
    pub srtt_ns: u64,
    /// With what CUBIC begins, packets.
    pub cwnd: u32,
    pub ssthresh: u32,
    pub reason: u32,
    pub source: u32,
}

// SAFETY: double words and words; no padding.
unsafe impl Plain for Fallen {}

/// `struct fall`: a connection that CUBIC has taken over, with its address.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Fall {
    pub address: Address,
    pub fallen: Fallen,
}

// SAFETY: an address is ten words, and then come double words.
unsafe impl Plain for Fall {}

impl Fallen {
    /// Returns why CUBIC took over.
    pub fn why(&self) -> Reason {
        Reason::from_raw(self.reason)
    }
}

/// `struct config`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    pub log: u32,
    pub spin_ns: u32,
    pub option_noise_ns: u32,
    pub timestamp_noise_ns: u32,
    pub window: u32,
    pub per_user: u32,
    pub switched: u32,
    pub memory_mib: u16,
    pub together: u16,
}

/// Values of `Config::switched`: closed to new connections; and for existing ones too.
pub const SWITCHED_CLOSED: u32 = 1;
pub const SWITCHED_OFF: u32 = 2;

// SAFETY: a double word and ten words; no padding.
unsafe impl Plain for RawParams {}
// SAFETY: a double word, two words, two double words, a word, two halves of one and six words; no padding.
unsafe impl Plain for RawThesisParams {}
// SAFETY: seven words and two halves of one.
unsafe impl Plain for Config {}

/// Values of `Config::log`: which events to log.
pub const LOG_STREAMS: u32 = 1;
pub const LOG_LAW: u32 = 2;
pub const LOG_FALLS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_round_trips() {
        let v4 = ["10.1.2.3:80", "192.168.0.254:65535"];
        let v6 = ["[2001:db8::1]:443", "[fe80::1:2:3]:5201"];
        for [local, remote] in [v4, v6].map(|pair| pair.map(|text| text.parse().expect("an address"))) {
            let address = Address::between(local, remote);
            assert_eq!((address.local(), address.remote()), (local, remote));
        }
    }

    #[test]
    fn window_needs_fewest_sufficient_records() {
        let expected = [(10, 4096), (3584, 4096), (3585, 8192), (14_336, 16_384), (28_673, 65_536), (57_344, 65_536)];
        for (window, fewest) in expected {
            assert_eq!(records(window), fewest, "{window} packets");
        }
    }

    #[test]
    fn end_without_sent_packets_counts_as_receiving() {
        let zero = [0u8; size_of::<Report>()];
        let mut report: Report = crate::tcp::wire::value_of(&zero).expect("a report");
        let mut does = |waiting, packets, startup| {
            (report.waiting, report.packets, report.startup) = (waiting, packets, startup);
            report.activity()
        };
        assert_eq!(does(1, 0, 1), Activity::Waits);
        assert_eq!(does(0, 0, 1), Activity::Receives);
        assert_eq!(does(0, 9, 1), Activity::StartsUp);
        assert_eq!(does(0, 9, 0), Activity::Sends);
    }

    #[test]
    fn gap_error_quantile_is_bucket_top() {
        let zero = [0u8; size_of::<Report>()];
        let mut report: Report = crate::tcp::wire::value_of(&zero).expect("a report");
        assert_eq!(report.gap_error_ns(0.5), None);
        // 99 below 64 ns, one between 2048 and 2560 ns: bucket 1 + 4 * (11 - 6)
        report.gap_error[0] = 99;
        report.gap_error[21] = 1;
        assert_eq!(report.gap_error_ns(0.5), Some(64));
        assert_eq!(report.gap_error_ns(1.0), Some(2560));
    }
}
