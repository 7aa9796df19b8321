//! Files over a link that is computed, into a real directory: bytes intact, resumed, refused. The clock is the link's.

mod link;
mod shared;

use link::{HEADERS, Link, Shape};
use live::send::{Parcel, Supplied, Supply, begin, flow};
use live::serve::{Limits, Server};
use live::store::Directory;
use live::transfer::{Ends, drive};
use live::wire::{Begun, Body, Grant, HASH, Keys, segment_overhead};
use packetscale_models::congestion::{Setup, find};
use packetscale_models::settings::Settings;
use packetscale_models::units::{Bytes, Rate, Span, Time};
use shared::called;
use std::fs;
use std::io;
use std::path::Path;
use tempfile::TempDir;

const PACKET: Bytes = Bytes::new(1500);
const RTT: Span = Span::from_millis(20);
/// Bytes of data in a segment: the server has keys, so each carries a tag.
const SIZE: usize = 1500 - HEADERS - 52;
/// One in a hundred is lost, there and back.
const SHAPE: Shape = Shape { rate: Rate::from_mbps(50), rtt: RTT, buffer: 80, packet: PACKET, one_in: 100 };
const REQUEST: Grant = Grant { size: 1472, rate_bps: 1_000_000_000, bytes: 1 << 40, duration_ms: 1_000_000 };
const PATIENCE: Span = Span::from_secs(4);

fn keys() -> Keys {
    shared::keys("a5")
}

fn server() -> Server {
    called(Limits { grant: REQUEST, ..Limits::DEFAULT }, keys())
}

/// A link to a server that has just started and keeps files in this folder.
fn started(folder: &Path, force: bool) -> Link {
    let store = Directory::new(folder, force, |_| {}).expect("a directory");
    Link::to(SHAPE, server().keeping(Box::new(store)), keys())
}

/// The same with its own folder, a session, and flow 3, whose file is `file`.
fn begun() -> (TempDir, Link, Begun) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut link = started(folder.path(), false);
    link.open(REQUEST);
    let begun = link.begin(3, begin("file", SIZE, false)).expect("begun");
    (folder, link, begun)
}

/// The hash of `times` bytes of this value.
fn hash(byte: u8, times: usize) -> [u8; HASH] {
    *blake3::hash(&vec![byte; times]).as_bytes()
}

fn data(bytes: usize) -> Vec<u8> {
    let mut random = packetscale_models::units::Random::new(3);
    (0..bytes).map(|_| random.bits() as u8).collect()
}

/// Hands over data in odd pieces, with pauses.
struct Pieces<'a>(&'a [u8], usize);

impl Supply for Pieces<'_> {
    fn next(&mut self) -> io::Result<Supplied> {
        self.1 += 1;
        if self.0.is_empty() {
            return Ok(Supplied::End);
        }
        if self.1.is_multiple_of(3) {
            return Ok(Supplied::Later);
        }
        let (piece, rest) = self.0.split_at(self.0.len().min(10_007));
        self.0 = rest;
        Ok(Supplied::Bytes(piece.to_vec()))
    }
}

/// Result of a file transfer.
#[derive(Debug)]
enum Outcome {
    Kept,
    /// The receiver had this many bytes, and the session broke.
    Broken(Ends),
    Refused(String),
}

/// Sends data as a file of this name, resuming the receiver's partial file.
fn sent(link: &mut Link, name: &str, data: &[u8], controller: &str) -> (u64, Outcome) {
    let grant = link.open(REQUEST);
    let mut number = 3;
    let mut begun = match link.begin(number, begin(name, SIZE, false)) {
        Ok(begun) => begun,
        Err(text) => return (0, Outcome::Refused(text)),
    };
    let has = data.get(..begun.offset as usize).map(|has| *blake3::hash(has).as_bytes());
    if begun.offset > 0 && has != Some(begun.hash) {
        number += 1;
        begun = link.begin(number, begin(name, SIZE, true)).expect("restarted");
    }
    let offset = begun.offset as usize;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&data[..offset]);
    let setup = Setup { now: Time::ZERO, packet: PACKET, handshake_rtt: RTT, initial_window: 10, seed: 1 };
    let controller = (find(controller).expect("registered").build)(&setup, &Settings::new()).expect("no settings");
    let (mut supply, mut watch) = (Pieces(&data[offset..], 0), |_| {});
    let outgoing = flow(PACKET, RTT, begun.window, controller);
    assert_eq!(SIZE, 1500 - HEADERS - segment_overhead(7));
    let sizes = (SIZE, HEADERS + segment_overhead(7));
    let mut parcel = Parcel::new(number, outgoing, sizes, hasher, &mut supply, &mut watch);
    let keys = keys();
    let session = link.session(&keys, grant, PATIENCE);
    if let Err(ends) = drive(link, session, &mut parcel) {
        return (begun.offset, Outcome::Broken(ends));
    }
    let (bytes, hash) = parcel.whole();
    match link.finish(number, bytes, hash) {
        Body::Finished => (begun.offset, Outcome::Kept),
        Body::Refuse { text, .. } => (begun.offset, Outcome::Refused(text)),
        other => panic!("{other:?}"),
    }
}

fn kept(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).expect("kept")
}

