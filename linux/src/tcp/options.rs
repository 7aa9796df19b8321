//! Options of a load.

use crate::tcp::Error;
use crate::tcp::report::{Config, WINDOW_MOST, WINDOW_USUAL};
use crate::tcp::wire::bytes_of;
use packetscale_models::rapid::{LawParams, Params, SHORTEST_ROUND_TRIP, ThesisParams};
use packetscale_models::units::{Bytes, Span};
use std::path::PathBuf;

/// The map that registers the congestion control, and its usual name.
pub const CONTROL: &str = "rapid";
/// The program that records arrivals.
pub const STAMP: &str = "stamp_arrival";
/// The program of the option, and where its link is pinned.
pub const OPTION: &str = "stamp_option";

/// A law, and its settings.
#[derive(Clone, Copy, Debug)]
pub enum Law {
    /// The default law.
    Default(Params),
    /// That of the dissertation.
    Thesis(ThesisParams),
}

impl Law {
    /// The bytes of the C struct with which connections begin; only the packet size differs.
    pub(crate) fn raw(&self) -> Vec<u8> {
        let shortest_round_trip = SHORTEST_ROUND_TRIP;
        match *self {
            Law::Default(params) => bytes_of(&Params { shortest_round_trip, ..params }.raw()).to_vec(),
            Law::Thesis(params) => bytes_of(&ThesisParams { shortest_round_trip, ..params }.raw()).to_vec(),
        }
    }
}

/// Options of a load.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the congestion control.
    pub name: String,
    /// The law, and its settings. Each connection uses its own packet size.
    pub law: Law,
    /// Maximum number of concurrent Rapid connections; CUBIC steers the others.
    pub flows: u32,
    /// Most of these of one user (of one network namespace). `None`: half of `flows`, and all where there is one.
    pub flows_per_user: Option<u32>,
    /// Most packets in flight of a connection. Each takes 32 B of kernel memory for each of `flows`, by powers of two.
    pub window: u32,
    /// The most of each gap that is spent waiting in a loop: better gaps, at the price of a busy processor.
    pub spin: Span,
    /// Maximum packets per group, where gaps are so short that TCP makes super-packets.
    pub together: u16,
    /// Devices to limit to this.
    pub devices: Vec<String>,
    /// Whether connections of other congestion controls also offer arrival times, for senders that use Rapid without having
    /// opened the connection, and connections whose congestion control is set after `connect`.
    pub volunteer: bool,
    /// The cgroup2 whose sockets may negotiate the TCP option. `None`: the root, that is every socket.
    pub cgroup: Option<PathBuf>,
    /// For tests: another compiled sender than the one this crate brings. It is not tried out.
    #[doc(hidden)]
    pub sender: Option<Vec<u8>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            name: CONTROL.to_string(),
            law: Law::Default(Params::new(Bytes::new(1500))),
            flows: 256,
            flows_per_user: None,
            window: WINDOW_USUAL,
            spin: Span::ZERO,
            together: 1,
            devices: Vec::new(),
            volunteer: true,
            cgroup: None,
            sender: None,
        }
    }
}

/// The name under which a new version is tried.
pub const ON_TRIAL: &str = "packetscale_try";
/// The narrowest window: as many packets as RFC 6928 lets begin with.
const NARROWEST_WINDOW: u32 = 10;
/// Most flows. Each takes 184 kB of kernel memory with the usual window: 4096 records of 32 B, 256 streams of 192 B, 3216 B
/// of state.
const MOST_FLOWS: u32 = 16384;
/// A group is read as its first packet. With eight the law would take each for a batch of a receiver that coalesces
/// (`coalescing.h`: an eighth of a gap).
pub const MOST_TOGETHER: u16 = 7;
/// Unit of reported memory.
pub const MIB: u64 = 1 << 20;
/// Spinning holds back the bottom halves of interrupts, so it must stay short.
const LONGEST_SPIN: Span = Span::from_micros(50);

/// Checks the name of a congestion control: one that the kernel takes, and that can be a file's.
pub fn check_name(name: &str) -> Result<(), Error> {
    if name.is_empty() || name.len() > 15 || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Err(Error::Input(format!("name {name:?}: expected 1 to 15 letters, digits or underscores")));
    }
    Ok(())
}

/// Checks a name for something new.
pub fn check_new_name(name: &str) -> Result<(), Error> {
    check_name(name)?;
    if name == ON_TRIAL {
        return Err(Error::Input(format!("name {ON_TRIAL:?}: expected another; versions are tried under this one")));
    }
    Ok(())
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |message: String| Err(Error::Input(message));
        check_new_name(&self.name)?;
        if self.flows == 0 || self.flows > MOST_FLOWS {
            return wrong(format!("flows = {}: expected 1 to {MOST_FLOWS}", self.flows));
        }
        if self.flows_per_user.is_some_and(|most| most == 0 || most > self.flows) {
            let found = self.flows_per_user.unwrap_or_default();
            return wrong(format!("flows_per_user = {found}: expected 1 to flows, {}", self.flows));
        }
        if !(NARROWEST_WINDOW..=WINDOW_MOST).contains(&self.window) {
            let found = self.window;
            return wrong(format!("window = {found} packets: expected {NARROWEST_WINDOW} to {WINDOW_MOST}"));
        }
        if !(1..=MOST_TOGETHER).contains(&self.together) {
            return wrong(format!("together = {} packets: expected 1 to {MOST_TOGETHER}", self.together));
        }
        if self.spin > LONGEST_SPIN {
            return wrong(format!("spin = {}: expected at most {LONGEST_SPIN}", self.spin));
        }
        Ok(())
    }

    /// Most connections of one user.
    pub fn per_user(&self) -> u32 {
        self.flows_per_user.unwrap_or(self.flows.div_ceil(2))
    }

    /// `memory`: bytes that the load takes.
    pub(crate) fn config(&self, memory: u64) -> Config {
        Config {
            log: 0,
            spin_ns: self.spin.nanos() as u32,
            option_noise_ns: 5_000,
            timestamp_noise_ns: 10_000,
            window: self.window,
            per_user: self.per_user(),
            switched: 0,
            memory_mib: u16::try_from(memory.div_ceil(MIB)).unwrap_or(u16::MAX),
            together: self.together,
        }
    }
}
