//! What a probe's streams show of this machine's gaps, of the path's queue and of the far end's network card; and a scenario
//! that replays them in the simulator.

use super::{Answer, Seen};
use crate::stream::gaps_ns;
use crate::wire::Ordered;
use packetscale_models::congestion::rapid::SHORTEST_ROUND_TRIP;
use packetscale_models::units::Rate;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Observations of a probe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// By how much each gap was longer than it was meant to be, in nanoseconds.
    late_ns: Vec<u64>,
    /// How long packets were held that arrived together: from when the first left to when the last did, in nanoseconds.
    held_ns: Vec<u64>,
    packets: u64,
    together: u64,
    /// The longest wait in the path's queues that a stream has seen, in nanoseconds. The least wait of each stream counts
    /// as none, so that a queue that never becomes empty is not seen.
    pub queue_ns: u64,
    /// Packets that left and did not arrive.
    pub lost: u64,
}

/// A packet that arrived within this part of its gap after the one before was held with it by the receiver.
const TOGETHER: u64 = 4;
/// Below this share of such packets the receiver holds none: streams that are too fast bring some together.
const HOLDS: f64 = 0.05;

impl Observations {
    /// Notes a stream.
    pub fn note(&mut self, asked: &Ordered, overhead: u16, seen: &Seen) {
        let whole = seen.left.len() == asked.count as usize;
        let made = seen.left.windows(2).map(|pair| pair[1].ns.saturating_sub(pair[0].ns));
        // A missing departure leaves the intended gaps ambiguous.
        let late = made.zip(gaps_ns(asked, overhead)).map(|(made, asked)| made.saturating_sub(asked as u64));
        self.late_ns.extend(late.filter(|_| whole));
        let arrivals: BTreeMap<u64, u64> = seen.came.iter().map(|stamp| (stamp.sequence, stamp.ns)).collect();
        let both = seen.left.iter().filter_map(|left| Some((left.ns, *arrivals.get(&left.sequence)?)));
        let both: Vec<(u64, u64)> = both.collect();
        self.lost += seen.left.len().saturating_sub(both.len()) as u64;
        let delay = |(left, came): &(u64, u64)| i128::from(*came) - i128::from(*left);
        let (least, most) = (both.iter().map(delay).min(), both.iter().map(delay).max());
        let waited = least.zip(most).map_or(0, |(least, most)| (most - least).min(i128::from(u64::MAX)) as u64);
        self.queue_ns = self.queue_ns.max(waited);
        self.hold(&both);
    }

    /// Looks for packets that arrived together.
    fn hold(&mut self, both: &[(u64, u64)]) {
        let mut since = None;
        for pair in both.windows(2) {
            let ((left, came), (next_left, next_came)) = (pair[0], pair[1]);
            self.packets += 1;
            if next_came.saturating_sub(came).saturating_mul(TOGETHER) < next_left.saturating_sub(left) {
                self.together += 1;
                since.get_or_insert(left);
            } else {
                self.held_ns.extend(since.take().map(|since: u64| left.saturating_sub(since)));
            }
        }
    }

    /// The share of packets that arrived together with the one before.
    pub fn together(&self) -> f64 {
        self.together as f64 / self.packets.max(1) as f64
    }

    /// How long the receiver's card holds packets, about; half of the times that it held some it was longer. In
    /// nanoseconds; 0: it holds none.
    pub fn held_ns(&self) -> u64 {
        if self.together() < HOLDS { 0 } else { quantile(&self.held_ns, 500) }
    }

    /// By how much gaps were longer than they were meant to be, in nanoseconds: p50, p99 and p99.9.
    pub fn late_ns(&self) -> [u64; 3] {
        [500, 990, 999].map(|thousandths| quantile(&self.late_ns, thousandths))
    }
}

/// The ceil(n * q)-th of n values in order; 0 if there are none.
fn quantile(values: &[u64], thousandths: usize) -> u64 {
    let mut ascending = values.to_vec();
    ascending.sort_unstable();
    let rank = (ascending.len() * thousandths).div_ceil(1000).max(1);
    ascending.get(rank - 1).copied().unwrap_or(0)
}

