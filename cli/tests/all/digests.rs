//! Which crates a figure's values depend on, and what their digest covers.

#[path = "../../build/digests.rs"]
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

fn crates_of(table: &str) -> BTreeSet<String> {
    let (_, crates) = DOES.iter().find(|(known, _)| *known == table).expect("a table of figures");
    with_dependencies(&root(), crates).expect("manifests")
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
fn crates_of_a_table_are_the_dependencies_that_cargo_builds() {
    let arrows = arrows();
    for (table, crates) in DOES {
        let mut all: BTreeSet<String> = crates.iter().map(|member| member.to_string()).collect();
        loop {
            let next = arrows.iter().filter(|(from, _)| all.contains(from)).map(|(_, to)| to.clone());
            let more: BTreeSet<String> = all.iter().cloned().chain(next).collect();
            if more == all {
                break;
            }
            all = more;
        }
        assert_eq!(crates_of(table), all, "{table}");
    }
}

/// A theory has no law of a controller in it; a simulation has all of them, but neither studies nor pages.
#[test]
fn theory_depends_on_no_controller() {
    let theory = ["models/src/theory", "models/src/units", "studies/src/analysis"].map(str::to_string);
    assert_eq!(crates_of("compute"), BTreeSet::from(theory));
    let simulated = crates_of("simulate");
    for member in ["law", "models", "experiment", "harness", "simulator"] {
        assert!(simulated.contains(member), "{member}");
    }
    assert!(!simulated.contains("studies") && !simulated.contains("report"));
    let probed = crates_of("probe");
    assert!(probed.is_superset(&simulated) && probed.contains("cli/src/probing.rs"));
}

#[test]
fn every_listed_path_exists() {
    for member in DOES.iter().flat_map(|(_, crates)| *crates).chain(JUDGES) {
        assert!(root().join(member).exists(), "{member}");
    }
}

/// A workspace where `law` depends on `units`, its tests on `paper`, and `theory` on nothing.
fn workspace() -> Place {
    let place = Place::empty();
    let member = |name: &str| format!("{name} = {{ path = \"crates/{name}\" }}\n");
    let members: String = ["units", "law", "theory", "paper"].map(member).concat();
    place.write("Cargo.toml", format!("[workspace.dependencies]\n{members}"));
    let law = "[package]\nname = \"law\"\n\n[dependencies]\nunits = { workspace = true, optional = true }\nrand = \"1\"\n\n\
               [dev-dependencies]\npaper.workspace = true\n";
    place.write("crates/law/Cargo.toml", law);
    for name in ["units", "theory", "paper"] {
        place.write(&format!("crates/{name}/Cargo.toml"), "[package]\n");
    }
    for name in ["units", "law", "theory", "paper"] {
        place.write(&format!("crates/{name}/src/lib.rs"), "pub const ONE: u32 = 1;\n");
    }
    place
}

#[test]
fn digest_changes_only_with_code_of_its_crates() {
    let place = workspace();
    let root = place.path();
    let of = |member: &str| {
        let all = with_dependencies(root, &[member]).expect("manifests");
        digest(root, all.iter().map(String::as_str)).expect("sources")
    };
    let change = |member: &str, text: &str| place.write(&format!("crates/{member}/src/lib.rs"), text);
    let (law, theory) = (of("crates/law"), of("crates/theory"));

    change("paper", "pub const ONE: u32 = 2;\n");
    assert_eq!((of("crates/law"), of("crates/theory")), (law, theory), "only tests use it");
    change("units", "// One.\n\npub const ONE: u32 = 1;\n\n#[cfg(test)]\nmod tests {\n    const TWO: u32 = 2;\n}\n");
    assert_eq!(of("crates/law"), law, "a comment and a test");
    change("units", "pub const ONE: u32 = 3;\n");
    assert_ne!(of("crates/law"), law, "a dependency");
    assert_eq!(of("crates/theory"), theory, "another crate");
    change("theory", "pub const ONE: u32 = 3;\n");
    assert_ne!(of("crates/theory"), theory, "its own");
}
