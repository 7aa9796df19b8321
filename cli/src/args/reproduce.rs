//! The arguments of `packetscale reproduce`.

use crate::args::Making;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Reproduce {
    /// A paper or one of its figures, as `packetscale list papers` names them, or a path [default: all papers]
    #[arg(value_name = "PAPER[/FIGURE]", conflicts_with_all = ["all", "scoreboard"])]
    pub what: Option<String>,
    /// Make fewer and shorter runs, which can miss what full runs keep
    #[arg(long, conflicts_with_all = ["all", "store", "scoreboard"])]
    pub quick: bool,
    /// Run all papers and store the outcomes; skip figures that are up to date
    #[arg(long, conflicts_with = "scoreboard")]
    pub all: bool,
    /// File of outcomes; figures that run replace their lines in it [default with --all and --scoreboard:
    /// papers/outcomes.ndjson]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Repeat the figures with this added to every seed, and store what they find next to the outcomes, for the scoreboard
    /// [default of --store: papers/repeated.ndjson]
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["quick", "scoreboard", "explain"], value_parser = clap::value_parser!(u64).range(1..))]
    pub reseed: Option<u64>,
    /// Print the page of the stored outcomes; run nothing
    #[arg(long)]
    pub scoreboard: bool,
    /// Re-run known explanations of misses and check them
    #[arg(long, conflicts_with_all = ["all", "store", "scoreboard", "json"])]
    pub explain: bool,
    /// Folder for the pages and data
    #[arg(long, value_name = "DIR", default_value = "out/papers")]
    pub out: PathBuf,
    #[command(flatten)]
    pub making: Making,
}
