//! Receivers that forge arrivals, drop or corrupt the option, or acknowledge data that was never sent.
//!
//! A program on the path rewrites the acknowledgments of an honest receiver. The sender sees forged ones; the test
//! sees the true ones at the receiver's side of the path.

use std::collections::HashSet;
use std::os::fd::AsRawFd;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, TC_INGRESS};
use linux::tcp;

use super::capture::Segment;
use super::negotiation::data;
use super::net::{Cgroup, Pair};
use super::programs::{Fate, Lie, Programs, STAMPS, WANTS, Way};
use super::transfer::{Plan, Seen, send};
use super::{alone, needs_programs};

/// The fields of `struct feedback` that the tests read.
#[derive(Debug)]
pub struct Feedback {
    pub news: u32,
    /// Whether the sender believes the peer's clock.
    pub trusted: bool,
    count: u32,
    malformed: u32,
    arrival_ns: Vec<u64>,
}

pub fn feedback(programs: &Programs, socket: i32) -> Feedback {
    let map = programs.option.maps().find(|m| m.name() == "feedback").expect("the map");
    let bytes = map.lookup(&socket.to_ne_bytes(), MapFlags::ANY).expect("a lookup").expect("the peer stamps");
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    let count = word(12);
    let arrivals = bytes[32..].chunks(8).take(count as usize);
    let arrival_ns = arrivals.map(|b| u64::from_ne_bytes(b.try_into().expect("8 bytes"))).collect();
    Feedback { news: word(0), trusted: word(4) == 1, count, malformed: word(16), arrival_ns }
}

/// Makes a short transfer to a lying receiver; returns the sender's state at its end.
fn transfer(lie: Lie) -> (Feedback, u64) {
    transfer_with(lie, Plan { bytes: 400_000, rate: 4_000_000, ..Plan::default() })
}

fn transfer_with(lie: Lie, plan: Plan) -> (Feedback, u64) {
    transfer_over(&Pair::new().expect("namespaces"), lie, plan)
}

fn transfer_over(pair: &Pair, lie: Lie, plan: Plan) -> (Feedback, u64) {
    let cgroup = Cgroup::new("lies").expect("a cgroup");
    let programs = Programs::load(STAMPS | WANTS);
    let _option = programs.attach_option(&cgroup);
    programs.attach_stamp(&pair.right);
    let way = Way::load(Fate { lie, ..Fate::default() });
    way.attach("path_lie", &pair.left, TC_INGRESS);
    let mut left = None;
    send(pair, &plan, Some(&cgroup), Some(&cgroup), |sender| left = Some(feedback(&programs, sender.as_raw_fd())));
    (left.expect("looked at"), way.done().1)
}

/// Sends for two seconds to a lying receiver; returns the sender's state at the end.
fn long_transfer(lie: Lie) -> Feedback {
    transfer_with(lie, Plan { bytes: 500_000, rate: 250_000, ..Plan::default() }).0
}

#[test]
#[ignore = "long: make test-long"]
fn rejects_fake_receiver_clock_within_2s() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for lie in [Lie::Zero, Lie::Frozen, Lie::Random, Lie::Backwards, Lie::Fast, Lie::Slow] {
        let feedback = long_transfer(lie);
        assert!(!feedback.trusted && feedback.malformed >= 2, "{lie:?}: {feedback:?}");
    }
    let honest = long_transfer(Lie::Truth);
    assert!(honest.trusted && honest.malformed == 0 && honest.news > 100, "{honest:?}");
}

#[test]
fn honest_option_is_never_malformed() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let (feedback, _) = transfer(Lie::Truth);
    assert!(feedback.news > 50 && feedback.malformed == 0, "{feedback:?}");
}

#[test]
fn reordering_and_duplicates_keep_options_valid() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for way_back in [true, false] {
        let pair = Pair::new().expect("namespaces");
        let end = if way_back { &pair.right } else { &pair.left };
        end.command("tc", "qdisc add dev wire root netem delay 5ms reorder 25%").expect("netem");
        let (feedback, _) = transfer_over(&pair, Lie::Truth, Plan { rate: 1_000_000, ..Plan::default() });
        assert!(feedback.news > 100 && feedback.malformed == 0, "on the way back: {way_back}; {feedback:?}");
    }
}

