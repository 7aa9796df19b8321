//! The arguments of the command. Their doc comments are its help texts.

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
    Run(Run),
    /// Prints the runs of a scenario, one JSON object per line, and how shards divide them
    Plan(Plan),
    /// Writes the results of a scenario whose runs were made in shards: the same files as from one command
    Merge(Merge),
    /// Makes the runs of a scenario in shards, by a batch system or here, and merges them
    Submit(Submit),
    /// Writes a commented scenario to begin with
    Init(Init),
    /// Writes a controller of your own to begin with, in C, Rust or Python; nothing of packetscale has to be built
    #[command(subcommand)]
    New(New),
    /// Reproduces the figures of papers, and shows published values beside ours in a table and in reports
    Reproduce(Reproduce),
    /// Evaluates a controller by RFC 9743, beside cubic and bbr, and writes one page under the RFC's headings
    Evaluate(Evaluate),
    /// Runs every controller beside every other, and draws shares, losses and queues as heat maps
    Matrix(Matrix),
    /// Searches the path on which a controller does worst against another one, and writes it as a scenario
    Attack(Attack),
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
    Theory(crate::theory::Theory),
    /// Loads, unloads and observes Rapid in this machine's Linux TCP
    #[cfg(feature = "kernel")]
    #[command(subcommand)]
    Tcp(crate::tcp::Tcp),
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
    Estimate(Estimate),
    /// Asks a server how much of the path to it, or from it, is free
    #[cfg(target_os = "linux")]
    Probe(crate::probe::Probe),
    /// Answers probes of other machines, until Ctrl-C or SIGTERM
    #[cfg(target_os = "linux")]
    Serve(crate::serve::Serve),
    /// Sends a file, or standard input, to a receiver; sent again, it goes on where it was
    #[cfg(target_os = "linux")]
    Send(crate::send::Send),
    /// Takes files that others send into a directory, until Ctrl-C or SIGTERM
    #[cfg(target_os = "linux")]
    Receive(crate::receive::Receive),
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

/// Which time passes in the runs of a real kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Clock {
    /// This machine's kernel, in real time
    Real,
    /// A kernel inside an emulated machine, in virtual time
    Virtual,
}

#[derive(clap::Args)]
pub struct Run {
    /// The scenario, a TOML file
    pub file: PathBuf,
    /// Where it runs
    #[arg(long, value_name = "HOST")]
    pub on: String,
    /// With --on live: where `packetscale serve` runs, as in example.org or [2001:db8::1]:7470
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "HOST[:PORT]")]
    pub to: Option<String>,
    /// With --to: the server's key file; the key of the lowest id is used
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "FILE", requires = "to")]
    pub key: Option<PathBuf>,
    /// With --on kernel: which time passes
    #[arg(long, value_name = "CLOCK", default_value = "real")]
    pub clock: Clock,
    /// With --on kernel --clock virtual: a kernel of your own, bzImage
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// With --kernel: the folder with its modules
    #[arg(long, value_name = "DIR", requires = "kernel")]
    pub modules: Option<PathBuf>,
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
    /// Writes no report
    #[arg(long)]
    pub no_page: bool,
    /// Replaces results of another scenario, and kept runs of another plan, that lie in the folder; and what lies under
    /// the names of captures
    #[arg(long)]
    pub replace: bool,
    /// Also writes every packet that leaves the measured link to this file, for traffic of kind "trace". The scenario
    /// must plan exactly one run
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Also writes a capture of the flows at their senders, pcapng, for Wireshark, tshark and tcptrace. A plan of several
    /// runs needs {run} in the name, where the run's number goes
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Also writes a trace of flows and links, JSON, for ui.perfetto.dev: counters, and slices of recoveries, probe
    /// streams and outages. {run} as with --pcap
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Also writes a folder of qlog files, one per flow, for qvis; with every packet if the scenario says
    /// record.packets = true. {run} as with --pcap
    #[arg(long, value_name = "DIR")]
    pub qlog: Option<PathBuf>,
    /// Makes only this shard of the plan, into DIR/shards/K.ndjson; `packetscale merge DIR` makes results of all. With
    /// task/N the batch system says which: SLURM_ARRAY_TASK_ID or HQ_TASK_ID
    #[arg(long, value_name = "K/N", conflicts_with_all = ["print", "json", "trace", "pcap", "perfetto", "qlog"])]
    pub shard: Option<String>,
    /// Takes runs that lie in this folder from there, and puts those that are made there
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// Into how many shards a plan is divided.
#[derive(clap::Args)]
pub struct Division {
    /// Number of shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub shards: Option<u32>,
    /// Time of a shard, as in "20 min": as many shards as take about so long each
    #[arg(long, value_name = "TIME", conflicts_with = "shards", value_parser = time)]
    pub per_shard: Option<Span>,
}

