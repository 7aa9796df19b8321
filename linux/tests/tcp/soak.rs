//! Many connections of many kinds over a path with random faults, and a checker that watches them all.
//!
//! The checker has four rules. No connection with data to send stalls for longer than its retransmission timer explains. Written
//! data arrive, and nothing else does. At the end every slot is free. After the unload the machine is as before.
//!
//! Everything random is drawn from `SEED` and a worker's number (`PACKETSCALE_SOAK_SEED` sets another); the kernel's losses
//! are its own. It lasts 20 s; with `PACKETSCALE_LONG` an hour, or a larger number of seconds, followed by a run in which all
//! connections use CUBIC: a violation there is not Rapid's.
//!
//! An hour takes some twenty minutes of a processor. The first violation ends all workers.
//!
//! Limits: lost SYNs disable the option for an address for ten minutes, so one in five connections is CUBIC's for lack of
//! arrivals; one in six selects CUBIC, one in three changes its controller while it sends, one in three has a peer whose listener
//! selects the controller, and some find no slot.

use super::connection::{open, sample};
use super::killed::machine;
use super::namespaces::{Bottleneck, MANY_SEGMENTS, Path, RECEIVER, run};
use super::{Loaded, able, alone, long};
use linux::tcp::{self, Options};
use nix::libc;
use nix::sys::socket::{setsockopt, sockopt};
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SEED: u64 = 13;
const SHORT: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(3600);
const SECOND: Duration = Duration::from_secs(1);
const MBIT: u32 = 20;
const DELAY_MS: u32 = 40;
/// Concurrent applications, and slots: sometimes there are too few.
const WORKERS: u64 = 6;
const SLOTS: u32 = 5;
/// Tolerance of a wait, for the timer's rounding and a busy machine.
const SLACK: Duration = Duration::from_secs(1);
/// The longest that an answer may take.
const ANSWER: Duration = Duration::from_secs(30);
/// Interval of progress reports.
const SAYS: Duration = Duration::from_secs(100);
/// The first byte of a request is the reply's size in KiB.
const KIB: usize = 1 << 10;

fn duration() -> Duration {
    match std::env::var("PACKETSCALE_LONG").map(|word| word.parse().unwrap_or(0)) {
        Err(_) => SHORT,
        Ok(0 | 1) => LONG,
        Ok(seconds) => Duration::from_secs(seconds),
    }
}

fn seed() -> u64 {
    std::env::var("PACKETSCALE_SOAK_SEED").ok().and_then(|word| word.parse().ok()).unwrap_or(SEED)
}

/// Reads requests: a byte with the reply's size in KiB, or zero. At the end sends the number of bytes read.
fn serve(listener: TcpListener) {
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            std::thread::spawn(move || {
                let (mut block, mut read) = (vec![0; 65536], 0u64);
                while let Ok(n @ 1..) = stream.read(&mut block) {
                    read += n as u64;
                    let requested: usize = block[..n].iter().map(|byte| usize::from(*byte)).sum();
                    if requested > 0
                        && let Err(error) = stream.write_all(&vec![0; requested * KIB])
                    {
                        eprintln!("an answer of {requested} KiB: {error}");
                        break;
                    }
                }
                let _ = stream.write_all(&read.to_ne_bytes());
            });
        }
    });
}

/// TCP's timers of a waiting connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Timers {
    rto_us: u32,
    backoff: u8,
    retransmits: u8,
    unacked: u32,
    unsent: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    resent: u32,
}

fn timers(stream: &TcpStream) -> Timers {
    // SAFETY: plain words; getsockopt fills those that its kernel knows.
    let info = unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let at = (&raw mut info).cast();
        assert_eq!(libc::getsockopt(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, at, &mut length), 0);
        info
    };
    Timers {
        rto_us: info.tcpi_rto,
        backoff: info.tcpi_backoff,
        retransmits: info.tcpi_retransmits,
        unacked: info.tcpi_unacked,
        unsent: info.tcpi_notsent_bytes,
        sacked: info.tcpi_sacked,
        lost: info.tcpi_lost,
        retrans: info.tcpi_retrans,
        resent: info.tcpi_total_retrans,
    }
}

/// A connection under the checker's eyes.
struct Watched {
    stream: TcpStream,
    what: String,
    acked: u64,
    since: Instant,
    written: u64,
    longest: Duration,
    /// TCP's timers during this wait, one entry per change.
    history: Vec<(Duration, Timers)>,
}

impl Watched {
    /// Checks for a stall. After waits of t in total the timer, which doubles, was at least t / 2. (A selective acknowledgment
    /// while the first packet is still missing resets the backoff, so the longest timer of the wait counts.)
    fn check(&mut self) {
        let (acked, timers) = (sample(&self.stream, self.since).bytes_acked, timers(&self.stream));
        if acked != self.acked || timers.unacked == 0 && timers.unsent == 0 {
            (self.acked, self.since) = (acked, Instant::now());
            self.history.clear();
        }
        let waits = self.since.elapsed();
        if self.history.last().is_none_or(|(_, last)| *last != timers) {
            self.history.push((waits, timers));
        }
        let longest_us = self.history.iter().map(|(_, history)| history.rto_us).max().unwrap_or(timers.rto_us);
        let timer = Duration::from_micros(u64::from(longest_us));
        self.longest = self.longest.max(waits);
        let stands =
            || format!("{}: stalled for {waits:?}, its timer was {timer:?} at most; {:?}", self.what, self.history);
        assert!(waits < 2 * timer + SLACK, "{}", stands());
    }

