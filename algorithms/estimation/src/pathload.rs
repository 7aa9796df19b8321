//! Pathload's reading of one stream: the trend tests on its one-way delays (`trend.rs`). `fleet.rs` combines the
//! verdicts of a fleet of such streams.
//!
//! Source: M. Jain and C. Dovrolis, "Pathload", PAM 2002; Q. Yin, "TCP RAPID: from theory to practice", section 2.2.
//! Deviations:
//!  1. Every packet counts. Pathload ignores all but the last of the packets that arrived in one interrupt; here,
//!     compose `bass` or `average` before it instead.
//!  2. It does not reduce a stream to the medians of sqrt(N) groups, as Pathload's code does; the text uses the plain
//!     delays.
//!  3. A verdict is a bound: the estimate is the stream's own rate, with an interval open to one side.

use crate::contract::{Abstain, Estimate, Estimator, Probing};
use crate::stream::Stream;
use crate::trend::{Thresholds, trend};
use alloc::boxed::Box;
use units::settings::{Kind, Parameter, SettingError, Settings, integer, positive_span, proper_fraction};
use units::{Rate, Ratio, Span};

/// What a method can set.
pub const PARAMETERS: &[Parameter] = &[
    Parameter { name: "pct-high", kind: Kind::Ratio, default: "0.66", doc: "increasing above, by comparison" },
    Parameter { name: "pct-low", kind: Kind::Ratio, default: "0.54", doc: "not increasing below" },
    Parameter { name: "pdt-high", kind: Kind::Ratio, default: "0.55", doc: "increasing above, by difference" },
    Parameter { name: "pdt-low", kind: Kind::Ratio, default: "0.45", doc: "not increasing below" },
    Parameter { name: "points", kind: Kind::Integer, default: "8", doc: "fewest delays to test" },
    Parameter { name: "clock", kind: Kind::Span, default: "1 ns", doc: "the receiver's: shorter steps are none" },
];

/// Both trend tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrendTest {
    thresholds: Thresholds,
    points: usize,
    clock: Span,
}

impl TrendTest {
    pub fn build(settings: &Settings) -> Result<TrendTest, SettingError> {
        let Thresholds { increasing, steady } = Thresholds::PUBLISHED;
        let fraction = |name, default: Ratio| proper_fraction(settings, name, default);
        let thresholds = Thresholds {
            increasing: (fraction("pct-high", increasing.0)?, fraction("pdt-high", increasing.1)?),
            steady: (fraction("pct-low", steady.0)?, fraction("pdt-low", steady.1)?),
        };
        let points = integer(settings, "points", 8, 2..=65_536, "a number of delays from 2 to 65536")?;
        let clock = positive_span(settings, "clock", Span::from_nanos(1))?;
        Ok(TrendTest { thresholds, points: points as usize, clock })
    }

    /// Returns what the delays say about the rate of their stream.
    pub fn read(&self, delays: &[i64], rate: Rate) -> Result<Estimate, Abstain> {
        if delays.len() < self.points {
            return Err(Abstain::TooFewGaps { found: delays.len(), needed: self.points });
        }
        Estimate::of(trend(delays, self.clock).verdict(&self.thresholds), rate)
    }
}

/// The trend tests on plain delays.
pub struct Pathload {
    test: TrendTest,
}

impl Pathload {
    pub fn build(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        Ok(Box::new(Pathload { test: TrendTest::build(settings)? }))
    }
}

impl Estimator for Pathload {
    fn probing(&self) -> Probing {
        Probing::Constant
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        self.test.read(&stream.delays(), stream.send_rate())
    }
}
