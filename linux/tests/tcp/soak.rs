//! Many connections of many kinds over a path that misbehaves at random, and a checker that watches them all.

use super::connection::{listen, open, tcp_info};
use super::killed::machine;
use super::namespaces::{MANY_SEGMENTS, Path, run};
use super::{Loaded, SECOND, alone, few, long};
use linux::tcp::Options;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SEED: u64 = 13;
const SHORT: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(3600);
const MBIT: u32 = 20;
const DELAY_MS: u32 = 40;
/// Applications that run at a time, and slots: sometimes there are too few.
const WORKERS: u64 = 6;
const SLOTS: u32 = 5;
/// What the timer's own rounding and a busy machine may add to a wait.
const SLACK: Duration = Duration::from_secs(1);
/// The longest that an answer may take.
const ANSWER: Duration = Duration::from_secs(30);
/// An answer's first byte asks for so many KiB.
const KIB: usize = 1 << 10;

/// With `PACKETSCALE_LONG` an hour, or with a larger number so many seconds.
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

/// Reads requests: a byte that says how many KiB to answer with, or zero. At the end says how much was read.
fn serve(listener: TcpListener) {
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            std::thread::spawn(move || {
                let (mut block, mut read) = (vec![0; 65536], 0u64);
                while let Ok(n @ 1..) = stream.read(&mut block) {
                    read += n as u64;
                    let asked: usize = block[..n].iter().map(|byte| usize::from(*byte)).sum();
                    if asked > 0
                        && let Err(error) = stream.write_all(&vec![0; asked * KIB])
                    {
                        eprintln!("an answer of {asked} KiB: {error}");
                        break;
                    }
                }
                let _ = stream.write_all(&read.to_ne_bytes());
            });
        }
    });
}

/// What TCP says of a connection that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "printed")]
struct Timers {
    rto_us: u32,
    backoff_retransmits: (u8, u8),
    unacked: u32,
    unsent: u32,
    sacked_lost: (u32, u32),
    retrans_of_all: (u32, u32),
}

/// Bytes acknowledged, and the timers.
fn timers(stream: &TcpStream) -> (u64, Timers) {
    let info = tcp_info(stream);
    let timers = Timers {
        rto_us: info.tcpi_rto,
        backoff_retransmits: (info.tcpi_backoff, info.tcpi_retransmits),
        unacked: info.tcpi_unacked,
        unsent: info.tcpi_notsent_bytes,
        sacked_lost: (info.tcpi_sacked, info.tcpi_lost),
        retrans_of_all: (info.tcpi_retrans, info.tcpi_total_retrans),
    };
    (info.tcpi_bytes_acked, timers)
}

/// A connection under the checker's eyes.
struct Watched {
    stream: TcpStream,
    what: String,
    acked: u64,
    since: Instant,
    written: u64,
    longest: Duration,
    /// Of the wait under way, what TCP said whenever it said something else.
    said: Vec<(Duration, Timers)>,
}

impl Watched {
    /// Looks whether it stands. After waits of t in all the timer, which doubles, was at least t / 2. (What is acknowledged
    /// selectively while the first packet is still missing takes the doubling back, so the longest of the wait counts.)
    fn check(&mut self) {
        let (acked, timers) = timers(&self.stream);
        if acked != self.acked || timers.unacked == 0 && timers.unsent == 0 {
            (self.acked, self.since) = (acked, Instant::now());
            self.said.clear();
        }
        let waits = self.since.elapsed();
        if self.said.last().is_none_or(|(_, last)| *last != timers) {
            self.said.push((waits, timers));
        }
        let longest_us = self.said.iter().map(|(_, said)| said.rto_us).max().unwrap_or(timers.rto_us);
        let timer = Duration::from_micros(u64::from(longest_us));
        self.longest = self.longest.max(waits);
        let (what, said) = (&self.what, &self.said);
        assert!(waits < 2 * timer + SLACK, "{what}: stands for {waits:?}, its timer was {timer:?} at most; {said:?}");
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
        let said = &self.said;
        assert_eq!(error.kind(), ErrorKind::WouldBlock, "{}: {error}; {said:?}", self.what);
    }

    /// Reads so many bytes, which must come. While what was written is still on its way, no answer can.
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
            assert!(since.elapsed() < ANSWER, "{}: no answer; {:?}", self.what, self.said);
        }
        all
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
        let told = self.read(8);
        let told = u64::from_ne_bytes(told.try_into().expect("eight bytes"));
        assert_eq!(told, self.written, "{}: bytes that arrived, and were written", self.what);
        self.longest
    }
}

