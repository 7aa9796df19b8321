//! The arguments of `packetscale estimate`.

use crate::args::Output;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Estimate {
    /// A CSV file with the columns stream_id, pkt, send_gap_ns, recv_gap_ns, size_bytes and, optionally, acked; - reads
    /// standard input
    #[arg(required_unless_present = "from_simulator", conflicts_with = "from_simulator")]
    pub file: Option<PathBuf>,
    /// With a second file both are captures, pcap or pcapng, of the same packets: the sender's, then the receiver's
    #[arg(conflicts_with = "from_simulator")]
    pub received: Option<PathBuf>,
    /// With two captures: maximum packets of a stream; a pause in sending also ends one
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(2..=4096))]
    pub packets: u16,
    /// Denoisers and an estimator, as in bass+multi-rate or "bass(head=drop)+receive-rate"; with --from-simulator, may
    /// be repeated [default: combined]
    #[arg(long, value_name = "METHOD")]
    pub method: Vec<String>,
    /// Send the probe streams of this scenario (its table [probe]) through the simulator, compare the methods with the true
    /// available bandwidth, and write the streams as CSV
    #[arg(long, value_name = "SCENARIO")]
    pub from_simulator: Option<PathBuf>,
    /// With --from-simulator: folder for the recording and the page [default: out/ and the scenario's name]
    #[arg(long, value_name = "DIR", requires = "from_simulator")]
    pub out: Option<PathBuf>,
    /// With --from-simulator: change a key of the scenario
    #[arg(long, value_name = "KEY=VALUE", requires = "from_simulator")]
    pub set: Vec<String>,
    /// With --from-simulator: number of parallel runs; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", requires = "from_simulator", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub output: Output,
    /// Print one JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
}
