//! Delay and random loss, for kernels without a queue discipline for them. One thread between two TUN devices holds
//! each packet for its time and then passes it on. It sleeps in between, under SCHED_FIFO: the kernel stops a
//! spinning thread for 50 ms of every second, and a thread without a real-time priority is late by milliseconds when
//! others compute.
//!
//! Towards the receiver, a packet waits for the link's delay; on the way back, for the rest of its flow's base
//! round-trip time. Loss is drawn for each packet towards the receiver, independently, from the run's seed. Packets
//! that open, close or reset a connection are never lost, because the simulator has none of them.
//!
//! Error: a packet is late by the wake-up at its arrival and the wake-up at its departure; `Lateness` has the second.

#![expect(unsafe_code, reason = "calls of libc that nix does not wrap")]

use crate::lab::error::LabError;
use crate::lab::namespace::{Namespace, spawn};
use crate::lab::owner::{Headers, owner_of};
use experiment::scenario::Experiment;
use harness::measure::Owner;
use harness::realtime::clock::monotonic_ns;
use harness::realtime::priority::Urgency;
use nix::libc;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A TUN device, which lives as long as this value.
pub(crate) struct Tun(File);

/// Packets that a device queues for a late thread. At 200 Mbit/s of 1514 B this is a quarter of a second.
pub(crate) const DEVICE_QUEUE: u32 = 4_096;

/// Largest IP packet.
const LARGEST: usize = 65_535;

impl Tun {
    /// Makes a device of this name in a namespace.
    pub fn new(place: &Namespace, name: &str) -> Result<Tun, LabError> {
        place.inside(|| open(name).map(Tun).map_err(LabError::doing(format!("/dev/net/tun, device {name}"))))
    }
}

fn open(name: &str) -> io::Result<File> {
    let file = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    // SAFETY: an all-zero ifreq is valid: a name of zeros and an empty union.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()).take(libc::IFNAMSIZ - 1) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one ifreq, which outlives the call.
    match unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as libc::Ioctl, &mut request) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A packet that was lost at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub at_ns: u64,
    pub owner: Owner,
}

/// The results of the delay line.
#[derive(Default)]
pub(crate) struct Account {
    pub losses: Vec<Loss>,
    /// How late each packet was passed on, nanoseconds.
    pub lateness_ns: Vec<u32>,
}

/// The delay line's median lateness may reach this, or the delay divided by `MOST_LATE_SHARE` where that is more.
const MOST_LATE_NS: u64 = 200_000;
const MOST_LATE_SHARE: u64 = 20;

impl Account {
    /// Refuses a run in which the delays were not those of the scenario.
    pub fn check(&self, experiment: &Experiment) -> Result<(), LabError> {
        let delay = experiment.links[experiment.bottleneck].delay.nanos();
        let mut late_ns = self.lateness_ns.clone();
        late_ns.sort_unstable();
        match late_ns.get(late_ns.len() / 2) {
            Some(late) if u64::from(*late) > MOST_LATE_NS.max(delay / MOST_LATE_SHARE) => Err(LabError(format!(
                "path.delay: this machine was too busy: half of the packets were delayed by {:.0} us too long",
                f64::from(*late) * 1e-3
            ))),
            _ => Ok(()),
        }
    }
}

/// The delay line's orders: delays and loss.
#[derive(Clone)]
struct Orders {
    there_ns: u64,
    /// Delay on the way back, for each flow.
    back_ns: Vec<u64>,
    loss: u32,
    seed: u64,
    sources: usize,
    zero_ns: u64,
}

/// A delay line at work.
pub(crate) struct DelayLine {
    thread: Option<JoinHandle<io::Result<Account>>>,
    stop: Arc<AtomicBool>,
}

impl DelayLine {
    /// Whether an experiment needs one.
    pub fn is_needed(experiment: &Experiment) -> bool {
        let link = &experiment.links[experiment.bottleneck];
        let rtts = experiment.flows.iter().any(|flow| flow.rtt.picos() > 0);
        link.delay.picos() > 0 || rtts || link.loss.q32() > 0
    }

