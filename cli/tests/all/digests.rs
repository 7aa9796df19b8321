//! Which rooms decide what a figure finds, and what their digest covers.

#[path = "../../build/rooms.rs"]
mod code;

use crate::support::Place;
use code::{DOES, JUDGES, digest, with_dependencies};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_path_buf()
}

fn rooms_of(table: &str) -> BTreeSet<String> {
    let (_, rooms) = DOES.iter().find(|(known, _)| *known == table).expect("a table of figures");
    with_dependencies(&root(), rooms).expect("manifests")
}

/// The arrows between the crates of the workspace as Cargo reads them, those of tests left out: folders.
fn arrows() -> Vec<(String, String)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let inside = |path: &str| Path::new(path).strip_prefix(root()).expect("inside").to_string_lossy().into_owned();
    let mut arrows = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let from = inside(package["manifest_path"].as_str().expect("a path").trim_end_matches("/Cargo.toml"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            if let (Some(path), true) = (dependency["path"].as_str(), dependency["kind"] != "dev") {
                arrows.push((from.clone(), inside(path)));
            }
        }
    }
    arrows
}

#[test]
fn the_rooms_are_those_that_cargo_would_build() {
    let arrows = arrows();
    for (table, rooms) in DOES {
        let mut all: BTreeSet<String> = rooms.iter().map(|room| room.to_string()).collect();
        loop {
            let next = arrows.iter().filter(|(from, _)| all.contains(from)).map(|(_, to)| to.clone());
            let more: BTreeSet<String> = all.iter().cloned().chain(next).collect();
            if more == all {
                break;
            }
            all = more;
        }
        assert_eq!(rooms_of(table), all, "{table}");
    }
}

/// A theory has no law of a controller in it; a simulation has all of them, but neither studies nor pages.
#[test]
fn a_figure_of_theory_stands_while_laws_change() {
    let theory = ["models/src/theory", "models/src/units", "studies/src/analysis"].map(str::to_string);
    assert_eq!(rooms_of("compute"), BTreeSet::from(theory));
    let simulated = rooms_of("simulate");
    for room in ["law", "models", "experiment", "harness", "simulator"] {
        assert!(simulated.contains(room), "{room}");
    }
    assert!(!simulated.contains("studies") && !simulated.contains("report"));
    let probed = rooms_of("probe");
    assert!(probed.is_superset(&simulated) && probed.contains("cli/src/probing.rs"));
}

#[test]
fn every_room_that_is_named_is_there() {
    for room in DOES.iter().flat_map(|(_, rooms)| *rooms).chain(JUDGES) {
        assert!(root().join(room).exists(), "{room}");
    }
}

/// A workspace where `law` depends on `units`, its tests on `paper`, and `theory` on nothing.
fn workspace() -> Place {
    let place = Place::empty();
    let member = |name: &str| format!("{name} = {{ path = \"rooms/{name}\" }}\n");
    let members: String = ["units", "law", "theory", "paper"].map(member).concat();
    place.write("Cargo.toml", format!("[workspace.dependencies]\n{members}"));
    let law = "[package]\nname = \"law\"\n\n[dependencies]\nunits = { workspace = true, optional = true }\nrand = \"1\"\n\n\
               [dev-dependencies]\npaper.workspace = true\n";
    place.write("rooms/law/Cargo.toml", law);
    for name in ["units", "theory", "paper"] {
        place.write(&format!("rooms/{name}/Cargo.toml"), "[package]\n");
    }
    for name in ["units", "law", "theory", "paper"] {
        place.write(&format!("rooms/{name}/src/lib.rs"), "pub const ONE: u32 = 1;\n");
    }
    place
}

#[test]
fn a_digest_heeds_code_of_its_rooms_and_nothing_else() {
    let place = workspace();
    let root = place.path();
    let of = |room: &str| {
        let all = with_dependencies(root, &[room]).expect("manifests");
        digest(root, all.iter().map(String::as_str)).expect("sources")
    };
    let change = |room: &str, text: &str| place.write(&format!("rooms/{room}/src/lib.rs"), text);
    let (law, theory) = (of("rooms/law"), of("rooms/theory"));

    change("paper", "pub const ONE: u32 = 2;\n");
    assert_eq!((of("rooms/law"), of("rooms/theory")), (law, theory), "only tests use it");
    change("units", "// One.\n\npub const ONE: u32 = 1;\n\n#[cfg(test)]\nmod tests {\n    const TWO: u32 = 2;\n}\n");
    assert_eq!(of("rooms/law"), law, "a comment and a test");
    change("units", "pub const ONE: u32 = 3;\n");
    assert_ne!(of("rooms/law"), law, "a room that it depends on");
    assert_eq!(of("rooms/theory"), theory, "another room");
    change("theory", "pub const ONE: u32 = 3;\n");
    assert_ne!(of("rooms/theory"), theory, "its own");
}
