//! A host whose runs are a formula.

use experiment::results::{HostLabel, Run};
use experiment::scenario::Experiment;
use harness::runner::{Clock, Host, Refusal};
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Formula {
    of: fn(&Experiment) -> Run,
    clock: Clock,
    /// It makes no more runs than this.
    most: usize,
    made: AtomicUsize,
}

impl Formula {
    pub fn new(of: fn(&Experiment) -> Run, clock: Clock, most: usize) -> Formula {
        Formula { of, clock, most, made: AtomicUsize::new(0) }
    }

    /// How many runs were asked of it.
    pub fn made(self) -> usize {
        self.made.into_inner()
    }
}

impl Host for Formula {
    fn name(&self) -> &'static str {
        "formula"
    }
    fn summary(&self) -> &'static str {
        "Runs are a formula"
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
    fn check(&self, _: &[Experiment]) -> Result<Vec<String>, Refusal> {
        Ok(Vec::new())
    }
    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        if self.made.fetch_add(1, Ordering::SeqCst) >= self.most {
            return Err(Refusal::Machine("tired".to_string()));
        }
        Ok((self.of)(experiment))
    }
}