    /// Starts it between the devices `near`, on the bottleneck's side, and `far`. Losses are dated from `zero_ns`.
    pub fn start(
        experiment: &Experiment,
        place: &Namespace,
        near: Tun,
        far: Tun,
        zero_ns: u64,
    ) -> Result<DelayLine, LabError> {
        let link = &experiment.links[experiment.bottleneck];
        let back = experiment.flows.iter().map(|flow| flow.rtt.saturating_sub(link.delay).nanos());
        let orders = Orders {
            there_ns: link.delay.nanos(),
            back_ns: back.collect(),
            loss: u32::try_from(link.loss.q32()).unwrap_or(u32::MAX),
            seed: experiment.seed,
            sources: experiment.traffic.len(),
            zero_ns,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = spawn(place, Urgency::Path, move || Line::new(orders, near, far).run(&stopped));
        let thread = thread.map_err(LabError::doing("no thread for the delay line"))?;
        Ok(DelayLine { thread: Some(thread), stop })
    }

    /// Stops it.
    pub fn end(mut self) -> Result<Account, LabError> {
        self.stop.store(true, Ordering::Release);
        let ended = self.thread.take().map(JoinHandle::join);
        let ended = ended.and_then(Result::ok).unwrap_or_else(|| Err(io::Error::other("its thread failed")));
        ended.map_err(LabError::doing("the delay line"))
    }
}

impl Drop for DelayLine {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}

/// A packet in transit. The order is reversed: the heap returns the greatest.
#[derive(PartialEq, Eq)]
struct Held {
    due_ns: u64,
    number: u64,
    forth: bool,
    packet: Vec<u8>,
}

impl Ord for Held {
    fn cmp(&self, other: &Held) -> std::cmp::Ordering {
        (other.due_ns, other.number).cmp(&(self.due_ns, self.number))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

struct Line {
    orders: Orders,
    near: Tun,
    far: Tun,
    held: BinaryHeap<Held>,
    number: u64,
    random: Pcg64Mcg,
    account: Account,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
}

/// Longest sleep between checks for the end.
const LONGEST_SLEEP_NS: u64 = 50_000_000;

impl Line {
    fn new(orders: Orders, near: Tun, far: Tun) -> Line {
        let random = Pcg64Mcg::seed_from_u64(orders.seed);
        let (account, held, spare) = (Account::default(), BinaryHeap::new(), Vec::new());
        Line { orders, near, far, held, number: 0, random, account, spare }
    }

    fn run(mut self, stop: &AtomicBool) -> io::Result<Account> {
        while !stop.load(Ordering::Relaxed) {
            self.hand_on()?;
            // A new packet may be due before those already held.
            let taken = self.take_in(true)? + self.take_in(false)?;
            if taken == 0 {
                let due = self.held.peek().map_or(u64::MAX, |held| held.due_ns);
                self.wait(due.saturating_sub(monotonic_ns()).min(LONGEST_SLEEP_NS))?;
            }
        }
        Ok(self.account)
    }

    /// Sleeps until a packet comes or `ns` have passed.
    fn wait(&self, ns: u64) -> io::Result<()> {
        let watched = |tun: &Tun| libc::pollfd { fd: tun.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut both = [watched(&self.near), watched(&self.far)];
        let time = libc::timespec { tv_sec: 0, tv_nsec: ns as i64 };
        // SAFETY: both pointers are to locals that outlive the call; the signal mask is left as it is.
        match unsafe { libc::ppoll(both.as_mut_ptr(), both.len() as libc::nfds_t, &time, std::ptr::null()) } {
            -1 if io::Error::last_os_error().kind() != ErrorKind::Interrupted => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// Reads a limited number of packets from one device; returns how many it read.
    fn take_in(&mut self, forth: bool) -> io::Result<usize> {
        const MOST: usize = 32;
        for taken in 0..MOST {
            let mut packet = self.spare.pop().unwrap_or_default();
            packet.resize(LARGEST, 0);
            let from = if forth { &mut self.near.0 } else { &mut self.far.0 };
            let length = match from.read(&mut packet) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.spare.push(packet);
                    return Ok(taken);
                }
                // The device goes down with its host at the end of a run.
                Err(error) => return Err(error),
            };
            packet.truncate(length);
            self.hold(packet, forth);
        }
        Ok(MOST)
    }

    fn hold(&mut self, packet: Vec<u8>, forth: bool) {
        let now = monotonic_ns();
        let headers = Headers::parse(&packet);
        let owner = headers.map_or(Owner::Other, |headers| self.owner(&headers, forth));
        if forth && !headers.is_some_and(|headers| headers.opens_or_closes) && self.random.next_u32() < self.orders.loss
        {
            self.account.losses.push(Loss { at_ns: now.saturating_sub(self.orders.zero_ns), owner });
            self.spare.push(packet);
            return;
        }
        let delay_ns = match owner {
            Owner::Flow(flow) if !forth => self.orders.back_ns[flow],
            _ => self.orders.there_ns,
        };
        self.held.push(Held { due_ns: now + delay_ns, number: self.number, forth, packet });
        self.number += 1;
    }

    fn owner(&self, headers: &Headers, forth: bool) -> Owner {
        let port = if forth { headers.source } else { headers.destination };
        owner_of(headers.protocol, port, self.orders.back_ns.len(), self.orders.sources)
    }

    /// Passes on the packets that are due.
    fn hand_on(&mut self) -> io::Result<()> {
        let mut now = monotonic_ns();
        while self.held.peek().is_some_and(|held| held.due_ns <= now) {
            let Some(held) = self.held.pop() else { break };
            self.account.lateness_ns.push(u32::try_from(now - held.due_ns).unwrap_or(u32::MAX));
            let to = if held.forth { &mut self.far.0 } else { &mut self.near.0 };
            match to.write(&held.packet) {
                // The next host drops a packet if it has no buffer or no route.
                Err(error) if error.kind() != ErrorKind::WouldBlock && error.raw_os_error() != Some(libc::EIO) => {
                    return Err(error);
                }
                _ => {}
            }
            self.spare.push(held.packet);
            now = monotonic_ns();
        }
        Ok(())
    }
}
