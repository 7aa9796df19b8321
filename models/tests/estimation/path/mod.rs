//! A FIFO bottleneck in floating point, and a receiver behind it. It computes the gaps of a stream without using
//! anything from the crate under test.

use packetscale_models::estimation::{Gap, Method, Stream};
use packetscale_models::units::{Bytes, Span};

/// Cross traffic that shares the bottleneck.
#[derive(Clone, Copy, Debug)]
pub enum Cross {
    /// A fluid with this rate in bit/s.
    Fluid(f64),
    /// Packets of `bytes` bytes at constant gaps, `bps` bit/s in all; the first arrives after the fraction `phase` of a
    /// gap.
    Packets { bps: f64, bytes: f64, phase: f64 },
    /// Packets of 1500 B in trains of 1 to 16 back to back, with exponential gaps between trains, `bps` bit/s in all;
    /// drawn from a seed.
    Trains { bps: f64, seed: u64 },
}

impl Cross {
    /// Returns when its packets arrive, and their bytes, without end; a fluid has none.
    fn arrivals(self) -> Box<dyn Iterator<Item = (f64, f64)>> {
        match self {
            Cross::Fluid(_) => Box::new(std::iter::empty()),
            Cross::Packets { bps, bytes, phase } => {
                Box::new((0..).map(move |i| ((f64::from(i) + phase) * bytes * 8.0 / bps, bytes)))
            }
            Cross::Trains { bps, seed } => {
                let (mut draws, mut at) = (Draws(seed), 0.0);
                Box::new(std::iter::repeat_with(move || {
                    at -= draws.next().max(1e-12).ln() * 8.5 * 1500.0 * 8.0 / bps;
                    (at, 1500.0 * (1.0 + (draws.next() * 16.0).floor()))
                }))
            }
        }
    }
}

/// How the receiver sees arrivals.
#[derive(Clone, Copy, Debug)]
pub enum Receiver {
    /// Each at its time.
    PerPacket,
    /// An interrupt this many seconds after the first packet of a batch. The receiver then sees the whole batch, 0.2 us
    /// apart.
    Coalescing(f64),
}

/// Cross traffic starts before a stream, by the time that this many bits take.
const BEFORE_BITS: f64 = 2e7;

/// A path with one bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub capacity_bps: f64,
    pub cross: Cross,
    pub receiver: Receiver,
}

impl Path {
    /// Sends packets of one size with these gaps, seconds, and records the gaps between them.
    pub fn carry(&self, gaps_s: &[f64], bytes: u64) -> Stream {
        self.carry_and_watch(gaps_s, bytes).0
    }

    /// Does the same, and returns the available bandwidth meanwhile: the capacity less the cross traffic that arrived
    /// between the first and the last packet.
    pub fn carry_and_watch(&self, gaps_s: &[f64], bytes: u64) -> (Stream, f64) {
        // Cross traffic has had time to build its queue.
        let sent = gaps_s.iter().fold(vec![BEFORE_BITS / self.capacity_bps], |mut sent, gap| {
            sent.push(sent[sent.len() - 1] + gap);
            sent
        });
        let (left, available) = self.through(&sent, bytes as f64 * 8.0);
        let seen = self.seen(&left);
        let span = |s: f64| Span::from_picos((s * 1e12).round() as u64);
        let gap = |(sent, seen): (&[f64], &[f64])| Gap {
            send: span(sent[1] - sent[0]),
            receive: span((seen[1] - seen[0]).max(0.0)),
            size: Bytes::new(bytes),
            acked: true,
        };
        (Stream::new(sent.windows(2).zip(seen.windows(2)).map(gap).collect()), available)
    }

    /// Returns when each packet has left the bottleneck, and the available bandwidth. `work` is the time that the link
    /// still needs for what it holds.
    fn through(&self, sent: &[f64], bits: f64) -> (Vec<f64>, f64) {
        let fluid = if let Cross::Fluid(bps) = self.cross { bps } else { 0.0 };
        let (first, last) = (sent[0], sent[sent.len() - 1]);
        let (mut work, mut now, mut between) = (0.0f64, 0.0, 0.0);
        let mut arrivals = self.cross.arrivals().peekable();
        let mut left = Vec::new();
        for at in sent {
            while let Some((cross_at, bytes)) = arrivals.next_if(|(cross_at, _)| cross_at <= at) {
                work = (work - (cross_at - now)).max(0.0) + bytes * 8.0 / self.capacity_bps;
                now = cross_at;
                between += if cross_at > first { bytes * 8.0 } else { 0.0 };
            }
            work = (work - (at - now) * (1.0 - fluid / self.capacity_bps)).max(0.0) + bits / self.capacity_bps;
            now = *at;
            left.push(now + work);
        }
        (left, self.capacity_bps - fluid - between / (last - first))
    }

