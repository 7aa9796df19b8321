//! Pairs the times of packets at both ends, and checks whether the stream was made as intended.

use super::{Read, Seen};
use crate::stream::gaps_ns;
use crate::wire::{Ordered, Source, Stamp};
use packetscale_models::estimation::{Gap, Stream};
use packetscale_models::units::{Bytes, Span};
use std::collections::BTreeMap;

/// A row of a recording (`docs/estimation.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The stream's number.
    pub stream: u32,
    /// The packet's number in the session.
    pub packet: u64,
    /// Gaps since the packet before, in nanoseconds; `None` for the first.
    pub gaps_ns: Option<(u64, u64)>,
    /// Bytes of the IP packet.
    pub size: u16,
}

/// Gaps by which one must be longer than intended to count as a pause: the path's queue drained meanwhile.
const PAUSE: f64 = 4.0;
/// Tolerance of the whole stream's length.
const LENGTH: f64 = 0.1;

/// A stream for estimators, with the actual gaps.
pub fn read(asked: &Ordered, overhead: u16, seen: &Seen) -> Read {
    let arrivals: BTreeMap<u64, u64> = seen.came.iter().map(|stamp| (stamp.sequence, stamp.ns)).collect();
    let unknown = seen.left.len() < asked.count as usize;
    // A sender ends a stream early when the local queue is full. A lost packet has a known departure.
    let latest = seen.left.iter().map(|stamp| stamp.sequence).chain(arrivals.keys().copied()).max();
    if latest.is_some_and(|latest| latest + 1 < seen.first + u64::from(asked.count)) {
        return Read::NotMade;
    }
    let by_program = seen.sources.0 == Source::Program || seen.sources.1 == Source::Program;
    if seen.stepped {
        return Read::Stepped;
    }
    if unknown || by_program {
        return Read::NoTimes;
    }
    if !is_made(&gaps_ns(asked, overhead), &seen.left) {
        return Read::NotMade;
    }
    let size = Bytes::new(u64::from(asked.size) + u64::from(overhead));
    let both = |stamp: &Stamp| Some((stamp.ns, *arrivals.get(&stamp.sequence)?));
    let known: Vec<(u64, u64)> = seen.left.iter().filter_map(both).collect();
    let gap = |pair: &[(u64, u64)]| Gap {
        send: Span::from_nanos(pair[1].0.saturating_sub(pair[0].0)),
        receive: Span::from_nanos(pair[1].1.saturating_sub(pair[0].1)),
        size,
        acked: true,
    };
    let gaps = known.windows(2).map(gap).collect();
    Read::Stream(Stream { lost: (seen.left.len() - known.len()) as u64, ..Stream::new(gaps) })
}

fn is_made(asked_ns: &[f64], left: &[Stamp]) -> bool {
    let made = left.windows(2).map(|pair| pair[1].ns.saturating_sub(pair[0].ns) as f64);
    let pauses = made.zip(asked_ns).any(|(made, asked)| made > PAUSE * asked);
    let length = left.last().zip(left.first()).map_or(0.0, |(last, first)| last.ns.saturating_sub(first.ns) as f64);
    let asked: f64 = asked_ns.iter().sum();
    !pauses && (length - asked).abs() <= LENGTH * asked
}

/// The rows of a stream, for a recording.
pub fn rows(stream: u32, size: u16, seen: &Seen) -> Vec<Row> {
    let arrivals: BTreeMap<u64, u64> = seen.came.iter().map(|stamp| (stamp.sequence, stamp.ns)).collect();
    let both = |stamp: &Stamp| Some((stamp.sequence, stamp.ns, *arrivals.get(&stamp.sequence)?));
    let known: Vec<(u64, u64, u64)> = seen.left.iter().filter_map(both).collect();
    let first = known.first().map(|(packet, ..)| Row { stream, packet: *packet, gaps_ns: None, size });
    let later = known.windows(2).map(|pair| {
        let gaps = (pair[1].1.saturating_sub(pair[0].1), pair[1].2.saturating_sub(pair[0].2));
        Row { stream, packet: pair[1].0, gaps_ns: Some(gaps), size }
    });
    first.into_iter().chain(later).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 000 bits at 12 Mbit/s: a packet each millisecond.
    const ASKED: Ordered =
        Ordered { first: 0, count: 4, lowest_bps: 12_000_000, highest_bps: 12_000_000, levels: 1, size: 1472 };

    fn seen(left_us: [u64; 4], came_us: &[(u64, u64)]) -> Seen {
        let stamp = |(sequence, us): (u64, u64)| Stamp { sequence, ns: us * 1000 };
        let left = (0..).zip(left_us).map(stamp).collect();
        let came = came_us.iter().copied().map(stamp).collect();
        Seen { first: 0, left, came, sources: (Source::Kernel, Source::Kernel), stepped: false }
    }

    #[test]
    fn reads_made_gaps_and_counts_losses() {
        let seen = seen([0, 1000, 2100, 3000], &[(0, 50), (1, 1060), (3, 3070)]);
        let Read::Stream(stream) = read(&ASKED, 28, &seen) else { panic!() };
        let gaps: Vec<(u64, u64)> = stream.gaps.iter().map(|gap| (gap.send.nanos(), gap.receive.nanos())).collect();
        assert_eq!((gaps, stream.lost), (vec![(1_000_000, 1_010_000), (2_000_000, 2_010_000)], 1));
        assert_eq!(stream.gaps[0].size, Bytes::new(1500));
    }

    #[test]
    fn ignores_streams_with_pause_or_missing_times() {
        let all: Vec<(u64, u64)> = (0..4).map(|number| (number, number * 1000)).collect();
        assert!(matches!(read(&ASKED, 28, &seen([0, 1000, 2000, 6500], &all)), Read::NotMade));
        assert!(matches!(read(&ASKED, 28, &seen([0, 1000, 2000, 3400], &all)), Read::NotMade));
        let good = seen([0, 1000, 2000, 3000], &all);
        assert!(matches!(read(&ASKED, 28, &good), Read::Stream(_)));
        assert!(matches!(read(&ASKED, 28, &Seen { stepped: true, ..good.clone() }), Read::Stepped));
        // The last two were never sent; the last one was, at an unknown time.
        let cut = Seen { left: good.left[..2].to_vec(), came: good.came[..2].to_vec(), ..good.clone() };
        assert!(matches!(read(&ASKED, 28, &cut), Read::NotMade));
        assert!(matches!(read(&ASKED, 28, &Seen { came: good.came.clone(), ..cut }), Read::NoTimes));
        let by_program = Seen { sources: (Source::Kernel, Source::Program), ..good };
        assert!(matches!(read(&ASKED, 28, &by_program), Read::NoTimes));
    }
}
