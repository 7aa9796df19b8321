//! `packetscale judge matrix` as people use it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn matrix(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command
        .args(["judge", "matrix", "--quick"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn several_settings_are_asked_for_in_a_list_or_one_by_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let two = ["shallow-100mbps", "prudentia-8mbps"];
    let [one, other] = two;
    for (only, out) in [(&["--only", &two.join(",")][..], "list"), (&["--only", one, "--only", other], "each")] {
        let output = matrix(folder.path(), &[&["newreno", "--json", "--out", out], only].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let settings = json["matrix"]["settings"].as_array().expect("a list").iter();
        let names: Vec<&str> = settings.filter_map(|setting| setting["name"].as_str()).collect();
        assert_eq!(names, ["prudentia-8mbps", "shallow-100mbps"], "{out}: in the order of the settings");
    }
}

#[test]
fn another_matrix_is_not_overwritten_without_a_word() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let of = |setting: &str, more: &[&str]| matrix(folder.path(), &[&["newreno", "--only", setting], more].concat());
    assert_eq!(of("prudentia-8mbps", &[]).status.code(), Some(0));
    let refused = of("shallow-100mbps", &[]);
    assert_eq!(refused.status.code(), Some(2));
    let found = "a matrix in its short form of newreno on prudentia-8mbps";
    let message =
        format!("out/matrix: found {found}; expected an empty folder, or one of this plan; name another folder");
    assert!(text(&refused.stderr).starts_with(&message), "{}", text(&refused.stderr));
    assert!(text(&of("prudentia-8mbps", &[]).stderr).is_empty(), "the same is asked again");
    let replaced = of("shallow-100mbps", &["--replace"]);
    assert_eq!(replaced.status.code(), Some(0));
    assert_eq!(text(&replaced.stderr), format!("out/matrix: replaces {found}\n"));
}

#[test]
fn the_short_form_of_a_matrix_does_not_take_the_place_of_the_full_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(matrix(folder.path(), &["newreno", "--only", "prudentia-8mbps"]).status.code(), Some(0));
    let file = folder.path().join("out/matrix/matrix.json");
    let full = std::fs::read_to_string(&file).expect("a matrix").replacen("\"quick\":true", "\"quick\":false", 1);
    std::fs::write(&file, full.replacen("\"asked\":\"", "\"asked\":\"0", 1)).expect("written");
    let refused = text(&matrix(folder.path(), &["newreno", "--only", "prudentia-8mbps"]).stderr);
    assert!(
        refused.starts_with("out/matrix: found a matrix in its full form of newreno on prudentia-8mbps;"),
        "{refused}"
    );
}

#[test]
fn other_settings_under_the_same_label_are_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let of = |beta: &str| {
        let controller = format!("{{ kind = \"newreno\", beta = {beta}, label = \"mine\" }}");
        matrix(folder.path(), &[&controller, "--only", "prudentia-8mbps"])
    };
    assert_eq!(of("0.5").status.code(), Some(0));
    let replaced = of("0.7");
    assert_eq!(replaced.status.code(), Some(0));
    let found = "a matrix in its short form of mine on prudentia-8mbps, with other settings";
    assert_eq!(text(&replaced.stderr), format!("out/matrix: replaces {found}\n"));
}

#[test]
fn a_page_of_another_command_is_not_overwritten_without_a_word() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let asked = ["newreno", "--only", "prudentia-8mbps"];
    assert_eq!(matrix(folder.path(), &asked).status.code(), Some(0));
    let page = std::fs::read(folder.path().join("out/matrix/report.html")).expect("a page");
    let scenario = "[run]\nduration = \"1 s\"\n[path]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"30 packets\"\n[[flow]]\ncontroller = \"newreno\"\nrtt = \"20 ms\"\n";
    std::fs::write(folder.path().join("small.toml"), scenario).expect("a scenario");
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
        command.args(["run", "small.toml", "--out", "out/matrix"]).args(more);
        command.current_dir(folder.path()).output().expect("the command starts")
    };
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    let message = "out/matrix: found the matrix.json of a matrix, and its page; expected an empty folder";
    assert!(text(&refused.stderr).starts_with(message), "{}", text(&refused.stderr));
    assert_eq!(std::fs::read(folder.path().join("out/matrix/report.html")).expect("a page"), page);
    let replaced = run(&["--replace"]);
    assert_eq!(replaced.status.code(), Some(0), "{}", text(&replaced.stderr));
    let again = run(&[]);
    assert_eq!(again.status.code(), Some(0), "its own page lies there now: {}", text(&again.stderr));
    let refused = matrix(folder.path(), &asked);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}
