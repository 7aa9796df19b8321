//! A trace of a whole probe stream, packet by packet.

use crate::units::{Bytes, Rate, Span, Time};
use alloc::vec::Vec;
use core::ffi::c_void;
use packetscale_law::{self as ffi, Calls, Memory, View};

/// One packet of a traced stream. Gaps are to the packet before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedPacket {
    /// Scheduled gap.
    pub intended: Span,
    /// Gap that was created.
    pub created: Span,
    /// Gap at the receiver, where both packets have a stamp.
    pub received: Option<Span>,
    /// The gap the law made of it: the created one, stretched by the slope of the level.
    pub denoised: Option<Span>,
    /// Its size.
    pub size: Bytes,
    /// The rate that the gap probes: that of the previous packet's level.
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
    /// The reading of it; `None` when the law abstained.
    pub estimate: Option<Rate>,
    /// Its packets in order.
    pub packets: Vec<TracedPacket>,
}

/// The stream that completed last; `None` when the ring no longer holds all its packets, or it was no probe stream.
pub(crate) fn read<R>(calls: &Calls<R>, law: *const c_void, memory: &Memory, view: &View) -> Option<TracedStream> {
    let mut stream = ffi::Stream::default();
    // SAFETY: the caller's memory is valid for the call; `stream` mirrors the C struct.
    unsafe { (calls.stream)(memory, view.completed as u32, &mut stream) };
    if stream.kind != 0 || stream.sent == 0 {
        return None;
    }
    let number = view.completed as u32;
    let packet = |transmission| {
        let mut packet = ffi::Packet::default();
        // SAFETY: as above.
        unsafe { (calls.packet)(law, memory, number, transmission, &mut packet) };
        (packet.known != 0).then_some(packet)
    };
    let denoised = |transmission, gap| {
        let mut denoised = 0;
        // SAFETY: as above.
        let has = unsafe { (calls.denoised)(law, memory, number, transmission, gap, &mut denoised) };
        (has != 0).then_some(nanos(denoised))
    };
    let records: Vec<ffi::Packet> = (stream.first..stream.first + stream.sent).map(packet).collect::<Option<_>>()?;
    Some(TracedStream {
        start: Time::from_nanos(stream.start_ns.min(u64::MAX / 1000)),
        rate: rate_of(stream.rate),
        estimate: (view.estimated != 0).then(|| rate_of(view.available)),
        packets: packets(&records, |i, gap| denoised(stream.first + i as u64, gap)),
    })
}

fn rate_of(bytes_per_second: u64) -> Rate {
    Rate::from_bps(bytes_per_second.saturating_mul(8))
}

/// Gaps from records. `denoised` is what the law made of the created gap after packet `i`.
fn packets(records: &[ffi::Packet], denoised: impl Fn(usize, u64) -> Option<Span>) -> Vec<TracedPacket> {
    let delay = |p: &ffi::Packet| (p.stamped != 0).then(|| p.arrival_ns.wrapping_sub(p.sent_ns) as i64);
    let smallest = records.iter().filter_map(delay).min().unwrap_or(0);
    let one = |i: usize, packet: &ffi::Packet| {
        let before = &records[i.saturating_sub(1)];
        let created = packet.sent_ns.saturating_sub(before.sent_ns);
        let both = i > 0 && packet.stamped != 0 && before.stamped != 0;
        TracedPacket {
            intended: if i == 0 { Span::ZERO } else { nanos(before.gap_ns) },
            created: nanos(created),
            received: both.then(|| nanos(packet.arrival_ns.saturating_sub(before.arrival_ns))),
            denoised: if i == 0 { None } else { denoised(i - 1, created) },
            size: Bytes::new(packet.size),
            rate: rate_of(before.rate),
            delay: delay(packet).map(|d| nanos(d.saturating_sub(smallest).max(0) as u64)),
        }
    };
    records.iter().enumerate().map(|(i, packet)| one(i, packet)).collect()
}

/// Hostile stamps must not overflow a span.
fn nanos(ns: u64) -> Span {
    Span::from_nanos(ns.min(u64::MAX / 1000))
}