    fn write(&mut self, bytes: usize, value: u8) {
        let (block, mut left) = (vec![value; 16 * KIB], bytes);
        while left > 0 {
            match self.stream.write(&block[..left.min(block.len())]) {
                Ok(sent) => left -= sent,
                Err(error) => self.lives(&error),
            }
            self.check();
        }
        self.written += bytes as u64;
    }

    /// No error but that of a time that has passed.
    fn lives(&self, error: &std::io::Error) {
        let history = &self.history;
        assert_eq!(error.kind(), ErrorKind::WouldBlock, "{}: {error}; {history:?}", self.what);
    }

    /// Reads this number of bytes, which must come. No reply can come while the request is in transit.
    fn read(&mut self, bytes: usize) -> Vec<u8> {
        let (mut all, mut since) = (vec![0; bytes], Instant::now());
        let (mut have, mut acked) = (0, self.acked);
        while have < bytes {
            match self.stream.read(&mut all[have..]) {
                Ok(0) => panic!("{}: the peer closed after {have} of {bytes} B", self.what),
                Ok(n) => (have, since) = (have + n, Instant::now()),
                Err(error) => self.lives(&error),
            }
            self.check();
            if self.acked != acked {
                (acked, since) = (self.acked, Instant::now());
            }
            assert!(since.elapsed() < ANSWER, "{}: no answer; {:?}", self.what, self.history);
        }
        all
    }

    /// Changes the controller, if this connection changes any.
    fn change(&self, among: Option<&str>, random: &mut fastrand::Rng) {
        if let Some(control) = among {
            select(&self.stream, ["cubic", "reno", control, control][random.usize(0..4)]);
        }
    }

    fn pause(&mut self, long: Duration) {
        let until = Instant::now() + long;
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10).min(long));
            self.check();
        }
    }

    fn end(mut self) -> Duration {
        self.stream.shutdown(Shutdown::Write).expect("ends");
        let received = self.read(8);
        let received = u64::from_ne_bytes(received.try_into().expect("eight bytes"));
        assert_eq!(received, self.written, "{}: bytes that arrived, and were written", self.what);
        self.longest
    }
}

/// Selects the controller of a socket.
fn select(socket: &impl AsFd, control: &str) {
    setsockopt(socket, sockopt::TcpCongestion, &OsString::from(control)).expect("it is registered");
}

/// One application, from its connection's begin to its end. Returns the longest wait.
fn application(path: &Path, control: &str, ports: [u16; 3], random: &mut fastrand::Rng) -> Duration {
    let among = (random.u8(0..3) == 0).then_some(control);
    let (kind, peer, control) =
        (random.u8(0..4), usize::from(random.u8(0..12)), if random.u8(0..6) == 0 { "cubic" } else { control });
    let peer = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2][peer];
    let stream = open(path, control, ports[peer]).expect("connects");
    stream.set_write_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    stream.set_nodelay(true).expect("an option");
    let what = format!(
        "{} of {control}, {}{}",
        ["bulk", "idle", "answers", "bursts"][usize::from(kind)],
        ["a peer with", "a peer without", "a peer whose listener selects it"][peer],
        if among.is_some() { ", changing" } else { "" }
    );
    let mut watched = Watched {
        stream,
        what,
        acked: 0,
        since: Instant::now(),
        written: 0,
        longest: Duration::ZERO,
        history: Vec::new(),
    };
    match kind {
        0 => {
            let half = random.usize(5..1500) * KIB;
            watched.write(half, 0);
            watched.change(among, random);
            watched.write(half, 0);
        }
        1 => {
            watched.write(random.usize(1..200) * KIB, 0);
            watched.change(among, random);
            watched.pause(Duration::from_millis(random.u64(500..6000)));
            watched.write(random.usize(1..500) * KIB, 0);
        }
        2 => {
            for _ in 0..random.u8(1..12) {
                let kib = random.u8(1..200);
                watched.change(among, random);
                watched.write(1, kib);
                watched.read(usize::from(kib) * KIB);
                watched.pause(Duration::from_millis(random.u64(1..400)));
            }
        }
        _ => {
            for _ in 0..random.u8(2..20) {
                watched.change(among, random);
                watched.write(random.usize(1..64) * KIB, 0);
                watched.pause(Duration::from_millis(random.u64(1..300)));
            }
        }
    }
    watched.end()
}

