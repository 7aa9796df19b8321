//! Rules of the workspace: dependencies between crates and modules, where `unsafe` may be, how large a file may grow.
//!
//! Each rule is a function from its input (a list of dependencies, a text) to the offences it finds. So a test can also
//! give it a wrong input.

#[path = "walls/arrows.rs"]
mod arrows;
#[path = "walls/links.rs"]
mod links;
#[path = "walls/modules.rs"]
mod modules;
#[path = "walls/programs.rs"]
mod programs;
#[path = "walls/text.rs"]
mod text;
#[path = "walls/tree.rs"]
mod tree;

use std::fs;
use tree::{root, sources};

#[track_caller]
fn assert_none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

/// Returns every offence that `wall` finds in the sources with one of these endings.
fn offences(endings: &[&str], wall: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
    let files = sources(endings);
    assert!(!files.is_empty(), "no file ends in {endings:?}: the rule checks nothing");
    files.iter().flat_map(|path| wall(path, &fs::read_to_string(root().join(path)).unwrap())).collect()
}

#[test]
fn arrows_go_one_way() {
    let arrows = arrows::of_workspace();
    assert!(arrows.len() > 10, "only {} arrows: the rule checks nothing", arrows.len());
    assert_none(&arrows::refused(&arrows));
}

#[test]
fn a_wrong_arrow_is_refused() {
    let wrong = [
        ("law", "models"),
        ("models", "harness"),
        ("experiment", "simulator"),
        ("harness", "simulator"),
        ("simulator", "linux"),
        ("linux", "simulator"),
        ("live", "linux"),
        ("simulator", "report"),
        ("linux", "studies"),
        ("cli", "conformance"),
        ("cli", "python"),
        ("python", "linux"),
        ("new", "models"),
    ];
    for (from, to) in wrong {
        assert_eq!(arrows::refused(&[arrows::arrow(from, to)]).len(), 1, "{from} -> {to}");
    }
}

/// The sources of Rust: their paths and texts.
fn rust() -> Vec<(String, String)> {
    let read = |path: String| (path.clone(), fs::read_to_string(root().join(path)).unwrap());
    sources(&[".rs"]).into_iter().map(read).collect()
}

#[test]
fn modules_of_a_crate_use_only_those_listed() {
    let files = rust();
    let arrows = |name: &&str| -> Vec<arrows::Arrow> {
        let uses = modules::uses(&format!("{name}/src"), "crate::", &files);
        let arrow = |(from, to): (&String, &String)| arrows::arrow(&format!("{name}/{from}"), to);
        uses.iter().flat_map(|(from, to)| to.iter().map(move |to| arrow((from, to)))).collect()
    };
    let found: Vec<arrows::Arrow> = arrows::of_parts().iter().flat_map(arrows).collect();
    assert!(found.len() > 10, "only {} arrows: the rule checks nothing", found.len());
    assert_none(&arrows::refused_inside(&found));
    for (from, to) in [("models/units", "rapid"), ("models/queueing", "congestion"), ("linux/tcp", "lab")] {
        assert_eq!(arrows::refused_inside(&[arrows::arrow(from, to)]).len(), 1, "{from} -> {to}");
    }
}

#[test]
fn modules_use_each_other_one_way() {
    let files = rust();
    let manifests = sources(&["/Cargo.toml"]);
    let crates: Vec<&str> = manifests.iter().filter_map(|path| path.strip_suffix("/Cargo.toml")).collect();
    assert!(crates.len() > 10, "only {crates:?}: the rule checks nothing");
    let of_crate = |name: &&str| (format!("{name}/src"), "crate::".to_string());
    let of_module = |name: &str| {
        let (house, module) = name.split_once('/').expect("a crate and its module");
        (format!("{house}/src/{module}"), format!("crate::{module}::"))
    };
    let places = crates.iter().map(of_crate).chain(arrows::modules().map(of_module));
    let circles =
        |(folder, place): (String, String)| modules::circles(&folder, &modules::uses(&folder, &place, &files));
    assert_none(&places.flat_map(circles).collect::<Vec<_>>());
}

#[test]
fn a_circle_of_modules_is_refused() {
    let file = |path: &str, text: &str| (path.to_string(), text.to_string());
    let circles = |b: &str| {
        let a = file("new/src/a.rs", "use crate::{\n    b::B,\n    c,\n};\n// crate::d\n");
        let files = [a, file("new/src/b/deep.rs", b), file("new/src/c.rs", ""), file("new/src/lib.rs", "mod a;")];
        modules::circles("new/src", &modules::uses("new/src", "crate::", &files))
    };
    assert_eq!(circles("use crate::c::C;\n"), Vec::<String>::new());
    assert_eq!(circles("use crate::a::A;\n").len(), 2);
    assert_eq!(circles("fn f() { crate::a::g() }\n")[0], "new/src: a -> b -> a use each other in a circle");
}

