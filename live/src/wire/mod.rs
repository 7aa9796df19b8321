//! The wire format (`docs/wire-format.md`): reads and writes datagrams. Reading never panics.
//!
//! Reading allocates at most a constant times the datagram's length. An invalid datagram reads as `None`; drop it without a
//! reply.

mod bytes;
mod report;
pub mod seal;
mod transfer;

pub use report::{Marks, Report, Source, Stamp, What};
pub use seal::Keys;
pub use transfer::{
    Acknowledgment, Begin, Begun, Came, HASH, MOST_BLOCKS, MOST_NAME, Purpose, SEGMENT_HEAD, segment_overhead,
};

pub use bytes::harmless;

use bytes::Fields;

/// "pscl".
const MAGIC: u32 = 0x7073_636c;
/// The supported version.
pub const VERSION: u8 = 2;
/// Bytes of the header.
pub const HEADER: usize = 20;
/// Length of a cookie.
pub const COOKIE: usize = 16;
/// Minimum size of a first packet, and the size that every path must carry (RFC 9000, section 14).
pub const LEAST_SIZE: usize = 1200;
/// The largest datagram.
pub const MOST_SIZE: usize = 65_507;
/// Default port of a server.
pub const PORT: u16 = 7470;
/// Maximum bytes of text in a refusal.
const MOST_TEXT: usize = 128;

/// The header of every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which key seals the packet; 0: none.
    pub key: u16,
    /// Chosen at random by the client.
    pub session: u64,
    /// Rises with each request; a reply repeats the request's.
    pub number: u32,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its header, without version and kind.
    pub header: Header,
    /// Body.
    pub body: Body,
}

/// Packet bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A client requests a session. The datagram is padded with zeros to `request.size`.
    Hello {
        /// Requested limits.
        request: Grant,
        /// Cookie of the challenge; zeros in the first hello.
        cookie: Cookie,
    },
    /// The server asks the client to prove that it receives packets at its address.
    Challenge(Cookie),
    /// The session exists.
    Accept {
        /// Granted limits.
        grant: Grant,
        /// Milliseconds without a packet from the client after which the session ends.
        silence_ms: u32,
        /// Number of packets whose times the server stores.
        memory: u32,
    },
    /// The session is refused, or has ended.
    Refuse {
        /// Why.
        code: Reason,
        /// When to retry, in milliseconds; 0: unknown.
        retry_ms: u32,
        /// The reason as text, at most 128 bytes of UTF-8.
        text: String,
    },
    /// A measured packet, filled with pseudo-random bytes to its size.
    Data {
        /// Its number in the session and direction, from 0.
        sequence: u64,
    },
    /// Requests times of packets.
    Ask {
        /// Kind of times.
        what: What,
        /// First packet.
        first: u64,
        /// Number of packets.
        count: u32,
    },
    /// The times.
    Report(Report),
    /// Requests a stream from the server.
    Order {
        /// The stream.
        stream: Ordered,
        /// Packets of the previous stream that arrived: the sender stops when none do.
        arrived: u32,
    },
    /// Requests a pong of the same number.
    Ping,
    /// Answers.
    Pong,
    /// Ends the session.
    Close(Reason),
    /// Requests a flow.
    Begin(Begin),
    /// The flow exists.
    Begun(Begun),
    /// A segment of a flow. Its data fill the datagram.
    Segment {
        /// Its sequence number in the flow, from 0.
        sequence: u64,
        /// Its transmission number in the flow, from 0.
        transmission: u64,
    },
    /// Acknowledges segments.
    Ack(Acknowledgment),
    /// All data of a file are acknowledged: the receiver may save it.
    Finish {
        /// Bytes of the whole file.
        bytes: u64,
        /// Its BLAKE3 hash.
        hash: [u8; HASH],
    },
    /// The receiver has saved the file under its name.
    Finished,
}

/// Limits of a session, requested or granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Largest payload of a datagram, in bytes.
    pub size: u16,
    /// Highest rate, in bit/s of payloads.
    pub rate_bps: u64,
    /// Bytes of payloads in both directions.
    pub bytes: u64,
    /// The session's length, in milliseconds.
    pub duration_ms: u32,
}

impl Grant {
    /// The minimum of both, field by field.
    pub fn at_most(&self, most: &Grant) -> Grant {
        Grant {
            size: self.size.min(most.size),
            rate_bps: self.rate_bps.min(most.rate_bps),
            bytes: self.bytes.min(most.bytes),
            duration_ms: self.duration_ms.min(most.duration_ms),
        }
    }
}

/// Proves an address: only a host that received it can return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Cookie {
    /// Time of creation, in seconds of the server's clock.
    pub made_s: u32,
    /// The server's code over address, session and time.
    pub code: [u8; COOKIE],
}

/// A stream whose rate rises in levels, each a constant factor above the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The number of its first packet.
    pub first: u64,
    /// Packets.
    pub count: u32,
    /// The first rate, in bit/s of IP packets.
    pub lowest_bps: u64,
    /// The last.
    pub highest_bps: u64,
    /// Number of rates.
    pub levels: u16,
    /// Payload of each packet, in bytes.
    pub size: u16,
}

