//! Foreign files under the names of packetscale's.

use crate::command::SCENARIO;
use crate::support::{Place, Said};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUN: &str = "run small.toml --no-page --out out";
const REPLACE: &str = "expected an empty folder, or one of this plan; name another folder with --out, or replace \
                       what is there with --replace\n";

/// The command, which is ended where it waits for ever.
fn ended(place: &Place, line: &str) -> Said {
    let mut command = place.command(line);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("its state").is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait_with_output().expect("what it said").into()
}

fn pipe(place: &Place, name: &str) {
    std::fs::create_dir_all(place.at("out")).expect("a folder");
    let _ = std::fs::remove_file(place.at(name));
    assert!(Command::new("mkfifo").arg(place.at(name)).status().expect("mkfifo").success());
}

#[test]
fn foreign_list_of_runs_needs_replace() {
    let place = Place::with(SCENARIO);
    place.write("out/unfinished.ndjson", "{\"mine\": 1}\n");
    let said = place.refused(RUN);
    assert_eq!(said, format!("out: found a file unfinished.ndjson that is not of packetscale; {REPLACE}"));
    assert_eq!(place.read("out/unfinished.ndjson"), "{\"mine\": 1}\n");
    place.done(&format!("{RUN} --replace"));
    assert!(!place.has("out/unfinished.ndjson"));
}

#[test]
fn does_not_wait_on_pipe_in_results_folder() {
    let place = Place::with(SCENARIO);
    for name in ["manifest.json", "unfinished.ndjson"] {
        pipe(&place, &format!("out/{name}"));
        let said = ended(&place, RUN);
        let message = format!("out: found a file {name} that is not a regular file; {REPLACE}");
        assert_eq!((said.code, said.err.as_str()), (Some(2), message.as_str()));
        place.done(&format!("{RUN} --replace"));
    }
    for name in ["manifest.json", "runs.ndjson"] {
        pipe(&place, &format!("out/{name}"));
        let said = ended(&place, "report out --out page.html");
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(&format!("out/{name}: cannot be read: not a regular file")), "{said:?}");
        place.done(&format!("{RUN} --replace"));
    }
}

#[test]
fn pipe_in_place_of_page_needs_replace() {
    let place = Place::with(SCENARIO);
    pipe(&place, "out/report.html");
    let message = format!("out: found a file report.html that is not a regular file; {REPLACE}");
    assert_eq!(place.refused("run small.toml --out out"), message);
    assert!(!place.has("out/manifest.json"));
    place.done("run small.toml --out out --replace");
    assert!(place.read("out/report.html").contains("<html"));
    pipe(&place, "out/report.html");
    let message = "out/report.html: found a file; expected none, or --replace to overwrite it\n";
    assert_eq!(place.refused("report out"), message);
    place.done("report out --replace");
}

#[test]
fn refuses_dangling_link_before_writing_manual() {
    let place = Place::empty();
    std::fs::create_dir(place.at("man")).expect("a folder");
    std::os::unix::fs::symlink("nowhere/at/all", place.at("man/packetscale-run.1")).expect("a link");
    for option in ["", " --replace"] {
        let message = "man/packetscale-run.1: found no regular file; expected none, or a page\n";
        assert_eq!(place.refused(&format!("man --pages man{option}")), message);
        assert_eq!(place.names("man"), ["packetscale-run.1"]);
    }
}

#[test]
fn pages_of_the_manual_are_replaced_only_if_asked() {
    let place = Place::empty();
    place.write("man/packetscale-run.1", "mine");
    let message = "man/packetscale-run.1: found a file; expected none, or --replace to overwrite it\n";
    assert_eq!(place.refused("man --pages man"), message);
    assert_eq!(place.names("man"), ["packetscale-run.1"]);
    place.done("man --pages man --replace");
    assert!(place.read("man/packetscale-run.1").contains(".SH SYNOPSIS"));
}
