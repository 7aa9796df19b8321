//! A flow as a TCP connection: sequence numbers in bytes, timestamps, selective acknowledgments, accurate ECN.
//!
//! A flow numbers packets, TCP numbers bytes. The payload of a full packet is its size less its headers,
//! so packet `n` begins with byte `1 + n * payload`: both ends begin at 0, and the SYN takes one number. Only the last
//! packet may be shorter.

use crate::packets::FlowStart;
use crate::packets::headers::{ACK, Address, Headers, IP, Options, SYN, TCP, ace};
use packetscale_models::transport::{Ack, SackBlock, Segment};
use packetscale_models::units::{Bytes, Ecn, Time};
use std::collections::VecDeque;

/// Time zero of a run: 2000-01-01 00:00 UTC, in nanoseconds since 1970. The handshake of a flow that starts at zero is
/// before it, and has a time, too.
const ZERO_NS: u64 = 946_684_800_000_000_000;

/// Between two packets of a handshake. tshark takes a segment that repeats older data for one out of order, not for a
/// retransmission, if it follows the newest data within the handshake's round-trip time; at a sender nothing is ever out
/// of order. Zero would count as unknown.
const HANDSHAKE_STEP_NS: u64 = 1;

/// Bytes of the timestamps option, filled up.
const TIMESTAMPS: u64 = 12;

/// The port of receivers: that of the service that discards what it gets (RFC 863).
const DISCARD: u16 = 9;
/// The first port of senders, the first of those for anyone.
const FIRST_PORT: u16 = 49_152;

/// The largest shift of a window (RFC 7323, section 2.3).
const MOST_SHIFT: u8 = 14;

/// Transmissions before the newest echoed one with a stored time, for reordered packets.
const OVERTAKEN: u64 = 4096;

/// Accurate ECN counts from here (RFC 9768, section 3.2.2.1).
const FIRST_COUNT: u64 = 5;
/// ACE in a handshake (RFC 9768, table 2): all three bits offer it, and this accepts it and reports that the
/// other's packet came as Not-ECT.
const ACE_OFFERED: u64 = 7;
const ACE_NOT_ECT: u64 = 2;

/// The most blocks in addition to timestamps.
const MOST_BLOCKS: usize = 3;

/// A packet as it is captured.
pub(crate) struct Captured<'a> {
    pub(crate) at_ns: u64,
    pub(crate) headers: Headers<'a>,
}

/// The connection of one flow, seen at its sender.
pub(crate) struct Connection {
    sender: Address,
    receiver: Address,
    flow: FlowStart,
    /// Timestamps are on: headers include them.
    stamped: bool,
    /// Bytes of data in a full packet.
    payload: u64,
    shift: u8,
    /// The short last packet: its number and its bytes of data.
    short: Option<(u64, u64)>,
    sent: Sent,
    /// The sender's latest transmission and the receiver's packets so far.
    packets: u64,
    answers: u64,
    /// The receiver's last acknowledgment: the byte it expects, its stamp, its window.
    stamp: u32,
    options: Options,
}

/// When transmissions left, and of which packet, until they are echoed.
#[derive(Default)]
struct Sent {
    /// The number of the first.
    first: u64,
    left: VecDeque<(u64, u64)>,
}

impl Sent {
    fn push(&mut self, transmission: u64, sequence: u64, at_ns: u64) {
        if self.left.is_empty() {
            self.first = transmission;
        }
        self.left.push_back((sequence, at_ns));
    }

    /// The packet of a transmission that is echoed, and when it left. Forgets what was echoed long ago.
    fn echoed(&mut self, transmission: u64) -> Option<(u64, u64)> {
        let found = self.left.get(transmission.checked_sub(self.first)? as usize).copied();
        while self.first + OVERTAKEN < transmission && self.left.len() > 1 {
            self.left.pop_front();
            self.first += 1;
        }
        found
    }
}

/// Nanoseconds since 1970.
pub(crate) fn since_1970_ns(at: Time) -> u64 {
    ZERO_NS + at.nanos()
}

/// A clock of microseconds, for timestamps.
fn stamp(at_ns: u64) -> u32 {
    (at_ns / 1000) as u32
}

