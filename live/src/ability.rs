//! Measures what gaps this machine can make: how late threads wake, the error of gaps of 10 to 1000 us, and the highest rate of
//! streams. It uses the loopback device, so the network card's part is missing.
//!
//! Source of the quantities: Q. Yin, "TCP RAPID: from theory to practice", section 4.6.1: the error of a gap is the gap made
//! minus the gap intended. Times are the kernel's departure times, as probes read them.

use crate::pace::{Gaps, Pacer, wake_ups};
use crate::socket::{Stamped, Time};
use crate::stream;
use crate::wire::{Ordered, Source};
use packetscale_models::units::{Bytes, Rate, Span};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The gaps, in nanoseconds.
pub const GAPS_NS: [u64; 7] = [10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000];
/// Packets of each stream. They are small: only their times matter.
const PACKETS: u32 = 200;
const PAYLOAD: u16 = 100;
/// A gap can be made if nine of ten are off by at most this fraction. Adjacent rates of Rapid's streams differ by 15 %.
const OFF: f64 = 0.1;
/// Longest duration of a measuring stream; a machine that takes longer is stalled.
const PATIENCE: Duration = Duration::from_millis(100);

/// Three percentiles, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The median.
    pub p50_ns: u64,
    /// Nine of ten are at most this.
    pub p90_ns: u64,
    /// 99 of 100 are.
    pub p99_ns: u64,
}

impl Spread {
    /// Of some values: the ceil(n * p)-th in order. `None` if there are none.
    pub fn of(mut values_ns: Vec<u64>) -> Option<Spread> {
        values_ns.sort_unstable();
        let at = |percent: usize| values_ns.get((values_ns.len() * percent).div_ceil(100).max(1) - 1).copied();
        Some(Spread { p50_ns: at(50)?, p90_ns: at(90)?, p99_ns: at(99)? })
    }
}

/// Gaps of one length, made by one method.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// The method.
    pub by: Gaps,
    /// The intended gap.
    pub gap_ns: u64,
    /// Errors of gaps. `None`: the kernel reported no departure times.
    pub off: Option<Spread>,
}

impl Made {
    /// Whether streams can have this gap.
    pub fn is_made(&self) -> bool {
        self.off.is_some_and(|off| off.p90_ns as f64 <= OFF * self.gap_ns as f64)
    }
}

/// Measured abilities of this machine.
#[derive(Clone, Debug)]
pub struct Ability {
    /// How late a sleeping thread wakes.
    pub wake_up: Spread,
    /// Clocks of departures and arrivals.
    pub sources: (Source, Source),
    /// All ways and gaps.
    pub made: Vec<Made>,
}

impl Ability {
    /// Measures for about a second, with one thread.
    ///
    /// # Errors
    /// There is no loopback device, or its socket fails.
    pub fn measure() -> io::Result<Ability> {
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (here, there) = (Stamped::bind(loopback, PATIENCE)?, Stamped::bind(loopback, PATIENCE)?);
        let to = there.address()?;
        let (mut made, mut departures) = (Vec::new(), Source::Card);
        for by in Gaps::ALL {
            let mut pacer = Pacer::measure(by);
            for gap_ns in GAPS_NS {
                let (off, source) = errors(&here, to, &mut pacer, gap_ns)?;
                departures = departures.worse(source);
                made.push(Made { by, gap_ns, off });
            }
        }
        let arrivals = there.receive(&mut [0; PAYLOAD as usize])?;
        let arrivals = arrivals.map_or(Source::Program, |one| source_of(one.time));
        let wake_up = Spread::of(wake_ups()).ok_or_else(|| io::Error::other("no sleep was measured"))?;
        Ok(Ability { wake_up, sources: (departures, arrivals), made })
    }

    /// The shortest gap for which this method makes all longer ones. `None`: not even the longest.
    pub fn shortest_ns(&self, by: Gaps) -> Option<u64> {
        let descending = self.made.iter().rev().filter(|made| made.by == by);
        descending.take_while(|made| made.is_made()).last().map(|made| made.gap_ns)
    }

