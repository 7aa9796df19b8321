//! Sends a file, or the output of a program, to a receiver: [`Parcel`] is the flow of its data, [`send`] the whole transfer.
//!
//! Segment n of a flow holds the bytes from `offset + n * size` on. The receiver reports the length and hash of its partial file;
//! if the sender's prefix has the same hash, the transfer resumes there. At the end both compare the BLAKE3 hash of the whole.

use crate::controllers;
use crate::host::Destination;
use crate::probe::{Client, ProbeError};
use crate::stream::overhead;
use crate::transfer::{Ends, Flows, LONGEST_RETRY, Next, Outgoing, SessionError};
use crate::wire::{Begin, Begun, Grant, HASH, LEAST_SIZE, Purpose, Reason};
use packetscale_models::congestion::{AnyController, Controller, Setup, find};
use packetscale_models::settings::Settings;
use packetscale_models::transport::{Segment, SenderParams, Transfer};
use packetscale_models::units::{Bytes, Span, Time};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;

/// Read-ahead, in segments.
const AHEAD: usize = 4096;
/// Size of a read, and maximum number of blocks that wait to be sent.
const BLOCK: usize = 1 << 16;
const BLOCKS: usize = 16;
/// Retry interval of a source without data.
const RETRY_AFTER: Span = Span::from_millis(1);
/// The sender's parameters: the defaults of scenarios.
const INITIAL_WINDOW: u32 = 10;
const MIN_RTO: Span = Span::from_millis(200);
const DELAYED_ACK: u16 = 2;
const DELAYED_ACK_US: u32 = 40_000;
/// Time without a packet after which a transfer ends. Sending again resumes it.
const PATIENCE: Span = Span::from_secs(20);
/// Number of attempts while another session has the file.
const TRIES: u32 = 4;

/// Result of a read from a supply.
pub enum Supplied {
    /// These bytes, at least one.
    Bytes(Vec<u8>),
    /// No data yet.
    Later,
    /// End of data.
    End,
}

/// Source of data to send. It never blocks.
pub trait Supply {
    /// The next bytes.
    ///
    /// # Errors
    /// A system error.
    fn next(&mut self) -> io::Result<Supplied>;
}

/// A source that is read in its own thread, because reads may block.
pub struct Reading(Receiver<io::Result<Vec<u8>>>);

impl Reading {
    /// Begins to read.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn of(mut source: Box<dyn Read + Send>) -> io::Result<Reading> {
        let (hand, handed) = mpsc::sync_channel(BLOCKS);
        std::thread::Builder::new().name("send-read".to_string()).spawn(move || {
            loop {
                let mut block = vec![0; BLOCK];
                let read = match source.read(&mut block) {
                    Ok(0) => return,
                    Ok(length) => {
                        block.truncate(length);
                        Ok(block)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = read.is_err();
                if hand.send(read).is_err() || failed {
                    return;
                }
            }
        })?;
        Ok(Reading(handed))
    }
}

impl Supply for Reading {
    fn next(&mut self) -> io::Result<Supplied> {
        match self.0.try_recv() {
            Ok(block) => block.map(Supplied::Bytes),
            Err(TryRecvError::Empty) => Ok(Supplied::Later),
            Err(TryRecvError::Disconnected) => Ok(Supplied::End),
        }
    }
}

/// The flow of a file's data.
pub struct Parcel<'a> {
    number: u32,
    outgoing: Outgoing,
    supply: &'a mut dyn Supply,
    size: usize,
    header_bytes: usize,
    /// Segments from the first unacknowledged one on, and its number.
    held: VecDeque<Vec<u8>>,
    first: u64,
    /// An incomplete segment, until more data come.
    rest: Vec<u8>,
    ended: bool,
    /// Hash of the whole, including the receiver's earlier bytes.
    hasher: blake3::Hasher,
    bytes: u64,
    offset: u64,
    watch: &'a mut dyn FnMut(u64),
}

