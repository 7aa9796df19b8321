//! What `probe` says of a real kernel's path, beside what the counters of its bottleneck say. Needs root.
//!
//! The bound, set before the first run: an answer is within a tenth of what the counters say is free, and where at least
//! half of the link is free there is an answer. Where less is free it may also say that it does not know, and why.

mod busy;
mod judged;
mod loaded;
mod others;
mod path;

use busy::Thread;
use live::pace::Gaps;
use live::probe::{Answer, Question, probe};
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
/// How far the bucket's rate may be from what it was set to: this judges the yardstick.
const SET: f64 = 0.01;

/// Constant traffic.
const STEADY: Shape = Shape { mbit: 20, rtt_ms: 10, taken: 0, bytes: 1500, traffic: Traffic::Constant, seed: 1 };

/// `None` where this machine cannot make paths; says so.
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

/// Asks about the way from left to right: from its beginning, or in reverse from its end.
fn asked(reverse: bool) -> Answer {
    asked_by(Thread::Usual, reverse)
}

/// `client`: how the thread that asks runs.
fn asked_by(client: Thread, reverse: bool) -> Answer {
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
        probe(&question, &mut |_, _, _| true)
    };
    let answer = inside(near, ask).join().expect("a thread");
    serving.end();
    answer.expect("an answer")
}

/// Says what was found, and why that is wrong, if it is.
fn judged(shape: Shape, reverse: bool) -> Result<(), String> {
    let path = Path::new(shape);
    let set_bps = f64::from(shape.mbit) * 1e6;
    assert!((path.capacity_bps / set_bps - 1.0).abs() <= SET, "{shape:?}: the bucket passes {}", path.capacity_bps);
    let answer = asked(reverse);
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
fn idle_link_of_20_mbit_is_found() {
    one(STEADY, false);
}

#[test]
fn idle_link_of_100_mbit_is_found() {
    one(Shape { mbit: 100, rtt_ms: 1, ..STEADY }, false);
}

#[test]
fn half_of_a_link_is_found_beside_constant_traffic() {
    one(Shape { rtt_ms: 50, taken: 50, ..STEADY }, false);
}

#[test]
fn free_bandwidth_on_the_way_back_is_found() {
    one(Shape { taken: 30, ..STEADY }, true);
}

/// The greeting is as large as the streams' packets. It is the one that a router's limit is learnt from.
#[test]
fn no_packet_of_a_stream_is_larger_than_the_path_takes() {
    let Some(()) = able() else { return };
    let path = Path::new(STEADY);
    path.narrow(1400);
    let answer = asked(false);
    let fragments = path.fragments();
    eprintln!("{:?} with packets of {} B, {fragments} fragments", answer.found, answer.packet);
    assert_eq!(answer.packet, 1400);
    assert!(answer.found.is_ok());
    assert_eq!(fragments, 0);
}

/// With `PACKETSCALE_LONG` all of these, otherwise two of them.
#[test]
#[ignore = "long: make test-long"]
fn no_answer_is_wrong_at_any_rate_round_trip_and_load() {
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
