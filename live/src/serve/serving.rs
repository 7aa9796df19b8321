//! The threads of a server: one receives and replies, and one per session sends its ordered streams.

use super::lanes::Lanes;
use super::left::Left;
use super::{Counters, Limits, Now, Server};
use crate::socket::{Arrival, Stamped, Steps, realtime_ns};
use crate::store::Store;
use crate::wire::{Keys, MOST_SIZE, Source};
use harness::realtime::clock::monotonic_ns;
use harness::realtime::priority::take_short_turns;
use packetscale_models::units::{Span, Time};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest interval between two checks of the receiving thread for ended sessions.
const POLL: Duration = Duration::from_millis(100);
/// Interval between reports of counters.
const REPORT_MS: u64 = 1_000;
/// Pseudo-random filling of packets.
const FILLING: usize = 1 << 16;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The socket.
    #[error("{0}: {1}")]
    Socket(SocketAddr, io::Error),
    /// Without a key and without `open` only local addresses are allowed.
    #[error("{0} can be reached from other machines: give --key FILE, or --open to let anyone in")]
    Closed(SocketAddr),
    /// The system gave no random numbers, or no thread.
    #[error("{0}")]
    System(String),
}

/// A running server. [`Serving::end`] stops it.
pub struct Serving {
    /// Its address.
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Serving {
    /// Notifies all clients, and waits until the threads have ended.
    pub fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
    }
}

/// Starts a server. `report` receives the counters about once a second. `open`: accept anyone, on any address.
///
/// # Errors
/// The address is not available, or is not local and neither `open` nor a key is set.
pub fn serve(
    address: SocketAddr,
    limits: Limits,
    keys: Keys,
    open: bool,
    report: impl FnMut(&Counters) + Send + 'static,
) -> Result<Serving, ServeError> {
    begin(address, limits, keys, open, None, report)
}

/// Starts a server that also accepts files.
///
/// # Errors
/// As [`serve`].
pub fn receive(
    address: SocketAddr,
    limits: Limits,
    keys: Keys,
    open: bool,
    store: Box<dyn Store>,
    report: impl FnMut(&Counters) + Send + 'static,
) -> Result<Serving, ServeError> {
    begin(address, limits, keys, open, Some(store), report)
}

fn begin(
    address: SocketAddr,
    limits: Limits,
    keys: Keys,
    open: bool,
    store: Option<Box<dyn Store>>,
    report: impl FnMut(&Counters) + Send + 'static,
) -> Result<Serving, ServeError> {
    if keys.is_empty() && !open && !address.ip().to_canonical().is_loopback() {
        return Err(ServeError::Closed(address));
    }
    let system = |error: &dyn std::fmt::Display| ServeError::System(error.to_string());
    let mut filling = vec![0; FILLING];
    getrandom::fill(&mut filling).map_err(|error| system(&error))?;
    let bound = Stamped::bind(address, POLL).and_then(|socket| Ok((socket.address()?, Arc::new(socket))));
    let (address, socket) = bound.map_err(|error| ServeError::Socket(address, error))?;
    let stop = Arc::new(AtomicBool::new(false));
    let (left, departed) = mpsc::channel();
    let lanes = Lanes::new(Arc::clone(&socket), filling.into(), left);
    let receiver = Receiving { socket, stop: Arc::clone(&stop), departed };
    let thread = std::thread::Builder::new().name("serve-receive".to_string());
    let receiving =
        thread.spawn(move || receiver.work(limits, keys, store, lanes, report)).map_err(|error| system(&error))?;
    Ok(Serving { address, stop, thread: receiving })
}

struct Receiving {
    socket: Arc<Stamped>,
    stop: Arc<AtomicBool>,
    departed: Receiver<Left>,
}

/// Secrets of the system's generator, which [`serve`] has tested.
fn draw() -> [u8; 32] {
    let mut secret = [0; 32];
    let _ = getrandom::fill(&mut secret);
    secret
}

impl Receiving {
    fn work(
        &self,
        limits: Limits,
        keys: Keys,
        store: Option<Box<dyn Store>>,
        mut lanes: Lanes,
        mut report: impl FnMut(&Counters),
    ) {
        // If the system refuses, acknowledgments are later on a busy machine.
        let _ = take_short_turns();
        let mut steps = Steps::watch();
        let mut now =
            || Now { ms: monotonic_ns() / 1_000_000, wall_ms: realtime_ns() / 1_000_000, steps: steps.update() };
        let mut server = Server::new(limits, keys, now(), draw);
        if let Some(store) = store {
            server = server.keeping(store);
        }
        let mut buffer = vec![0; MOST_SIZE];
        let (mut polled_ms, mut reported_ms) = (now().ms, 0);
        while !self.stop.load(Ordering::Relaxed) {
            let arrival = self.next(&server, &mut buffer);
            let present = now();
            self.send(server.acknowledge(present));
            for Left { session, stamps, source } in self.departed.try_iter() {
                server.departed(session, &stamps, source);
            }
            match arrival {
                Ok(Some(arrival)) => {
                    let reaction = server.receive(&buffer[..arrival.length], &arrival, present);
                    // A reply that cannot leave now is dropped; the client repeats its request.
                    let _ = reaction.answer.map(|answer| self.socket.send(&answer, arrival.from));
                    if let Some(job) = reaction.job.filter(|job| !lanes.send(*job)) {
                        server.departed(job.session, &[], Source::Program);
                    }
                }
                Ok(None) => {}
                // No datagram can be read now (no memory, the network is down): avoid a busy loop.
                Err(_) => std::thread::sleep(POLL),
            }
            if present.ms >= polled_ms + POLL.as_millis() as u64 {
                polled_ms = present.ms;
                self.send(server.tick(present));
                lanes.keep(|session| server.has(session));
            }
            if present.ms >= reported_ms + REPORT_MS {
                reported_ms = present.ms;
                report(&server.counters());
            }
        }
        self.send(server.end(now()));
        lanes.end();
        report(&server.counters());
    }

    /// The next datagram; `None`: something else is due.
    fn next(&self, server: &Server, buffer: &mut [u8]) -> io::Result<Option<Arrival>> {
        let now = Span::from_nanos(monotonic_ns());
        let due = server.next_acknowledgment().saturating_since(Time::ZERO + now);
        if due < Span::from_nanos(POLL.as_nanos() as u64) && !self.socket.wait(Duration::from_nanos(due.nanos()))? {
            return Ok(None);
        }
        self.socket.receive(buffer)
    }

    fn send(&self, messages: Vec<(SocketAddr, Vec<u8>)>) {
        for (to, datagram) in messages {
            let _ = self.socket.send(&datagram, to);
        }
    }
}
