//! The arguments of `packetscale reproduce`.

use crate::args::Output;
use std::path::PathBuf;

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
    #[command(flatten)]
    pub output: Output,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Runs at the same time; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}
