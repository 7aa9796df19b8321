//! A whole probe stream, packet by packet, for people to look at.

use crate::ffi::{self, Memory, View};
use alloc::vec::Vec;
use core::ffi::c_void;
use units::{Bytes, Rate, Span, Time};

/// One packet of a traced stream. Gaps are to the packet before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedPacket {
    /// Gap the stream asked for.
    pub intended: Span,
    /// Gap that was created.
    pub created: Span,
    /// Gap at the receiver, where both packets have a stamp.
    pub received: Option<Span>,
    /// The gap the law made of it: the created one, stretched by the slope of the level.
    pub denoised: Option<Span>,
    /// Its size.
    pub size: Bytes,
    /// Probing rate of its level.
    pub rate: Rate,
    /// Arrival minus departure, above the smallest of the stream.
    pub delay: Option<Span>,
}

/// A traced stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedStream {
    /// When its first packet left.
    pub start: Time,
    /// Mean rate aimed at.
    pub rate: Rate,
    /// What was read from it; `None` when the law abstained.
    pub estimate: Option<Rate>,
    /// Its packets in order.
    pub packets: Vec<TracedPacket>,
}

/// The stream that completed last; `None` when the ring no longer holds all its packets, or it was no probe stream.
pub(crate) fn read(law: *const c_void, memory: &Memory, view: &View) -> Option<TracedStream> {
    let mut stream = ffi::Stream::default();
    // SAFETY: the caller's memory is valid for the call; `stream` mirrors the C struct.
    unsafe { ffi::rapid_face_stream(memory, view.completed as u32, &mut stream) };
    if stream.kind != 0 || stream.sent == 0 {
        return None;
    }
    let records: Option<Vec<ffi::Packet>> = (stream.first..stream.first + stream.sent)
        .map(|number| {
            let mut packet = ffi::Packet::default();
            // SAFETY: as above.
            unsafe { ffi::rapid_face_packet(law, memory, view.completed as u32, number, &mut packet) };
            (packet.known != 0).then_some(packet)
        })
        .collect();
    let records = records?;
    Some(TracedStream {
        start: Time::from_nanos(stream.start_ns),
        rate: rate_of(stream.rate),
        estimate: (view.estimated != 0).then(|| rate_of(view.available)),
        packets: packets(&records, &stream),
    })
}

fn rate_of(bytes_per_second: u64) -> Rate {
    Rate::from_bps(bytes_per_second.saturating_mul(8))
}

fn packets(records: &[ffi::Packet], stream: &ffi::Stream) -> Vec<TracedPacket> {
    let delay = |p: &ffi::Packet| (p.stamped != 0).then(|| p.arrival_ns.wrapping_sub(p.sent_ns) as i64);
    let smallest = records.iter().filter_map(delay).min().unwrap_or(0);
    let mut traced = Vec::with_capacity(records.len());
    for (i, packet) in records.iter().enumerate() {
        let before = if i == 0 { packet } else { &records[i - 1] };
        let created = packet.sent_ns.saturating_sub(before.sent_ns);
        let slope = match before.level {
            2 => stream.slope2,
            3 => stream.slope3,
            _ => 0,
        };
        let stretched = created as i64 + ((created.min(1 << 40) as i64 * slope) >> 16);
        let both = i > 0 && packet.stamped != 0 && before.stamped != 0;
        traced.push(TracedPacket {
            intended: if i == 0 { Span::ZERO } else { nanos(before.gap_ns) },
            created: nanos(created),
            received: both.then(|| nanos(packet.arrival_ns.saturating_sub(before.arrival_ns))),
            denoised: (i > 0).then(|| nanos(stretched.max(0) as u64)),
            size: Bytes::new(packet.size),
            rate: rate_of(packet.rate),
            delay: delay(packet).map(|d| nanos(d.saturating_sub(smallest).max(0) as u64)),
        });
    }
    traced
}

/// Hostile stamps must not overflow a span.
fn nanos(ns: u64) -> Span {
    Span::from_nanos(ns.min(u64::MAX / 1000))
}
