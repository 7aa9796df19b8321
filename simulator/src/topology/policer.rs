//! A policer (RFC 2475): packets that do not conform to a token bucket are dropped when they arrive. It has no queue.

use experiment::scenario::Shaper;
use packetscale_models::units::{Bytes, Time, TokenBucket};

/// The policer of a link.
#[derive(Clone, Debug)]
pub(super) struct Policer {
    bucket: TokenBucket,
}

impl Policer {
    /// With this bucket, which is full at the beginning.
    pub(super) fn new(bucket: Shaper) -> Policer {
        Policer { bucket: TokenBucket::new(bucket.rate, bucket.bucket) }
    }

    /// Whether a packet that arrives at `now` conforms. If so, it takes its tokens.
    pub(super) fn passes(&mut self, now: Time, size: Bytes) -> bool {
        let conforms = self.bucket.conforms(now, size) == now;
        if conforms {
            self.bucket.take(now, size);
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packetscale_models::units::{Rate, Span};

    /// 8 Mbit/s is 1000 B per ms. A bucket of 10 kB lets 10 packets of 1000 B through at once; an offered 16 Mbit/s
    /// empties it, and of the rest every other packet passes.
    #[test]
    fn passes_bursts_of_the_bucket_and_the_rate_in_the_long_run() {
        let bucket = Shaper { rate: Rate::from_mbps(8), bucket: Bytes::new(10_000) };
        let mut policer = Policer::new(bucket);
        let size = Bytes::new(1000);
        let start = Time::ZERO + Span::from_secs(1);
        let at_once = (0..100).filter(|_| policer.passes(start, size)).count();
        assert_eq!(at_once, 10);
        let offered = (1..=2000).map(|n| start + Span::from_micros(500) * n);
        assert_eq!(offered.filter(|at| policer.passes(*at, size)).count(), 1000);
        // 5 ms of silence earn 5 packets, a long one not more than the bucket.
        let later = start + Span::from_secs(1);
        assert_eq!((0..100).filter(|_| policer.passes(later + Span::from_millis(5), size)).count(), 5);
        assert_eq!((0..100).filter(|_| policer.passes(later + Span::from_secs(9), size)).count(), 10);
    }
}
