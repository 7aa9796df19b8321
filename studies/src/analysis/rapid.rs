//! Equal flows of Rapid's default law on one path ([`packetscale_models::theory::rapid`]).

use crate::analysis::NoAnswer;
use crate::analysis::reading::{within, written};
use packetscale_models::theory::rapid::{Flows, Mode, refilled};
use packetscale_models::units::{Bytes, Rate, Ratio, Span};
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::RangeInclusive;

/// The question. Its fields are documented as the command shows them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Rapid {
    /// How many equal flows share the path
    #[serde(default = "one", deserialize_with = "count")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = one(), value_parser = clap::value_parser!(u32).range(FLOWS)))]
    pub flows: u32,
    /// Part of the available bandwidth that each flow leaves free, above 0 and at most 0.5
    #[serde(default = "margin")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATIO", default_value_t = margin()))]
    pub margin: f64,
    /// Rate of the path
    #[serde(default = "rate", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE", default_value_t = rate()))]
    pub rate: Rate,
    /// Round trip without a queue
    #[serde(default = "rtt", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value_t = rtt()))]
    pub rtt: Span,
    /// Size of every packet
    #[serde(default = "packet", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", default_value_t = packet()))]
    pub packet: Bytes,
    /// A standing queue to drain
    #[serde(default = "queue", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value_t = queue()))]
    pub queue: Span,
    /// Share of the path used by ACK-clocked traffic
    #[serde(default = "elastic")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATIO", default_value_t = elastic()))]
    pub elastic: f64,
}

/// Allowed number of flows.
const FLOWS: RangeInclusive<i64> = 1..=1_000_000;
/// Round trips of a dip that are listed.
const DIP: u32 = 6;

fn one() -> u32 {
    1
}

fn margin() -> f64 {
    0.03
}

fn rate() -> Rate {
    Rate::from_gbps(1)
}

fn rtt() -> Span {
    Span::from_millis(30)
}

fn packet() -> Bytes {
    Bytes::new(1500)
}

fn queue() -> Span {
    Span::from_millis(10)
}

fn elastic() -> f64 {
    0.5
}

fn count<'de, D: Deserializer<'de>>(value: D) -> Result<u32, D::Error> {
    within(value, FLOWS)
}

/// The answer. Round trips are those without a queue.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The given number of flows.
    pub flows: u32,
    /// Where the rates rest: of one flow.
    pub rate_bps: f64,
    /// Of the path.
    pub utilisation: f64,
    /// Gain of each flow.
    pub gain: f64,
    /// Loop gain of all flows together.
    pub loop_gain: f64,
    /// Whether a change decays at the flows' equilibrium.
    pub stable: bool,
    /// As `exp(growth t)`.
    pub growth_per_rtt: f64,
    /// Its swing; none without one.
    pub period_rtts: Option<f64>,
    /// Time until a twentieth of it is left; none if it grows.
    pub settles_rtts: Option<f64>,
    /// How differences between flows shrink.
    pub differences_growth_per_rtt: f64,
    /// Slope of the top level at equilibrium, and whether it counts.
    pub rest_slope: f64,
    /// Whether the law sees its rest.
    pub rest_seen: bool,
    /// The long-run cycle of thresholds and queue.
    pub cycle: Cycle,
    /// How fast a long queue falls, seconds per second.
    pub drain: f64,
    /// Time until the given queue has fallen to the tolerated one.
    pub drained_s: f64,
    /// Refilled part of a dip after 0, 1, ... round trips.
    pub refilled: Vec<f64>,
}

/// The sum of the rates in the long run.
#[derive(Clone, Debug, Serialize)]
pub struct Cycle {
    /// Mean, over the capacity.
    pub utilisation: f64,
    /// Standard deviation, over the capacity.
    pub deviation: f64,
    /// Mean queue.
    pub queue_delay_s: f64,
    /// Length of a cycle; none if the rates converge.
    pub period_rtts: Option<f64>,
}

impl Rapid {
    /// Answers the question.
    ///
    /// # Errors
    /// An invalid margin or share, or more flows than the path can carry.
    pub fn answer(&self) -> Result<Answer, NoAnswer> {
        let Rapid { flows, rate, rtt, packet, .. } = *self;
        let asked = Flows { flows, margin: Ratio::from_f64(self.margin), rate, rtt, packet };
        asked.check()?;
        let refilled = (0..=DIP).map(|rounds| refilled(self.elastic, rounds)).collect::<Result<_, _>>()?;
        let (rest, sum, cycle) = (asked.rest(), asked.sum(), asked.cycle());
        let Mode { growth, period } = sum;
        Ok(Answer {
            flows,
            rate_bps: rest.share * rate.bps() as f64,
            utilisation: rest.utilisation,
            gain: rest.gain,
            loop_gain: rest.loop_gain,
            stable: growth < 0.0,
            growth_per_rtt: growth,
            period_rtts: period,
            settles_rtts: sum.settles(),
            differences_growth_per_rtt: asked.differences().growth,
            rest_slope: rest.slope,
            rest_seen: rest.seen,
            cycle: Cycle {
                utilisation: cycle.mean,
                deviation: cycle.deviation,
                queue_delay_s: cycle.queue * rtt.as_secs_f64(),
                period_rtts: cycle.period,
            },
            drain: asked.drain(),
            drained_s: asked.drained_s(self.queue),
            refilled,
        })
    }
}
