//! How a link serves packets, apart from its queue and its wire.

use super::{LinkSpec, Shaper};
use crate::scenario::canonical;
use packetscale_models::units::{Bytes, Capacity, CapacityPoint, Rate, Span, Time};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Deviations from serving packets one by one at a constant rate. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Its rate changes. It is not read back: hosts that write an experiment and read it elsewhere also write what the
    /// link carries.
    #[serde(skip_deserializing)]
    pub variation: Option<Variation>,
    /// Its packets are served in bursts.
    pub aggregation: Option<Aggregation>,
    /// Packets that do not conform to this token bucket are dropped when they arrive (RFC 2475: a policer).
    pub policer: Option<Shaper>,
    /// Packets that do not conform to this token bucket wait at the head of the queue (RFC 2475: a shaper).
    pub shaper: Option<Shaper>,
}

/// A rate that changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variation {
    /// Where it is written.
    pub source: RateSource,
    /// What the link can carry. It follows from the source.
    #[serde(skip)]
    pub capacity: Arc<Capacity>,
}

/// Where a changing rate is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum RateSource {
    /// In the scenario.
    Steps {
        /// The rate from each time on, in order of time. Before the first it is that of the link.
        steps: Vec<(Time, Rate)>,
        /// After this time it repeats.
        repeat: Option<Span>,
    },
    /// In a file.
    Trace {
        /// The file.
        #[serde(serialize_with = "canonical::file::serialize")]
        file: PathBuf,
        /// Its format.
        format: RateFormat,
        /// Whether it repeats at its end. If not, the rate is the last one, and there is no opportunity any more.
        repeat: bool,
    },
}

/// Format of a file of rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RateFormat {
    /// That of Mahimahi: one line per delivery opportunity of 1500 B, its time in milliseconds.
    Mahimahi,
    /// CSV with the columns `time_s,rate_bps`.
    Csv,
}

/// Service in bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aggregation {
    /// What the link can carry in a period leaves at its end: grants, as in DOCSIS.
    Period(Span),
    /// Frames of several packets, as in Wi-Fi.
    Frames {
        /// The most packets in a frame.
        packets: u32,
        /// Overhead of a frame in addition to the transmission of its packets: contention, preamble, acknowledgment.
        overhead: Span,
    },
}

impl Variation {
    /// A rate that begins as `rate` and changes in steps; `None` where the link would carry nothing.
    pub fn steps(rate: Rate, steps: Vec<(Time, Rate)>, repeat: Option<Span>) -> Option<Variation> {
        let point =
            |(at, rate): &(Time, Rate)| CapacityPoint { at: at.since(Time::ZERO), burst: Bytes::ZERO, rate: *rate };
        let points = [(Time::ZERO, rate)].iter().chain(&steps).map(point).collect();
        let capacity = Arc::new(Capacity::new(points, repeat)?);
        Some(Variation { source: RateSource::Steps { steps, repeat }, capacity })
    }

    /// Whether the link carries opportunities, rather than bits at a rate.
    pub fn has_opportunities(&self) -> bool {
        matches!(self.source, RateSource::Trace { format: RateFormat::Mahimahi, .. })
    }
}

impl LinkSpec {
    /// What the link can carry over time; `None`: its rate, always.
    pub fn capacity(&self) -> Option<Arc<Capacity>> {
        let varying = self.service.variation.as_ref().map(|variation| variation.capacity.clone());
        let Some(Aggregation::Period(period)) = self.service.aggregation else { return varying };
        let offered = varying.map(Arc::unwrap_or_clone).or_else(|| Capacity::constant(self.rate));
        offered.map(|offered| Arc::new(offered.in_grants(period)))
    }

    /// What is left of a rate behind the link's token buckets in the long run: the least of it and theirs.
    pub fn within_buckets(&self, rate: Rate) -> Rate {
        let buckets = [self.service.policer, self.service.shaper];
        buckets.iter().flatten().fold(rate, |least, bucket| least.min(bucket.rate))
    }
}
