//! From two captures of the same packets, the sender's and the receiver's, to a recording of probe streams.
//!
//! A packet is known in both by its addresses and ports, its TCP sequence number (UDP: its checksum), its length and, in
//! IPv4, its identification, which also distinguishes a retransmission from the first transmission. Packets that share all of
//! these with another are left out, and so are those without data. Where a card computes checksums, a sender's capture has
//! others than the packets: a UDP packet that is not found is sought without its checksum, and matches if it is the only such
//! packet of both captures. The clocks of the two machines need not agree: only gaps are read.
//!
//! A stream ends at a pause in sending, longer than [`PAUSE`] times the median gap of its flow, or after a given
//! number of packets. A packet that never arrived, or that another overtook, is lost to its stream.

use experiment::traffic::{Capture, TrafficError};
use packetscale_models::units::{Bytes, Span};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// A gap this many times the median is a pause between streams.
const PAUSE: u64 = 20;

/// Why two captures give no recording.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A file that cannot be read.
    #[error(transparent)]
    Unreadable(#[from] TrafficError),
    /// They are not captures of the same packets.
    #[error("{0}")]
    Unlike(String),
}

/// Addresses, protocol and ports.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Flow {
    from: Vec<u8>,
    to: Vec<u8>,
    protocol: u8,
    ports: [u8; 4],
}

/// The identity of a packet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    flow: Flow,
    /// TCP sequence number, or UDP checksum.
    mark: u32,
    identification: u16,
    data: u16,
}

/// A packet with data.
struct Packet {
    key: Key,
    at: Span,
    size: Bytes,
}

const TCP: u8 = 6;
const UDP: u8 = 17;

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// Reads the headers of a packet; `None`: no TCP or UDP, a fragment, no data, or cut before the end of the headers.
fn key(ip: &[u8]) -> Option<Key> {
    let version = ip.first()? >> 4;
    let (header, length, protocol, identification, addresses) = match version {
        4 => {
            let fragment = be16(ip, 6)? & 0x3fff;
            if fragment != 0 {
                return None;
            }
            (usize::from(ip[0] & 15) * 4, usize::from(be16(ip, 2)?), *ip.get(9)?, be16(ip, 4)?, (12, 4))
        }
        6 => (40, 40 + usize::from(be16(ip, 4)?), *ip.get(6)?, 0, (8, 16)),
        _ => return None,
    };
    let transport = ip.get(header..)?;
    let (mark, inside) = match protocol {
        TCP => {
            let sequence = u32::from(be16(transport, 4)?) << 16 | u32::from(be16(transport, 6)?);
            (sequence, usize::from(transport.get(12)? >> 4) * 4)
        }
        UDP => (u32::from(be16(transport, 6)?), 8),
        _ => return None,
    };
    let data = u16::try_from(length.checked_sub(header + inside)?).ok().filter(|data| *data > 0)?;
    let (first, width) = addresses;
    let address = |at: usize| ip.get(at..at + width).map(<[u8]>::to_vec);
    let ports = <[u8; 4]>::try_from(transport.get(..4)?).ok()?;
    let flow = Flow { from: address(first)?, to: address(first + width)?, protocol, ports };
    Some(Key { flow, mark, identification, data })
}

/// Returns the packets of a capture with data, in order of time. Adds warnings of what is wrong with it.
fn packets(file: &Path, warnings: &mut Vec<String>) -> Result<Vec<Packet>, TrafficError> {
    let (mut capture, mut packets) = (Capture::open(file)?, Vec::new());
    while let Some(experiment::traffic::Captured { at, size, head }) = capture.next_packet()? {
        packets.extend(key(head).map(|key| Packet { key, at, size }));
    }
    packets.sort_by_key(|packet| packet.at);
    warnings.extend(capture.flaws().warnings(file));
    Ok(packets)
}

/// Packets by what they are known by; `None` for what is known of two.
fn by_key(packets: &[Packet]) -> BTreeMap<&Key, Option<Span>> {
    let mut known = BTreeMap::new();
    for packet in packets {
        known.entry(&packet.key).and_modify(|at| *at = None).or_insert(Some(packet.at));
    }
    known
}

/// The packets of `sent`, and when each was received. Warns of those that match without their checksum.
fn matched(sent: &[Packet], received: &[Packet], warnings: &mut Vec<String>) -> Vec<Option<Span>> {
    let arrived = by_key(received);
    let mut found: Vec<Option<Span>> = sent.iter().map(|packet| arrived.get(&packet.key).copied().flatten()).collect();
    let bare = |packets: &[Packet]| -> Vec<Packet> {
        let udp = packets.iter().filter(|packet| packet.key.flow.protocol == UDP);
        udp.map(|packet| Packet { key: Key { mark: 0, ..packet.key.clone() }, ..*packet }).collect()
    };
    let (sent_bare, received_bare) = (bare(sent), bare(received));
    let (left, arrived) = (by_key(&sent_bare), by_key(&received_bare));
    let mut without = 0;
    let udp = sent.iter().zip(&mut found).filter(|(packet, _)| packet.key.flow.protocol == UDP);
    for (bare, (_, place)) in sent_bare.iter().zip(udp).filter(|(_, (_, place))| place.is_none()) {
        let alone = left.get(&bare.key).is_some_and(Option::is_some);
        *place = arrived.get(&bare.key).copied().flatten().filter(|_| alone);
        without += u64::from(place.is_some());
    }
    if without > 0 {
        warnings.push(format!(
            "{without} UDP packets have other checksums in the two captures and are matched without; switch checksum offload \
             off to match all (ethtool -K DEVICE tx off)"
        ));
    }
    found
}