fn time(text: &str) -> Result<Span, String> {
    text.parse().map_err(|_| "expected a time, as in \"20 min\"".to_string())
}

#[derive(clap::Args)]
pub struct Plan {
    /// The scenario, a TOML file
    pub file: PathBuf,
    #[command(flatten)]
    pub division: Division,
    /// Where it would run
    #[arg(long, value_name = "HOST")]
    pub on: String,
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
    /// Replaces results of another scenario that lie in the folder
    #[arg(long)]
    pub replace: bool,
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
    pub on: String,
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

#[derive(clap::Subcommand)]
pub enum New {
    /// A congestion controller, its scenario, and what compiles it
    Controller(NewController),
}

#[derive(clap::Args)]
pub struct NewController {
    /// Name of the controller, and of the folder that is written
    pub name: String,
    /// What it is written in
    #[arg(long, value_enum, default_value_t = Language::C)]
    pub language: Language,
}

/// What a controller is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// C, compiled by cc
    C,
    /// Rust, compiled by cargo
    Rust,
    /// Python, run by the Python module
    Python,
}

#[derive(clap::Args)]
pub struct Init {
    /// Name of the scenario: NAME.toml is written, in a folder if NAME says so
    #[arg(default_value = "scenario")]
    pub name: String,
    /// Overwrites a file of this name
    #[arg(long)]
    pub force: bool,
}

#[derive(clap::Args)]
pub struct Reproduce {
    /// A paper or one of its figures, as `packetscale list papers` names them, or a path [default: all papers]
    #[arg(value_name = "PAPER[/FIGURE]", conflicts_with_all = ["all", "scoreboard"])]
    pub what: Option<String>,
    /// The short form: fewer and shorter runs
    #[arg(long, conflicts_with_all = ["all", "store", "scoreboard"])]
    pub quick: bool,
    /// Runs all papers and stores the outcomes; leaves out figures whose outcomes stand, since neither they nor the code
    /// that decides what they find has changed
    #[arg(long, conflicts_with = "scoreboard")]
    pub all: bool,
    /// File of outcomes: the lines of the figures that are run are replaced [default with --all and --scoreboard:
    /// papers/outcomes.ndjson]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Repeats the figures: adds this to the seed of every run, and stores what is found beside the outcomes, for the
    /// scoreboard [default of --store: papers/repeated.ndjson]
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["quick", "scoreboard", "explain"], value_parser = clap::value_parser!(u64).range(1..))]
    pub reseed: Option<u64>,
    /// Prints the page of the stored outcomes, and runs nothing
    #[arg(long)]
    pub scoreboard: bool,
    /// Runs the figures that name a run for why ours differs, and says of each miss whether that run shows it
    #[arg(long, conflicts_with_all = ["all", "store", "scoreboard", "json"])]
    pub explain: bool,
    /// Folder for the pages and data
    #[arg(long, value_name = "DIR", default_value = "out/papers")]
    pub out: PathBuf,
    /// Replaces kept runs of another plan that lie in the folder
    #[arg(long)]
    pub replace: bool,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Runs at the same time; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

