//! Sends the packets of a stream with given gaps, and reads their departure times from the kernel.
//!
//! A late packet delays those behind it: gaps count from the departure of the packet before, so lateness does not shorten the
//! next gap.

use crate::pace::Pacer;
use crate::socket::{Departure, DepartureReader, Mark, Stamped};
use crate::wire::{HEADER, Ordered, Source, Stamp, write_data};
use harness::realtime::clock::{monotonic_ns, sleep_until};
use packetscale_models::units::Span;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Minimum payload of a stream's packet: its head.
pub const LEAST_PAYLOAD: usize = HEADER + 8;
/// Maximum length of a stream, which servers enforce.
pub const LONGEST: Span = Span::from_nanos(2_000_000_000);
/// Timeout for the departure times of sent packets.
const PATIENCE_NS: u64 = 50_000_000;
const LOOK_NS: u64 = 1_000_000;
/// Offset between the fillings of consecutive packets: no two packets of a stream are alike.
const SHIFT: usize = 61;

/// Bytes of IP and UDP headers for this address. A mapped IPv4 address is IPv4.
pub fn overhead(to: SocketAddr) -> u16 {
    match to.ip().to_canonical() {
        IpAddr::V4(_) => 20 + 8,
        IpAddr::V6(_) => 40 + 8,
    }
}

/// The gap before each packet but the first, in nanoseconds.
pub fn gaps_ns(stream: &Ordered, overhead: u16) -> Vec<f64> {
    let bits = f64::from(u32::from(stream.size) + u32::from(overhead)) * 8.0;
    let (lowest, highest) = (stream.lowest_bps.max(1) as f64, stream.highest_bps.max(1) as f64);
    let (count, levels) = (stream.count.max(1), u32::from(stream.levels.max(1)));
    let rate = |packet: u32| {
        let level = u64::from(packet) * u64::from(levels) / u64::from(count);
        lowest * (highest / lowest).powf(level as f64 / f64::from(levels.saturating_sub(1).max(1)))
    };
    (1..count).map(|packet| bits / rate(packet) * 1e9).collect()
}

/// Sends a stream; returns the kernel's departure times, in the order of the packets, and the clock that took them.
/// `carry_on` is called before each packet. A stream ends early when the local queue is full: its gaps cannot be made.
///
/// # Errors
/// A packet cannot be sent ([`is_too_large`](crate::socket::is_too_large): the path does not take it unbroken), or the
/// error queue cannot be read.
pub fn send(
    socket: &Stamped,
    (to, session, number): (SocketAddr, u64, u32),
    (stream, mark): (&Ordered, Mark),
    pacer: &mut Pacer,
    filling: &[u8],
    carry_on: &dyn Fn() -> bool,
) -> io::Result<(Vec<Stamp>, Source)> {
    let size = usize::from(stream.size).max(LEAST_PAYLOAD);
    let mut datagram = vec![0; size];
    let mut gaps = gaps_ns(stream, overhead(to)).into_iter();
    let mut numbers = Vec::with_capacity(stream.count as usize);
    let mut departures = Vec::with_capacity(stream.count as usize);
    let mut due = monotonic_ns();
    let reader = DepartureReader::begin(socket)?;
    for packet in 0..stream.count {
        let from = packet as usize * SHIFT % filling.len().saturating_sub(size).max(1);
        if let Some(filling) = filling.get(from..from + size) {
            datagram.copy_from_slice(filling);
        }
        write_data(session, number, stream.first + u64::from(packet), &mut datagram);
        let now = pacer.wait(due);
        if !carry_on() {
            break;
        }
        match reader.send(&datagram, to, mark) {
            Err(full) if full.kind() == io::ErrorKind::WouldBlock => break,
            number => numbers.push(number?),
        }
        due = now + gaps.next().unwrap_or(0.0) as u64;
        // The error queue holds some 270 times by default and drops more: empty it during gaps.
        departures.extend(reader.departures()?);
    }
    let until = monotonic_ns() + PATIENCE_NS;
    while departures.len() < numbers.len() && monotonic_ns() < until {
        sleep_until(monotonic_ns() + LOOK_NS);
        departures.extend(reader.departures()?);
    }
    Ok(matched(&departures, stream.first, &numbers))
}

/// Departure times of the packets with these numbers, and the clock that took them.
fn matched(departures: &[Departure], first: u64, numbers: &[u32]) -> (Vec<Stamp>, Source) {
    let (mut stamps, mut source) = (Vec::with_capacity(numbers.len()), Source::Kernel);
    for one in departures {
        if let Some(packet) = numbers.iter().position(|number| *number == one.number) {
            source = one.source;
            stamps.push(Stamp { sequence: first + packet as u64, ns: one.ns });
        }
    }
    stamps.sort_unstable_by_key(|stamp| stamp.sequence);
    stamps.dedup_by_key(|stamp| stamp.sequence);
    (stamps, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_fall_in_levels() {
        let stream =
            Ordered { first: 0, count: 4, lowest_bps: 12_000_000, highest_bps: 48_000_000, levels: 2, size: 1472 };
        // 1500 bytes are 12 000 bits: 1 ms at 12 Mbit/s, a quarter at 48.
        assert_eq!(gaps_ns(&stream, 28), [1e6, 0.25e6, 0.25e6]);
        assert_eq!(gaps_ns(&Ordered { levels: 1, highest_bps: 12_000_000, ..stream }, 28), [1e6; 3]);
    }
}
