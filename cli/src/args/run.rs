//! The arguments of `packetscale run`.

use crate::args::Making;
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
    /// Host to run on
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// With --on live: address of `packetscale live serve`, as in example.org or [2001:db8::1]:7470
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
    /// Folder for the results [default: out/ and the scenario's name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Change a key of the scenario, as in path.rate="10 Gbit/s" or flow.0.count=4
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub making: Making,
    /// Print the resolved scenario; run nothing
    #[arg(long)]
    pub print: bool,
    /// Write no report
    #[arg(long)]
    pub no_page: bool,
    /// Print all columns of the table, not only those that fit 100 characters
    #[arg(long, conflicts_with = "json")]
    pub wide: bool,
    /// Also write every packet that leaves the measured link to this file, for traffic of kind "trace". Needs a plan of one
    /// run
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Also write a pcapng capture of the flows at their senders, for Wireshark, tshark and tcptrace. Use {run} in the name
    /// when there are several runs
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Also write a JSON trace of flows and links for ui.perfetto.dev: counters, and slices of recoveries, probe streams and
    /// outages. {run} as with --pcap
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Also write a folder of qlog files for qvis, one per flow; with every packet if the scenario has
    /// record.packets = true. {run} as with --pcap
    #[arg(long, value_name = "DIR")]
    pub qlog: Option<PathBuf>,
    /// Run only this shard of the plan, into DIR/shards/K.ndjson; `packetscale sweep merge DIR` merges all. With task/N the
    /// batch system sets K: SLURM_ARRAY_TASK_ID or HQ_TASK_ID
    #[arg(long, value_name = "K/N", conflicts_with_all = ["print", "json", "trace", "pcap", "perfetto", "qlog"])]
    pub shard: Option<String>,
    /// Cache finished runs in this folder, and reuse those that are there
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}
