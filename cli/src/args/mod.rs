//! The arguments of the command. Their doc comments are its help texts. They know no command.

pub mod estimate;
pub mod judge;
#[cfg(target_os = "linux")]
pub mod live;
pub mod new;
pub mod reproduce;
pub mod run;
pub mod sweep;
#[cfg(feature = "kernel")]
pub mod tcp;
pub mod theory;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use harness::runner::Host;
use packetscale_models::units::Span;
use std::path::PathBuf;

/// Controls network traffic at the scale of single packets: experiments from scenario files.
#[derive(Parser)]
#[command(name = "packetscale", version, long_version = env!("PACKETSCALE_VERSION"), max_term_width = 100, after_help = AFTER)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER: &str = "Exit codes: 0 done, 1 an expectation was missed, 2 the input or an argument is wrong, 3 this \
machine cannot do it, 130 ended by Ctrl-C or SIGTERM. NO_COLOR turns colours off.";

/// The command, with these hosts to choose from.
pub fn command(hosts: &[&dyn Host]) -> clap::Command {
    let known: Vec<PossibleValue> =
        hosts.iter().map(|host| PossibleValue::new(host.name()).help(host.summary())).collect();
    let first = hosts.first().map(|host| host.name());
    let on =
        |on: clap::Arg| on.value_parser(PossibleValuesParser::new(known.clone())).default_value(first).required(false);
    let chooses = ["run", "plan", "submit"];
    chooses.iter().fold(Arguments::command(), |all, name| all.mut_subcommand(name, |one| one.mut_arg("on", on)))
}

#[derive(Subcommand)]
pub enum Command {
    /// Runs a scenario, prints a table of results, and writes data files and an interactive report
    Run(run::Run),
    /// Prints the runs of a scenario, one JSON object per line, and how shards divide them
    Plan(sweep::Plan),
    /// Writes the results of a scenario whose runs were made in shards: the same files as from one command
    Merge(sweep::Merge),
    /// Makes the runs of a scenario in shards, by a batch system or here, and merges them
    Submit(sweep::Submit),
    /// Writes a commented scenario to begin with
    Init(new::Init),
    /// Writes a controller of your own to begin with, in C, Rust or Python; nothing of packetscale has to be built
    #[command(subcommand)]
    New(new::New),
    /// Reproduces the figures of papers, and shows published values beside ours in a table and in reports
    Reproduce(reproduce::Reproduce),
    /// Evaluates a controller by RFC 9743, beside cubic and bbr, and writes one page under the RFC's headings
    Evaluate(judge::Evaluate),
    /// Runs every controller beside every other, and draws shares, losses and queues as heat maps
    Matrix(judge::Matrix),
    /// Searches the path on which a controller does worst against another one, and writes it as a scenario
    Attack(judge::Attack),
    /// Makes the report of finished runs again, or one report that lays several results over each other
    Report(Report),
    /// Lists the names that scenarios and methods can use, and the papers
    List {
        /// What to list
        what: Listed,
        /// Shared objects with controllers of your own, to list behind the others
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Prints one JSON list: names, what they are, settings with their defaults
        #[arg(long)]
        json: bool,
    },
    /// Computes results from closed forms and exact methods, without a simulation
    #[command(subcommand)]
    Theory(theory::Theory),
    /// Loads, unloads and observes Rapid in this machine's Linux TCP
    #[cfg(feature = "kernel")]
    #[command(subcommand)]
    Tcp(tcp::Tcp),
    /// Fetches what runs in virtual time need; lists and removes it
    #[cfg(feature = "kernel")]
    Fetch {
        /// What to fetch
        #[command(subcommand)]
        what: Fetched,
    },
    /// The first process of an emulated machine
    #[cfg(feature = "kernel")]
    #[command(hide = true)]
    Guest,
    /// Estimates the available bandwidth from each recorded probe stream
    Estimate(estimate::Estimate),
    /// Asks a server how much of the path to it, or from it, is free
    #[cfg(target_os = "linux")]
    Probe(live::Probe),
    /// Answers probes of other machines, until Ctrl-C or SIGTERM
    #[cfg(target_os = "linux")]
    Serve(live::Serve),
    /// Sends a file, or standard input, to a receiver; sent again, it goes on where it was
    #[cfg(target_os = "linux")]
    Send(live::Send),
    /// Takes files that others send into a directory, until Ctrl-C or SIGTERM
    #[cfg(target_os = "linux")]
    Receive(live::Receive),
    /// Shows what this machine can do, what will be skipped, and why; measures for a second which gaps it can make
    Doctor {
        /// Prints one JSON object, and nothing else, on standard output
        #[arg(long)]
        json: bool,
    },
    /// Prints the completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, in the format of man
    Man {
        /// Writes a page for each subcommand into this folder instead
        #[arg(long, value_name = "DIR")]
        pages: Option<PathBuf>,
    },
}

fn time(text: &str) -> Result<Span, String> {
    text.parse().map_err(|_| "expected a time, as in \"20 min\"".to_string())
}

#[derive(clap::Args)]
pub struct Report {
    /// Folders that `packetscale run` wrote
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// The page (.html), or a folder for it [default: DIR/report.html for one folder, out/report.html for several]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What can be fetched.
#[cfg(feature = "kernel")]
#[derive(Subcommand)]
pub enum Fetched {
    /// A Linux kernel of Debian's, without installing it
    Kernel {
        /// Its version, as in 6.12
        version: String,
    },
    /// Lists the kernels that were fetched, and the machines that were made from them, with their sizes
    List,
    /// Removes machines that this build of the command has no use for; kernels stay
    Clean,
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
    /// Papers and their figures
    Papers,
    /// Examples of scenarios that come with packetscale
    Scenarios,
    /// Ways to read an available bandwidth from a probe stream
    Estimators,
    /// Ways to make a probe stream readable
    Denoisers,
}
