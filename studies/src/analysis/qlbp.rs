//! A queue-length based pacer, and its effect on a Markov on-off source ([`packetscale_models::theory::qlbp`]).

use crate::analysis::NoAnswer;
use crate::analysis::reading::{optional, within, written};
use packetscale_models::theory::qlbp::{OnOff, Pacer, Reading};
use packetscale_models::units::{Bytes, Packets, Rate, Span};
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::RangeInclusive;

/// The question. Its fields are documented as the command shows them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Qlbp {
    /// Rate of the pacer with an empty queue
    #[serde(default = "silent", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE", default_value_t = silent()))]
    pub mu_min: Rate,
    /// Rate of the pacer at q-max
    #[serde(deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE"))]
    pub mu_max: Rate,
    /// Queue beyond which nothing is paced
    #[serde(deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "PACKETS"))]
    pub q_max: Packets,
    /// Size of a packet
    #[serde(default = "packet_size", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", default_value = PACKET))]
    pub packet: Bytes,
    /// What q-max counts
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub counts: Counts,
    /// Constant rate whose delay and step response are asked [default: mu-max]
    #[serde(default, deserialize_with = "optional")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE"))]
    pub rate: Option<Rate>,
    /// Peak rate of a Markov on-off source to be smoothed [default: mu-max]
    #[serde(default, deserialize_with = "optional")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE"))]
    pub peak: Option<Rate>,
    /// Its mean silence
    #[serde(default = "half_second", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value_t = half_second()))]
    pub idle: Span,
    /// Its mean burst
    #[serde(default = "half_second", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value_t = half_second()))]
    pub burst: Span,
    /// Window in which packets are counted
    #[serde(default = "counting_window", deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value_t = counting_window()))]
    pub window: Span,
    /// Pacers in tandem
    #[serde(default = "three", deserialize_with = "pacers")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = three(), value_parser = clap::value_parser!(u32).range(PACERS)))]
    pub pacers: u32,
}

/// Unit of q-max.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Counts {
    /// Waiting packets: the paper's equation (1)
    #[default]
    Waiting,
    /// Waiting packets and the one in service: the paper's Table II
    WithInService,
}

/// Allowed number of pacers in tandem.
const PACERS: RangeInclusive<i64> = 0..=100;

fn silent() -> Rate {
    Rate::ZERO
}

/// The size of a packet as the paper writes it.
const PACKET: &str = "1000 B";

fn packet_size() -> Bytes {
    PACKET.parse().expect("a size")
}

fn half_second() -> Span {
    Span::from_millis(500)
}

fn counting_window() -> Span {
    Span::from_millis(50)
}

fn three() -> u32 {
    3
}

fn pacers<'de, D: Deserializer<'de>>(value: D) -> Result<u32, D::Error> {
    within(value, PACERS)
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The response constant alpha.
    pub response_per_s: f64,
    /// The given constant rate.
    pub rate_bps: u64,
    /// The steady queue at that rate.
    pub steady_queue_packets: f64,
    /// The steady delay of a fluid at that rate.
    pub steady_delay_s: f64,
    /// The steady delay of packets that come one by one at that rate.
    pub steady_delay_of_packets_s: f64,
    /// Theorem 1's bound on the delay.
    pub bound_s: f64,
    /// Where the bound holds.
    pub bound_holds: &'static str,
    /// How long the last packet of a full queue waits if no more arrive.
    pub emptying_s: f64,
    /// The rate that leaves after a step of the input.
    pub step_response: Vec<StepPoint>,
    /// Of the source, before and after one pacer.
    pub autocovariance: Vec<Lag>,
    /// The coefficient of variation of counts after 0, 1, ... pacers.
    pub variation: Vec<f64>,
}

/// A moment after the input stepped from 0 to the given rate.
#[derive(Clone, Debug, Serialize)]
pub struct StepPoint {
    /// Since the step.
    pub time_s: f64,
    /// Output rate.
    pub rate_bps: f64,
}

/// The autocovariance at one lag, in (bit/s)^2.
#[derive(Clone, Debug, Serialize)]
pub struct Lag {
    /// The lag.
    pub lag_s: f64,
    /// Before the pacer.
    pub input: f64,
    /// After it.
    pub paced: f64,
}

const BOUND_HOLDS: &str = "in steady state, constant rate up to mu_max; an emptying queue waits up to emptying_s";

impl Qlbp {
    /// Answers the question.
    ///
    /// # Errors
    /// Parameters that the formulas do not cover.
    pub fn answer(&self) -> Result<Answer, NoAnswer> {
        let reading = match self.counts {
            Counts::Waiting => Reading::Waiting,
            Counts::WithInService => Reading::WithInService,
        };
        let Qlbp { mu_min, mu_max, q_max, packet, .. } = *self;
        let pacer = Pacer { mu_min, mu_max, q_max, packet, reading };
        let source = OnOff { peak: self.peak.unwrap_or(mu_max), idle: self.idle, burst: self.burst };
        pacer.check().and_then(|()| source.check())?;
        if self.window == Span::ZERO {
            return Err(NoAnswer::Parameter { key: "window", found: "0 s".to_string(), expected: "a time above 0" });
        }
        Ok(self.figures(&pacer, &source))
    }

    fn figures(&self, pacer: &Pacer, source: &OnOff) -> Answer {
        let rate = self.rate.unwrap_or(pacer.mu_max);
        let alpha = pacer.response_per_s();
        // Ten points over five time constants show all of an exponential.
        let times = || (0..=10).map(|i| Span::from_secs_f64(0.5 * f64::from(i) / alpha));
        let step = |t: Span| StepPoint { time_s: t.as_secs_f64(), rate_bps: pacer.step_response_bps(rate, t) };
        let lag = |t: Span| Lag {
            lag_s: t.as_secs_f64(),
            input: source.autocovariance(t),
            paced: source.paced_autocovariance(alpha, t),
        };
        Answer {
            response_per_s: alpha,
            rate_bps: rate.bps(),
            steady_queue_packets: pacer.steady_queue_packets(rate),
            steady_delay_s: pacer.steady_delay_s(rate),
            steady_delay_of_packets_s: pacer.steady_delay_of_packets_s(rate),
            bound_s: pacer.bound_s(),
            bound_holds: BOUND_HOLDS,
            emptying_s: pacer.emptying_s(),
            step_response: times().map(step).collect(),
            autocovariance: times().map(lag).collect(),
            variation: (0..=self.pacers).map(|n| source.variation(alpha, n, self.window)).collect(),
        }
    }
}
