//! Figures of a run.

mod links;
mod together;

use experiment::scenario::{Experiment, Scenario};
use packetscale_models::units::{Span, Time};
use std::path::Path;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// The first run of a scenario.
fn planned(text: &str) -> Experiment {
    Scenario::parse(text, Path::new("example.toml"), &[]).expect("a scenario").plan().remove(0)
}
