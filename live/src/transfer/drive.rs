//! Drives the sending ends of a session's flows over a carrier, in one thread: reads acknowledgments, sends packets that are
//! due, and waits for the next event.
//!
//! A token bucket over all flows enforces the server's grant here. A sender that it delays departs late, as on a busy host.

use super::{ALIVE, Carrier, Outgoing};
use crate::wire::{Body, Grant, Header, Keys, MOST_SIZE, Packet, Reason, SEGMENT_HEAD};
use packetscale_models::transport::Segment;
use packetscale_models::units::{Ecn, Span, Time};
use std::io;

/// Depth of the grant's bucket, as a time at its rate: less than a server tolerates.
const AHEAD: Span = Span::from_millis(20);
/// Minimum depth of a bucket: a burst of full packets.
const LEAST_AHEAD: f64 = 32_000.0;
/// Packets of a flow that may leave between two reads of acknowledgments.
const BURST: usize = 32;

/// The flows of a session.
pub trait Flows {
    /// The flows.
    fn count(&self) -> usize;

    /// A flow, with its number in the session; `None`: it has not begun or has ended.
    fn flow(&mut self, flow: usize) -> Option<(u32, &mut Outgoing)>;

    /// Writes a segment's data from `data[0]` on; returns their length.
    fn fill(&mut self, flow: usize, segment: &Segment, data: &mut [u8]) -> usize;

    /// Advances to `now`: begins and ends flows, provides data. Returns when to call again, or that all flows are over.
    ///
    /// # Errors
    /// A failure of the flows.
    fn step(&mut self, now: Time) -> Result<Next, Ends>;

    /// Called when a segment was acknowledged, or a flow's state changed otherwise.
    fn acknowledged(&mut self, _flow: usize, _now: Time) {}
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Idle until this instant.
    At(Time),
    /// All is over.
    Over,
}

/// Why a session ended early.
#[derive(Debug, thiserror::Error)]
pub enum Ends {
    /// The socket.
    #[error("the socket: {0}")]
    Socket(#[from] io::Error),
    /// The server closed it.
    #[error("the server has ended the session: {}", .0.words())]
    Closed(Reason),
    /// The server refuses a flow.
    #[error("{0}")]
    Refused(String),
    /// Nothing was received.
    #[error("no packet from the server for {0}")]
    Silent(Span),
    /// The server answers, but acknowledges no more data.
    #[error("the server answers, but has acknowledged no data for {0}")]
    Stalled(Span),
    /// The source of the data cannot be read.
    #[error("cannot read the data to send: {0}")]
    Unreadable(String),
}

/// Parameters of a session's packets.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// Its id.
    pub id: u64,
    /// The session's keys, and the id of the one in use.
    pub keys: &'a Keys,
    /// The id of the key; 0: none.
    pub key: u16,
    /// Limits that the server granted.
    pub grant: Grant,
    /// Milliseconds since 1970 at the start of the run, for seals.
    pub wall_ms: u64,
    /// The session ends after this time without a packet from the server, or without an acknowledgment of data after a ping.
    pub patience: Span,
}

/// Totals of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Driven {
    /// Bytes of payloads sent.
    pub bytes: u64,
    /// Number of packets that had to wait for the server's grant.
    pub held: u64,
}

/// State of a driven session.
struct Driver<'a, C> {
    carrier: &'a mut C,
    session: Session<'a>,
    tokens: f64,
    filled: Time,
    /// When the last packet was sent, and the last received.
    sent: Time,
    received: Time,
    /// When data was last acknowledged, or none was outstanding; and the packets acknowledged until then.
    advanced: Time,
    delivered: u64,
    datagram: Vec<u8>,
    buffer: Vec<u8>,
    driven: Driven,
}

/// Drives flows until they are over.
///
/// # Errors
/// Why they end before that.
pub fn drive<C: Carrier>(carrier: &mut C, session: Session<'_>, flows: &mut dyn Flows) -> Result<Driven, Ends> {
    let now = carrier.now();
    let mut driver = Driver {
        carrier,
        session,
        tokens: depth(&session.grant),
        filled: now,
        sent: now,
        received: now,
        advanced: now,
        delivered: 0,
        datagram: vec![0; MOST_SIZE],
        buffer: vec![0; MOST_SIZE],
        driven: Driven::default(),
    };
    loop {
        driver.receive(flows)?;
        let Next::At(mut due) = flows.step(driver.carrier.now())? else { return Ok(driver.driven) };
        for flow in 0..flows.count() {
            due = due.min(driver.serve(flow, flows)?);
        }
        let now = driver.carrier.now();
        if now >= driver.sent + ALIVE {
            driver.send(Body::Ping, now)?;
        }
        if now >= driver.received + session.patience {
            return Err(Ends::Silent(session.patience));
        }
        // A dead path is silent before that.
        let stalled = driver.advanced(flows, now) + session.patience + ALIVE;
        if now >= stalled {
            return Err(Ends::Stalled(session.patience));
        }
        due = due.min(driver.sent + ALIVE).min(driver.received + session.patience).min(stalled);
        if due > now {
            driver.carrier.wait(due)?;
        }
    }
}

fn depth(grant: &Grant) -> f64 {
    (grant.rate_bps as f64 / 8.0 * AHEAD.as_secs_f64()).max(LEAST_AHEAD).max(2.0 * f64::from(grant.size))
}

