//! `packetscale reproduce` as people use it.

use crate::command::{SCENARIO, folder, packetscale, stderr, stdout};
use std::fs;
use std::process::{Child, Command, Stdio};

/// A paper with a figure whose claim is `claim`.
fn paper(claim: &str) -> tempfile::TempDir {
    let folder = folder(SCENARIO);
    let paper = "title = \"P\"\nauthors = [\"A\"]\npublished = \"Here\"\nabout = \"Nothing.\"\n";
    let figure = format!(
        "title = \"F\"\nplace = \"section 1\"\nsays = \"So.\"\n\n[[simulate]]\nname = \"runs\"\nscenario = \"scenarios/small.toml\"\n\n\
         [[compute]]\nname = \"law\"\ntheory = \"tdqm\"\ngrid = {{ load = [0.5, 1.5] }}\n\n{claim}\n"
    );
    let inside = folder.path().join("paper");
    fs::create_dir_all(inside.join("scenarios")).expect("a folder");
    fs::write(inside.join("paper.toml"), paper).expect("written");
    fs::write(inside.join("figure-1.toml"), figure).expect("written");
    fs::rename(folder.path().join("small.toml"), inside.join("scenarios/small.toml")).expect("moved");
    folder
}

const KEPT: &str = "[[claim]]\nwords = \"W\"\nplace = \"p\"\nfrom = \"runs\"\nmetric = \"utilisation\"\nat_most = 1";