impl<'a> Parcel<'a> {
    /// A flow that resumes behind the bytes in `hasher`. `size`: bytes of data in a segment; `header_bytes`: the rest of an IP
    /// packet. `watch` receives the number of bytes that have arrived.
    pub fn new(
        number: u32,
        outgoing: Outgoing,
        (size, header_bytes): (usize, usize),
        hasher: blake3::Hasher,
        supply: &'a mut dyn Supply,
        watch: &'a mut dyn FnMut(u64),
    ) -> Parcel<'a> {
        let offset = hasher.count();
        Parcel {
            number,
            outgoing,
            supply,
            size,
            header_bytes,
            held: VecDeque::new(),
            first: 0,
            rest: Vec::new(),
            ended: false,
            hasher,
            bytes: offset,
            offset,
            watch,
        }
    }

    /// Bytes of the whole, and their hash.
    pub fn whole(&self) -> (u64, [u8; HASH]) {
        (self.bytes, *self.hasher.finalize().as_bytes())
    }

    /// Transmissions, and retransmissions among them.
    pub fn sent(&self) -> (u64, u64) {
        let counters = self.outgoing.sender().counters();
        (counters.sent, counters.retransmitted)
    }

    /// After how many packets CUBIC took over, if it did.
    pub fn fell_back(&self) -> Option<u64> {
        self.outgoing.fell_back()
    }

    fn refill(&mut self) -> Result<(), Ends> {
        while !self.ended && self.held.len() < AHEAD + self.in_flight() {
            match self.supply.next().map_err(|error| Ends::Unreadable(error.to_string()))? {
                Supplied::Later => return Ok(()),
                Supplied::Bytes(bytes) => self.take(&bytes),
                Supplied::End => {
                    self.ended = true;
                    let last = std::mem::take(&mut self.rest);
                    if !last.is_empty() {
                        let size = Bytes::new((last.len() + self.header_bytes) as u64);
                        self.held.push_back(last);
                        self.outgoing.sender_mut().offer_message(1, size);
                    }
                }
            }
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.outgoing.sender().in_flight() as usize
    }

    fn take(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() / self.size;
        let rest = self.rest.split_off(whole * self.size);
        let segments = std::mem::replace(&mut self.rest, rest);
        self.held.extend(segments.chunks(self.size).map(<[u8]>::to_vec));
        self.outgoing.sender_mut().offer(whole as u64);
    }
}

impl Flows for Parcel<'_> {
    fn count(&self) -> usize {
        1
    }

    fn flow(&mut self, _: usize) -> Option<(u32, &mut Outgoing)> {
        Some((self.number, &mut self.outgoing))
    }

    fn fill(&mut self, _: usize, segment: &Segment, data: &mut [u8]) -> usize {
        let place = segment.sequence.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        let Some(held) = place.and_then(|at| self.held.get(at)) else { return 0 };
        data[..held.len()].copy_from_slice(held);
        held.len()
    }

    fn step(&mut self, now: Time) -> Result<Next, Ends> {
        self.refill()?;
        if self.ended && self.held.is_empty() {
            return Ok(Next::Over);
        }
        let waits = !self.ended && self.held.len() < AHEAD;
        Ok(Next::At(if waits { now + RETRY_AFTER } else { Time::MAX }))
    }

    fn acknowledged(&mut self, _: usize, _: Time) {
        while self.first < self.outgoing.acknowledged() && self.held.pop_front().is_some() {
            self.first += 1;
        }
        let arrived = self.offset + self.first * self.size as u64;
        (self.watch)(arrived.min(self.bytes));
    }
}

/// The data to send.
pub struct Item<'a> {
    /// Its name at the receiver.
    pub name: &'a str,
    /// Opens it at its beginning.
    pub open: &'a mut dyn FnMut() -> io::Result<Box<dyn Read + Send>>,
    /// Whether it can be opened again.
    pub again: bool,
    /// Largest IP packet.
    pub packet: u16,
    /// Makes its controller.
    pub controller: &'a dyn Fn(&Setup) -> Result<AnyController, String>,
}

/// Totals of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Bytes of the whole.
    pub bytes: u64,
    /// Bytes that the receiver had before.
    pub before: u64,
    /// Its BLAKE3 hash, equal to the receiver's.
    pub hash: [u8; HASH],
    /// Packets sent, and retransmissions among them.
    pub packets: (u64, u64),
    /// After how many packets CUBIC took over, if it did, because the controller's gaps were too late.
    pub fell_back: Option<u64>,
    /// Duration.
    pub took: Duration,
}

/// Why it was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// Its controller.
    #[error("{0}")]
    Controller(String),
    /// The receiver has a part of another file, and the source cannot be read again.
    #[error("the receiver has {0} bytes of other content under this name; choose another with --name")]
    Another(u64),
    /// No server answers.
    #[error(
        "{0} does not answer: is packetscale live receive running there, with the same key, and does UDP get through?"
    )]
    NoAnswer(SocketAddr),
    /// The receiver.
    #[error("{0}")]
    Session(SessionError),
    /// It ended early. The receiver stores the partial file.
    #[error("{0}; the receiver stores the partial file: send it again to resume")]
    Ended(Ends),
}

impl From<SessionError> for SendError {
    fn from(error: SessionError) -> SendError {
        match error {
            SessionError::Session(ProbeError::NoAnswer(address)) => SendError::NoAnswer(address),
            other => SendError::Session(other),
        }
    }
}

impl From<ProbeError> for SendError {
    fn from(error: ProbeError) -> SendError {
        SessionError::from(error).into()
    }
}

