//! An evaluation that was interrupted.

use crate::counting::Counting;
use harness::runner::{Program, Runner, Silent};
use report::PAGE;
use studies::evaluation::Asked;

#[test]
fn interrupted_runs_are_reused() {
    static PROGRAM: Program = Program::new("1.2.3", Some("abc"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let asked = Asked { controller: "newreno", only: Some("5.1.1"), quick: true };
    let answer = |most: usize| {
        let host = Counting::up_to(most);
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