#[test]
fn reproduce_runs_and_computes_a_figure_and_writes_a_page_and_data() {
    let folder = paper(KEPT);
    let output = packetscale(folder.path(), &["reproduce", "paper"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("kept: \"W\" (p): utilisation at most 1: found"), "{said}");
    assert!(said.contains("no answer at some points of law: load"), "{said}");
    let page = fs::read_to_string(folder.path().join("out/papers/paper/report.html")).expect("the page");
    assert!(page.contains("Simulated: runs, 8 runs") && page.contains("Computed: law, 2 answers"));
    assert!(folder.path().join("out/papers/paper/figure-1/runs/runs.csv").is_file());
}

#[test]
fn reproduce_in_json_is_one_object_and_the_same_for_any_number_of_jobs() {
    let folder = paper(KEPT);
    let object = |jobs: &str| {
        let output =
            packetscale(folder.path(), &["reproduce", "paper/figure-1.toml", "--json", "--quick", "--jobs", jobs]);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("one JSON value")
    };
    let first = object("1");
    assert_eq!(first["papers"][0]["figures"][0]["claims"][0]["verdict"], "kept");
    assert_eq!(first["papers"][0]["figures"][0]["quick"], true);
    assert_eq!(first, object("5"));
}

#[test]
fn a_claim_that_is_not_kept_ends_with_one_and_a_mistake_with_two() {
    let broken = paper(&KEPT.replace("at_most = 1", "at_least = 2"));
    let output = packetscale(broken.path(), &["reproduce", "paper"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("missed, not as expected: \"W\""), "{}", stdout(&output));
    let wrong = paper(&KEPT.replace("utilisation", "utilization"));
    let output = packetscale(wrong.path(), &["reproduce", "paper"]);
    assert_eq!((output.status.code(), stderr(&output).lines().count()), (Some(2), 1), "{}", stderr(&output));
    assert!(
        stderr(&output).starts_with("paper/figure-1.toml:14: claim \"W\": metric: found \"utilization\""),
        "{}",
        stderr(&output)
    );
    let output = packetscale(wrong.path(), &["reproduce", "no-such-paper"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("burstiness-2011"), "{}", stderr(&output));
}

#[test]
fn a_claim_has_its_unit_beside_its_bound_and_ours() {
    let folder = paper(&KEPT.replace("at_most = 1", "times = 100\nunit = \"%\"\nat_most = 100"));
    let said = stdout(&packetscale(folder.path(), &["reproduce", "paper"]));
    let found = said.split("utilisation at most 100 %: found ").nth(1).expect("the bound");
    assert!(found.contains(" %, simulated (runs"), "{said}");
}

#[test]
fn a_parameter_that_a_theory_does_not_have_is_refused_with_its_line() {
    let folder = paper(
        &KEPT.replace("[[claim]]", "[[compute]]\nname = \"x\"\ntheory = \"tdqm\"\nwith = { lod = 1 }\n\n[[claim]]"),
    );
    let output = packetscale(folder.path(), &["reproduce", "paper"]);
    assert_eq!(output.status.code(), Some(2));
    let expected = "paper/figure-1.toml:14: compute \"x\": lod: unknown field `lod`, expected one of `load`";
    assert!(stderr(&output).starts_with(expected), "{}", stderr(&output));
}

#[test]
fn what_prints_a_verdict_says_what_its_words_mean() {
    let explained = "shown_by = { from = \"runs\" }\ndiffers = \"So.\"";
    let folder = paper(&format!("{}\n{explained}", KEPT.replace("at_most = 1", "at_least = 2")));
    let legend = ["kept", "missed", "not as expected", "explained"];
    let printed = stdout(&packetscale(folder.path(), &["reproduce", "paper"]));
    assert!(printed.contains("missed: \"W\" (p)"), "{printed}");
    let why = stdout(&packetscale(folder.path(), &["reproduce", "paper", "--explain"]));
    assert!(why.contains("W: unexplained, with a reason that no run shows: So."), "{why}");
    let page = fs::read_to_string(folder.path().join("out/papers/paper/report.html")).expect("the page");
    fs::write(folder.path().join("none.ndjson"), "").expect("written");
    let scores = stdout(&packetscale(folder.path(), &["reproduce", "--scoreboard", "--store", "none.ndjson"]));
    for word in legend {
        for said in [&printed, &why] {
            let end = said.split("report.html").last().expect("the end");
            assert_eq!(end.lines().filter(|line| line.starts_with(&format!("{word}: "))).count(), 1, "{word}: {said}");
        }
        assert!(page.contains(&format!("<b>{word}</b>: ")), "{word}");
        assert!(scores.contains(&format!("* **{word}**: ")), "{word}: {scores}");
    }
}

/// Nobody reads what is printed, from the start: the first figure finds out, and the second is not run.
#[test]
fn reproduce_ends_quietly_when_nobody_reads_on() {
    let folder = paper(KEPT);
    let inside = folder.path().join("paper");
    fs::copy(inside.join("figure-1.toml"), inside.join("figure-2.toml")).expect("a second figure");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(["reproduce", "paper"]).current_dir(folder.path()).stdout(writer).stderr(Stdio::piped());
    let output = command.spawn().and_then(Child::wait_with_output).expect("the command");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let out = folder.path().join("out/papers/paper");
    assert!(out.join("figure-1").is_dir() && !out.join("figure-2").exists());
}

#[test]
fn a_store_without_a_folder_is_refused_before_anything_runs() {
    let folder = paper(KEPT);
    let refused = |arguments: &[&str]| {
        let output = packetscale(folder.path(), &[&["reproduce", "paper"], arguments].concat());
        assert_eq!((output.status.code(), stderr(&output).lines().count()), (Some(2), 1), "{}", stderr(&output));
        assert!(!folder.path().join("out").exists());
        stderr(&output)
    };
    let here = folder.path().canonicalize().expect("a folder");
    let looked =
        |store: &str, inside: &str| format!("{store}: found no folder {inside} in {}; expected ", here.display());
    let again = refused(&["--reseed", "1000"]);
    assert!(again.starts_with(&looked("papers/repeated.ndjson", "papers")), "{again}");
    assert!(again.contains("--store FILE"), "{again}");
    let named = refused(&["--store", "mine/found.ndjson"]);
    assert!(named.starts_with(&looked("mine/found.ndjson", "mine")), "{named}");
}
