//! Packets that each traffic source sends into the path.

use crate::measure::completions::Completions;
use crate::measure::tally::Tally;
use experiment::results::TrafficResult;
use experiment::scenario::TrafficSpec;
use experiment::traffic::{Burstiness, Meter};
use packetscale_models::units::{Bytes, Rate, Span, Time};

/// One traffic source.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    warm: Time,
    pub(crate) tally: Tally,
    /// Packets that entered the path.
    packets: u64,
    /// Its rate per millisecond where it enters.
    meter: Meter,
}

impl Source {
    pub(crate) fn new(warm: Time) -> Source {
        Source { warm, tally: Tally::default(), packets: 0, meter: Meter::new(warm, Span::from_millis(1)) }
    }

    /// A packet enters the path.
    #[inline]
    pub(crate) fn entered(&mut self, now: Time, size: Bytes) {
        self.packets += 1;
        if now > self.warm {
            self.meter.record(now, size);
        }
    }

    /// `completions`: of its users, if they browse.
    pub(crate) fn figures(&self, spec: &TrafficSpec, end: Time, completions: Option<&Completions>) -> TrafficResult {
        let burst = self.meter.burstiness(end);
        let bps = |of: fn(&Burstiness) -> Rate| burst.as_ref().map(|burst| of(burst).bps() as f64);
        TrafficResult {
            kind: spec.kind.name().to_string(),
            mean_rate_bps: bps(|burst| burst.mean),
            rate_p05_bps: bps(|burst| burst.low),
            rate_p95_bps: bps(|burst| burst.high),
            burstiness_bps: bps(Burstiness::spread),
            packets: self.packets,
            dropped_packets: self.tally.dropped,
            ..completions.map(Completions::figures).unwrap_or_default()
        }
    }
}
