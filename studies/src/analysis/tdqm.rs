//! The burstiness that a TDQM queue sees in Poisson traffic ([`packetscale_models::theory::tdqm`]).

use crate::analysis::NoAnswer;
use crate::analysis::reading::within;
use packetscale_models::theory::Error;
use packetscale_models::theory::tdqm::{
    eta_accumulated, eta_of_length, eta_per_packet, eta_per_period, length_probability,
};
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::RangeInclusive;

/// The question. Its fields are documented as the command shows them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Tdqm {
    /// Load of Poisson traffic with equal packets, above 0 and below 1
    #[cfg_attr(feature = "clap", arg(long, value_name = "RHO"))]
    pub load: f64,
    /// Busy time that is accumulated before eta is taken, in packet times
    #[serde(default = "thousand")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "PACKETS", default_value_t = thousand()))]
    pub accumulate: f64,
    /// Lengths of busy periods to list
    #[serde(default = "ten", deserialize_with = "lengths")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = ten(), value_parser = clap::value_parser!(u32).range(LENGTHS)))]
    pub lengths: u32,
}

/// Allowed lengths of busy periods.
const LENGTHS: RangeInclusive<i64> = 1..=1_000_000;

fn thousand() -> f64 {
    1000.0
}

fn ten() -> u32 {
    10
}

fn lengths<'de, D: Deserializer<'de>>(value: D) -> Result<u32, D::Error> {
    within(value, LENGTHS)
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The given load.
    pub load: f64,
    /// The mean eta over busy periods.
    pub eta_per_period: f64,
    /// The mean eta over packets: each busy period counts as often as it has packets.
    pub eta_per_packet: f64,
    /// Busy time that is accumulated before eta is taken.
    pub accumulated_packet_times: f64,
    /// The eta of accumulated busy periods; none with too few of them.
    pub eta_accumulated: Option<f64>,
    /// Busy periods by length.
    pub lengths: Vec<Length>,
}

/// Busy periods of one length.
#[derive(Clone, Debug, Serialize)]
pub struct Length {
    /// The length.
    pub packets: u32,
    /// Share of all busy periods.
    pub probability: f64,
    /// Their mean eta.
    pub eta: f64,
    /// The same without the packet in service.
    pub eta_waiting_only: f64,
    /// The least eta of that length.
    pub eta_least: f64,
}

impl Tdqm {
    /// Answers the question.
    ///
    /// # Errors
    /// A load outside of (0, 1), or no time to accumulate.
    pub fn answer(&self) -> Result<Answer, NoAnswer> {
        if !(self.accumulate > 0.0 && self.accumulate.is_finite()) {
            let found = self.accumulate.to_string();
            return Err(NoAnswer::Parameter { key: "accumulate", found, expected: "packet times above 0" });
        }
        Ok(self.figures()?)
    }

    fn figures(&self) -> Result<Answer, Error> {
        let load = self.load;
        let length = |packets| {
            let (eta, one) = (eta_of_length(packets)?, 1.0 / f64::from(packets));
            let probability = length_probability(packets, load)?;
            Ok(Length { packets, probability, eta, eta_waiting_only: eta - one, eta_least: one })
        };
        Ok(Answer {
            load,
            eta_per_period: eta_per_period(load)?,
            eta_per_packet: eta_per_packet(load)?,
            accumulated_packet_times: self.accumulate,
            eta_accumulated: eta_accumulated(load, self.accumulate)?,
            lengths: (1..=self.lengths).map(length).collect::<Result<_, Error>>()?,
        })
    }
}
