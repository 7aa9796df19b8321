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

use crate::estimation::contract::{Abstain, Estimate, Estimator, Probing};
use crate::estimation::stream::Stream;
use crate::estimation::trend::{Thresholds, trend};
use crate::settings::{PROPER, Parameter, Parameters, SettingError, Settings, above_zero};
use crate::units::{Rate, Ratio, Span};
use alloc::boxed::Box;

const PCT_HIGH: Parameter<Ratio> =
    Parameter::new("pct-high", Thresholds::PUBLISHED.increasing.0, PROPER, "pairwise comparison: increasing above");
const PCT_LOW: Parameter<Ratio> =
    Parameter::new("pct-low", Thresholds::PUBLISHED.steady.0, PROPER, "pairwise comparison: not increasing below");
const PDT_HIGH: Parameter<Ratio> =
    Parameter::new("pdt-high", Thresholds::PUBLISHED.increasing.1, PROPER, "pairwise difference: increasing above");
const PDT_LOW: Parameter<Ratio> =
    Parameter::new("pdt-low", Thresholds::PUBLISHED.steady.1, PROPER, "pairwise difference: not increasing below");
const POINTS: Parameter<u32> = Parameter::new("points", 8, 2..=65_536, "fewest delays to test");
const CLOCK: Parameter<Span> = Parameter::new(
    "clock",
    Span::from_nanos(1),
    above_zero(),
    "the receiver's clock step: smaller differences count as none",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&PCT_HIGH, &PCT_LOW, &PDT_HIGH, &PDT_LOW, &POINTS, &CLOCK];

/// Both trend tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrendTest {
    thresholds: Thresholds,
    points: usize,
    clock: Span,
}

impl TrendTest {
    pub fn build(settings: &Settings) -> Result<TrendTest, SettingError> {
        let thresholds = Thresholds {
            increasing: (PCT_HIGH.read(settings)?, PDT_HIGH.read(settings)?),
            steady: (PCT_LOW.read(settings)?, PDT_LOW.read(settings)?),
        };
        let points = POINTS.read(settings)?;
        let clock = CLOCK.read(settings)?;
        Ok(TrendTest { thresholds, points: points as usize, clock })
    }

    /// Returns the verdict of the delays on the rate of their stream.
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
