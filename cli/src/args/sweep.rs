//! The arguments of `packetscale sweep`.

use crate::args::{Output, quantity};
use clap::ValueEnum;
use packetscale_models::units::Span;
use std::path::PathBuf;

/// Steps of a sweep in shards.
#[derive(clap::Subcommand)]
pub enum Sweep {
    /// Print the runs of a scenario, one JSON object per line, and the shard of each
    Plan(Plan),
    /// Write the results of a scenario whose runs were made in shards: the same files as from one command
    Merge(Merge),
    /// Make the runs of a scenario in shards, on a batch system or here, and merge them
    Submit(Submit),
}

/// How a plan is divided.
#[derive(clap::Args)]
pub struct Division {
    /// Number of shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub shards: Option<u32>,
    /// Target duration of one shard, as in "20 min"
    #[arg(long, value_name = "TIME", conflicts_with = "shards", value_parser = quantity::positive::<Span>)]
    pub per_shard: Option<Span>,
}

#[derive(clap::Args)]
pub struct Plan {
    /// The scenario, a TOML file
    pub file: PathBuf,
    #[command(flatten)]
    pub division: Division,
    /// Host to run on
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Change a key of the scenario
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(clap::Args)]
pub struct Merge {
    /// Output folder that contains shards/
    pub folder: PathBuf,
    /// Print all columns of the table, not only those that fit 100 characters
    #[arg(long)]
    pub wide: bool,
    /// Write no report
    #[arg(long)]
    pub no_page: bool,
    #[command(flatten)]
    pub output: Output,
}

/// Where the shards are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A job array of SLURM, by sbatch, and a job that merges
    Slurm,
    /// A task array of HyperQueue, by hq
    Hyperqueue,
    /// This machine, shard by shard
    Here,
}

#[derive(clap::Args)]
pub struct Submit {
    /// Where the shards are made
    pub engine: Engine,
    /// The scenario, a TOML file
    pub file: PathBuf,
    #[command(flatten)]
    pub division: Division,
    /// Folder for the results [default: out/ and the scenario's name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
    /// Print the job's script and the command that starts it; start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Number of parallel runs in a shard, and of cores to request [default: 1; here: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Host to run on
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Change a key of the scenario
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Cache finished runs in this folder, and reuse those that are there
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Options for the batch system, as in -- --partition=short --time=30
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
}
