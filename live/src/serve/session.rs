//! A session: its grant, its usage, and the times of its packets.

use super::Limits;
use crate::socket::{Arrival, Mark, Time, by_one_clock};
use crate::transfer::Incoming;
use crate::wire::{Grant, HEADER, LEAST_SIZE, Marks, Ordered, Reason, Report, Source, Stamp, What, seal};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Tolerance of the rate limit: part of a second, and bytes.
const AHEAD_PER_S: u64 = 10;
const AHEAD_BYTES: u64 = 64_000;
/// Interval between requests for different files, with one more at once: each opens a file and reads it.
const REQUEST_MS: u64 = 1_000;
/// Streams in a row without an arrival after which no more is sent (RFC 8084).
const BARREN: u32 = 2;
/// Maximum number of a session's waiting streams: one in transmission, and the next.
pub const WAITING: u32 = 2;

/// The last times of a session's packets, by number.
pub struct Memory {
    times: Vec<Option<(u64, Time)>>,
    total: u64,
}

impl Memory {
    fn new(packets: u32) -> Memory {
        Memory { times: vec![None; packets as usize], total: 0 }
    }

    fn place(&self, sequence: u64) -> usize {
        (sequence % self.times.len().max(1) as u64) as usize
    }

    /// Records a time. `false`: already known. For a duplicate, the first time counts.
    fn note(&mut self, sequence: u64, time: Time) -> bool {
        let place = self.place(sequence);
        let new = self.times.get(place).is_some_and(|kept| kept.is_none_or(|(kept, _)| kept != sequence));
        if new {
            self.times[place] = Some((sequence, time));
            self.total += 1;
        }
        new
    }

    fn report(&self, what: What, first: u64, count: u32) -> Report {
        let count = count.min(self.times.len() as u32).min((u64::MAX - first).min(u64::from(u32::MAX)) as u32);
        let known = |sequence: u64| self.times.get(self.place(sequence)).copied().flatten();
        let kept = |sequence| known(sequence).filter(|(kept, _)| *kept == sequence);
        let times: Vec<(u64, Time)> = (first..first + u64::from(count)).filter_map(kept).collect();
        let (stamps, source) = by_one_clock(&times);
        Report { what, source, steps: 0, marks: None, pending: false, total: self.total, first, count, stamps }
    }
}

/// A session.
pub struct Session {
    /// Its client's address.
    pub client: SocketAddr,
    /// Granted limits.
    pub grant: Grant,
    /// Id of its client's key.
    pub key: u16,
    began_ms: u64,
    /// When the last packet from its client arrived.
    pub received_ms: u64,
    used_bytes: u64,
    bucket_bytes: u64,
    filled_ms: u64,
    last_order: Option<u32>,
    /// Ordered streams that have not left.
    waiting: u32,
    barren: u32,
    arrivals: Memory,
    departures: Memory,
    marks: Marks,
    /// Number of steps of the server's clock at its start.
    pub steps_before: u16,
    /// Flows from its client, by number.
    pub flows: BTreeMap<u32, Incoming>,
    /// Number of the flow that began last.
    pub last_begin: Option<u32>,
    /// The file that its client waits for, and whether it restarts.
    pub request: Option<(String, bool)>,
    /// Time until which earlier requests have used the rate limit, one per second plus one.
    requested_ms: u64,
    /// The last flow that failed, and why: repeated to its client for every packet.
    pub failed: Option<(u32, String)>,
}

impl Session {
    /// A new session.
    pub fn new(client: SocketAddr, grant: Grant, key: u16, now_ms: u64, limits: &Limits, steps: u16) -> Session {
        let mut session = Session {
            client,
            grant,
            key,
            began_ms: now_ms,
            received_ms: now_ms,
            used_bytes: 0,
            bucket_bytes: 0,
            filled_ms: now_ms,
            last_order: None,
            waiting: 0,
            barren: 0,
            arrivals: Memory::new(limits.memory),
            departures: Memory::new(limits.memory),
            marks: Marks::default(),
            steps_before: steps,
            flows: BTreeMap::new(),
            last_begin: None,
            request: None,
            requested_ms: now_ms,
            failed: None,
        };
        session.bucket_bytes = session.depth();
        session
    }

    fn depth(&self) -> u64 {
        AHEAD_BYTES.max(self.grant.rate_bps / 8 / AHEAD_PER_S)
    }

    /// Maximum size of a body in a datagram to its client.
    pub fn payload_limit(&self) -> usize {
        usize::from(self.grant.size).min(LEAST_SIZE).saturating_sub(HEADER + seal::TRAILER)
    }

    /// Whether and why it expires.
    pub fn over(&self, now_ms: u64, limits: &Limits) -> Option<Reason> {
        match now_ms {
            now if now >= self.began_ms + u64::from(self.grant.duration_ms) => Some(Reason::Limit),
            now if now >= self.received_ms + u64::from(limits.silence_ms) => Some(Reason::Silence),
            _ => None,
        }
    }