impl Connection {
    pub(crate) fn new(number: usize, flow: FlowStart) -> Connection {
        let host = |network: u8| {
            let [_, a, b, c] = (number as u32 + 1).to_be_bytes();
            [10, network | (a & 0x7f), b, c]
        };
        let bare = u64::from(IP + TCP);
        let stamped = flow.packet.get() > bare + TIMESTAMPS;
        let headers = bare + if stamped { TIMESTAMPS } else { 0 };
        let payload = flow.packet.get().saturating_sub(headers).max(1);
        Connection {
            sender: Address { host: host(0), port: FIRST_PORT + (number % usize::from(u16::MAX - FIRST_PORT)) as u16 },
            receiver: Address { host: host(0x80), port: DISCARD },
            stamped,
            payload,
            shift: shift(flow.receive_window.saturating_mul(payload)),
            flow,
            short: None,
            sent: Sent::default(),
            packets: 0,
            answers: 0,
            stamp: 0,
            options: Options::default(),
        }
    }

    // ---- the handshake, which the run does not have ------------------------------------------------------------

    /// When its three packets are captured; the flow starts with the last.
    pub(crate) fn handshake_ns(&self) -> [u64; 3] {
        let starts_ns = self.starts_ns();
        [starts_ns - 2 * HANDSHAKE_STEP_NS, starts_ns - HANDSHAKE_STEP_NS, starts_ns]
    }

    fn starts_ns(&self) -> u64 {
        since_1970_ns(self.flow.start)
    }

    fn accurate_ecn(&self, count: u64) -> u16 {
        if self.flow.ecn.is_capable() { ace(count) } else { 0 }
    }

    fn opening(&mut self, value: u32, echo: u32) {
        let bytes = (self.flow.packet.get().saturating_sub(u64::from(IP + TCP))).max(1);
        self.options.clear().mss(bytes as u16).sack_permitted().window_scale(self.shift);
        if self.stamped {
            self.options.timestamps(value, echo);
        }
    }

