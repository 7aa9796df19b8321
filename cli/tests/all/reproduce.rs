//! `packetscale reproduce` as people use it.

use crate::command::SCENARIO;
use crate::support::Place;
use std::process::{Child, Stdio};

/// A paper with a figure whose claim is `claim`.
fn paper(claim: &str) -> Place {
    let place = Place::empty();
    place.write("paper/paper.toml", "title = \"P\"\nauthors = [\"A\"]\npublished = \"Here\"\nabout = \"Nothing.\"\n");
    let figure = format!(
        "title = \"F\"\nplace = \"section 1\"\nsays = \"So.\"\n\n[[simulate]]\nname = \"runs\"\nscenario = \"scenarios/small.toml\"\n\n\
         [[compute]]\nname = \"law\"\ntheory = \"tdqm\"\ngrid = {{ load = [0.5, 1.5] }}\n\n{claim}\n"
    );
    place.write("paper/figure-1.toml", figure);
    place.write("paper/scenarios/small.toml", SCENARIO);
    place
}

const KEPT: &str = "[[claim]]\nwords = \"W\"\nplace = \"p\"\nfrom = \"runs\"\nmetric = \"utilisation\"\nat_most = 1";

#[test]
fn reproduce_runs_and_computes_a_figure_and_writes_a_page_and_data() {
    let place = paper(KEPT);
    let said = place.done("reproduce paper").out;
    assert!(said.contains("kept: \"W\" (p): utilisation at most 1: found"), "{said}");
    assert!(said.contains("no answer at some points of law: load"), "{said}");
    let page = place.read("out/papers/paper/report.html");
    assert!(page.contains("Simulated: runs, 8 runs") && page.contains("Computed: law, 2 answers"));
    assert!(place.at("out/papers/paper/figure-1/runs/runs.csv").is_file());
}

#[test]
fn reproduce_in_json_is_one_object_and_the_same_for_any_number_of_jobs() {
    let place = paper(KEPT);
    let object = |jobs: u8| place.done(&format!("reproduce paper/figure-1.toml --json --quick --jobs {jobs}")).json();
    let first = object(1);
    assert_eq!(first["papers"][0]["figures"][0]["claims"][0]["verdict"], "kept");
    assert_eq!(first["papers"][0]["figures"][0]["quick"], true);
    assert_eq!(first, object(5));
}

#[test]
fn a_claim_that_is_missed_ends_with_1() {
    let said = paper(&KEPT.replace("at_most = 1", "at_least = 2")).says("reproduce paper");
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("missed, not as expected: \"W\""), "{}", said.out);
}

#[test]
fn a_mistake_in_a_figure_is_refused_with_its_line() {
    let parameter =
        KEPT.replace("[[claim]]", "[[compute]]\nname = \"x\"\ntheory = \"tdqm\"\nwith = { lod = 1 }\n\n[[claim]]");
    for (claim, message) in [
        (KEPT.replace("utilisation", "utilization"), "14: claim \"W\": metric: found \"utilization\""),
        (parameter, "14: compute \"x\": lod: unknown field `lod`, expected one of `load`"),
    ] {
        let refused = paper(&claim).refused("reproduce paper");
        assert!(refused.starts_with(&format!("paper/figure-1.toml:{message}")), "{refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
    }
}

#[test]
fn an_unknown_paper_is_refused_with_those_that_there_are() {
    let refused = paper(KEPT).refused("reproduce no-such-paper");
    assert!(refused.contains("burstiness-2011"), "{refused}");
}

#[test]
fn claim_prints_unit_with_bound_and_value() {
    let place = paper(&KEPT.replace("at_most = 1", "times = 100\nunit = \"%\"\nat_most = 100"));
    let said = place.done("reproduce paper").out;
    let found = said.split("utilisation at most 100 %: found ").nth(1).expect("the bound");
    assert!(found.contains(" %, simulated (runs"), "{said}");
}

#[test]
fn verdict_words_are_explained_where_printed() {
    let explained = "shown_by = { from = \"runs\" }\ndiffers = \"So.\"";
    let place = paper(&format!("{}\n{explained}", KEPT.replace("at_most = 1", "at_least = 2")));
    let printed = place.says("reproduce paper").out;
    assert!(printed.contains("missed: \"W\" (p)"), "{printed}");
    let why = place.says("reproduce paper --explain").out;
    assert!(why.contains("W: unexplained, with a reason but no run: So."), "{why}");
    let page = place.read("out/papers/paper/report.html");
    place.write("none.ndjson", "");
    let scores = place.done("reproduce --scoreboard --store none.ndjson").out;
    for word in ["kept", "missed", "not as expected", "explained"] {
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
    let place = paper(KEPT);
    place.write("paper/figure-2.toml", place.read("paper/figure-1.toml"));
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = place.command("reproduce paper");
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn();
    let output = child.and_then(Child::wait_with_output).expect("the command");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    assert!(place.at("out/papers/paper/figure-1").is_dir() && !place.has("out/papers/paper/figure-2"));
}

#[test]
fn a_store_without_a_folder_is_refused_before_anything_runs() {
    let place = paper(KEPT);
    let here = place.path().canonicalize().expect("a folder");
    for (arguments, store, folder) in [
        ("--reseed 1000", "papers/repeated.ndjson", "papers"),
        ("--store mine/found.ndjson", "mine/found.ndjson", "mine"),
    ] {
        let refused = place.refused(&format!("reproduce paper {arguments}"));
        let found = format!("{store}: found no folder {folder} in {}; expected ", here.display());
        assert!(refused.starts_with(&found) && refused.lines().count() == 1, "{refused}");
        assert!(refused.contains("--store FILE") || arguments.starts_with("--store"), "{refused}");
        assert!(!place.has("out"));
    }
}