#[derive(clap::Args)]
pub struct Evaluate {
    /// A controller, as `packetscale list controllers` names it, or with settings: '{ kind = "rapid-thesis", tau = "10 ms" }', or a file: mine.so
    pub controller: String,
    /// The short form: fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Answers only the sections of the RFC whose number begins with this, as in 5.1 or 7.7
    #[arg(long, value_name = "SECTION")]
    pub only: Option<String>,
    /// Folder for the page and its data [default: out/evaluate/ and the controller's name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replaces an evaluation or kept runs of another plan that lie in the folder
    #[arg(long)]
    pub replace: bool,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Runs at the same time; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

#[derive(clap::Args)]
pub struct Matrix {
    /// Controllers, as `packetscale list controllers` names them, or with settings: '{ kind = "rapid-thesis", tau = "10 ms" }', or a file: mine.so
    /// [default: all]
    #[arg(value_name = "CONTROLLER")]
    pub controllers: Vec<String>,
    /// The short form: fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Only these settings, of prudentia-8mbps, prudentia-50mbps and shallow-100mbps, with commas between [default: all]
    #[arg(long, value_name = "SETTING", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Folder for the page and its data
    #[arg(long, value_name = "DIR", default_value = "out/matrix")]
    pub out: PathBuf,
    /// Replaces a matrix or kept runs of another plan that lie in the folder
    #[arg(long)]
    pub replace: bool,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Runs at the same time; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
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

#[derive(clap::Args)]
pub struct Estimate {
    /// A CSV file with the columns stream_id, pkt, send_gap_ns, recv_gap_ns, size_bytes and, optionally, acked; - is
    /// standard input
    #[arg(required_unless_present = "from_simulator", conflicts_with = "from_simulator")]
    pub file: Option<PathBuf>,
    /// With a second file both are captures, pcap or pcapng, of the same packets: the sender's, then the receiver's
    #[arg(conflicts_with = "from_simulator")]
    pub received: Option<PathBuf>,
    /// With two captures: the most packets of a stream; a pause in sending ends one, too
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(2..=4096))]
    pub packets: u16,
    /// Denoisers and an estimator, as in bass+multi-rate or "bass(head=drop)+receive-rate"; with --from-simulator, may
    /// be repeated [default: combined]
    #[arg(long, value_name = "METHOD")]
    pub method: Vec<String>,
    /// Sends the probe streams of this scenario (its table [probe]) through the simulator, compares the methods with
    /// the true available bandwidth, and writes the streams as CSV
    #[arg(long, value_name = "SCENARIO")]
    pub from_simulator: Option<PathBuf>,
    /// With --from-simulator: folder for the recording and the page [default: out/ and the scenario's name]
    #[arg(long, value_name = "DIR", requires = "from_simulator")]
    pub out: Option<PathBuf>,
    /// With --from-simulator: changes a key of the scenario
    #[arg(long, value_name = "KEY=VALUE", requires = "from_simulator")]
    pub set: Vec<String>,
    /// With --from-simulator: runs at the same time; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", requires = "from_simulator", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
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

#[derive(clap::Args)]
pub struct Attack {
    /// A controller, as `packetscale list controllers` names it, or with settings: '{ kind = "rapid-thesis", tau = "10 ms" }', or a file: mine.so
    pub controller: String,
    /// What it is compared with: another controller, or "bound", what others leave of the path [default: cubic; of cubic itself: bound]
    #[arg(long, value_name = "CONTROLLER")]
    pub against: Option<String>,
    /// What is compared
    #[arg(long, default_value = "share", value_parser = PossibleValuesParser::new(studies::attack::Figure::ALL.map(studies::attack::Figure::name)))]
    pub figure: String,
    /// Time in all, as in "10 min"; a quarter of it makes findings simpler [default: 10 min]
    #[arg(long, value_name = "TIME", conflicts_with = "evaluations", value_parser = time)]
    pub budget: Option<Span>,
    /// Paths to judge instead: the same number and seed find the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub evaluations: Option<u64>,
    /// The seed of the search and of its runs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Tries each finding on this host, too, with its first seed
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Folder for the findings [default: out/attack/ and what is attacked]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Runs at the same time; with --evaluations the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}