/// A packet of a flow as sent, and when it was received, if it was.
struct Sent {
    at: Span,
    size: Bytes,
    received: Option<Span>,
}

/// Whether a file is a capture. What can be read only once is not looked at.
pub fn is_capture(file: &Path) -> bool {
    file.is_file() && Capture::open(file).is_ok()
}

/// Writes the recording of the streams that went from one capture to the other, in streams of at most `most` packets.
/// Returns warnings about defects of the captures that did not prevent reading them.
///
/// # Errors
/// Files that cannot be read, or that have few packets in common; what cannot be written is the inner error.
pub fn write(
    sender: &Path,
    receiver: &Path,
    most: usize,
    out: &mut dyn Write,
) -> Result<io::Result<Vec<String>>, CaptureError> {
    let mut warnings = Vec::new();
    let (sent, received) = (packets(sender, &mut warnings)?, packets(receiver, &mut warnings)?);
    let once = by_key(&sent);
    let arrivals = matched(&sent, &received, &mut warnings);
    let mut flows: Vec<(&Flow, Vec<Sent>)> = Vec::new();
    let mut places: BTreeMap<&Flow, usize> = BTreeMap::new();
    let sent_once = |(packet, _): &(&Packet, Option<Span>)| once.get(&packet.key).is_some_and(Option::is_some);
    for (packet, received) in sent.iter().zip(arrivals).filter(sent_once) {
        let flow = &packet.key.flow;
        let at = *places.entry(flow).or_insert_with(|| {
            flows.push((flow, Vec::new()));
            flows.len() - 1
        });
        flows[at].1.push(Sent { at: packet.at, size: packet.size, received });
    }
    // Both captures contain the reverse direction, and the receiver's has it first: a flow counts from its sender's side.
    flows.retain(|(_, packets)| packets.iter().any(|packet| packet.received.is_some()));
    let all: usize = flows.iter().map(|(_, packets)| packets.len()).sum();
    let found = flows.iter().flat_map(|(_, packets)| packets).filter(|packet| packet.received.is_some()).count();
    if found < 2 || found * 2 < all {
        return Err(CaptureError::Unlike(format!(
            "{}: found {found} of {} packets with data that are also in {}; expected most: the sender\u{2019}s capture, then the \
             receiver\u{2019}s, of single packets (ethtool -K DEVICE tso off gso off gro off tx off)",
            sender.display(),
            sent.len(),
            receiver.display()
        )));
    }
    Ok(rows(&flows, most, out).map(|()| warnings))
}

fn rows(flows: &[(&Flow, Vec<Sent>)], most: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut number = 0;
    writeln!(out, "stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes")?;
    for (_, packets) in flows {
        for stream in streams(packets, most) {
            let mut before: Option<(Span, Span)> = None;
            for (pkt, sent, received) in in_order(stream) {
                match before {
                    None => writeln!(out, "{number},{pkt},,,{}", sent.size.get())?,
                    Some((left, last)) => {
                        let (send, receive) = (sent.at - left, received - last);
                        writeln!(out, "{number},{pkt},{},{},{}", ns(send), ns(receive), sent.size.get())?;
                    }
                }
                before = Some((sent.at, received));
            }
            number += usize::from(before.is_some());
        }
    }
    Ok(())
}

/// Packets that arrived and that none overtook: their numbers in the stream, and when they arrived.
fn in_order(stream: &[Sent]) -> Vec<(usize, &Sent, Span)> {
    let mut earliest = Span::MAX;
    let arrived = stream.iter().enumerate().rev().filter_map(|(pkt, sent)| Some((pkt, sent, sent.received?)));
    let mut kept: Vec<_> = arrived
        .filter(|(_, _, received)| {
            let first = *received <= earliest;
            earliest = earliest.min(*received);
            first
        })
        .collect();
    kept.reverse();
    kept
}

/// Nanoseconds, exactly.
fn ns(gap: Span) -> String {
    format!("{}.{:03}", gap.picos() / 1000, gap.picos() % 1000)
}

/// Cuts the packets of a flow into streams.
fn streams(packets: &[Sent], most: usize) -> Vec<&[Sent]> {
    let mut gaps: Vec<Span> = packets.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    gaps.sort_unstable();
    let pause = gaps.get(gaps.len() / 2).map_or(Span::MAX, |median| median.saturating_mul(PAUSE));
    let whole = packets.chunk_by(|before, packet| packet.at - before.at <= pause);
    whole.flat_map(|stream| stream.chunks(most.max(2))).collect()
}
