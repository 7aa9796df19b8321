//! The arguments of the command. Their doc comments are its help texts. They know no command.

pub mod estimate;
pub mod judge;
#[cfg(target_os = "linux")]
pub mod live;
pub mod new;
#[cfg(feature = "kernel")]
pub mod qdisc;
#[cfg_attr(not(all(target_os = "linux", feature = "kernel")), allow(dead_code))]
pub mod quantity;
pub mod reproduce;
pub mod run;
pub mod sweep;
#[cfg(feature = "kernel")]
pub mod tcp;
pub mod theory;

use crate::program::PROGRAM;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use harness::runner::{Host, Progress, Runner};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Control network traffic at the scale of single packets: experiments from scenario files
#[derive(Parser)]
#[command(name = "packetscale", version, long_version = env!("PACKETSCALE_VERSION"), max_term_width = 100, after_help = after())]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// The codes with which the command ends, and what they mean.
pub const EXIT_CODES: [(u8, &str); 5] = [
    (0, "done"),
    (1, "an expectation was missed"),
    (2, "the input or an argument is wrong"),
    (3, "this machine cannot do it: as on a full disk"),
    (130, "ended by Ctrl-C or SIGTERM"),
];

/// The end of the help.
fn after() -> String {
    let codes: Vec<String> = EXIT_CODES.iter().map(|(code, meaning)| format!("{code} {meaning}")).collect();
    format!(
        "Exit codes: {}. NO_COLOR turns colours off.\n\nShell completions: packetscale completions SHELL. Manual pages: \
         packetscale man --pages DIR.",
        codes.join(", ")
    )
}

/// The command, with these hosts to choose from.
pub fn command(hosts: &[&dyn Host]) -> clap::Command {
    // Names in results that are other words on the command line go in 0.3.
    let value = |host: &&dyn Host| PossibleValue::new(host.word()).alias(host.name()).help(host.summary());
    let all: Vec<PossibleValue> = hosts.iter().map(value).collect();
    // Runs over a real path need its far end, which only `run` can name.
    let without_path: Vec<PossibleValue> = hosts.iter().filter(|host| host.word() != OVER_A_PATH).map(value).collect();
    let first = hosts.first().map_or("", |host| host.word());
    let of_hosts = |known: &[PossibleValue]| HostParser(PossibleValuesParser::new(known.to_vec()));
    let on = |one: clap::Command, known: &[PossibleValue]| {
        one.mut_arg("on", |on| {
            let help = on.get_help().cloned().unwrap_or_default();
            on.value_parser(of_hosts(known)).help(format!("{help} [default: {first}]"))
        })
    };
    let sweeps = |one: clap::Command| on(one, &without_path);
    let attack = |one: clap::Command| {
        one.mut_arg("on", |on| on.value_parser(of_hosts(&without_path)))
            .mut_arg("jobs", |jobs| jobs.help(JOBS_OF_ATTACK))
    };
    Arguments::command()
        .mut_subcommand("run", |run| on(run, &all))
        .mut_subcommand("sweep", |sweep| sweep.mut_subcommand("plan", sweeps).mut_subcommand("submit", sweeps))
        .mut_subcommand("judge", |judge| judge.mut_subcommand("attack", attack))
        .mut_subcommand("theory", |theory| theory.mut_subcommands(|question| question.mut_args(with_sign)))
}

/// Takes `-20 ms` as a wrong value of this argument, not as another argument.
fn with_sign(argument: clap::Arg) -> clap::Arg {
    let takes_value = argument.get_action().takes_values();
    argument.allow_hyphen_values(takes_value)
}

/// The host of runs over the path to a server.
pub const OVER_A_PATH: &str = "live";
/// How long a search goes on depends on the machine, unless the paths are counted.
const JOBS_OF_ATTACK: &str =
    "Number of parallel runs; with --evaluations results do not depend on it [default: one per core]";

/// Reads the word of a host; of a kernel that is not here it says how to get it.
#[derive(Clone)]
struct HostParser(PossibleValuesParser);