#[test]
fn pure_crates_need_nothing_that_needs_std() {
    assert_none(&arrows::impure(&arrows::outside_of_workspace()));
    assert_eq!(arrows::impure(&[arrows::arrow("models", "chrono")]).len(), 1);
    assert_eq!(arrows::impure(&[arrows::arrow("simulator", "chrono")]).len(), 0);
}

#[test]
fn pure_crates_build_without_std() {
    for name in ["law", "controller", "models"] {
        let path = format!("{name}/src/lib.rs");
        assert_none(&text::lacks_no_std(&path, &fs::read_to_string(root().join(&path)).unwrap()));
    }
    assert_none(&offences(&[".rs"], text::links_std));
}

#[test]
fn a_crate_with_std_is_refused() {
    assert_eq!(text::lacks_no_std("models/src/lib.rs", "//! New.\nextern crate alloc;\n").len(), 1);
    assert_eq!(text::lacks_no_std("models/src/lib.rs", "//! Says #![no_std] only in words.\n").len(), 1);
    assert_eq!(text::links_std("models/src/lib.rs", "#![no_std]\nextern crate std;\n").len(), 1);
    assert_eq!(text::links_std("models/src/lib.rs", "#[cfg(test)]\nextern crate std;\n").len(), 0);
}

/// The compiler refuses `unsafe` where a manifest does: this test checks the manifests.
#[test]
fn manifests_refuse_unsafe() {
    assert_none(&offences(&["Cargo.toml"], text::lints_not_inherited));
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(text::forbids_unsafe(&workspace), "the workspace's lints must say unsafe_code = \"forbid\"");
    let bare = "[package]\nname = \"new\"\n";
    assert_eq!(text::lints_not_inherited("report/Cargo.toml", bare).len(), 1);
    assert_eq!(text::lints_not_inherited("law/Cargo.toml", bare).len(), 0);
    assert!(!text::forbids_unsafe("[workspace.lints.rust]\nunsafe_code = \"deny\"\n"));
}

#[test]
fn files_fit_a_sitting() {
    assert_none(&offences(&[".rs", ".c", ".h", ".py", ".js", ".css", ".tcl", ".sh"], text::too_long));
    assert_eq!(text::too_long("new.rs", &"x\n".repeat(text::MOST_LINES + 1)).len(), 1);
    assert_eq!(text::too_long("new.rs", &"x\n".repeat(text::MOST_LINES)).len(), 0);
}

#[test]
fn c_files_name_their_licence() {
    assert_none(&offences(&[".h", ".c"], text::lacks_licence));
    assert_eq!(text::lacks_licence("new.h", "/* A header. */\n").len(), 1);
    assert_eq!(text::lacks_licence("new.h", "/* SPDX-License-Identifier: MIT */\n").len(), 1);
}

/// A file of a test program that no module names is never compiled.
#[test]
fn every_file_of_tests_is_compiled() {
    let files = rust();
    let programs: Vec<&(String, String)> = files.iter().filter(|(path, _)| programs::is_one(path)).collect();
    assert!(programs.len() > 10, "only {} programs: the rule checks nothing", programs.len());
    assert_none(&programs.iter().flat_map(|(path, text)| programs::unnamed(path, text, &files)).collect::<Vec<_>>());
}

#[test]
fn refuses_a_test_file_outside_every_module() {
    let file = |name: &str| (format!("new/tests/{name}.rs"), String::new());
    let files = ["part/main", "part/named", "part/forgotten", "other"].map(file);
    let offences = programs::unnamed("new/tests/part/main.rs", "mod named;\n", &files);
    assert_eq!(offences, ["new/tests/part/forgotten.rs: never compiled: name it in new/tests/part/main.rs"]);
}

#[test]
fn every_algorithm_has_a_page() {
    let controllers = packetscale_models::congestion::registry().iter().map(|entry| entry.name);
    let names: Vec<&str> =
        controllers.chain(packetscale_models::queueing::registry().iter().map(|entry| entry.name)).collect();
    let has = |name: &str| root().join(format!("docs/algorithms/{name}.md")).is_file();
    let missing = |names: &[&str]| -> Vec<String> {
        names.iter().filter(|name| !has(name)).map(|name| format!("docs/algorithms/{name}.md is not there")).collect()
    };
    assert_none(&missing(&names));
    assert_eq!(missing(&["no-such-controller"]).len(), 1);
}