#[test]
fn stripped_option_leaves_no_arrivals() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let (feedback, changed) = transfer(Lie::Stripped);
    assert!(changed > 50 && feedback.news == 0 && feedback.count == 0, "{feedback:?}, {changed} stripped");
}

/// And the path is found out within a tenth of a second.
#[test]
fn corrupted_option_is_counted_or_valid() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let (feedback, changed) = transfer(Lie::Corrupt);
    assert!(changed > 50 && feedback.malformed > 0 && !feedback.trusted, "{feedback:?}, {changed} corrupted");
    assert!(feedback.arrival_ns.len() <= 11 && feedback.arrival_ns.is_sorted(), "{feedback:?}");
}

#[test]
#[ignore = "long: make test-long"]
fn arrivals_in_one_ack_are_monotonic() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for lie in [Lie::Zero, Lie::Frozen, Lie::Random, Lie::Backwards, Lie::Fast, Lie::Slow] {
        let (feedback, changed) = transfer(lie);
        assert!(changed > 50 && feedback.news > 0, "{lie:?}: {feedback:?}, {changed} lies");
        assert!(feedback.arrival_ns.is_sorted(), "{lie:?}: {feedback:?}");
    }
}

/// A congestion control that is unloaded when the test ends, however it ends.
struct Control(String);

impl Drop for Control {
    fn drop(&mut self) {
        if let Err(error) = tcp::unload(&self.0) {
            eprintln!("{}: {error}", self.0);
        }
    }
}

/// The bottleneck of the closed loop.
const MBIT: u32 = 40;
const RATE: f64 = MBIT as f64 * 1e6 / 8.0;
/// Ten of the shortest round trips that the controller assumes.
const WINDOW_NS: u64 = 200_000_000;
/// By then, start-up is over.
const BEGUN_NS: u64 = 1_000_000_000;

/// Minimum utilisation with corrupted options: payload is 0.956 of the rate, and CUBIC fills it.
const LEAST_BROKEN: f64 = 0.9;

/// How a sender fared.
#[derive(Debug)]
#[allow(dead_code, reason = "printed")]
struct Fared {
    /// Payload received after start-up, as a share of the bottleneck's rate.
    goodput: f64,
    /// Share of the packets sent.
    lost: f64,
    /// The most that was sent in ten round trips, as a multiple of what was acknowledged in them.
    excess: f64,
    /// Longest time without a new acknowledgment.
    stall_ms: f64,
    capped: u64,
    /// How often Rapid found the clock to be none.
    distrusted: u64,
    source: Option<tcp::Source>,
    fallen: Vec<tcp::Reason>,
}

/// Turns events (time and bytes) into a running sum of bytes.
fn running(events: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    // Packets from two processors may be captured out of order.
    let mut events: Vec<(u64, u64)> = events.collect();
    events.sort_unstable();
    let add = |sum: &mut u64, (ns, bytes): (u64, u64)| {
        *sum += bytes;
        Some((ns, *sum))
    };
    events.into_iter().scan(0, add).collect()
}

/// The running sum at a time.
fn at(sums: &[(u64, u64)], ns: u64) -> u64 {
    let after = sums.partition_point(|&(t, _)| t <= ns);
    if after == 0 { 0 } else { sums[after - 1].1 }
}

