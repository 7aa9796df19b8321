//! The arguments of `packetscale live`.

use crate::args::{Output, quantity};
use live::pace::Gaps;
use live::probe::Question;
use live::serve::Limits;
use live::socket::Mark;
use live::wire::PORT;
use packetscale_models::units::{Bytes, Rate, Span};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The two ends of a path: `probe` and `send` at one, `serve` and `receive` at the other.
#[derive(clap::Subcommand)]
pub enum Live {
    /// Ask a server how much of the path to it, or from it, is free
    Probe(Probe),
    /// Answer probes from other machines, until Ctrl-C or SIGTERM
    Serve(Serve),
    /// Send a file, or standard input, to a receiver; run again, it resumes
    Send(Send),
    /// Receive files into a directory, until Ctrl-C or SIGTERM
    Receive(Receive),
}

/// Ethernet's packets.
const PACKET: &str = "1500 B";
const LIMITS: Limits = Limits::DEFAULT;
const RECEIVE_RATE: Rate = Rate::from_gbps(10);
const RECEIVE_BYTES: Bytes = Bytes::new(1_000_000_000_000);
const RECEIVE_DURATION: Span = Span::from_secs(86_400);
const RECEIVE_CLIENTS: u32 = 4;

#[derive(clap::Args)]
pub struct Listening {
    /// Address and port to listen on
    #[arg(long = "listen", value_name = "ADDRESS", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT))]
    pub address: SocketAddr,
    /// Require one of these keys. One per line: an id from 1 to 65535, and 32 or more hexadecimal digits
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    pub key: Option<PathBuf>,
    /// Admit anyone. Required, unless --key is given, to listen on non-local addresses
    #[arg(long)]
    pub open: bool,
}

#[derive(clap::Args)]
pub struct Probe {
    /// Address of `packetscale live serve`, as in example.org or [2001:db8::1]:7470
    #[arg(value_name = "HOST")]
    pub host: String,
    /// Measure the path from the server to here
    #[arg(long)]
    pub reverse: bool,
    /// The server's key file; the key of the lowest id is used
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Maximum to send, all streams together
    #[arg(long, value_name = "SIZE", default_value_t = Question::BUDGET, value_parser = quantity::positive::<Bytes>)]
    pub bytes: Bytes,
    /// Rate of the fastest stream
    #[arg(long, value_name = "RATE", default_value_t = Question::FASTEST, value_parser = quantity::positive::<Rate>)]
    pub rate: Rate,
    /// Largest IP packet
    #[arg(long, value_name = "SIZE", default_value = PACKET, value_parser = quantity::packet)]
    pub packet: u16,
    /// How to time gaps: "busy" sleeps and spins, "timer" only sleeps
    #[arg(long, value_name = "WAY", default_value = Gaps::Busy.name(), value_parser = gaps)]
    pub gaps: Gaps,
    /// ECN mark of the streams sent from here
    #[arg(long, value_name = "MARK", default_value = "none", value_parser = mark)]
    pub mark: Mark,
    /// Write what was learned of both ends and the path as a scenario, for `packetscale run`
    #[arg(long, value_name = "FILE")]
    pub as_scenario: Option<PathBuf>,
    /// Write the gaps of all usable streams, for `packetscale estimate`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
    /// Print one JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
}

fn gaps(word: &str) -> Result<Gaps, String> {
    Gaps::ALL.into_iter().find(|gaps| gaps.name() == word).ok_or_else(|| "expected busy or timer".to_string())
}

fn mark(word: &str) -> Result<Mark, String> {
    let marks = [("none", Mark::None), ("ect0", Mark::Ect0), ("ect1", Mark::Ect1)];
    let found = marks.into_iter().find(|(name, _)| *name == word);
    found.map(|(_, mark)| mark).ok_or_else(|| "expected none, ect0 or ect1".to_string())
}

#[derive(clap::Args)]
pub struct Serve {
    #[command(flatten)]
    pub listening: Listening,
    /// Maximum rate of one client
    #[arg(long, value_name = "RATE", default_value_t = Rate::from_bps(LIMITS.grant.rate_bps), value_parser = quantity::positive::<Rate>)]
    pub rate: Rate,
    /// Maximum rate granted to all clients together
    #[arg(long, value_name = "RATE", default_value_t = Rate::from_bps(LIMITS.all_bps), value_parser = quantity::positive::<Rate>)]
    pub total_rate: Rate,
    /// Maximum data of one client's session
    #[arg(long, value_name = "SIZE", default_value_t = Bytes::new(LIMITS.grant.bytes), value_parser = quantity::positive::<Bytes>)]
    pub bytes: Bytes,
    /// Maximum duration of a session
    #[arg(long, value_name = "TIME", default_value_t = Span::from_millis(LIMITS.grant.duration_ms as u64), value_parser = quantity::positive::<Span>)]
    pub duration: Span,
    /// Maximum number of clients at a time
    #[arg(long, value_name = "N", default_value_t = LIMITS.clients, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub clients: u32,
    /// Maximum number of sessions per address at a time; for IPv6 per /64 prefix
    #[arg(long, value_name = "N", default_value_t = LIMITS.per_address, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub per_address: u32,
    /// Write the counters to this file each second, in Prometheus text format
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// Overwrite a file of other content that has this name
    #[arg(long, requires = "metrics")]
    pub replace: bool,
}

#[derive(clap::Args)]
pub struct Send {
    /// File to send; - reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Address of `packetscale live receive`, as in example.org or [2001:db8::1]:7470
    #[arg(value_name = "HOST")]
    pub host: String,
    /// Required: transfers are not encrypted, and anyone on the path can read them
    #[arg(long)]
    pub clear: bool,
    /// The receiver's key file; the key of the lowest id is used
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Name at the receiver [default: the file's; stdin]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Congestion controller, as `packetscale list controllers` names it
    #[arg(long, value_name = "NAME", default_value = "rapid")]
    pub controller: String,
    /// Largest IP packet
    #[arg(long, value_name = "SIZE", default_value = PACKET, value_parser = quantity::packet)]
    pub packet: u16,
    /// Print one JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args)]
pub struct Receive {
    /// Directory for the files. An unfinished file is called .NAME.part
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub listening: Listening,
    #[command(flatten)]
    pub output: Output,
    /// Maximum rate of all clients together
    #[arg(long, value_name = "RATE", default_value_t = RECEIVE_RATE, value_parser = quantity::positive::<Rate>)]
    pub rate: Rate,
    /// Maximum data of one client's session
    #[arg(long, value_name = "SIZE", default_value_t = RECEIVE_BYTES, value_parser = quantity::positive::<Bytes>)]
    pub bytes: Bytes,
    /// Maximum duration of a session
    #[arg(long, value_name = "TIME", default_value_t = RECEIVE_DURATION, value_parser = quantity::positive::<Span>)]
    pub duration: Span,
    /// Maximum number of clients at a time; each may take 17 MB of memory, and is granted its share of the rate
    #[arg(long, value_name = "N", default_value_t = RECEIVE_CLIENTS, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub clients: u32,
}
