//! The arguments of what judges controllers.

use crate::args::Output;
use clap::builder::PossibleValuesParser;
use packetscale_models::units::Span;
use std::path::PathBuf;

/// How controllers are judged.
#[derive(clap::Subcommand)]
pub enum Judge {
    /// Evaluate a controller by RFC 9743, next to cubic and bbr, on one page under the RFC's headings
    Evaluate(Evaluate),
    /// Run every controller against every other; draw shares, losses and queues as heat maps
    Matrix(Matrix),
    /// Search the path on which a controller does worst against another, and write it as a scenario
    Attack(Attack),
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
    #[command(flatten)]
    pub output: Output,
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
    #[command(flatten)]
    pub output: Output,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// Runs at the same time; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
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
    #[arg(long, value_name = "TIME", conflicts_with = "evaluations")]
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
