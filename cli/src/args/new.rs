//! The arguments of `packetscale new`.

use crate::args::Output;

#[derive(clap::Subcommand)]
pub enum New {
    /// Write a commented scenario
    Scenario(NewScenario),
    /// Write a congestion controller in C, Rust or Python, its scenario, and what compiles it
    Controller(NewController),
}

#[derive(clap::Args)]
pub struct NewController {
    /// Name of the controller, and of its folder
    pub name: String,
    /// Programming language
    #[arg(long, value_enum, default_value_t = Language::C)]
    pub language: Language,
}

/// What a controller is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// C, compiled by cc
    C,
    /// Rust, compiled by cargo
    Rust,
    /// Python, run by the Python module
    Python,
}

#[derive(clap::Args)]
pub struct NewScenario {
    /// Name of the scenario, written to NAME.toml; NAME may contain a folder
    #[arg(default_value = "scenario")]
    pub name: String,
    #[command(flatten)]
    pub output: Output,
}
