//! The arguments of `packetscale run`.

use crate::args::Output;
use std::path::PathBuf;

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
    pub on: Option<String>,
    /// With --on live: where `packetscale live serve` runs, as in example.org or [2001:db8::1]:7470
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "HOST[:PORT]")]
    pub to: Option<String>,
    /// With --to: the server's key file; the key of the lowest id is used
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "FILE", requires = "to")]
    pub key: Option<PathBuf>,
    // `--on kernel --clock virtual` is `--on linux-6.12`. It goes in 0.3.
    /// Which time passes
    #[arg(long, value_name = "CLOCK", hide = true)]
    pub clock: Option<Clock>,
    /// Run on a kernel of your own in virtual time, in place of --on: a bzImage
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// With --kernel: folder with its modules
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
    #[command(flatten)]
    pub output: Output,
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
    /// Makes only this shard of the plan, into DIR/shards/K.ndjson; `packetscale sweep merge DIR` makes results of all. With
    /// task/N the batch system says which: SLURM_ARRAY_TASK_ID or HQ_TASK_ID
    #[arg(long, value_name = "K/N", conflicts_with_all = ["print", "json", "trace", "pcap", "perfetto", "qlog"])]
    pub shard: Option<String>,
    /// Takes runs that lie in this folder from there, and puts those that are made there
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}
