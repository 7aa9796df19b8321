//! Controllers of users, from the template to the table.

use crate::support::{Place, Said};
use std::process::Command;

fn has(compiler: &str) -> bool {
    let there = Command::new(compiler).arg("--version").output();
    if let Err(error) = &there {
        eprintln!("skipped: {compiler}: {error}");
    }
    there.is_ok()
}

/// The template of this language in the folder `mine`.
fn template(language: &str) -> (Place, Said) {
    let place = Place::empty();
    let said = place.done(&format!("new controller mine --language {language}"));
    (place, said)
}

/// The command in the folder of the template.
fn inside(place: &Place, line: &str) -> Said {
    Said::of(place.command(line).current_dir(place.at("mine")))
}

/// The template's scenario has its controller beside a built-in one.
fn assert_runs(place: &Place) {
    let said = inside(place, "run mine.toml --no-page --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("\"mine\"") && said.out.contains("\"newreno\""), "{}", said.out);
}

#[test]
fn the_template_in_c_compiles_and_runs() {
    if !has("make") || !has("cc") {
        return;
    }
    let (place, _) = template("c");
    let mut make = Command::new("make");
    make.arg("CFLAGS=-std=c11 -O2 -Wall -Wextra -Werror -fPIC").current_dir(place.at("mine"));
    let made = Said::of(&mut make);
    assert_eq!(made.code, Some(0), "{}", made.err);
    assert_runs(&place);
    let listed = inside(&place, "list controllers mine.so").out;
    assert!(listed.contains("newreno") && listed.contains("\nmine ") && listed.contains("increase"), "{listed}");
    // A setting of another name is refused with the known names.
    let setting = "run mine.toml --set 'compare.controllers=[{ kind = \"c\", file = \"mine.so\", up = 1 }]'";
    for (line, why) in [("list queues mine.so", ""), (setting, "increase")] {
        let refused = inside(&place, line);
        assert!(refused.code == Some(2) && refused.err.contains(why), "{line}: {refused:?}");
    }
}

#[test]
fn the_template_in_rust_compiles_and_runs() {
    let (place, _) = template("rust");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--offline"]).env_remove("CARGO_TARGET_DIR").current_dir(place.at("mine"));
    let built = Said::of(&mut cargo);
    assert_eq!(built.code, Some(0), "{}", built.err);
    assert_runs(&place);
}

/// That it runs is a test of the Python module: the command has no Python.
#[test]
fn the_template_in_python_is_named_by_its_scenario_and_unknown_to_the_command() {
    let (place, made) = template("python");
    assert!(made.out.contains("python3 mine.py") && made.out.contains("pip install target/python/wheels/"), "{made:?}");
    let text = place.read("mine/mine.py");
    assert!(text.contains("@ps.controller(\"mine\")") && !text.contains("@NAME@"), "{text}");
    let run = inside(&place, "run mine.toml");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("mine.toml:17") && run.err.contains("unknown controller \"mine\""), "{}", run.err);
}

#[test]
fn a_name_that_is_taken_or_wrong_is_refused() {
    let place = Place::empty();
    place.write("mine/file", "");
    for (name, found) in [("Mine", "\"Mine\""), ("cubic", "\"cubic\""), ("mine", "a file or folder")] {
        let refused = place.refused(&format!("new controller {name}"));
        assert!(refused.contains(&format!("found {found}")), "{refused}");
    }
}

#[test]
fn a_file_that_is_no_controller_is_refused_with_its_key() {
    let place = Place::with(
        "run = { duration = \"1 s\" }\npath = { rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"1 bdp\" }\n\
         [[flow]]\ncontroller = { kind = \"c\", file = \"mine.so\" }\n",
    );
    let refused = |why: &str| {
        let said = place.refused("run small.toml");
        assert!(said.starts_with("small.toml:4: flow.0.controller.file: ") && said.contains(why), "{said}");
    };
    refused("there is no file");
    place.write("mine.so", "text");
    refused("another kind of file");
}