    fn seen(&self, arrived: &[f64]) -> Vec<f64> {
        let Receiver::Coalescing(wait) = self.receiver else { return arrived.to_vec() };
        let (mut interrupt, mut handled) = (f64::NEG_INFINITY, 0.0);
        let see = |at: &f64| {
            if *at > interrupt {
                (interrupt, handled) = (at + wait, 0.0);
            }
            handled += 1.0;
            interrupt + handled * 0.2e-6
        };
        arrived.iter().map(see).collect()
    }
}

/// Returns the gaps, in seconds, of `levels` rates with `each` packets. The rates rise by equal ratios, the last is
/// `range` above the first, and their geometric mean is `bps`.
pub fn rising(bps: f64, range: f64, levels: usize, each: usize, bytes: u64) -> Vec<f64> {
    let lowest = bps / (1.0 + range).sqrt();
    let rate = |level: usize| lowest * (1.0 + range).powf(level as f64 / (levels - 1) as f64);
    (0..levels * each).map(|i| bytes as f64 * 8.0 / rate(i / each)).collect()
}

/// The score of a method on streams with available bandwidth anywhere in their range.
pub struct Score {
    /// Relative errors, in order.
    pub errors: Vec<f64>,
    /// Part of the truth's own variance that is explained.
    pub r2: f64,
    /// Part of the streams with intervals that hold the truth.
    pub covered: f64,
    /// Streams that were refused.
    pub refused: usize,
}

impl Score {
    /// Scores streams of four rates with a range that holds the truth, with `each` packets over a range of 50 %, on a path of
    /// `capacity_bps`. `cross` makes the cross traffic from its rate and a draw from 0 to 1.
    pub fn of(
        method: &str,
        capacity_bps: f64,
        (each, bytes): (usize, u64),
        receiver: Receiver,
        cross: impl Fn(f64, f64) -> Cross,
    ) -> Score {
        let method: Method = method.parse().unwrap_or_else(|error| panic!("{method}: {error}"));
        let (centre, streams) = (0.6 * capacity_bps, 300);
        let (lowest, highest) = (centre / 1.5f64.sqrt(), centre * 1.5f64.sqrt());
        let gaps = rising(centre, 0.5, 4, each, bytes);
        let (mut draws, mut errors, mut truths, mut missed, mut covered) = (Draws(7), vec![], vec![], 0.0, 0);
        let mut refused = 0;
        for stream in 0..streams {
            let mean = lowest * (highest / lowest).powf((f64::from(stream) + 0.5) / f64::from(streams));
            let path = Path { capacity_bps, cross: cross(capacity_bps - mean, draws.next()), receiver };
            let (stream, truth) = path.carry_and_watch(&gaps, bytes);
            if truth < lowest || truth > highest {
                continue;
            }
            let Ok(found) = method.estimate(stream) else {
                refused += 1;
                continue;
            };
            let value = found.value.bps() as f64;
            missed += (value - truth).powi(2);
            errors.push(value / truth - 1.0);
            truths.push(truth);
            let holds = found.low.bps() as f64 <= truth && found.high.is_none_or(|high| truth <= high.bps() as f64);
            covered += usize::from(holds);
        }
        errors.sort_by(f64::total_cmp);
        let read = errors.len() as f64;
        let mean = truths.iter().sum::<f64>() / read;
        let variance = truths.iter().map(|truth| (truth - mean).powi(2)).sum::<f64>();
        Score { errors, r2: 1.0 - missed / variance, covered: covered as f64 / read, refused }
    }

    pub fn median(&self) -> f64 {
        self.errors[self.errors.len() / 2]
    }

    /// Returns the fraction of the readings with a smaller error.
    pub fn within(&self, error: f64) -> f64 {
        self.errors.iter().filter(|e| e.abs() < error).count() as f64 / self.errors.len() as f64
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = |part: f64| 100.0 * self.errors[((self.errors.len() - 1) as f64 * part) as usize];
        write!(f, "error {:.1} % {:.1} % {:.1} % (5, 50, 95), ", at(0.05), at(0.5), at(0.95))?;
        write!(f, "{:.1} % within 10 %, {:.1} % within 15 %, ", 100.0 * self.within(0.1), 100.0 * self.within(0.15))?;
        write!(f, "R2 {:.2}, {:.0} % covered, {} refused", self.r2, 100.0 * self.covered, self.refused)
    }
}

/// Random numbers from 0 to 1, the same on every machine (splitmix64).
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
