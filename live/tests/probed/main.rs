//! Compares `probe` on a real kernel's path with the counters of its bottleneck. Needs root.
//!
//! The bound, set before the first run: an estimate is within a tenth of the counters' available bandwidth, and where at least
//! half of the link is available there is one. Below that it may abstain, with a reason.

mod busy;
mod judged;
mod loaded;
mod others;
mod path;

use busy::Thread;
use live::pace::Gaps;
use live::probe::{self, Answer, Question};
use live::serve::{Limits, serve};
use live::socket::Mark;
use live::wire::{Keys, PORT};
use others::Traffic;
use path::{LEFT, Path, RIGHT, Shape, inside};
use std::net::SocketAddr;

/// How far an answer may be from the truth, of the truth.
const NEAR: f64 = 0.1;
/// Up to this share taken by others, in per cent, it must answer.
const ANSWERED: u32 = 50;
/// Maximum error of the bucket's rate: this validates the reference.
const SET: f64 = 0.01;

/// Constant traffic.
const STEADY: Shape = Shape { mbit: 20, rtt_ms: 10, taken: 0, bytes: 1500, traffic: Traffic::Constant, seed: 1 };

/// `None`, with a message, where this machine cannot create paths.
fn able() -> Option<()> {
    if nix::unistd::geteuid().is_root() {
        return Some(());
    }
    eprintln!("skipped: network namespaces need root");
    None
}

/// Whether everything is to be tried, where a part is tried else.
fn long() -> bool {
    std::env::var_os("PACKETSCALE_LONG").is_some()
}

/// Probes from left to right: forward from the left end, or in reverse from the right.
fn probe(reverse: bool) -> Answer {
    probe_as(Thread::Usual, reverse)
}

/// `client`: scheduling of the probing thread.
fn probe_as(client: Thread, reverse: bool) -> Answer {
    let (far, near, address) = if reverse { ("left", "right", LEFT) } else { ("right", "left", RIGHT) };
    let server = SocketAddr::from((address, PORT));
    let serving = inside(far, move || serve(server, Limits::DEFAULT, Keys::default(), true, |_| {}));
    let serving = serving.join().expect("a thread").expect("a server");
    let question = Question {
        server,
        keys: Keys::default(),
        reverse,
        budget: Question::BUDGET,
        fastest: Question::FASTEST,
        packet: Question::PACKET,
        gaps: Gaps::Busy,
        mark: Mark::None,
    };
    let ask = move || {
        client.begin();
        probe::probe(&question, &mut |_, _, _| true)
    };
    let answer = inside(near, ask).join().expect("a thread");
    serving.end();
    answer.expect("an answer")
}

/// Prints the result and, if it is wrong, why.
fn judged(shape: Shape, reverse: bool) -> Result<(), String> {
    let path = Path::new(shape);
    let set_bps = f64::from(shape.mbit) * 1e6;
    assert!((path.capacity_bps / set_bps - 1.0).abs() <= SET, "{shape:?}: the bucket passes {}", path.capacity_bps);
    let answer = probe(reverse);
    let way = if reverse { "reverse" } else { "forward" };
    let free = path.free_bps / 1e6;
    let sent = answer.sent.get() as f64 / 1e6;
    let (said, wrong) = match &answer.found {
        Ok(found) => {
            let value = found.value.bps() as f64 / 1e6;
            let off = value / free - 1.0;
            (format!("{value:.2} Mbit/s ({:+.1} %)", 100.0 * off), off.abs() > NEAR)
        }
        Err(reason) => (format!("not known: {reason}"), shape.taken <= ANSWERED),
    };
    let line = format!("{shape:?} {way}: {free:.2} Mbit/s free, said {said}, {} streams, {sent:.1} MB", answer.streams);
    eprintln!("{line}");
    if wrong { Err(line) } else { Ok(()) }
}

fn one(shape: Shape, reverse: bool) {
    let Some(()) = able() else { return };
    judged(shape, reverse).expect("within the bound");
}

#[test]
fn estimates_idle_20_mbit_link() {
    one(STEADY, false);
}

#[test]
fn estimates_idle_100_mbit_link() {
    one(Shape { mbit: 100, rtt_ms: 1, ..STEADY }, false);
}

#[test]
fn estimates_half_link_with_constant_traffic() {
    one(Shape { rtt_ms: 50, taken: 50, ..STEADY }, false);
}

#[test]
fn estimates_reverse_direction() {
    one(Shape { taken: 30, ..STEADY }, true);
}

/// The hello is as large as the streams' packets: it discovers a router's limit.
#[test]
fn stream_packets_fit_path_mtu() {
    let Some(()) = able() else { return };
    let path = Path::new(STEADY);
    path.narrow(1400);
    let answer = probe(false);
    let fragments = path.fragments();
    eprintln!("{:?} with packets of {} B, {fragments} fragments", answer.found, answer.packet);
    assert_eq!(answer.packet, 1400);
    assert!(answer.found.is_ok());
    assert_eq!(fragments, 0);
}

/// With `PACKETSCALE_LONG` all of these, otherwise two of them.
#[test]
#[ignore = "long: make test-long"]
fn estimates_are_right_over_rates_rtts_loads() {
    let Some(()) = able() else { return };
    let mut shapes = Vec::new();
    for mbit in [20, 100] {
        for rtt_ms in [1, 50] {
            for (taken, bytes) in [(0, 1500), (25, 1500), (25, 300), (50, 1500), (50, 300), (75, 1500), (90, 1500)] {
                for reverse in [false, true] {
                    shapes.push((Shape { mbit, rtt_ms, taken, bytes, ..STEADY }, reverse));
                }
            }
        }
    }
    if !long() {
        shapes.retain(|(shape, reverse)| shape.mbit == 20 && shape.rtt_ms == 1 && shape.taken >= 75 && !reverse);
    }
    let wrong: Vec<String> = shapes.into_iter().filter_map(|(shape, reverse)| judged(shape, reverse).err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
