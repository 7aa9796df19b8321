//! The questions of `packetscale theory`.

use clap::{Args, Subcommand};
use studies::analysis::burstiness::Burstiness;
use studies::analysis::multiplexing::Multiplexing;
use studies::analysis::qlbp::Qlbp;
use studies::analysis::rapid::Rapid;
use studies::analysis::tdqm::Tdqm;

/// What the theory can be asked.
#[derive(Subcommand)]
pub enum Theory {
    /// One Rapid flow against periodic on-off cross traffic: throughput, queue, stability
    Burstiness(Asked<Burstiness>),
    /// Many flows of constant rate on one link: the least queue and loss, and the buffer or load for a loss
    Multiplexing(Asked<Multiplexing>),
    /// A queue-length based pacer: delay, response, and how much smoother traffic leaves
    Qlbp(Asked<Qlbp>),
    /// Equal flows of Rapid on one path: where they rest, whether they swing, and how a queue drains
    Rapid(Asked<Rapid>),
    /// The burstiness that a TDQM queue sees in Poisson traffic
    Tdqm(Asked<Tdqm>),
}

/// A question, and how its answer is printed.
#[derive(Args)]
pub struct Asked<Q: Args> {
    #[command(flatten)]
    pub question: Q,
    /// Print one JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
}
