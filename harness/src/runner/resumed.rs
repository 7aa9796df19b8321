//! Property test: from the damaged file of an interrupted plan, only runs that were written are resumed.

use crate::runner::checkpoint::{Checkpoint, NAME, Opened};
use crate::runner::head::Head;
use crate::runner::line::line;
use crate::runner::shard::Shard;
use experiment::results::Run;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn runs() -> BTreeMap<String, Run> {
    let run = |seed| Run { controller: format!("cubic {seed}"), seed, ..Run::default() };
    (0..4).map(|seed| (format!("{seed:04x}"), run(seed))).collect()
}

fn lines(runs: &BTreeMap<String, Run>) -> String {
    runs.iter().map(|(id, run)| line(id, run).expect("a line")).collect()
}

fn head() -> Head {
    Head {
        shard: Shard::new(2, 3).expect("a shard"),
        program: "0.2.0 (abc)".to_string(),
        host: "simulator".to_string(),
        scenario_name: "a.toml".to_string(),
        scenario: "[run]\nduration = \"1 s\"\n".to_string(),
        file: "a.toml".into(),
        changes: vec!["run.seed=2".to_string()],
    }
}

fn are_of(kept: &BTreeMap<String, Run>, written: &BTreeMap<String, Run>) -> Result<(), TestCaseError> {
    for (id, run) in kept {
        prop_assert_eq!(Some(run), written.get(id), "{}", id);
    }
    Ok(())
}

#[test]
fn fuzz_checkpoints() {
    let (written, folder) = (runs(), tempfile::tempdir().expect("a folder"));
    let ids: BTreeSet<&str> = written.keys().map(String::as_str).collect();
    conformance::fuzz::mutated(300, &[lines(&written)], |content| {
        fs::write(folder.path().join(NAME), content)?;
        let opened = Checkpoint::open(folder.path(), &ids, ids.len(), false)?;
        let Opened::Checkpoint(_, kept) = opened else { return Ok(()) };
        are_of(&kept, &written)?;
        // The rewritten file contains exactly the retained runs.
        prop_assert_eq!(fs::read_to_string(folder.path().join(NAME))?, lines(&kept));
        Ok(())
    });
}

#[test]
fn fuzz_shards() {
    let (written, folder) = (runs(), tempfile::tempdir().expect("a folder"));
    let ids: BTreeSet<&str> = written.keys().map(String::as_str).collect();
    let (head, path) = (head(), folder.path().join("shard"));
    conformance::fuzz::mutated(1_000, &[format!("{}\n{}", head.line(), lines(&written))], |content| {
        fs::write(&path, content)?;
        match Checkpoint::append(&path, &head, &ids, false)? {
            Opened::Checkpoint(_, kept) => are_of(&kept, &written)?,
            // Nothing was changed.
            Opened::Foreign(_) => prop_assert_eq!(fs::read(&path)?, content),
        }
        Ok(())
    });
}

#[test]
fn fuzz_heads() {
    let whole = head().line();
    conformance::fuzz::mutated(2_000, &[&whole], |line| {
        if let Some(read) = Head::parse(line) {
            prop_assert_eq!(Head::parse(read.line().as_bytes()), Some(read));
        }
        Ok(())
    });
}