impl Fared {
    fn of(seen: &Seen, duration: Duration) -> Fared {
        let sent: Vec<&Segment> = data(&seen.left);
        let begin = sent.first().expect("something was sent").ns;
        let end = begin + duration.as_nanos() as u64;
        // The truth, from the receiver's side: what reached it is acknowledged, cumulatively or by SACK.
        let mut known = HashSet::new();
        let arrived = data(&seen.right);
        let acked = running(arrived.iter().map(|s| (s.ns, if known.insert(s.seq) { s.payload.into() } else { 0 })));
        let sum = running(sent.iter().map(|s| (s.ns, u64::from(s.payload))));
        let windows = (begin + BEGUN_NS..end - WINDOW_NS).step_by(5_000_000);
        let in_window = |sums: &[(u64, u64)], t: u64| (at(sums, t + WINDOW_NS) - at(sums, t)) as f64;
        let excess = windows.map(|t| in_window(&sum, t) / in_window(&acked, t).max(1.0)).fold(0.0, f64::max);
        let progress: Vec<u64> = acked.windows(2).filter(|w| w[1].1 > w[0].1).map(|w| w[1].0).collect();
        let within = progress.iter().copied().filter(|&t| t < end).chain([end]);
        let stall = within.clone().zip(within.skip(1)).map(|(a, b)| b - a).max().unwrap_or(u64::MAX);
        Fared {
            goodput: (at(&acked, end) - at(&acked, begin + BEGUN_NS)) as f64
                / RATE
                / ((end - begin - BEGUN_NS) as f64 * 1e-9),
            lost: 1.0 - arrived.len() as f64 / sent.len() as f64,
            excess,
            stall_ms: stall as f64 * 1e-6,
            capped: 0,
            distrusted: 0,
            source: None,
            fallen: vec![],
        }
    }
}

/// Sends with Rapid through a bottleneck to a lying receiver.
fn fare(lie: Lie) -> Fared {
    let name = format!("rh_{}_{}", std::process::id(), lie as u32);
    let pair = Pair::behind_bottleneck(MBIT, 100_000).expect("namespaces");
    let cgroup = Cgroup::new("hostile").expect("a cgroup");
    let options =
        tcp::Options { name: name.clone(), flows: 4, cgroup: Some(cgroup.path().into()), ..Default::default() };
    tcp::load(&options).expect("loads");
    let _control = Control(name.clone());
    pair.right.inside(|| tcp::note_arrivals(&name, "wire")).expect("attaches");
    let way = Way::load(Fate { lie, ..Fate::default() });
    way.attach("path_lie", &pair.left, TC_INGRESS);
    let limit = Duration::from_secs(3);
    let plan = Plan { bytes: usize::MAX, limit, rate: u32::MAX, control: Some(name.clone()), ..Plan::default() };
    let mut status = None;
    let seen = send(&pair, &plan, Some(&cgroup), Some(&cgroup), |_| status = tcp::status(&name).ok());
    let status = status.expect("the state of connections");
    let mut fared = Fared::of(&seen, limit);
    fared.capped = status.connections.iter().map(|c| c.capped).sum();
    fared.distrusted = status.counters.distrusted;
    fared.source = status.connections.first().map(|c| c.source());
    fared.fallen = status.fallen.iter().map(|(_, fallen)| fallen.why()).collect();
    fared
}

#[test]
#[ignore = "long: make test-long"]
fn forged_arrivals_keep_rate_near_acknowledged() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let mut wrong = Vec::new();
    for lie in [
        Lie::Truth,
        Lie::Zero,
        Lie::Frozen,
        Lie::Random,
        Lie::Backwards,
        Lie::Fast,
        Lie::Slow,
        Lie::Stripped,
        Lie::Corrupt,
        Lie::Unsent,
        Lie::Spoilt,
    ] {
        let fared = fare(lie);
        eprintln!("{lie:?}: {fared:.3?}");
        // A fake clock is detected within two of the three seconds, unreadable options sooner; both have no influence from then on.
        let no_clock = matches!(lie, Lie::Zero | Lie::Frozen | Lie::Random | Lie::Backwards | Lie::Fast | Lie::Slow);
        let broken = matches!(lie, Lie::Corrupt | Lie::Spoilt);
        let misjudged = (no_clock || broken) != (fared.distrusted == 1);
        let heeded = (no_clock || broken) && fared.source == Some(tcp::Source::Option);
        let slow = broken && fared.goodput < LEAST_BROKEN;
        if fared.excess > 1.25 || fared.stall_ms > 1000.0 || misjudged || heeded || slow {
            wrong.push((lie, fared));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