    /// Milliseconds until its duration is over.
    pub fn rest_ms(&self, now_ms: u64) -> u32 {
        (self.began_ms + u64::from(self.grant.duration_ms)).saturating_sub(now_ms).min(u64::from(u32::MAX)) as u32
    }

    /// Counts bytes against the grant. `false`: exceeded.
    fn uses(&mut self, bytes: u64) -> bool {
        self.used_bytes += bytes;
        self.used_bytes <= self.grant.bytes
    }

    /// Records a data packet. `false`: the client exceeds its grant.
    pub fn arrived(&mut self, sequence: u64, arrival: &Arrival, now_ms: u64) -> bool {
        let may = self.may_send(arrival.length as u64, now_ms);
        if may && self.arrivals.note(sequence, arrival.time) {
            self.marks.ce += u32::from(arrival.mark == Mark::Ce);
            self.marks.ect1 += u32::from(arrival.mark == Mark::Ect1);
        }
        may
    }

    /// Counts arrived data against the grant. `false`: exceeded.
    pub fn may_send(&mut self, bytes: u64, now_ms: u64) -> bool {
        // One second fills any bucket, so a longer pause adds nothing.
        let passed_ms = now_ms.saturating_sub(self.filled_ms).min(1000);
        self.filled_ms = now_ms;
        let filled = self.bucket_bytes.saturating_add(self.grant.rate_bps / 8 * passed_ms / 1000);
        let full = filled.min(self.depth());
        let Some(left) = full.checked_sub(bytes).filter(|_| self.uses(bytes)) else { return false };
        self.bucket_bytes = left;
        true
    }

    /// Whether a request for a file is allowed: it repeats the current one, or the rate limit permits it (the generic cell rate
    /// algorithm, ITU-T I.371).
    pub fn may_request(&mut self, (name, restart): (&str, bool), now_ms: u64) -> bool {
        if self.request.as_ref().is_some_and(|(waited, kind)| waited == name && *kind == restart) {
            return true;
        }
        let may = self.requested_ms <= now_ms + REQUEST_MS;
        if may {
            self.requested_ms = self.requested_ms.max(now_ms) + REQUEST_MS;
            self.request = Some((name.to_string(), restart));
        }
        may
    }

    /// Records the departures of a stream.
    pub fn departed(&mut self, stamps: &[Stamp], source: Source) {
        self.waiting = self.waiting.saturating_sub(1);
        for Stamp { sequence, ns } in stamps {
            self.departures.note(*sequence, Time { ns: *ns, source, card_ns: None });
        }
    }

    /// The times of a range of packets, as many as fit into `limit` bytes.
    pub fn report(&self, what: What, steps: u16, first: u64, count: u32, limit: usize) -> Report {
        let memory = if what == What::Arrivals { &self.arrivals } else { &self.departures };
        let marks = (what == What::Arrivals).then_some(self.marks);
        let pending = what == What::Departures && self.waiting > 0;
        let steps = steps.wrapping_sub(self.steps_before);
        let mut report = Report { steps, marks, pending, ..memory.report(what, first, count) };
        report.cut_to(limit);
        report
    }

    /// Whether to send this stream: `Ok(false)` if it is a repeated order, or too many earlier streams are waiting. Then the
    /// client repeats its order.
    ///
    /// # Errors
    /// Why the session ends.
    pub fn orders(&mut self, number: u32, stream: &Ordered, arrived: u32) -> Result<bool, Reason> {
        if self.waiting >= WAITING || self.last_order.is_some_and(|last| number <= last) {
            return Ok(false);
        }
        self.barren = if self.last_order.is_some() && arrived == 0 { self.barren + 1 } else { 0 };
        self.last_order = Some(number);
        let bytes = u64::from(stream.count) * u64::from(stream.size);
        // Only for a stream of known bounded length: it lists the gaps.
        let length_ns = || crate::stream::gaps_ns(stream, crate::stream::overhead(self.client)).iter().sum::<f64>();
        let fits = stream.size <= self.grant.size
            && usize::from(stream.size) >= crate::stream::LEAST_PAYLOAD
            && stream.lowest_bps > 0
            && stream.lowest_bps <= stream.highest_bps
            && stream.count as usize <= self.departures.times.len()
            && stream.first.checked_add(u64::from(stream.count)).is_some()
            && length_ns() <= crate::stream::LONGEST.nanos() as f64;
        match () {
            () if self.barren >= BARREN => Err(Reason::Silence),
            () if !fits => Err(Reason::Wrong),
            () if stream.highest_bps > self.grant.rate_bps || !self.uses(bytes) => Err(Reason::Limit),
            () => {
                self.waiting += 1;
                Ok(true)
            }
        }
    }
}
