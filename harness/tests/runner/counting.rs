//! A host that makes empty runs, or those of a formula, and counts them.

use experiment::results::{HostLabel, Run};
use experiment::scenario::Experiment;
use harness::runner::{Clock, Host, Refusal};
use packetscale_models::units::Span;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Counting {
    pub name: &'static str,
    pub clock: Clock,
    pub of: fn(&Experiment) -> Run,
    /// A file, and what is written to it while the first run is made.
    pub spoils: Option<(PathBuf, String)>,
    pub made: AtomicUsize,
    pub most: usize,
}

impl Counting {
    /// The host fails from then on.
    pub fn up_to(most: usize) -> Counting {
        Counting { name: "counting", clock: Clock::Real, of: empty, spoils: None, made: AtomicUsize::new(0), most }
    }
}

/// Without any figure.
fn empty(experiment: &Experiment) -> Run {
    Run {
        controller: experiment.controller.clone(),
        seed: experiment.seed,
        replication: experiment.replication,
        params: experiment.params.clone(),
        ..Run::default()
    }
}

impl Host for Counting {
    fn name(&self) -> &'static str {
        self.name
    }
    fn summary(&self) -> &'static str {
        "Makes empty runs"
    }
    fn label(&self) -> HostLabel {
        HostLabel::default()
    }
    fn ability(&self) -> Result<String, String> {
        Ok("always".to_string())
    }
    fn clock(&self) -> Clock {
        self.clock
    }
    /// Each replication costs a second more than the one before.
    fn cost(&self, experiment: &Experiment) -> Span {
        Span::from_secs(1 + u64::from(experiment.replication))
    }
    fn check(&self, _: &[Experiment]) -> Result<Vec<String>, Refusal> {
        Ok(Vec::new())
    }
    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        if self.made.fetch_add(1, Ordering::SeqCst) >= self.most {
            return Err(Refusal::Machine("tired".to_string()));
        }
        if let Some((file, text)) = &self.spoils {
            fs::write(file, text).expect("written");
        }
        Ok((self.of)(experiment))
    }
}
