//! The arguments of what divides a plan among commands.

use crate::args::Output;
use clap::ValueEnum;
use packetscale_models::units::Span;
use std::path::PathBuf;

/// What is done with a plan and its shards.
#[derive(clap::Subcommand)]
pub enum Sweep {
    /// Print the runs of a scenario, one JSON object per line, and the shard of each
    Plan(Plan),
    /// Write the results of a scenario whose runs were made in shards: the same files as from one command
    Merge(Merge),
    /// Make the runs of a scenario in shards, on a batch system or here, and merge them
    Submit(Submit),
}

/// Into how many shards a plan is divided.
#[derive(clap::Args)]
pub struct Division {
    /// Number of shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub shards: Option<u32>,
    /// Time of a shard, as in "20 min": as many shards as take about so long each
    #[arg(long, value_name = "TIME", conflicts_with = "shards")]
    pub per_shard: Option<Span>,
}

#[derive(clap::Args)]
pub struct Plan {
    /// The scenario, a TOML file
    pub file: PathBuf,
    #[command(flatten)]
    pub division: Division,
    /// Where it would run
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Changes a key of the scenario
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(clap::Args)]
pub struct Merge {
    /// The folder whose folder shards/ holds the shards
    pub folder: PathBuf,
    /// Writes no report
    #[arg(long)]
    pub no_page: bool,
    #[command(flatten)]
    pub output: Output,
}

/// What makes the shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A job array of SLURM, by sbatch, and a job that merges
    Slurm,
    /// A task array of HyperQueue, by hq
    Hyperqueue,
    /// This machine, one shard after the other
    Here,
}

#[derive(clap::Args)]
pub struct Submit {
    /// What makes the shards
    pub engine: Engine,
    /// The scenario, a TOML file
    pub file: PathBuf,
    #[command(flatten)]
    pub division: Division,
    /// Where results go [default: out/ and the scenario's name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Prints the job's script, and how it would be started
    #[arg(long)]
    pub dry_run: bool,
    /// Runs at the same time in a shard, and the cores that it asks for [default: 1; here: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Where it runs
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Changes a key of the scenario
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Takes runs that lie in this folder from there, and puts those that are made there
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Options for the batch system, as in -- --partition=short --time=30
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
}