/// One thing that happens to the path. (A path that is cut loses everything in the middle. Where the receiver's own device
/// goes down, its route does, too: an answer to a SYN that falls due then cannot be sent, and Linux forgets that connection
/// and later resets it.)
fn misbehave(path: &Path, random: &mut fastrand::Rng) {
    let (a, r) = (path.host("a"), path.host("r"));
    let long = Duration::from_millis(random.u64(20..600));
    match random.u8(0..4) {
        0 => {
            path.delay(DELAY_MS + random.u32(50..900));
            std::thread::sleep(long);
            path.delay(DELAY_MS);
        }
        1 => {
            run(&format!("tc -n {a} qdisc replace dev out root netem loss {}% limit 10000", random.u8(1..6)));
            std::thread::sleep(long);
            run(&format!("tc -n {a} qdisc del dev out root"));
        }
        2 => {
            run(&format!("tc -n {a} qdisc replace dev out root netem loss 100% limit 10000"));
            run(&format!(
                "tc -n {r} qdisc replace dev left root netem delay {DELAY_MS}ms loss 100% rate 10tbit limit 100000"
            ));
            std::thread::sleep(long);
            run(&format!("tc -n {a} qdisc del dev out root"));
            path.delay(DELAY_MS);
        }
        _ => {
            let mbit = random.u32(2..MBIT);
            run(&format!("tc -n {r} qdisc change dev right root tbf rate {mbit}mbit burst 4000 limit 100000"));
            std::thread::sleep(2 * long);
            run(&format!("tc -n {r} qdisc change dev right root tbf rate {MBIT}mbit burst 4000 limit 100000"));
        }
    }
    std::thread::sleep(Duration::from_millis(random.u64(100..2000)));
}

#[test]
#[ignore = "long: make test-long"]
fn nothing_stalls_and_nothing_leaks() {
    if able() {
        soak(false);
    }
}

#[test]
fn cubic_passes_checker() {
    if able() && long() {
        soak(true);
    }
}

/// How far it is.
#[derive(Default)]
struct Course {
    /// Connections that have ended.
    ended: AtomicU64,
    /// Whether a rule was violated: start no further connections.
    broken: AtomicBool,
}

/// A worker, which breaks off all where it panics.
struct Breaks<'a>(&'a Course);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        self.0.broken.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

fn soak(all_cubic: bool) {
    let _alone = alone();
    let path = Path::new("soak", &Bottleneck { mbit: MBIT, limit: 100_000 });
    path.delay(DELAY_MS);
    path.segments(MANY_SEGMENTS);
    let (was, seed, lasts) = (machine(&path), seed(), duration());
    let listener = || path.inside("b", || TcpListener::bind((RECEIVER, 0)).expect("a port"));
    // A listener from before the load reports no arrivals: a peer without our programs.
    let deaf = listener();
    let options =
        Options { flows: SLOTS, flows_per_user: Some(SLOTS), devices: vec!["out".to_string()], ..Options::default() };
    let rapid = path.inside("a", || Loaded::new("soak", options));
    path.inside("b", || tcp::note_arrivals(&rapid.name, "in").expect("tc"));
    let choosing = listener();
    select(&choosing, if all_cubic { "cubic" } else { &rapid.name });
    let listeners = [listener(), deaf, choosing];
    let ports = [0, 1, 2].map(|which: usize| listeners[which].local_addr().expect("an address").port());
    listeners.into_iter().for_each(serve);
    let (began, course) = (Instant::now(), Course::default());
    let goes_on = || began.elapsed() < lasts && !course.broken.load(Ordering::Relaxed);
    let longest = std::thread::scope(|scope| {
        let worker = |number: u64| {
            let (path, name) = (&path, if all_cubic { "cubic" } else { rapid.name.as_str() });
            let (course, goes_on) = (&course, &goes_on);
            scope.spawn(move || {
                let _breaks = Breaks(course);
                let mut random = fastrand::Rng::with_seed(seed ^ number << 32);
                let mut longest = Duration::ZERO;
                while goes_on() {
                    longest = longest.max(application(path, name, ports, &mut random));
                    course.ended.fetch_add(1, Ordering::Relaxed);
                }
                longest
            })
        };
        let workers: Vec<_> = (1..=WORKERS).map(worker).collect();
        let (mut random, mut says) = (fastrand::Rng::with_seed(seed), SAYS);
        while goes_on() {
            misbehave(&path, &mut random);
            if began.elapsed() > says {
                eprintln!("{:?}: {} connections", began.elapsed(), course.ended.load(Ordering::Relaxed));
                says += SAYS;
            }
        }
        let at = began.elapsed();
        let done = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| panic!("seed {seed}, at {at:?}")));
        done.max().unwrap_or_default()
    });
    let ended = course.ended.load(Ordering::Relaxed);
    // Connections that were closed last are waited for.
    std::thread::sleep(3 * SECOND);
    let status = tcp::status(&rapid.name).expect("loaded");
    eprintln!("seed {seed}: {ended} connections in {lasts:?}, longest wait {longest:?}; {:?}", status.counters);
    assert!(ended > lasts.as_secs() / 5 && (all_cubic || status.counters.steered > ended / 8), "too little was tried");
    assert!(status.connections.is_empty(), "seed {seed}: slots that were not given back: {:?}", status.connections);
    assert_eq!(status.counters.now(), 0, "seed {seed}: {:?}", status.counters);
    drop(rapid);
    assert_eq!(machine(&path), was, "seed {seed}");
}