#[test]
fn every_estimator_and_denoiser_is_on_its_page() {
    let page = fs::read_to_string(root().join("docs/estimation.md")).expect("the page");
    let denoisers = packetscale_models::estimation::denoisers().iter().map(|entry| entry.name);
    let names: Vec<&str> =
        denoisers.chain(packetscale_models::estimation::estimators().iter().map(|entry| entry.name)).collect();
    let missing = |names: &[&str]| -> Vec<String> {
        let has = |name: &&&str| page.contains(&format!("\n| `{name}` |"));
        names.iter().filter(|name| !has(name)).map(|name| format!("docs/estimation.md has no row for {name}")).collect()
    };
    assert_none(&missing(&names));
    assert_eq!(missing(&["no-such-estimator"]).len(), 1);
}

#[test]
fn every_algorithm_with_settings_links_to_their_reference() {
    let controllers = packetscale_models::congestion::registry().iter();
    let controllers = controllers.map(|entry| ("controllers", entry.name, entry.parameters));
    let queues = packetscale_models::queueing::registry().iter().map(|entry| ("queues", entry.name, entry.parameters));
    let with_settings = controllers.chain(queues).filter(|(_, _, parameters)| !parameters.is_empty());
    let missing = with_settings.filter_map(|(list, name, _)| {
        let (page, link) = (format!("docs/algorithms/{name}.md"), format!("../reference/{list}.md#{name}"));
        let text = fs::read_to_string(root().join(&page)).unwrap_or_default();
        (!links::targets(&text).contains(&link)).then(|| format!("{page} does not link to {link}"))
    });
    assert_none(&missing.collect::<Vec<_>>());
}

/// Returns the text of a file of the repository; a folder has an empty text.
fn text_at(path: &str) -> Option<String> {
    let whole = root().join(path);
    if whole.is_dir() { Some(String::new()) } else { fs::read(whole).ok().map(|b| String::from_utf8_lossy(&b).into()) }
}

#[test]
fn links_lead_somewhere() {
    assert_none(&offences(&[".md"], |path, text| links::dead(path, text, text_at)));
}

#[test]
fn a_dead_link_is_refused() {
    let read = |path: &str| (path == "docs/other.md").then(|| "# One heading\n## Two: `x`, y\n".to_string());
    let dead = |text: &str| links::dead("docs/page.md", text, read).len();
    assert_eq!(dead("[there](other.md), [heading](other.md#two-x-y), [web](https://example.org/x)"), 0);
    assert_eq!(dead("[gone](../other.md)"), 1);
    assert_eq!(dead("[no heading](other.md#three)"), 1);
    assert_eq!(dead("[own](#here)\n# Here\n"), 0);
    assert_eq!(dead("```\n[code](gone.md)\n```\n`[code](gone.md)`"), 0);
}

/// A reader finds every page from docs/README.md and in the book, and every algorithm from its own list.
#[test]
fn every_page_is_listed() {
    let missing = |index: &str, folder: &str| -> Vec<String> {
        let text = text_at(index).unwrap_or_default();
        let listed = links::targets(&text);
        let depth = folder.matches('/').count();
        let skipped = [index, "docs/SUMMARY.md"];
        let pages = sources(&[".md"]).into_iter().filter(|path| {
            path.starts_with(folder) && path.matches('/').count() == depth && !skipped.contains(&path.as_str())
        });
        let beside = &index[..index.rfind('/').map_or(0, |at| at + 1)];
        let name = |path: &str| path.trim_start_matches(beside).to_string();
        let lists = |path: &String| listed.iter().any(|target| target.split('#').next() == Some(name(path).as_str()));
        pages.filter(|path| !lists(path)).map(|path| format!("{index} does not list {path}")).collect()
    };
    assert_none(&missing("docs/README.md", "docs/"));
    assert_none(&missing("docs/SUMMARY.md", "docs/"));
    assert_none(&missing("docs/README.md", "docs/reference/"));
    assert_none(&missing("docs/SUMMARY.md", "docs/reference/"));
    assert_none(&missing("docs/algorithms/README.md", "docs/algorithms/"));
    assert_none(&missing("docs/decisions/README.md", "docs/decisions/"));
    assert_none(&missing("docs/designs/README.md", "docs/designs/"));
    assert!(!missing("CHANGELOG.md", "docs/").is_empty(), "the rule checks nothing");
}
