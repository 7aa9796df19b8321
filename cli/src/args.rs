//! What the command understands.

use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Controls network traffic at the scale of single packets: experiments from scenario files.
#[derive(Parser)]
#[command(name = "packetscale", version, max_term_width = 100, after_help = AFTER)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER: &str = "Exit codes: 0 done, 1 an expectation was missed, 2 the input is wrong, 3 this machine cannot do \
it. NO_COLOR turns colours off.";

#[derive(Subcommand)]
pub enum Command {
    /// Runs a scenario, prints its table, and writes data and a page with pictures
    Run(Run),
    /// Lists what scenarios can name
    List {
        /// What to list
        what: Listed,
    },
    /// Answers from closed forms and exact methods, without a simulation
    #[command(subcommand)]
    Theory(crate::theory::Theory),
    /// Says what this machine can do, what will be skipped, and why
    Doctor,
    /// Prints the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, in the format of man
    Man,
}

#[derive(clap::Args)]
pub struct Run {
    /// The scenario, a TOML file
    pub file: PathBuf,
    /// Where it runs
    #[arg(long, value_name = "HOST", default_value = "simulator")]
    pub on: On,
    /// Where results go [default: out/ and the scenario's name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Changes a key of the scenario, as in path.rate="10 Gbit/s" or flow.0.count=4
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Runs at the same time; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Prints the resolved scenario and runs nothing
    #[arg(long)]
    pub print: bool,
    /// Writes no page
    #[arg(long)]
    pub no_page: bool,
}

/// Where a scenario runs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// Virtual time
    Simulator,
    /// Real Linux TCP
    Kernel,
}

/// What can be listed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Listed {
    /// Congestion controllers and their settings
    Controllers,
    /// Queue disciplines
    Queues,
    /// Kinds of traffic
    Traffic,
}