/// Why a session is refused or has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The session is complete.
    Done,
    /// The server has no rate or sessions left.
    Busy,
    /// A limit of the grant was reached.
    Limit,
    /// No packet arrived for too long.
    Silence,
    /// The server shuts down.
    Ends,
    /// The packet is invalid in this session.
    Wrong,
    /// The receiver refuses the file.
    Unwanted,
}

impl Reason {
    const ALL: [Reason; 7] =
        [Reason::Done, Reason::Busy, Reason::Limit, Reason::Silence, Reason::Ends, Reason::Wrong, Reason::Unwanted];

    fn code(self) -> u8 {
        self as u8
    }

    fn of(code: u8) -> Option<Reason> {
        Reason::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// Text for messages.
    pub fn words(self) -> &'static str {
        match self {
            Reason::Done => "done",
            Reason::Busy => "the server has no rate or slot left",
            Reason::Limit => "a limit of the session was reached",
            Reason::Silence => "timeout: no packet arrived",
            Reason::Ends => "the server is shutting down",
            Reason::Wrong => "a packet was invalid in this session",
            Reason::Unwanted => "the receiver rejects the file",
        }
    }
}

impl Body {
    fn kind(&self) -> u8 {
        match self {
            Body::Hello { .. } => 1,
            Body::Challenge(_) => 2,
            Body::Accept { .. } => 3,
            Body::Refuse { .. } => 4,
            Body::Data { .. } => 5,
            Body::Ask { .. } => 6,
            Body::Report(_) => 7,
            Body::Order { .. } => 8,
            Body::Ping => 9,
            Body::Pong => 10,
            Body::Close(_) => 11,
            Body::Begin(_) => 12,
            Body::Begun(_) => 13,
            Body::Segment { .. } => 14,
            Body::Ack(_) => 15,
            Body::Finish { .. } => 16,
            Body::Finished => 17,
        }
    }
}

/// Packet kinds without a seal, because they are frequent. Data carry no information; segments carry a cheaper tag.
const DATA: u8 = 5;
const SEGMENT: u8 = 14;

fn is_sealed(kind: u8) -> bool {
    !matches!(kind, DATA | SEGMENT)
}

impl Packet {
    /// Parses a datagram, without checking the seal: see [`Packet::is_genuine`].
    pub fn read(datagram: &[u8]) -> Option<Packet> {
        let mut fields = Fields(datagram);
        if fields.u32()? != MAGIC || fields.u8()? != VERSION {
            return None;
        }
        let kind = fields.u8()?;
        let header = Header { key: fields.u16()?, session: fields.u64()?, number: fields.u32()? };
        if header.key != 0 && is_sealed(kind) {
            let length = fields.0.len().checked_sub(seal::TRAILER)?;
            fields.0 = fields.0.get(..length)?;
        }
        let body = body(kind, &mut fields)?;
        // A hello is padded with zeros, data with anything; other packets end with their last field.
        let fills = match body {
            Body::Hello { .. } => fields.0.iter().all(|byte| *byte == 0),
            Body::Data { .. } | Body::Segment { .. } => true,
            _ => fields.0.is_empty(),
        };
        fills.then_some(Packet { header, body })
    }

    /// Whether a packet parsed from these bytes is authentic: with keys it is sealed by one of them (a segment is
    /// tagged), without keys it is not sealed. Data never are.
    pub fn is_genuine(&self, datagram: &[u8], keys: &Keys, now_ms: u64) -> bool {
        match self.body {
            Body::Data { .. } => true,
            _ if keys.is_empty() => self.header.key == 0,
            Body::Segment { .. } => keys.is_tagged(self.header.key, datagram),
            _ => keys.is_sealed(self.header.key, now_ms, datagram),
        }
    }

    /// Serializes it, with the seal that its header asks for. A hello is padded to its size. Of a segment this is the head; its
    /// data and then its tag ([`Keys::tag`]) follow.
    pub fn write(&self, keys: &Keys, now_ms: u64) -> Vec<u8> {
        let Header { key, session, number } = self.header;
        let mut out = Vec::with_capacity(HEADER + seal::TRAILER + 64);
        out.extend(MAGIC.to_be_bytes());
        out.extend([VERSION, self.body.kind()]);
        out.extend(key.to_be_bytes());
        out.extend(session.to_be_bytes());
        out.extend(number.to_be_bytes());
        write_body(&self.body, &mut out);
        let sealed = key != 0 && is_sealed(self.body.kind());
        if let Body::Hello { request, .. } = self.body {
            let trailer = if sealed { seal::TRAILER } else { 0 };
            out.resize(out.len().max(usize::from(request.size).saturating_sub(trailer)), 0);
        }
        if sealed {
            keys.seal(key, now_ms, &mut out);
        }
        out
    }
}

/// Writes the head of a data packet over the first bytes of a buffer with its filling. Leaves a buffer that is too short
/// unchanged.
pub fn write_data(session: u64, stream: u32, sequence: u64, buffer: &mut [u8]) {
    let header = Header { key: 0, session, number: stream };
    let head = Packet { header, body: Body::Data { sequence } }.write(&Keys::default(), 0);
    if let Some(front) = buffer.get_mut(..head.len()) {
        front.copy_from_slice(&head);
    }
}

