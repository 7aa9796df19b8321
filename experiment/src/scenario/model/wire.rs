//! What a wire does to packets.

use crate::scenario::canonical;
use packetscale_models::units::{Ratio, Span, Time};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Impairments of a wire in addition to delay and loss. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Impairments {
    /// Later packets overtake some packets.
    pub reorder: Option<Reordering>,
    /// Outages (from, to), in order of time. Packets that leave the link in an outage are lost.
    pub outages: Vec<(Time, Time)>,
    /// Changes of the delay (from when, new delay), in order of time. The wire keeps its order: where the delay falls,
    /// packets wait for those that left before them.
    pub delay_steps: Vec<(Time, Span)>,
    /// Delay added to each packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Losses in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<GilbertElliott>,
}

impl Impairments {
    /// Whether packets overtake others.
    pub fn overtakes(&self) -> bool {
        self.reorder.is_some() || self.jitter.as_ref().is_some_and(|jitter| jitter.reorder)
    }
}

/// Packets that arrive late.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reordering {
    /// Probability of being late, independent of all others.
    pub share: Ratio,
    /// Each such packet is delayed by the transmission time of this number of full-size packets. On a busy link, this
    /// number of packets overtakes it.
    pub packets: u64,
}

/// A random delay added to that of the wire, independent for each packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jitter {
    /// Its distribution.
    pub law: JitterLaw,
    /// Whether packets overtake. If not, a packet waits for those that left before it.
    pub reorder: bool,
}

/// A distribution of added delays. None is negative.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JitterLaw {
    /// Uniform from zero to this.
    Uniform(Span),
    /// Normal. A negative draw counts as zero.
    Normal {
        /// Mean.
        mean: Span,
        /// Standard deviation.
        sd: Span,
    },
    /// One of the samples of a file, each with equal probability.
    File {
        /// The file.
        #[serde(serialize_with = "canonical::file::serialize")]
        file: PathBuf,
        /// Its samples. They follow from the file.
        #[serde(skip)]
        samples: Vec<Span>,
    },
}

/// Losses by a chain of two states (E. N. Gilbert, Bell Syst. Tech. J. 39, 1960; E. O. Elliott, 42, 1963). Each packet is
/// lost with the probability of the state; then the state may change. A run begins in the good one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GilbertElliott {
    /// Probability of a change from the good state to the bad one.
    pub p: Ratio,
    /// Probability of a change back.
    pub r: Ratio,
    /// Probability of loss in the good state.
    pub good_loss: Ratio,
    /// Probability of loss in the bad state.
    pub bad_loss: Ratio,
}
