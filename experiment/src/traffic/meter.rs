//! Measures the burstiness of traffic: its rate in successive intervals, and the spread of that rate.
//!
//! The measure is that of Table 3.1 of Q. Yin, "TCP RAPID: from theory to practice" (dissertation, UNC Chapel Hill,
//! 2017): the distance between the 5 % and the 95 % quantile of the rate per millisecond. A packet belongs to the
//! interval in which its first bit is offered. Quantiles are exact: of n samples in order, the ceil(p n)-th.

use packetscale_models::units::{Bytes, Rate, Span, Time};

/// Counts bytes per interval.
#[derive(Clone, Debug)]
pub struct Meter {
    interval: Span,
    from: Time,
    bytes: Vec<u64>,
}

/// Mean and spread of the rate per interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burstiness {
    /// Mean rate over all intervals.
    pub mean: Rate,
    /// 5 % of intervals are at this rate or below.
    pub low: Rate,
    /// 95 % of intervals are at this rate or below.
    pub high: Rate,
    /// Number of intervals.
    pub intervals: u64,
}

impl Burstiness {
    /// Returns the distance between the quantiles.
    pub fn spread(&self) -> Rate {
        self.high.saturating_sub(self.low)
    }
}

impl Meter {
    /// Returns a meter that counts from `from` in intervals of this length.
    ///
    /// # Panics
    /// If the interval is zero.
    pub fn new(from: Time, interval: Span) -> Meter {
        assert!(interval > Span::ZERO, "an interval has a length");
        Meter { interval, from, bytes: Vec::new() }
    }

    /// Returns a meter that counts per millisecond from the run's start.
    pub fn per_millisecond() -> Meter {
        Meter::new(Time::ZERO, Span::from_millis(1))
    }

    /// Counts a packet. Packets before `from` are left out; order does not matter.
    pub fn record(&mut self, at: Time, size: Bytes) {
        if at < self.from {
            return;
        }
        let slot = (at.since(self.from) / self.interval) as usize;
        if slot >= self.bytes.len() {
            self.bytes.resize(slot + 1, 0);
        }
        self.bytes[slot] += size.get();
    }

    /// Returns the figures over the whole intervals between `from` and `until`, empty ones included; `None` without
    /// a whole interval.
    pub fn burstiness(&self, until: Time) -> Option<Burstiness> {
        let n = (until.saturating_since(self.from) / self.interval) as usize;
        if n == 0 {
            return None;
        }
        let mut samples: Vec<u64> = self.bytes.iter().copied().take(n).collect();
        samples.resize(n, 0);
        samples.sort_unstable();
        let rate = |bytes: u64| Rate::of(Bytes::new(bytes), self.interval);
        let rank = |percent: usize| samples[(n * percent).div_ceil(100) - 1];
        let total: u64 = samples.iter().sum();
        Some(Burstiness {
            mean: Rate::of(Bytes::new(total), self.interval * n as u64),
            low: rate(rank(5)),
            high: rate(rank(95)),
            intervals: n as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples_and_empty_intervals_count() {
        // Intervals 0..19 hold 0, 1000, ..., 19000 bytes: the 1st of 20 in order is 0, the 19th is 18000.
        let mut meter = Meter::per_millisecond();
        for ms in 0..20u64 {
            for _ in 0..ms {
                meter.record(Time::ZERO + Span::from_millis(ms), Bytes::new(1_000));
            }
        }
        let figures = meter.burstiness(Time::ZERO + Span::from_millis(20)).unwrap();
        assert_eq!(figures.mean, Rate::from_mbps(76));
        assert_eq!((figures.low, figures.high), (Rate::ZERO, Rate::from_mbps(144)));
        let longer = meter.burstiness(Time::ZERO + Span::from_millis(100)).unwrap();
        assert_eq!((longer.intervals, longer.low, longer.high), (100, Rate::ZERO, Rate::from_mbps(14 * 8)));
    }

    #[test]
    fn packets_outside_the_whole_intervals_do_not_count() {
        let start = Time::ZERO + Span::from_millis(5);
        let mut meter = Meter::new(start, Span::from_millis(1));
        for at_us in [4_999, 5_000, 5_999, 6_000, 6_100] {
            meter.record(Time::ZERO + Span::from_micros(at_us), Bytes::new(500));
        }
        let figures = meter.burstiness(start + Span::from_micros(1_500)).unwrap();
        assert_eq!((figures.intervals, figures.mean), (1, Rate::from_mbps(8)));
        assert_eq!(meter.burstiness(start + Span::from_micros(999)), None);
    }
}
