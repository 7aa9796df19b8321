//! Probe streams: sending and recording them, estimating available capacity from them, and scoring estimates against
//! the truth.
//!
//! * [`ProbeStream`]: one stream, its outcome and the truth.
//! * [`ProbeHost`]: sends streams. This module depends on no host; a host fills the record, as it fills the results of a run.
//! * [`recording`]: the CSV file of recorded gaps.
//! * [`captures`]: such a recording from two captures, the sender's and the receiver's.
//! * [`observe`] and [`scores`]: all streams of a plan, judged method by method.
//! * [`search`]: whole searches, in which a method steers the streams that follow.
//!
//! The work is done on the threads of the caller's pool; the results do not depend on their number.

pub mod captures;
mod gaps;
mod host;
mod judge;
mod point;
mod reader;
pub mod recording;
mod score_table;
pub mod search;
mod stream;

pub use host::{ProbeHost, Prober};
pub use judge::{observe, scores};
pub use point::SweepPoint;
pub use reader::Reader;
pub use score_table::score_table;
pub use stream::{ProbePacket, ProbeStream};

use experiment::scenario::Experiment;
use serde_json::Value;
use std::collections::BTreeMap;

/// Swept keys with their values and `method`, and the figures that belong to them.
pub type Scored = (BTreeMap<String, String>, Value);

/// Why streams cannot be sent or judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbingError {
    /// A method that does not exist or does not fit; the caller adds where it was written.
    #[error("{0}")]
    Method(String),
    /// The host could not send the streams, or the scenario has none.
    #[error("{0}")]
    Sending(String),
}

/// Whether the streams of a plan follow from each other.
pub fn searches(plan: &[Experiment]) -> bool {
    plan.iter().all(|experiment| experiment.probe.is_some_and(|probe| probe.search.is_some()))
}

/// Sends the streams of a plan and judges these methods, with the replications of the plan.
///
/// # Errors
/// A method that is not known, or a host that cannot send.
pub fn judge(host: &dyn ProbeHost, plan: &[Experiment], methods: &[String]) -> Result<Vec<Scored>, ProbingError> {
    let readers = methods.iter().map(|text| Reader::named(text)).collect::<Result<Vec<Reader>, _>>()?;
    match searches(plan) {
        true => Ok(search::scores(&search::all(host, plan, methods)?)),
        false => Ok(scores(&observe(host, plan)?, &readers)),
    }
}
