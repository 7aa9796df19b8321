//! `packetscale judge attack` as people use it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn attack(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(["judge", "attack"]).args(arguments).current_dir(folder).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A few paths only, of the first cause: whether it finds something is not judged here.
#[test]
fn a_search_prints_one_object_and_writes_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = attack(folder.path(), &["vegas", "--evaluations", "6", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let found = &json["attack"];
    assert_eq!((&found["controller"], &found["against"]), (&"vegas".into(), &"cubic".into()));
    assert_eq!((&found["figure"], &found["evaluations"]), (&"share".into(), &6.into()));
    let command = "packetscale judge attack vegas --against cubic --figure share --seed 1 --evaluations 6";
    assert_eq!(found["command"], command);
    let written = folder.path().join("out/attack/vegas-share-cubic");
    let file = std::fs::read_to_string(written.join("attack.json")).expect("the file");
    assert_eq!(serde_json::from_str::<Value>(&file).expect("JSON"), json);
    for finding in found["findings"].as_array().expect("a list") {
        assert!(written.join(format!("{}.toml", finding["name"].as_str().expect("a name"))).is_file());
    }
}

#[test]
fn findings_of_another_search_are_replaced_only_if_asked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let code =
        |arguments: &[&str]| attack(folder.path(), &[&["vegas", "--evaluations"], arguments].concat()).status.code();
    assert_eq!(code(&["6"]), Some(0));
    assert_eq!(code(&["6"]), Some(0), "the same search finds the same");
    let refused = attack(folder.path(), &["vegas", "--evaluations", "7"]);
    assert_eq!(refused.status.code(), Some(2));
    let expected = "out/attack/vegas-share-cubic: found what another search wrote; name another folder with --out, or replace \
                    it with --replace\n";
    assert_eq!(text(&refused.stderr), expected);
    assert_eq!(code(&["7", "--replace"]), Some(0));
}

#[test]
fn what_is_not_there_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refused = |arguments: &[&str], why: &str| {
        let output = attack(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    };
    refused(&["vegaz"], "attack vegaz: found the unknown controller \"vegaz\", perhaps \"vegas\"");
    refused(&["vegas", "--against", "cubik"], "--against cubik");
    refused(&["cubic", "--against", "cubic"], "--against: found cubic, which is attacked itself");
    refused(&["vegas", "--figure", "speed"], "completion");
    refused(&["vegas", "--on", "moon"], "invalid value 'moon' for '--on <HOST>'");
    refused(&["vegas", "--budget", "ten"], "found \"ten\" (not a number with a unit); expected a time");
    refused(&["vegas", "--budget", "1 min", "--evaluations", "9"], "cannot be used with");
}
