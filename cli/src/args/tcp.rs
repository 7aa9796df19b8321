//! The arguments of `packetscale tcp`.

use crate::args::quantity;
use clap::{Args, Subcommand, ValueEnum};
use linux::tcp::Options;
use packetscale_models::units::Span;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum Tcp {
    /// Registers the congestion control, for every program of this machine: Rapid, or that of a FILE
    Load(Load),
    /// Removes the congestion control, and restores the settings that loading changed
    Unload {
        #[command(flatten)]
        named: Named,
        /// Lets the connections end first; there are no new ones meanwhile
        #[arg(long)]
        drain: bool,
        /// With --drain: wait for at most this time; then CUBIC takes over what is left, and the exit code is 3
        #[arg(long, value_name = "TIME", requires = "drain", value_parser = quantity::seconds)]
        timeout: Option<Span>,
    },
    /// Switches Rapid off: CUBIC takes over every connection at its next acknowledgment, and new ones. Nothing is unloaded
    Off(Named),
    /// Switches Rapid on again, for new connections
    On(Named),
    /// Shows the totals since the load, and every connection with its measurements and state
    Status {
        #[command(flatten)]
        named: Named,
        /// Also the latest connections that CUBIC has taken over and that have ended
        #[arg(long)]
        all: bool,
        /// Prints the totals, and nothing else, in Prometheus's text format
        #[arg(long, conflicts_with_all = ["json", "all"])]
        prometheus: bool,
    },
    /// Shows the same, updated continuously: q ends it, arrows choose a connection, Enter opens it, s sorts. Without a
    /// terminal it prints what status prints, again and again
    Top {
        #[command(flatten)]
        named: Named,
        /// Time between two updates
        #[arg(long, value_name = "TIME", default_value = "1 s", value_parser = quantity::interval)]
        every: Span,
    },
    /// Prints each connection that CUBIC has taken over, with the reason: the latest, then each new one, until Ctrl-C
    Events {
        #[command(flatten)]
        named: Named,
        // `--seconds` goes in 0.3.
        /// Stop after this time
        #[arg(long, alias = "seconds", value_name = "TIME", value_parser = quantity::seconds)]
        duration: Option<Span>,
    },
    /// Writes each probe stream to a CSV file, packet by packet, until Ctrl-C
    Log {
        #[command(flatten)]
        named: Named,
        /// The file
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
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Load {
    /// A compiled eBPF program of somebody else's with one tcp_congestion_ops (FILE.bpf.o): it is checked, tried beside CUBIC
    /// and registered. The options below that are Rapid's do not go with it
    #[arg(value_name = "FILE", conflicts_with_all = RAPIDS)]
    pub file: Option<PathBuf>,
    /// Name of the congestion control [default: rapid, or what the file says]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// The method that reads probe streams
    #[arg(long, value_name = "PRESET", default_value = "default")]
    pub preset: Preset,
    /// Most connections that Rapid steers at a time; CUBIC steers the others. Each takes about 184 kB of kernel memory,
    /// more with a wider --window
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub flows: u32,
    /// Most of these of one user, from 1 to all of them; root may have all [default: half of them]
    #[arg(long, value_name = "N")]
    pub flows_per_user: Option<u32>,
    /// Most packets in flight of a connection, from 10 to 57344: it sends at most this number per round trip. Above 3584, a
    /// connection takes more kernel memory: 0.3 MB to 7168, 0.6 to 14336, 1.1 to 28672, 2.1 to 57344
    #[arg(long, value_name = "PACKETS", default_value_t = Options::default().window)]
    pub window: u32,
    /// Takes the place of what is loaded under this name: new connections use it, those that there are keep the old
    /// version until they end. Devices that were prepared stay so
    #[arg(long)]
    pub replace: bool,
    /// Waits in a loop for up to this time of each gap: better gaps, but a busy processor
    #[arg(long, value_name = "TIME", default_value_t = Span::ZERO, value_parser = quantity::microseconds)]
    pub spin: Span,
    /// Competes with flows that fill the queue, by filling it too (preset default)
    #[arg(long)]
    pub competitive: bool,
    /// Offers arrival times only in SYNs of connections that begin with Rapid: then it cannot be set after connecting,
    /// and no server can use it to send to this machine
    #[arg(long)]
    pub no_volunteer: bool,
    /// Lets up to this number of packets leave at a time where gaps or round trips are short, from 1 to 7: one timer for
    /// all. 4 for 1 Gbit/s at 1500 B, 7 for 10 Gbit/s at 9000 B
    #[arg(long, value_name = "PACKETS", default_value_t = Options::default().together)]
    pub together: u16,
    /// Makes this device send packets one by one, or by as many as --together says (gso_max_segs, for all its flows), and
    /// records arrivals at it
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
