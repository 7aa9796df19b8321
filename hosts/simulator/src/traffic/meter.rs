//! How bursty traffic is: its rate in successive intervals, and the spread of that.
//!
//! The measure is that of Table 3.1 of Q. Yin, "TCP RAPID: from theory to practice" (dissertation, UNC Chapel Hill,
//! 2017): the distance between the 5 % and the 95 % quantile of the rate per millisecond. A packet belongs to the
//! interval in which its first bit is offered. Quantiles are exact: of n samples in order, the ceil(p n)-th.

use units::{Bytes, Rate, Span, Time};

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
    /// Over all intervals.
    pub mean: Rate,
    /// 5 % of intervals are at this rate or below.
    pub low: Rate,
    /// 95 % of intervals are at this rate or below.
    pub high: Rate,
    /// How many intervals there were.
    pub intervals: u64,
}

impl Burstiness {
    /// The distance between the quantiles.
    pub fn spread(&self) -> Rate {
        self.high.saturating_sub(self.low)
    }
}

impl Meter {
    /// A meter that counts from `from` in intervals of this length.
    ///
    /// # Panics
    /// If the interval is zero.
    pub fn new(from: Time, interval: Span) -> Meter {
        assert!(interval > Span::ZERO, "an interval has a length");
        Meter { interval, from, bytes: Vec::new() }
    }

    /// A meter per millisecond from the start of the run.
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

    /// The figures over the whole intervals between `from` and `until`, empty ones included; `None` if there is none.
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