/// Whether there is a flow with this number.
fn has(flows: &mut dyn Flows, number: u32) -> bool {
    (0..flows.count()).any(|flow| flows.flow(flow).is_some_and(|(this, _)| this == number))
}

impl<C: Carrier> Driver<'_, C> {
    fn written(&self, number: u32, body: Body, now: Time) -> Vec<u8> {
        let header = Header { key: self.session.key, session: self.session.id, number };
        Packet { header, body }.write(self.session.keys, self.wall_ms(now))
    }

    fn wall_ms(&self, now: Time) -> u64 {
        self.session.wall_ms + now.nanos() / 1_000_000
    }

    fn send(&mut self, body: Body, now: Time) -> Result<(), Ends> {
        let datagram = self.written(0, body, now);
        self.carrier.send(&datagram, Ecn::NotEct, false)?;
        self.sent = now;
        Ok(())
    }

    /// When the flows last made progress. A flow without outstanding data counts as making progress.
    fn advanced(&mut self, flows: &mut dyn Flows, now: Time) -> Time {
        let (mut delivered, mut waits) = (0, false);
        for flow in 0..flows.count() {
            if let Some((_, outgoing)) = flows.flow(flow) {
                delivered += outgoing.sender().counters().delivered;
                waits |= outgoing.waits();
            }
        }
        if !waits || delivered != self.delivered {
            (self.advanced, self.delivered) = (now, delivered);
        }
        self.advanced
    }

    /// Reads what has arrived.
    fn receive(&mut self, flows: &mut dyn Flows) -> Result<(), Ends> {
        while let Some(datagram) = self.carrier.receive(&mut self.buffer)? {
            let bytes = &self.buffer[..datagram.length];
            let (id, keys, wall_ms) = (self.session.id, self.session.keys, self.wall_ms(datagram.at));
            let ours = |packet: &Packet| packet.header.session == id && packet.is_genuine(bytes, keys, wall_ms);
            let Some(Packet { header, body }) = Packet::read(bytes).filter(ours) else { continue };
            self.received = self.received.max(datagram.at);
            match body {
                Body::Ack(ack) => {
                    let known = (0..flows.count()).find(|flow| {
                        flows.flow(*flow).is_some_and(|(number, outgoing)| {
                            let this = number == header.number;
                            if this {
                                outgoing.on_ack(datagram.at, &ack);
                            }
                            this
                        })
                    });
                    if let Some(flow) = known {
                        flows.acknowledged(flow, datagram.at);
                    }
                }
                Body::Close(reason) => return Err(Ends::Closed(reason)),
                Body::Refuse { text, .. } if has(flows, header.number) => return Err(Ends::Refused(text)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends a flow's due packets. Returns when to call again.
    fn serve(&mut self, flow: usize, flows: &mut dyn Flows) -> Result<Time, Ends> {
        let now = self.carrier.now();
        match flows.flow(flow) {
            None => return Ok(Time::MAX),
            Some((_, outgoing)) => outgoing.on_wakeup(now),
        }
        for _ in 0..BURST {
            let now = self.carrier.now();
            if let Some(later) = self.granted(now) {
                self.driven.held += 1;
                flows.flow(flow).into_iter().for_each(|(_, outgoing)| outgoing.hold());
                return Ok(later);
            }
            let Some((number, outgoing)) = flows.flow(flow) else { return Ok(Time::MAX) };
            let Some(segment) = outgoing.poll(now) else { return Ok(outgoing.next_wakeup()) };
            let (ecn, exactly) = (segment.ecn, outgoing.is_exact());
            let length = self.lay_out(number, flow, &segment, flows, now);
            let left = self.carrier.send(&self.datagram[..length], ecn, exactly)?;
            self.sent = now;
            self.tokens -= length as f64;
            self.driven.bytes += length as u64;
            if let Some((_, outgoing)) = flows.flow(flow) {
                outgoing.departed(&segment, left);
            }
        }
        // More packets are due: continue after reading acknowledgments.
        Ok(now)
    }

    /// Writes a segment into the buffer; returns its length.
    fn lay_out(&mut self, number: u32, flow: usize, segment: &Segment, flows: &mut dyn Flows, now: Time) -> usize {
        let Segment { sequence, transmission, .. } = *segment;
        let head = self.written(number, Body::Segment { sequence, transmission }, now);
        self.datagram[..SEGMENT_HEAD].copy_from_slice(&head);
        let length = SEGMENT_HEAD + flows.fill(flow, segment, &mut self.datagram[SEGMENT_HEAD..]);
        let Some(tag) = self.session.keys.tag(self.session.key, &self.datagram[..length]) else { return length };
        self.datagram[length..length + tag.len()].copy_from_slice(&tag);
        length + tag.len()
    }

    /// When the grant permits the next packet; `None`: now.
    fn granted(&mut self, now: Time) -> Option<Time> {
        let bytes_per_s = self.session.grant.rate_bps as f64 / 8.0;
        let refill = now.saturating_since(self.filled).as_secs_f64() * bytes_per_s;
        self.tokens = (self.tokens + refill).min(depth(&self.session.grant));
        self.filled = self.filled.max(now);
        let missing = f64::from(self.session.grant.size) - self.tokens;
        (missing > 0.0).then(|| now + Span::from_secs_f64(missing / bytes_per_s.max(1.0)).max(Span::from_micros(1)))
    }
}