impl TypedValueParser for HostParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let refused = match self.0.parse_ref(command, argument, value) {
            Err(refused) => refused,
            parsed => return parsed,
        };
        let version = value.to_str().and_then(|word| word.strip_prefix("linux-"));
        let version = version.filter(|version| version.split('.').all(|part| part.parse::<u16>().is_ok()));
        Err(match version.filter(|_| cfg!(feature = "kernel")) {
            Some(version) => clap::Error::raw(
                ErrorKind::InvalidValue,
                format!(
                    "--on: found linux-{version}, which is not here; expected a host, or first `packetscale fetch kernel {version}`\n"
                ),
            ),
            None => refused,
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a scenario: print a table of results, write data files and an interactive report
    Run(run::Run),
    /// Run a scenario in shards, on a batch system or here, and merge them
    #[command(subcommand)]
    Sweep(sweep::Sweep),
    /// Write a scenario or a controller to begin with
    #[command(subcommand)]
    New(new::New),
    /// Reproduce figures of papers: published values next to ours, in a table and in reports
    Reproduce(reproduce::Reproduce),
    /// Judge controllers: by RFC 9743, against each other, on the paths where they do worst
    #[command(subcommand)]
    Judge(judge::Judge),
    /// Write the report of finished runs again, or one report that compares several results
    Report(Report),
    /// List the names that scenarios and methods can use, and the papers
    List {
        /// What to list
        what: Listed,
        /// Shared objects with controllers of your own, to list after the others
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print one JSON list: names, summaries, settings with their defaults
        #[arg(long)]
        json: bool,
    },
    /// Compute results from closed forms and exact methods, without a simulation
    #[command(subcommand)]
    Theory(theory::Theory),
    /// Load, unload and observe Rapid in this machine's Linux TCP, or a queue discipline of a paper on a device
    #[cfg(feature = "kernel")]
    #[command(subcommand)]
    Tcp(tcp::Tcp),
    /// Download and manage kernels for virtual-time runs
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
    /// Estimate the available bandwidth from each recorded probe stream
    Estimate(estimate::Estimate),
    /// Measure a real path to another machine, or send files over it
    #[cfg(target_os = "linux")]
    #[command(subcommand)]
    Live(live::Live),
    /// Show what this machine can do, what it will skip, and why; measure for a second which gaps it can make
    Doctor {
        /// Print one JSON object on standard output, nothing else
        #[arg(long)]
        json: bool,
    },
    /// Print the completion script for a shell
    #[command(hide = true)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in the format of man
    #[command(hide = true)]
    Man {
        /// Write a page for each subcommand into this folder instead
        #[arg(long, value_name = "DIR")]
        pages: Option<PathBuf>,
        /// Overwrite pages that are there
        #[arg(long, requires = "pages")]
        replace: bool,
    },
}

/// What may happen to earlier output.
#[derive(clap::Args)]
pub struct Output {
    // `--force` goes in 0.3.
    /// Overwrite earlier output: results, cached runs, captures, files
    #[arg(long, alias = "force")]
    pub replace: bool,
}

/// How runs are made, and what is printed of them.
#[derive(clap::Args)]
pub struct Making {
    #[command(flatten)]
    pub output: Output,
    /// Print one JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
    /// Number of parallel runs; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

impl Making {
    /// What makes the runs so.
    pub fn runner<'a>(&self, host: &'a dyn Host, progress: &'a dyn Progress) -> Runner<'a> {
        Runner { host, program: &PROGRAM, jobs: self.jobs, replace: self.output.replace, progress }
    }
}

#[derive(clap::Args)]
pub struct Report {
    /// Output folders of `packetscale run`
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// The page (.html), or a folder for it [default: DIR/report.html for one folder, out/report.html for several]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

/// What can be fetched.
#[cfg(feature = "kernel")]
#[derive(Subcommand)]
pub enum Fetched {
    /// Download a Debian kernel, without installing it
    Kernel {
        /// Its version, as in 6.12
        version: String,
    },
    /// List fetched kernels and the machines made from them, with their sizes
    List,
    /// Remove machines that this build does not use; keep kernels
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
