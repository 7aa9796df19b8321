//! `packetscale report` as people use it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SCENARIO: &str = r#"
[run]
duration = "2 s"
replications = 3

[path]
rate = "10 Mbit/s"
delay = "10 ms"

[[flow]]
controller = "cubic"
start = { uniform = ["0 s", "1 s"] }

[[expect]]
metric = "utilisation"
at_most = 2
why = "a part of one"
"#;

fn packetscale(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(arguments).current_dir(folder).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_page_of_a_folder_is_made_again_and_one_of_two_folders() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("short.toml"), SCENARIO).expect("a scenario");
    for (out, rate) in [("slow", "10 Mbit/s"), ("fast", "20 Mbit/s")] {
        let set = format!("path.rate=\"{rate}\"");
        let output = packetscale(folder.path(), &["run", "short.toml", "--out", out, "--set", &set]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let page = folder.path().join("slow/report.html");
    let before = fs::read_to_string(&page).expect("a page");
    let output = packetscale(folder.path(), &["report", "slow"]);
    assert_eq!(text(&output.stdout), "Written to slow/report.html\n", "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(&page).expect("a page"), before, "nothing of the page is lost in the folder");

    let output = packetscale(folder.path(), &["report", "slow", "fast", "--out", "both/page.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let both = fs::read_to_string(folder.path().join("both/page.html")).expect("a page");
    assert!(both.contains("cubic, slow") && both.contains("cubic, fast"));
    assert!(both.contains("<code>path.rate</code></th><td>10 Mbit/s</td><td>20 Mbit/s</td>"));
    assert!(both.contains("As expected: both expectations are met."));
    let again = packetscale(folder.path(), &["report", "slow", "fast", "--out", "both/page.html"]);
    assert_eq!(text(&again.stderr), "both/page.html: found a file; expected none, or --replace to overwrite it\n");
}

#[test]
fn a_folder_without_results_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = packetscale(folder.path(), &["report", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("nowhere/manifest.json: cannot be read") && said.contains("packetscale run"), "{said}");
    fs::write(folder.path().join("matrix.json"), "{}").expect("written");
    let said = text(&packetscale(folder.path(), &["report", "."]).stderr);
    assert_eq!(said, ".: found a matrix; expected a folder that `packetscale run` wrote\n");
}