/// One application, from its connection's begin to its end. Returns the longest wait.
fn application(path: &Path, control: &str, ports: [u16; 2], random: &mut fastrand::Rng) -> Duration {
    let (kind, deaf, control) =
        (random.u8(0..4), random.u8(0..4) == 0, if random.u8(0..6) == 0 { "cubic" } else { control });
    let stream = open(path, control, ports[usize::from(deaf)]).expect("connects");
    stream.set_write_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    stream.set_nodelay(true).expect("an option");
    let name = ["bulk", "idle", "answers", "bursts"][usize::from(kind)];
    let what = format!("{name} of {control}, {}", if deaf { "a peer without" } else { "a peer with" });
    let (longest, said) = (Duration::ZERO, Vec::new());
    let mut watched = Watched { stream, what, acked: 0, since: Instant::now(), written: 0, longest, said };
    match kind {
        0 => watched.write(random.usize(10..3000) * KIB, 0),
        1 => {
            watched.write(random.usize(1..200) * KIB, 0);
            watched.pause(Duration::from_millis(random.u64(500..6000)));
            watched.write(random.usize(1..500) * KIB, 0);
        }
        2 => {
            for _ in 0..random.u8(1..12) {
                let kib = random.u8(1..200);
                watched.write(1, kib);
                watched.read(usize::from(kib) * KIB);
                watched.pause(Duration::from_millis(random.u64(1..400)));
            }
        }
        _ => {
            for _ in 0..random.u8(2..20) {
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
    let lose = |per_cent| run(&format!("tc -n {a} qdisc replace dev out root netem loss {per_cent}% limit 10000"));
    let lose_no_more = || run(&format!("tc -n {a} qdisc del dev out root"));
    let pass = |mbit| {
        run(&format!("tc -n {r} qdisc change dev right root tbf rate {mbit}mbit burst 4000 limit 100000"));
    };
    match random.u8(0..4) {
        0 => {
            path.delay(DELAY_MS + random.u32(50..900));
            std::thread::sleep(long);
            path.delay(DELAY_MS);
        }
        1 => {
            lose(random.u8(1..6));
            std::thread::sleep(long);
            lose_no_more();
        }
        2 => {
            lose(100);
            let lost = format!("delay {DELAY_MS}ms loss 100% rate 10tbit limit 100000");
            run(&format!("tc -n {r} qdisc replace dev left root netem {lost}"));
            std::thread::sleep(long);
            lose_no_more();
            path.delay(DELAY_MS);
        }
        _ => {
            pass(random.u32(2..MBIT));
            std::thread::sleep(2 * long);
            pass(MBIT);
        }
    }
    std::thread::sleep(Duration::from_millis(random.u64(100..2000)));
}

#[test]
#[ignore = "long: make test-long"]
fn nothing_stalls_and_nothing_leaks() {
    soak(false);
}

/// What breaks a rule here is not Rapid's.
#[test]
fn cubic_breaks_no_rule_of_the_checker() {
    if long() {
        soak(true);
    }
}

/// How far it is.
#[derive(Default)]
struct Course {
    /// Connections that have ended.
    ended: AtomicU64,
    /// Whether a rule was broken: nothing more is begun.
    broken: AtomicBool,
}

/// A worker, which breaks off all where it panics.
struct Breaks<'a>(&'a Course);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        self.0.broken.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

/// Four rules: no connection that has data to send stands still for longer than its own retransmission timer explains; what was
/// written arrives, and nothing else; at the end every slot is free; the unload leaves the machine as it was.
///
/// SYNs that are lost make an address go without the option for ten minutes, so one in five connections is CUBIC's for want of
/// arrivals; one in six asks for CUBIC, and some find no slot. The kernel's losses are its own, all else is drawn from the seed.
fn soak(all_cubic: bool) {
    let Some(_alone) = alone() else { return };
    let path = Path::new("soak", MBIT, 100_000);
    path.delay(DELAY_MS);
    path.segments(MANY_SEGMENTS);
    let (was, seed, lasts) = (machine(&path), seed(), duration());
    // A listener from before the load tells no arrivals: a peer without our programs.
    let deaf = listen(&path);
    let options = Options { flows_per_user: Some(SLOTS), devices: vec!["out".to_string()], ..few("", SLOTS) };
    let rapid = path.inside("a", || Loaded::new("soak", options));
    rapid.note_arrivals(&path);
    let listeners = [listen(&path), deaf];
    let ports = [0, 1].map(|which: usize| listeners[which].local_addr().expect("an address").port());
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
        let mut random = fastrand::Rng::with_seed(seed);
        while goes_on() {
            misbehave(&path, &mut random);
        }
        let at = began.elapsed();
        let done = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| panic!("seed {seed}, at {at:?}")));
        done.max().unwrap_or_default()
    });
    let ended = course.ended.load(Ordering::Relaxed);
    // Connections that were closed last are waited for.
    std::thread::sleep(3 * SECOND);
    let status = rapid.status();
    eprintln!("seed {seed}: {ended} connections in {lasts:?}, longest wait {longest:?}; {:?}", status.counters);
    assert!(ended > lasts.as_secs() / 5 && (all_cubic || status.counters.steered > ended / 8), "too little was tried");
    assert!(status.connections.is_empty(), "seed {seed}: slots that were not given back: {:?}", status.connections);
    assert_eq!(status.counters.now(), 0, "seed {seed}: {:?}", status.counters);
    drop(rapid);
    assert_eq!(machine(&path), was, "seed {seed}");
}