/// Sends it. `watch` receives the number of bytes that have arrived.
///
/// # Errors
/// Why it was not sent. The receiver stores the partial file for the next attempt.
pub fn send(to: &Destination, item: Item<'_>, watch: &mut dyn FnMut(u64)) -> Result<Sent, SendError> {
    let headers = overhead(to.address);
    let size = item.packet.saturating_sub(headers).max(LEAST_SIZE as u16);
    let request = Grant { size, rate_bps: u64::MAX, bytes: u64::MAX, duration_ms: u32::MAX };
    let mut client = Client::open_patiently(to.address, &to.keys, request)?;
    let rtt = Span::from_nanos(client.base_rtt_ns()?);
    let header_bytes = client.data_overhead();
    let size = usize::from(client.grant.size + headers) - header_bytes;
    let (number, begun, hasher, source) = agreed(&mut client, item.name, size, item.open, item.again)?;
    let packet = Bytes::new((size + header_bytes) as u64);
    let setup = Setup { now: Time::ZERO, packet, handshake_rtt: rtt, initial_window: INITIAL_WINDOW, seed: 1 };
    let controller = (item.controller)(&setup).map_err(SendError::Controller)?;
    let outgoing = flow(packet, rtt, begun.window, controller).with_fall_back(client.is_busy());
    let mut reading = Reading::of(source).map_err(SendError::Unreadable)?;
    let mut parcel = Parcel::new(number, outgoing, (size, header_bytes), hasher, &mut reading, watch);
    let began = std::time::Instant::now();
    client.drive(PATIENCE, &mut parcel).map_err(SendError::Ended)?;
    let took = began.elapsed();
    let ((bytes, hash), packets, fell_back) = (parcel.whole(), parcel.sent(), parcel.fell_back());
    client.finish(number, bytes, hash)?;
    Ok(Sent { bytes, before: begun.offset, hash, packets, fell_back, took })
}

/// A controller of the registry, configured for a real path, that needs no support from routers.
///
/// # Errors
/// There is no such controller, or it needs routers' support.
pub fn controller(name: &str, setup: &Setup) -> Result<AnyController, String> {
    let entry = find(name);
    let entry = entry.ok_or_else(|| format!("found \"{name}\"; expected one of `packetscale list controllers`"))?;
    let controller = controllers::for_a_real_path(entry, setup, &Settings::new()).map_err(|error| error.to_string())?;
    let needs = controller.needs();
    if needs.available || needs.offers {
        return Err(format!("found \"{name}\"; expected one that works without routers' support"));
    }
    Ok(controller)
}

/// The sending end of a new flow.
pub fn flow(packet: Bytes, rtt: Span, window: u32, controller: AnyController) -> Outgoing {
    let params = SenderParams {
        packet,
        transfer: Transfer::Offered,
        initial_window: INITIAL_WINDOW,
        handshake_rtt: rtt,
        handshake_window: u64::from(window),
        min_rto: MIN_RTO,
        pacing_percent: 0,
        tick: Span::ZERO,
        slow_start_after_idle: true,
        ecn: false,
    };
    Outgoing::new(params, controller, Time::ZERO, true, false)
}

/// The request for a flow with a file.
pub fn begin(name: &str, size: usize, restart: bool) -> Begin {
    Begin {
        size: size as u16,
        delayed_ack: DELAYED_ACK,
        delayed_ack_us: DELAYED_ACK_US,
        window: u32::MAX,
        stamps: true,
        purpose: Purpose::File { name: name.to_string(), restart },
    }
}

/// A flow, the receiver's length and hash of its file, and the source behind that.
type Agreed = (u32, Begun, blake3::Hasher, Box<dyn Read + Send>);

/// Begins a flow behind the receiver's bytes if the source has the same; else from the beginning.
fn agreed(
    client: &mut Client,
    name: &str,
    size: usize,
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read + Send>>,
    again: bool,
) -> Result<Agreed, SendError> {
    let (number, begun) = begun(client, &begin(name, size, false))?;
    let mut source = open().map_err(SendError::Unreadable)?;
    let hasher = read_again(&mut source, begun.offset).map_err(SendError::Unreadable)?;
    if hasher.count() == begun.offset && (begun.offset == 0 || *hasher.finalize().as_bytes() == begun.hash) {
        return Ok((number, begun, hasher, source));
    }
    if !again {
        return Err(SendError::Another(begun.offset));
    }
    let (number, begun) = self::begun(client, &begin(name, size, true))?;
    let source = open().map_err(SendError::Unreadable)?;
    Ok((number, begun, blake3::Hasher::new(), source))
}

/// Requests a flow, waiting for another session to end if needed.
fn begun(client: &mut Client, begin: &Begin) -> Result<(u32, Begun), SessionError> {
    for _ in 1..TRIES {
        match client.begin(begin.clone()) {
            Err(SessionError::Refused { reason: Reason::Busy, retry_ms: after @ 1.., .. })
                if u128::from(after) <= LONGEST_RETRY.as_millis() =>
            {
                client.stay(Duration::from_millis(u64::from(after)))?;
            }
            other => return other,
        }
    }
    client.begin(begin.clone())
}

/// Reads and hashes up to this number of bytes.
fn read_again(source: &mut dyn Read, bytes: u64) -> io::Result<blake3::Hasher> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(source.take(bytes))?;
    Ok(hasher)
}
