//! The arguments of `packetscale judge`.

use crate::args::{Making, quantity};
use clap::builder::PossibleValuesParser;
use packetscale_models::units::Span;
use std::path::PathBuf;

/// Ways to judge controllers.
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
    /// Make fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Answer only sections of the RFC whose number begins with this, as in 5.1 or 7.7
    #[arg(long, value_name = "SECTION")]
    pub only: Option<String>,
    /// Folder for the page and its data [default: out/evaluate/ and the controller's name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub making: Making,
}

#[derive(clap::Args)]
pub struct Matrix {
    /// Controllers, as `packetscale list controllers` names them, or with settings: '{ kind = "rapid-thesis", tau = "10 ms" }', or a file: mine.so
    /// [default: all]
    #[arg(value_name = "CONTROLLER")]
    pub controllers: Vec<String>,
    /// Make fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Comma-separated subset of: prudentia-8mbps, prudentia-50mbps, shallow-100mbps [default: all]
    #[arg(long, value_name = "SETTING", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Folder for the page and its data
    #[arg(long, value_name = "DIR", default_value = "out/matrix")]
    pub out: PathBuf,
    #[command(flatten)]
    pub making: Making,
}

#[derive(clap::Args)]
pub struct Attack {
    /// A controller, as `packetscale list controllers` names it, or with settings: '{ kind = "rapid-thesis", tau = "10 ms" }', or a file: mine.so
    pub controller: String,
    /// Reference: another controller, or "bound", what others leave of the path [default: cubic, or bound when attacking cubic]
    #[arg(long, value_name = "CONTROLLER")]
    pub against: Option<String>,
    /// Figure to compare
    #[arg(long, default_value = "share", value_parser = PossibleValuesParser::new(studies::attack::Figure::ALL.map(studies::attack::Figure::name)))]
    pub figure: String,
    /// Total time, as in "10 min"; a quarter of it simplifies findings [default: 10 min]
    #[arg(long, value_name = "TIME", conflicts_with = "evaluations", value_parser = quantity::positive::<Span>)]
    pub budget: Option<Span>,
    /// Number of paths to judge, in place of --budget: the same number and seed find the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub evaluations: Option<u64>,
    /// Seed of the search and of its runs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Replay each finding on this host, with its first seed
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Folder for the findings [default: out/attack/ and the names of controller, figure and reference]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub making: Making,
}
