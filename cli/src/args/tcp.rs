//! The arguments of `packetscale tcp`.

use crate::args::qdisc::Qdisc;
use crate::args::quantity;
use clap::{Args, Subcommand, ValueEnum};
use linux::tcp::Options;
use packetscale_models::units::Span;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum Tcp {
    /// Register the congestion control for every program of this machine: Rapid, or that of FILE
    Load(Load),
    /// Remove the congestion control and restore the settings that loading changed
    Unload {
        #[command(flatten)]
        named: Named,
        /// Let connections end first; accept no new ones meanwhile
        #[arg(long)]
        drain: bool,
        /// With --drain: wait for at most this time; then CUBIC takes over the remaining connections, and the exit code is 3
        #[arg(long, value_name = "TIME", requires = "drain", value_parser = quantity::seconds)]
        timeout: Option<Span>,
    },
    /// Hand all connections to CUBIC without unloading
    Off(Named),
    /// Use Rapid again, for new connections
    On(Named),
    /// Show the totals since the load, and every connection with its measurements and state
    Status {
        #[command(flatten)]
        named: Named,
        /// Also show the latest connections that CUBIC has taken over and that have ended
        #[arg(long)]
        all: bool,
        /// Print only the totals, in Prometheus text format
        #[arg(long, conflicts_with_all = ["json", "all"])]
        prometheus: bool,
    },
    /// Show the same, updated continuously: q quits, arrows choose a connection, Enter opens it, s sorts. Without a terminal,
    /// print what status prints at each update
    Top {
        #[command(flatten)]
        named: Named,
        /// Time between two updates
        #[arg(long, value_name = "TIME", default_value = "1 s", value_parser = quantity::interval)]
        every: Span,
    },
    /// Print each connection that CUBIC has taken over, with the reason: the latest, then each new one, until Ctrl-C
    Events {
        #[command(flatten)]
        named: Named,
        // `--seconds` goes in 0.3.
        /// Stop after this time
        #[arg(long, alias = "seconds", value_name = "TIME", value_parser = quantity::seconds)]
        duration: Option<Span>,
    },
    /// Put a queue discipline of a paper on a device, or take it off
    #[command(subcommand)]
    Qdisc(Qdisc),
    /// Write each probe stream to a CSV file, packet by packet, until Ctrl-C
    Log {
        #[command(flatten)]
        named: Named,
        /// Output file
        #[arg(short, value_name = "FILE")]
        output: PathBuf,
        // `--seconds` goes in 0.3.
        /// Stop after this time
        #[arg(long, alias = "seconds", value_name = "TIME", value_parser = quantity::seconds)]
        duration: Option<Span>,
    },
}

#[derive(Args)]
pub struct Named {
    /// Name of the congestion control
    #[arg(long, value_name = "NAME", default_value = "rapid")]
    pub name: String,
    /// Print one JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Load {
    /// A compiled eBPF program with one tcp_congestion_ops (FILE.bpf.o), to check, try against CUBIC and register. Rapid's own
    /// options do not apply to it
    #[arg(value_name = "FILE", conflicts_with_all = RAPIDS)]
    pub file: Option<PathBuf>,
    /// Name of the congestion control [default: rapid, or what the file says]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Print one JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
    /// Method that reads probe streams
    #[arg(long, value_name = "PRESET", default_value = "default")]
    pub preset: Preset,
    /// Maximum number of connections under Rapid at a time; CUBIC controls the others. Each takes about 184 kB of kernel
    /// memory, more with a larger --window
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub flows: u32,
    /// Maximum connections per user (root: no limit) [default: half of --flows]
    #[arg(long, value_name = "N")]
    pub flows_per_user: Option<u32>,
    /// Maximum packets in flight of a connection, from 10 to 57344: its limit per round trip. Above 3584, a connection takes
    /// more kernel memory: 0.3 MB to 7168, 0.6 to 14336, 1.1 to 28672, 2.1 to 57344
    #[arg(long, value_name = "N", default_value_t = Options::default().window)]
    pub window: u32,
    /// Replace the loaded version. Existing connections keep the old one until they close; device settings stay
    #[arg(long)]
    pub replace: bool,
    /// Busy-wait for up to this time of each gap: better gaps, but a busy processor
    #[arg(long, value_name = "TIME", default_value_t = Span::ZERO, value_parser = quantity::microseconds)]
    pub spin: Span,
    /// Compete with queue-filling flows by filling the queue too (preset default)
    #[arg(long)]
    pub competitive: bool,
    /// Offer arrival times only in SYNs of connections that begin with Rapid: it cannot be set after connecting, and no server
    /// can use it to send to this machine
    #[arg(long)]
    pub no_volunteer: bool,
    /// Send groups of up to N packets, from 1 to 7, on fast or short paths: one timer per group. 4 for 1 Gbit/s at 1500 B, 7 for 10 Gbit/s at 9000 B
    #[arg(long, value_name = "N", default_value_t = Options::default().together)]
    pub together: u16,
    /// Send packets on this device one by one, or in groups of --together (gso_max_segs, for all its flows), and record
    /// arrivals at it
    #[arg(long, value_name = "DEVICE")]
    pub device: Vec<String>,
}

/// The options of a load that say how Rapid works.
const RAPIDS: [&str; 9] =
    ["preset", "flows", "flows_per_user", "window", "spin", "competitive", "no_volunteer", "together", "device"];

#[derive(Clone, Copy, ValueEnum)]
pub enum Preset {
    /// By lower envelopes of the delay
    Default,
    /// By gaps, as in the dissertation
    Thesis,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;

    /// The times in these arguments.
    fn times(words: &str) -> Option<Span> {
        let read = Arguments::try_parse_from(words.split(' ')).unwrap_or_else(|error| panic!("{error}"));
        match read.command {
            Command::Tcp(Tcp::Unload { timeout, .. }) => timeout,
            Command::Tcp(Tcp::Events { duration, .. } | Tcp::Log { duration, .. }) => duration,
            Command::Tcp(Tcp::Top { every, .. }) => Some(every),
            Command::Tcp(Tcp::Load(load)) => Some(load.spin),
            _ => panic!("{words}"),
        }
    }

    #[test]
    fn plain_numbers_are_times_in_the_units_of_0_2() {
        for (old, expected) in [
            ("packetscale tcp unload --drain --timeout 90", Span::from_secs(90)),
            ("packetscale tcp events --seconds 3", Span::from_secs(3)),
            ("packetscale tcp log -o x --seconds 3", Span::from_secs(3)),
            ("packetscale tcp top --every 5", Span::from_secs(5)),
            ("packetscale tcp load --spin 20", Span::from_micros(20)),
        ] {
            assert_eq!(times(old), Some(expected), "{old}");
        }
        assert_eq!(times("packetscale tcp events --duration 1.5min"), Some(Span::from_secs(90)));
        assert_eq!(times("packetscale tcp top"), Some(Span::from_secs(1)));
    }
}
