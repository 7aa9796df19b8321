//! One Rapid flow against periodic on-off cross traffic ([`packetscale_models::theory::burstiness`]).

use crate::analysis::NoAnswer;
use crate::analysis::reading::{optional, written};
use packetscale_models::theory::burstiness::{
    Filter, OnOff, Outcome, Smoothing, at_rtt, rate_bps, small_burst_utilisation, worst_phase,
};
use packetscale_models::units::{Rate, Span};
use serde::{Deserialize, Serialize};

/// The question. Its fields are documented as the command shows them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Burstiness {
    /// Capacity of the bottleneck
    #[serde(deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE"))]
    pub capacity: Rate,
    /// Cross traffic averaged over bursts and silences
    #[serde(deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE"))]
    pub average: Rate,
    /// Length of a burst
    #[serde(deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub on: Span,
    /// Silence between bursts
    #[serde(deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub off: Span,
    /// Time constant of increases, tau
    #[serde(deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub increase: Span,
    /// Time constant of decreases, eta
    #[serde(deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub decrease: Span,
    /// Round-trip time without queue [default: the one with the longest queue]
    #[serde(default, deserialize_with = "optional")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub rtt: Option<Span>,
    /// How a gap to the available bandwidth is closed
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub filter: FilterShape,
    /// With --json: the sending rate at the bottleneck over two periods, as `rate_curve`, from a burst that starts then
    #[serde(default, deserialize_with = "optional")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub curve: Option<Span>,
}

/// How a gap to the available bandwidth is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FilterShape {
    /// The paper's analysis
    #[default]
    Linear,
    /// The fluid limit of the filter it prints
    Exponential,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Which case of the paper applies.
    pub case: &'static str,
    /// The largest queue, as the time it takes to drain.
    pub queue_delay_s: f64,
    /// The largest queue.
    pub queue_max_bits: f64,
    /// The part of it that never drains; 0 unless this phase overloads the link.
    pub standing_queue_bits: f64,
    /// The flow's throughput.
    pub throughput_bps: f64,
    /// Flow and cross traffic, in units of the capacity.
    pub utilisation: f64,
    /// Highest sending rate.
    pub rate_high_bps: f64,
    /// Lowest sending rate.
    pub rate_low_bps: f64,
    /// The shortest round-trip time with the longest queue.
    pub rtt_worst_s: f64,
    /// The longest one below one period more.
    pub rtt_worst_to_s: f64,
    /// Utilisation in the limit of very short bursts.
    pub small_burst_utilisation: f64,
    /// No phase overloads the link, so the queue empties in every period.
    pub stable: bool,
    /// Pairs of a time in seconds and a rate in bit/s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rate_curve: Vec<(f64, f64)>,
}

impl Burstiness {
    /// Answers the question.
    ///
    /// # Errors
    /// A parameter that the formulas do not cover, or a queue that grows without bound.
    pub fn answer(&self) -> Result<Answer, NoAnswer> {
        let Burstiness { capacity, average, on, off, increase, decrease, .. } = *self;
        let filter = match self.filter {
            FilterShape::Linear => Filter::Linear,
            FilterShape::Exponential => Filter::Exponential,
        };
        let traffic = OnOff { capacity, average, on, off };
        let smoothing = Smoothing { filter, increase, decrease };
        let outcome = match self.rtt {
            Some(rtt) => at_rtt(&traffic, &smoothing, rtt),
            None => worst_phase(&traffic, &smoothing),
        }?;
        let limit = small_burst_utilisation(&traffic)?;
        let lag_s = self.rtt.map_or(outcome.rtt_worst_s, Span::as_secs_f64);
        let curve = self.curve.map_or(Ok(Vec::new()), |start| curve(&traffic, &smoothing, &outcome, lag_s, start))?;
        Ok(answer(&outcome, limit, curve))
    }
}

/// Two periods of the sending rate from a burst that reaches the link at `start`.
fn curve(
    traffic: &OnOff,
    smoothing: &Smoothing,
    outcome: &Outcome,
    lag_s: f64,
    start: Span,
) -> Result<Vec<(f64, f64)>, packetscale_models::theory::Error> {
    const INTERVALS: u32 = 600;
    let capacity_bps = traffic.capacity.bps() as f64;
    let standing_s = outcome.standing_queue_bits / capacity_bps;
    let (delay_s, two_periods_s) = (outcome.queue_delay_s - standing_s, 2.0 * (traffic.on + traffic.off).as_secs_f64());
    let pair = |i| {
        let since_s = two_periods_s * f64::from(i) / f64::from(INTERVALS);
        let rate = rate_bps(traffic, smoothing, delay_s, since_s - lag_s - standing_s)?;
        Ok((start.as_secs_f64() + since_s, rate))
    };
    (0..=INTERVALS).map(pair).collect()
}

fn answer(o: &Outcome, small_burst_utilisation: f64, rate_curve: Vec<(f64, f64)>) -> Answer {
    Answer {
        case: o.case.name(),
        queue_delay_s: o.queue_delay_s,
        queue_max_bits: o.queue_max_bits,
        standing_queue_bits: o.standing_queue_bits,
        throughput_bps: o.throughput_bps,
        utilisation: o.utilisation,
        rate_high_bps: o.rate_high_bps,
        rate_low_bps: o.rate_low_bps,
        rtt_worst_s: o.rtt_worst_s,
        rtt_worst_to_s: o.rtt_worst_to_s,
        small_burst_utilisation,
        stable: o.stable,
        rate_curve,
    }
}
