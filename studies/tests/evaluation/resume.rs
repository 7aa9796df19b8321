//! An evaluation that was interrupted.

use experiment::results::{HostLabel, Run};
use experiment::scenario::Experiment;
use harness::runner::{Clock, Host, Program, Refusal, Runner, Silent};
use report::PAGE;
use std::sync::atomic::{AtomicUsize, Ordering};
use studies::evaluation::Asked;

/// Makes empty runs, as many as it is allowed to.
struct Counting {
    made: AtomicUsize,
    most: usize,
}

impl Host for Counting {
    fn name(&self) -> &'static str {
        "counting"
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
        Clock::Real
    }
    fn check(&self, _: &[Experiment]) -> Result<Vec<String>, Refusal> {
        Ok(Vec::new())
    }
    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        if self.made.fetch_add(1, Ordering::SeqCst) >= self.most {
            return Err(Refusal::Machine("tired".to_string()));
        }
        Ok(Run {
            controller: experiment.controller.clone(),
            seed: experiment.seed,
            replication: experiment.replication,
            params: experiment.params.clone(),
            ..Run::default()
        })
    }
}

#[test]
fn what_was_made_before_an_interruption_is_not_made_again() {
    static PROGRAM: Program = Program::new("1.2.3", Some("abc"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let asked = Asked { controller: "newreno", only: Some("5.1.1"), quick: true };
    let answer = |most: usize| {
        let host = Counting { made: AtomicUsize::new(0), most };
        let runner = Runner { host: &host, program: &PROGRAM, jobs: None, replace: false, progress: &Silent };
        let answered = asked.answer(&runner, folder.path()).map(|evaluation| evaluation.runs);
        (answered, host.made.into_inner())
    };
    assert!(answer(2).0.is_err());
    assert!(folder.path().join("unfinished.ndjson").is_file());
    let (runs, made) = answer(usize::MAX);
    let runs = runs.unwrap_or_else(|error| panic!("{error}"));
    assert!(runs > 2);
    assert_eq!(made, runs - 2);
    assert!(folder.path().join(PAGE).is_file() && !folder.path().join("unfinished.ndjson").exists());
}