    /// The first packet of the handshake.
    pub(crate) fn syn(&mut self) -> Captured<'_> {
        let [at_ns, ..] = self.handshake_ns();
        self.opening(stamp(at_ns), 0);
        let flags = SYN | self.accurate_ecn(ACE_OFFERED);
        self.outward(at_ns, 0, 0, flags, Ecn::NotEct, 0)
    }

    /// The receiver grants it.
    pub(crate) fn granted(&mut self) -> Captured<'_> {
        let [opened_ns, at_ns, _] = self.handshake_ns();
        self.stamp = stamp(at_ns - self.flow.rtt.nanos() / 2);
        self.opening(self.stamp, stamp(opened_ns));
        let flags = SYN | ACK | self.accurate_ecn(ACE_NOT_ECT);
        self.homeward(at_ns, 0, 1, flags, u16::MAX)
    }

    /// The sender confirms.
    pub(crate) fn confirms(&mut self) -> Captured<'_> {
        let at_ns = self.starts_ns();
        self.stamp_options(at_ns);
        let flags = ACK | self.accurate_ecn(ACE_NOT_ECT);
        self.outward(at_ns, 1, 1, flags, Ecn::NotEct, 0)
    }

    // ---- what the run has --------------------------------------------------------------------------------------

    /// A segment leaves.
    pub(crate) fn sends(&mut self, at: Time, segment: &Segment) -> Captured<'_> {
        let at_ns = since_1970_ns(at);
        self.sent.push(segment.transmission, segment.sequence, at_ns);
        let data = self.data(segment);
        self.stamp_options(at_ns);
        let flags = ACK | self.accurate_ecn(FIRST_COUNT);
        self.outward(at_ns, self.byte(segment.sequence), 1, flags, segment.ecn, data as u32)
    }

    /// An acknowledgment arrives.
    pub(crate) fn acknowledged(&mut self, at: Time, ack: &Ack) -> Captured<'_> {
        let at_ns = since_1970_ns(at);
        let echoed = self.sent.echoed(ack.echo);
        self.stamp = stamp(at_ns - self.flow.rtt.nanos() / 2);
        self.options.clear();
        if self.stamped {
            self.options.timestamps(self.stamp, echoed.map_or(0, |(_, left_ns)| stamp(left_ns)));
        }
        let twice =
            echoed.filter(|_| ack.duplicate).map(|(sequence, _)| SackBlock { start: sequence, end: sequence + 1 });
        let blocks = twice.into_iter().chain(ack.sack[..usize::from(ack.blocks)].iter().copied());
        let blocks: Vec<(u32, u32)> =
            blocks.take(MOST_BLOCKS).map(|block| (self.byte(block.start), self.byte(block.end))).collect();
        self.options.sack(&blocks);
        let window = ack.receive_window.saturating_mul(self.payload) >> self.shift;
        let flags = ACK | self.accurate_ecn(FIRST_COUNT + ack.marked.congestion);
        self.homeward(at_ns, 1, self.byte(ack.next_expected), flags, window.min(u64::from(u16::MAX)) as u16)
    }

    // ---- bytes -------------------------------------------------------------------------------------------------

    /// Bytes of data in a segment. A segment smaller than its headers carries one byte.
    fn data(&mut self, segment: &Segment) -> u64 {
        let missing: Bytes = self.flow.packet.saturating_sub(segment.size);
        let data = self.payload.saturating_sub(missing.get()).max(1);
        if data < self.payload {
            self.short = Some((segment.sequence, data));
        }
        data
    }

    /// The number of a packet's first byte, which wraps.
    fn byte(&self, packet: u64) -> u32 {
        let lacks = self.short.map_or(0, |(number, data)| if packet > number { self.payload - data } else { 0 });
        packet.wrapping_mul(self.payload).wrapping_add(1).wrapping_sub(lacks) as u32
    }

    fn stamp_options(&mut self, at_ns: u64) {
        self.options.clear();
        if self.stamped {
            self.options.timestamps(stamp(at_ns), self.stamp);
        }
    }

    fn outward(
        &mut self,
        at_ns: u64,
        sequence: u32,
        acknowledgment: u32,
        flags: u16,
        ecn: Ecn,
        data: u32,
    ) -> Captured<'_> {
        self.packets += 1;
        let headers = Headers {
            from: self.sender,
            to: self.receiver,
            identification: self.packets as u16,
            ecn: match ecn {
                Ecn::NotEct => 0,
                Ecn::Ect1 => 1,
                Ecn::Ect0 => 2,
            },
            sequence,
            acknowledgment,
            flags,
            window: u16::MAX,
            options: &self.options,
            data,
        };
        Captured { at_ns, headers }
    }

    fn homeward(&mut self, at_ns: u64, sequence: u32, acknowledgment: u32, flags: u16, window: u16) -> Captured<'_> {
        self.answers += 1;
        let headers = Headers {
            from: self.receiver,
            to: self.sender,
            identification: self.answers as u16,
            ecn: 0,
            sequence,
            acknowledgment,
            flags,
            window,
            options: &self.options,
            data: 0,
        };
        Captured { at_ns, headers }
    }
}

/// The least shift that can express a window of this many bytes, or the largest shift allowed.
fn shift(window: u64) -> u8 {
    (0..MOST_SHIFT).find(|shift| window >> shift <= u64::from(u16::MAX)).unwrap_or(MOST_SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use packetscale_models::units::{Marks, Span};

    #[test]
    fn window_scale_is_smallest_that_fits() {
        let shifts = [65_535, 65_536, 1 << 20, u64::from(u16::MAX) << 14, u64::MAX].map(shift);
        assert_eq!(shifts, [0, 1, 5, 14, 14]);
    }

    #[test]
    fn byte_numbers_follow_packets_and_the_last_may_be_short() {
        let flow = FlowStart {
            controller: String::new(),
            start: Time::ZERO,
            packet: Bytes::new(1500),
            rtt: Span::from_millis(10),
            receive_window: u64::MAX,
            ecn: Ecn::NotEct,
        };
        let mut connection = Connection::new(0, flow);
        let segment = |sequence, size| Segment {
            sequence,
            transmission: sequence,
            size: Bytes::new(size),
            retransmission: false,
            ecn: Ecn::NotEct,
            marks: Marks::NONE,
        };
        // 1500 - 52 = 1448 bytes in a full packet; 100 - 52 = 48 in the last.
        for (number, size, first, data) in [(0, 1500, 1, 1448), (1, 1500, 1449, 1448), (2, 100, 2897, 48)] {
            let captured = connection.sends(Time::ZERO, &segment(number, size));
            assert_eq!((captured.headers.sequence, captured.headers.data), (first, data));
        }
        let captured = connection.acknowledged(Time::ZERO, &Ack::plain(3, 2, u64::MAX));
        assert_eq!(captured.headers.acknowledgment, 2897 + 48);
    }
}