fn body(kind: u8, fields: &mut Fields<'_>) -> Option<Body> {
    Some(match kind {
        1 => Body::Hello { request: grant(fields)?, cookie: cookie(fields)? },
        2 => Body::Challenge(cookie(fields)?),
        3 => Body::Accept { grant: grant(fields)?, silence_ms: fields.u32()?, memory: fields.u32()? },
        4 => refusal(fields)?,
        DATA => Body::Data { sequence: fields.u64()? },
        6 => Body::Ask { what: What::of(fields.u8()?)?, first: fields.u64()?, count: fields.u32()? },
        7 => Body::Report(Report::read(fields)?),
        8 => Body::Order { stream: ordered(fields)?, arrived: fields.u32()? },
        9 => Body::Ping,
        10 => Body::Pong,
        11 => Body::Close(Reason::of(fields.u8()?)?),
        12 => Body::Begin(Begin::read(fields)?),
        13 => Body::Begun(Begun::read(fields)?),
        SEGMENT => Body::Segment { sequence: fields.u64()?, transmission: fields.u64()? },
        15 => Body::Ack(Acknowledgment::read(fields)?),
        16 => Body::Finish { bytes: fields.u64()?, hash: fields.array()? },
        17 => Body::Finished,
        _ => return None,
    })
}

fn grant(fields: &mut Fields<'_>) -> Option<Grant> {
    Some(Grant { size: fields.u16()?, rate_bps: fields.u64()?, bytes: fields.u64()?, duration_ms: fields.u32()? })
}

fn cookie(fields: &mut Fields<'_>) -> Option<Cookie> {
    Some(Cookie { made_s: fields.u32()?, code: fields.array()? })
}

fn refusal(fields: &mut Fields<'_>) -> Option<Body> {
    let (code, retry_ms, length) = (Reason::of(fields.u8()?)?, fields.u32()?, fields.u8()?);
    let text = fields.take(usize::from(length)).filter(|text| text.len() <= MOST_TEXT)?;
    Some(Body::Refuse { code, retry_ms, text: harmless(std::str::from_utf8(text).ok()?) })
}

fn ordered(fields: &mut Fields<'_>) -> Option<Ordered> {
    Some(Ordered {
        first: fields.u64()?,
        count: fields.u32()?,
        lowest_bps: fields.u64()?,
        highest_bps: fields.u64()?,
        levels: fields.u16()?,
        size: fields.u16()?,
    })
}

fn write_body(body: &Body, out: &mut Vec<u8>) {
    match body {
        Body::Hello { request, cookie } => {
            write_grant(request, out);
            write_cookie(cookie, out);
        }
        Body::Challenge(cookie) => write_cookie(cookie, out),
        Body::Accept { grant, silence_ms, memory } => {
            write_grant(grant, out);
            out.extend(silence_ms.to_be_bytes());
            out.extend(memory.to_be_bytes());
        }
        Body::Refuse { code, retry_ms, text } => {
            let text = &text[..text.floor_char_boundary(MOST_TEXT)];
            out.push(code.code());
            out.extend(retry_ms.to_be_bytes());
            out.push(text.len() as u8);
            out.extend(text.as_bytes());
        }
        Body::Data { sequence } => out.extend(sequence.to_be_bytes()),
        Body::Ask { what, first, count } => {
            out.push(what.code());
            out.extend(first.to_be_bytes());
            out.extend(count.to_be_bytes());
        }
        Body::Report(report) => report.write(out),
        Body::Order { stream, arrived } => {
            out.extend(stream.first.to_be_bytes());
            out.extend(stream.count.to_be_bytes());
            out.extend(stream.lowest_bps.to_be_bytes());
            out.extend(stream.highest_bps.to_be_bytes());
            out.extend(stream.levels.to_be_bytes());
            out.extend(stream.size.to_be_bytes());
            out.extend(arrived.to_be_bytes());
        }
        Body::Ping | Body::Pong | Body::Finished => {}
        Body::Close(reason) => out.push(reason.code()),
        Body::Begin(begin) => begin.write(out),
        Body::Begun(begun) => begun.write(out),
        Body::Segment { sequence, transmission } => {
            out.extend(sequence.to_be_bytes());
            out.extend(transmission.to_be_bytes());
        }
        Body::Ack(ack) => ack.write(out),
        Body::Finish { bytes, hash } => {
            out.extend(bytes.to_be_bytes());
            out.extend(hash);
        }
    }
}

fn write_grant(grant: &Grant, out: &mut Vec<u8>) {
    out.extend(grant.size.to_be_bytes());
    out.extend(grant.rate_bps.to_be_bytes());
    out.extend(grant.bytes.to_be_bytes());
    out.extend(grant.duration_ms.to_be_bytes());
}

fn write_cookie(cookie: &Cookie, out: &mut Vec<u8>) {
    out.extend(cookie.made_s.to_be_bytes());
    out.extend(cookie.code);
}