/// A scenario with this machine as its sender, the far end as its receiver, and a path of the available bandwidth. `None`
/// without an estimate. `about`: a line that names its origin.
pub fn scenario(answer: &Answer, about: &str) -> Option<String> {
    let found = answer.found.as_ref().ok()?;
    let observed = &answer.observed;
    let [p50, p99, p999] = observed.late_ns();
    let mut text = format!(
        "# {about}\n\
         # The path models only the available bandwidth: a probe does not see the capacity or the other traffic. The base round\n\
         # trip is divided equally between both directions. The value is between {} and {} bit/s.\n\n",
        found.low.bps(),
        found.high.bps()
    );
    let _ = writeln!(text, "[run]\nduration = \"10 s\"\nwarmup = \"2 s\"\n");
    let _ = writeln!(text, "[path]\nrate = \"{} bit/s\"\ndelay = \"{} ns\"", found.value.bps(), answer.base_rtt_ns / 2);
    let _ = text.write_str(&buffer(found.value, answer));
    let _ = writeln!(
        text,
        "\n[sender]\ngaps = {{ kind = \"late\", p50 = \"{p50} ns\", p99 = \"{p99} ns\", p999 = \"{p999} ns\" }}"
    );
    let _ = writeln!(
        text,
        "\n[receiver]\n# {:.1} % of packets arrived with the one before.\n\
         coalescing = {{ kind = \"timer\", time = \"{} ns\" }}\nstamp_granularity = \"1 ns\"",
        100.0 * observed.together(),
        observed.held_ns()
    );
    let _ = writeln!(
        text,
        "\n[[flow]]\ncontroller = {{ kind = \"rapid\", shortest_round_trip = \"{} ms\" }}\npacket = \"{} B\"",
        SHORTEST_ROUND_TRIP.as_secs_f64() * 1e3,
        answer.packet
    );
    Some(text)
}

/// The line of the path's buffer. It holds a packet at least.
fn buffer(value: Rate, answer: &Answer) -> String {
    const BIT_NS_PER_BYTE_S: u128 = 8_000_000_000;
    let bytes_in = |ns: u64| (u128::from(value.bps()) * u128::from(ns)).div_ceil(BIT_NS_PER_BYTE_S) as u64;
    let (waited, product) = (bytes_in(answer.observed.queue_ns), bytes_in(answer.base_rtt_ns));
    let least = u64::from(answer.packet);
    if answer.observed.lost > 0 {
        // Streams overflowed the queue: it holds what waited longest.
        return format!("buffer = \"{} B\"\n", waited.max(least));
    }
    let guess = waited.max(product).max(least);
    format!("# A guess, since no packet was lost: the BDP, and at least the observed queue.\nbuffer = \"{guess} B\"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Source, Stamp};

    /// A packet of 1500 bytes each millisecond: 12 Mbit/s.
    fn asked(count: u32) -> Ordered {
        Ordered { first: 0, count, lowest_bps: 12_000_000, highest_bps: 12_000_000, levels: 1, size: 1472 }
    }

    fn seen(left_us: &[u64], came_us: &[Option<u64>]) -> Seen {
        let stamp = |(sequence, us): (u64, u64)| Stamp { sequence, ns: us * 1000 };
        let came = (0..).zip(came_us).filter_map(|(sequence, us)| Some(stamp((sequence, (*us)?)))).collect();
        let left = (0..).zip(left_us.iter().copied()).map(stamp).collect();
        Seen { first: 0, left, came, sources: (Source::Kernel, Source::Kernel), stepped: false }
    }

    #[test]
    fn observations_match_stream() {
        let mut observed = Observations::default();
        // Gaps of 1.0, 1.3 and 1.0 ms; delays of 5, 9 and 6 ms, by clocks that differ; the last one is lost.
        observed.note(&asked(4), 28, &seen(&[0, 1000, 2300, 3300], &[Some(5000), Some(10_000), Some(8300), None]));
        assert_eq!((observed.queue_ns, observed.lost), (4_000_000, 1));
        assert_eq!(observed.late_ns(), [0, 300_000, 300_000]);
    }

    #[test]
    fn impossible_times_are_not_batches() {
        let mut observed = Observations::default();
        observed.hold(&[(0, 0), (1000, 1 << 62)]);
        assert_eq!(observed.together(), 0.0);
    }

    #[test]
    fn detects_card_that_delays_packets() {
        let mut observed = Observations::default();
        // Interrupts at 3, 6 and 9 ms bring three packets each: from the first's departure to the last's are 2 ms.
        let left: Vec<u64> = (1..=9).map(|ms| ms * 1000).collect();
        let came: Vec<Option<u64>> = (1..=9u64).map(|ms| Some(ms.div_ceil(3) * 3000)).collect();
        observed.note(&asked(9), 28, &seen(&left, &came));
        assert_eq!(observed.held_ns(), 2_000_000);
        assert!((observed.together() - 6.0 / 8.0).abs() < 1e-9);
        let mut none = Observations::default();
        none.note(&asked(9), 28, &seen(&left, &left.iter().map(|us| Some(us + 50)).collect::<Vec<_>>()));
        assert_eq!((none.held_ns(), none.together(), none.queue_ns), (0, 0.0, 0));
    }
}
