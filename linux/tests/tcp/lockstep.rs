//! The user-space build of the law reproduces the computations of the kernel's build of the same source.

use super::connection::transfer;
use super::namespaces::Bottleneck;
use super::{Loaded, able, alone, clang};
use linux::tcp::{self, Event, Law, LawEvent, Options, Wanted};
use packetscale_models::rapid::ThesisParams;
use packetscale_models::units::Bytes;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Of `enum law_call`.
const BEGIN: u32 = 0;
/// Its argument is the arrival.
pub const ARRIVAL: u32 = 3;

/// Records the calls of one connection, from its first.
pub fn recorded(options: Options) -> Vec<LawEvent> {
    // A small buffer causes losses.
    let bottleneck = Bottleneck { mbit: 40, limit: 12_000 };
    let (rapid, path) = Loaded::with("step", Options { flows: 2, ..options }, &bottleneck);
    let (mut events, done) = (Vec::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            transfer(&path, &rapid.name, Duration::from_millis(1500));
            done.store(true, Ordering::Relaxed);
        });
        let take = |event| {
            if let Event::Law(call) = event {
                events.push(call);
            }
        };
        tcp::follow(&rapid.name, Wanted::Law, take, || !done.load(Ordering::Relaxed)).expect("follows");
    });
    let first = events.iter().position(|call| call.call == BEGIN).expect("a connection begins");
    let slot = events[first].slot;
    events[first..].iter().filter(|call| call.slot == slot).copied().collect()
}

/// `replay.c`, compiled, and so with the law of the dissertation.
pub fn compiled() -> std::path::PathBuf {
    clang::program("tests/lockstep/replay.c", &[]).expect("cc")
}

pub fn compiled_thesis() -> std::path::PathBuf {
    clang::program("tests/lockstep/replay_thesis.c", &[]).expect("cc")
}

fn replayed(options: Options, replay: &Path) {
    let (raw, calls) = (tcp::raw_params(&options), recorded(options));
    let file = tempfile::NamedTempFile::new().expect("a file");
    let bytes: Vec<u8> = calls.iter().flat_map(tcp::raw_event).copied().collect();
    std::fs::write(file.path(), [raw, bytes].concat()).expect("written");
    let output = Command::new(replay).arg(file.path()).output().expect("replay");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let streams: u64 = printed.split(' ').nth(2).and_then(|n| n.parse().ok()).expect("a count");
    assert!(calls.len() > 2000 && streams > 20, "too little to compare: {printed}");
}

#[test]
fn kernel_law_matches_user_space_bit_for_bit() {
    if able() {
        let _alone = alone();
        replayed(Options::default(), &compiled());
    }
}

#[test]
fn kernel_thesis_law_matches_user_space_bit_for_bit() {
    if able() {
        let _alone = alone();
        let law = Law::Thesis(ThesisParams::new(Bytes::new(1500)));
        replayed(Options { law, ..Options::default() }, &compiled_thesis());
    }
}