#[test]
fn files_arrive_intact_despite_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, length) in [0, 1, SIZE - 1, SIZE, SIZE + 1, 3_000_000].into_iter().enumerate() {
        let (data, name) = (data(length), format!("file{number}"));
        let mut link = started(folder.path(), false);
        let outcome = sent(&mut link, &name, &data, "rapid");
        assert!(matches!(outcome, (0, Outcome::Kept)), "{length}: {outcome:?}");
        assert!(kept(folder.path(), &name) == data, "{length}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 6, "nothing else is there");
}

#[test]
fn transfer_resumes_after_server_was_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = data(4_000_000);
    let mut before = 0;
    for seconds_ms in [300, 500] {
        let mut link = started(folder.path(), false);
        link.dead_from = Time::ZERO + Span::from_millis(seconds_ms);
        let (offset, outcome) = sent(&mut link, "file", &data, "cubic");
        assert!(matches!(outcome, Outcome::Broken(Ends::Silent(_))), "{outcome:?}");
        assert!(offset >= before && !folder.path().join("file").exists(), "{offset}");
        before = fs::metadata(folder.path().join(".file.part")).expect("under way").len();
        assert!(before > offset, "{before}");
        // The server's process ends here, and with it all that it knew.
    }
    let outcome = sent(&mut started(folder.path(), false), "file", &data, "rapid");
    assert!(matches!(outcome, (offset, Outcome::Kept) if offset == before), "{outcome:?} {before}");
    assert!(kept(folder.path(), "file") == data);
}

#[test]
fn does_not_resume_part_of_other_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut other = data(200_000);
    other[5] ^= 1;
    fs::write(folder.path().join(".file.part"), &other).expect("written");
    let data = data(300_000);
    let outcome = sent(&mut started(folder.path(), false), "file", &data, "cubic");
    assert!(matches!(outcome, (0, Outcome::Kept)), "{outcome:?}");
    assert!(kept(folder.path(), "file") == data);
}

#[test]
fn overwrites_existing_file_only_if_forced() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), b"old").expect("written");
    let (_, outcome) = sent(&mut started(folder.path(), false), "../file", &data(10), "cubic");
    assert!(matches!(&outcome, Outcome::Refused(text) if text.contains("it exists")), "{outcome:?}");
    assert_eq!(kept(folder.path(), "file"), b"old");
    assert!(matches!(sent(&mut started(folder.path(), true), "../file", &data(10), "cubic"), (0, Outcome::Kept)));
    assert_eq!(kept(folder.path(), "file"), data(10));
}

#[test]
fn server_without_store_refuses_files() {
    let (_, outcome) = sent(&mut Link::to(SHAPE, server(), keys()), "file", &data(10), "cubic");
    assert!(matches!(&outcome, Outcome::Refused(text) if text.contains("takes no files")), "{outcome:?}");
}

#[test]
fn rejects_data_with_wrong_hash() {
    let (folder, mut link, _) = begun();
    link.inject(3, 0, &[7; 100]);
    let Body::Refuse { text, .. } = link.finish(3, 100, hash(8, 100)) else { panic!() };
    assert!(text.contains("differs from the sender"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 0);
}

/// Knowing a session's number and address without its key is harmless.
#[test]
fn drops_segment_without_key() {
    let (_folder, mut link, _) = begun();
    for forger in [Keys::default(), shared::keys("5a")] {
        assert_eq!(link.forge(3, 0, &[8; SIZE], &forger), None);
    }
    link.inject(3, 0, &[7; 100]);
    assert_eq!(link.finish(3, 100, hash(7, 100)), Body::Finished);
}

/// Two at once, then one in a second: each may make the receiver read a large file.
#[test]
fn limits_file_requests_per_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut link = started(folder.path(), false);
    link.open(REQUEST);
    let answered = (3..1003).filter(|number| {
        let before = link.server.counters().dropped;
        link.try_ask(*number, Body::Begin(begin(&format!("file{number}"), SIZE, false)));
        link.server.counters().dropped == before
    });
    assert_eq!(answered.count(), 2);
    link.pass(Span::from_millis(1_001));
    link.begin(2000, begin("another", SIZE, false)).expect("begun");
}

/// Isolated segments, each with its own hole.
#[test]
fn receiver_limits_list_of_holes() {
    let (_folder, mut link, begun) = begun();
    let odd = (1..u64::from(begun.window)).step_by(2);
    let taken = odd.filter(|sequence| link.inject(3, *sequence, &[7; SIZE]).is_some()).count();
    assert_eq!(taken, 1024);
    // A segment that fills a hole is accepted, and frees an entry.
    assert!(link.inject(3, 2, &[7; SIZE]).is_some());
    assert!(link.inject(3, 2 * 1024 + 1, &[7; SIZE]).is_some());
    assert_eq!(link.inject(3, 2 * 1024 + 3, &[7; SIZE]), None);
}

#[test]
fn old_request_does_not_end_later_flow() {
    let (_folder, mut link, _) = begun();
    link.begin(4, begin("file", SIZE, true)).expect("restarted");
    link.inject(4, 0, &[7; 100]);
    assert_eq!(link.try_ask(3, Body::Begin(begin("file", SIZE, false))), None);
    assert_eq!(link.finish(4, 100, hash(7, 100)), Body::Finished);
}

/// The first refusal may be lost.
#[test]
fn refuses_every_packet_of_failed_flow() {
    let (_folder, mut link, _) = begun();
    for round in 0..3 {
        for answer in [Some(link.finish(3, 1, [0; 32])), link.inject(3, 0, &[7; 100])] {
            let refused =
                matches!(&answer, Some(Body::Refuse { text, .. }) if text.contains("differs from the sender"));
            assert!(refused, "{round}: {answer:?}");
        }
    }
}

#[test]
fn drops_segments_beyond_limits() {
    let (_folder, mut link, _) = begun();
    for (sequence, length) in [(0, 0), (0, SIZE + 1), (1 << 40, SIZE), (u64::MAX, SIZE)] {
        assert_eq!(link.inject(3, sequence, &vec![7; length]), None, "{sequence} {length}");
        assert!(matches!(link.ask(4, Body::Ping), Body::Pong), "{sequence} {length}");
    }
}
