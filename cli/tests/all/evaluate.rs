//! `packetscale judge evaluate` as people use it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn evaluate(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(["judge", "evaluate"]).args(arguments).current_dir(folder).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Three packets in ten are lost: as many are sent again, by whomever.
#[test]
fn a_question_is_answered_for_the_controller_and_for_the_yardsticks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = evaluate(folder.path(), &["veno", "--quick", "--only", "5.1.1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let evaluation = &json["evaluation"];
    let names: Vec<&str> = evaluation["contenders"].as_array().unwrap().iter().filter_map(|c| c[0].as_str()).collect();
    assert_eq!(names, ["veno", "cubic", "bbr"]);
    assert_eq!(evaluation["sections"].as_array().unwrap().len(), 1);
    let question = &evaluation["sections"][0]["questions"][0];
    assert_eq!(question["figures"][1], "sent_again");
    let rows = question["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let again = row["cells"][1]["mean"].as_f64().unwrap();
        assert!((again - 0.3).abs() < 0.06, "{row}");
    }
    let written = folder.path().join("out/evaluate/veno");
    let page = std::fs::read_to_string(written.join("report.html")).expect("the page");
    assert!(page.contains("5.1.1 Protection Against Congestion Collapse") && page.contains("veno"));
    assert!(written.join("evaluation.json").is_file());
}

/// Decision 0033: nobody can say which way is better. What is sent is told all the same.
#[test]
fn what_is_sent_where_all_is_lost_is_not_judged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = evaluate(folder.path(), &["newreno", "--quick", "--only", "5.1.1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(folder.path().join("out/evaluate/newreno/report.html")).expect("the page");
    let question = "A wire that loses everything";
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("<tr>") && line.contains(question)).collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((rows[0].matches(">not judged<").count(), rows[0].matches("chip").count()), (2, 0), "{}", rows[0]);
    let told = text(&output.stdout).split(question).nth(1).and_then(|table| table.lines().nth(1)).map(str::to_string);
    assert!(told.as_ref().is_some_and(|head| head.contains("Throughput")), "{told:?}");
}

#[test]
fn a_controller_with_settings_is_evaluated_like_one_without() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let thesis = r#"{ kind = "rapid-thesis", gamma = 1 }"#;
    let output = evaluate(folder.path(), &[thesis, "--quick", "--only", "7.4"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("A thin path"), "{}", text(&output.stdout));
    assert!(folder.path().join("out/evaluate/rapid-thesis-gamma-1/report.html").is_file());
}

#[test]
fn another_evaluation_is_not_overwritten_without_a_word() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let of = |section: &str, more: &[&str]| {
        evaluate(folder.path(), &[&["veno", "--quick", "--only", section, "--jobs", "1"], more].concat())
    };
    assert_eq!(of("7.4", &[]).status.code(), Some(0));
    let refused = of("5.1.1", &[]);
    assert_eq!(refused.status.code(), Some(2));
    let found = "an evaluation in its short form of veno, 1 section";
    assert!(text(&refused.stderr).starts_with(&format!("out/evaluate/veno: found {found}; expected")));
    assert!(text(&of("7.4", &[]).stderr).is_empty(), "the same is asked again");
    assert_eq!(text(&of("5.1.1", &["--replace"]).stderr), format!("out/evaluate/veno: replaces {found}\n"));
}

#[test]
fn other_settings_under_the_same_label_are_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let of = |beta: &str| {
        let controller = format!("{{ kind = \"newreno\", beta = {beta}, label = \"mine\" }}");
        evaluate(folder.path(), &[&controller, "--quick", "--only", "7.4", "--out", "out"])
    };
    assert_eq!(of("0.5").status.code(), Some(0));
    let found = "an evaluation in its short form of mine, 1 section, with other settings";
    assert_eq!(text(&of("0.7").stderr), format!("out: replaces {found}\n"));
}

#[test]
fn what_is_not_there_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = evaluate(folder.path(), &["rapit"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("perhaps \"rapid\""), "{}", text(&output.stderr));
    let output = evaluate(folder.path(), &["rapid", "--only", "9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--only: found \"9\"; expected one of 5.1.1"), "{}", text(&output.stderr));
}