    /// The rate of packets of this size at the shortest gap that any method makes.
    pub fn fastest(&self, packet: Bytes) -> Option<Rate> {
        let shortest = Gaps::ALL.into_iter().filter_map(|by| self.shortest_ns(by)).min()?;
        Some(Rate::of(packet, Span::from_nanos(shortest)))
    }
}

fn source_of(time: Time) -> Source {
    if time.card_ns.is_some() { Source::Card } else { time.source }
}

/// Errors of a stream's gaps, and the clock that measured them.
fn errors(here: &Stamped, to: SocketAddr, pacer: &mut Pacer, gap_ns: u64) -> io::Result<(Option<Spread>, Source)> {
    let bits = f64::from(PAYLOAD + stream::overhead(to)) * 8.0;
    let rate_bps = (bits / gap_ns as f64 * 1e9).round() as u64;
    let stream =
        Ordered { first: 0, count: PACKETS, lowest_bps: rate_bps, highest_bps: rate_bps, levels: 1, size: PAYLOAD };
    let (left, source) = stream::send(here, (to, 0, 0), (&stream, Default::default()), pacer, &[], &|| true)?;
    if left.len() < PACKETS as usize {
        return Ok((None, Source::Program));
    }
    let off = left.windows(2).map(|pair| pair[1].ns.saturating_sub(pair[0].ns).abs_diff(gap_ns)).collect();
    Ok((Spread::of(off), source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(by: Gaps, gap_ns: u64, p90_ns: u64) -> Made {
        Made { by, gap_ns, off: Some(Spread { p50_ns: 0, p90_ns, p99_ns: u64::MAX }) }
    }

    #[test]
    fn percentiles_are_measured_values() {
        // Of 10: the 5th, the 9th, the 10th.
        let spread = Spread::of((1..=10).rev().collect()).expect("values");
        assert_eq!(spread, Spread { p50_ns: 5, p90_ns: 9, p99_ns: 10 });
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn fastest_rate_follows_shortest_reliable_gap() {
        // 20 us does not count, since 50 us fails; the timer makes 100 us within 10 us.
        let ability = Ability {
            wake_up: Spread { p50_ns: 0, p90_ns: 0, p99_ns: 0 },
            sources: (Source::Kernel, Source::Kernel),
            made: vec![
                made(Gaps::Busy, 20_000, 2_000),
                made(Gaps::Busy, 50_000, 5_001),
                made(Gaps::Busy, 1_000_000, 100_000),
                made(Gaps::Timer, 50_000, 5_001),
                made(Gaps::Timer, 100_000, 10_000),
                made(Gaps::Timer, 1_000_000, 0),
            ],
        };
        assert_eq!(ability.shortest_ns(Gaps::Busy), Some(1_000_000));
        assert_eq!(ability.shortest_ns(Gaps::Timer), Some(100_000));
        // 1500 bytes are 12 000 bits; each 100 us that is 120 Mbit/s, and six times as much with 9000 bytes.
        assert_eq!(ability.fastest(Bytes::new(1500)), Some(Rate::from_mbps(120)));
        assert_eq!(ability.fastest(Bytes::new(9000)), Some(Rate::from_mbps(720)));
    }

    #[test]
    fn measurement_covers_all_ways_and_gaps() {
        let ability = Ability::measure().expect("a loopback device");
        assert_eq!(ability.sources, (Source::Kernel, Source::Kernel));
        let found: Vec<(Gaps, u64)> = ability.made.iter().map(|made| (made.by, made.gap_ns)).collect();
        let all: Vec<(Gaps, u64)> = Gaps::ALL.iter().flat_map(|by| GAPS_NS.map(|gap_ns| (*by, gap_ns))).collect();
        assert_eq!(found, all);
        assert!(ability.made.iter().all(|made| made.off.is_some()));
    }
}
