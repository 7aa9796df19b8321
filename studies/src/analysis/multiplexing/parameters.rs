//! Parameters with their own syntax.

use packetscale_models::theory::multiplexing::Arrivals;
use packetscale_models::units::Packets;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// How flows arrive: `uniform`, `exponential`, `phases`, or `pareto:INDEX`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivalLaw(pub Arrivals);

const EXPECTED_ARRIVALS: &str = "expected uniform, exponential, phases, or pareto with an index as in pareto:2.1";

impl Default for ArrivalLaw {
    fn default() -> ArrivalLaw {
        ArrivalLaw(Arrivals::Phases)
    }
}

impl FromStr for ArrivalLaw {
    type Err = String;

    fn from_str(text: &str) -> Result<ArrivalLaw, String> {
        let arrivals = match text.split_once(':') {
            None if text == "uniform" => Arrivals::Uniform,
            None if text == "exponential" => Arrivals::Exponential,
            None if text == "phases" => Arrivals::Phases,
            Some(("pareto", index)) => Arrivals::Pareto(index.parse().map_err(|_| EXPECTED_ARRIVALS.to_string())?),
            _ => return Err(EXPECTED_ARRIVALS.to_string()),
        };
        Ok(ArrivalLaw(arrivals))
    }
}

impl fmt::Display for ArrivalLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Arrivals::Uniform => f.write_str("uniform"),
            Arrivals::Exponential => f.write_str("exponential"),
            Arrivals::Phases => f.write_str("phases"),
            Arrivals::Pareto(index) => write!(f, "pareto:{index}"),
        }
    }
}

/// Packets that the buffer holds with the one in service; `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer(pub Option<u32>);

const UNLIMITED: &str = "unlimited";

impl FromStr for Buffer {
    type Err = String;

    fn from_str(text: &str) -> Result<Buffer, String> {
        if text == UNLIMITED {
            return Ok(Buffer(None));
        }
        let count = match text.parse::<Packets>() {
            Ok(packets) => u32::try_from(packets.get()).ok(),
            Err(_) => text.parse().ok(),
        };
        count.map(|packets| Buffer(Some(packets))).ok_or_else(|| "expected packets, as in 20, or unlimited".to_string())
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(packets) => write!(f, "{packets} packets"),
            None => f.write_str(UNLIMITED),
        }
    }
}

/// A number of packets, or the word.
impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(packets) => serializer.serialize_u32(packets),
            None => serializer.serialize_str(UNLIMITED),
        }
    }
}

/// The share of packets that may be lost, from 0 to below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossTarget(pub f64);

impl FromStr for LossTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<LossTarget, String> {
        match text.parse() {
            Ok(ratio) if (0.0..1.0).contains(&ratio) => Ok(LossTarget(ratio)),
            _ => Err("expected a ratio, as in 0.01 for 1 %".to_string()),
        }
    }
}
