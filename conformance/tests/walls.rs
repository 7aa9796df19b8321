//! The walls of the house: who may use whom, where `unsafe` may be, how large a file may grow.
//!
//! Each wall is a function from its input (a list of arrows, a text) to the offences it finds. The same function can
//! thus be shown a wrong house beside the real one.

#[path = "walls/arrows.rs"]
mod arrows;
#[path = "walls/examples.rs"]
mod examples;
#[path = "walls/links.rs"]
mod links;
#[path = "walls/manifests.rs"]
mod manifests;
#[path = "walls/modules.rs"]
mod modules;
#[path = "walls/pages.rs"]
mod pages;
#[path = "walls/programs.rs"]
mod programs;
#[path = "walls/text.rs"]
mod text;
#[path = "walls/tree.rs"]
mod tree;

use settings::Parameter;
use std::fs;
use tree::{root, sources};

#[track_caller]
fn assert_none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

/// Returns every offence that `wall` finds in the sources with one of these endings.
fn offences(endings: &[&str], wall: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
    let files = sources(endings);
    assert!(!files.is_empty(), "no file ends in {endings:?}: the wall looks at nothing");
    files.iter().flat_map(|path| wall(path, &fs::read_to_string(root().join(path)).unwrap())).collect()
}

#[test]
fn arrows_go_one_way() {
    let arrows = arrows::of_workspace();
    assert!(arrows.len() > 10, "only {} arrows: the wall looks at nothing", arrows.len());
    assert_none(&arrows::refused(&arrows));
}

#[test]
fn a_wrong_arrow_is_refused() {
    let wrong = [
        ("algorithms/units", "algorithms/rapid"),
        ("algorithms/queueing", "algorithms/congestion"),
        ("algorithms/congestion", "algorithms/transport"),
        ("algorithms/transport", "hosts/simulator"),
        ("hosts/simulator", "hosts/lab"),
        ("hosts/tcp", "hosts/lab"),
        ("hosts/realtime", "hosts/tcp"),
        ("hosts/lab", "hosts/simulator"),
        ("experiment/traffic", "hosts/simulator"),
        ("experiment/measure", "hosts/simulator"),
        ("experiment/traffic", "experiment/measure"),
        ("experiment/results", "experiment/measure"),
        ("experiment/runner", "hosts/simulator"),
        ("experiment/evaluation", "hosts/simulator"),
        ("hosts/lab", "experiment/evaluation"),
        ("hosts/simulator", "experiment/report"),
        ("experiment/results", "algorithms/units"),
        ("experiment/scenario", "hosts/simulator"),
        ("experiment/probing", "hosts/simulator"),
        ("experiment/analysis", "experiment/papers"),
        ("cli", "conformance"),
        ("cli", "python"),
        ("python", "hosts/lab"),
        ("python", "algorithms/transport"),
        ("hosts/simulator", "benches"),
        ("somewhere/new", "algorithms/units"),
    ];
    for (from, to) in wrong {
        assert_eq!(arrows::refused(&[arrows::arrow(from, to)]).len(), 1, "{from} -> {to}");
    }
}

#[test]
fn modules_use_each_other_one_way() {
    let manifests = sources(&["/Cargo.toml"]);
    let read = |path: String| (path.clone(), fs::read_to_string(root().join(path)).unwrap());
    let files: Vec<(String, String)> = sources(&[".rs"]).into_iter().map(read).collect();
    let folders: Vec<&str> = manifests.iter().filter_map(|path| path.strip_suffix("/Cargo.toml")).collect();
    assert!(folders.len() > 10, "only {folders:?}: the wall looks at nothing");
    let circles = |folder: &&str| modules::circles(folder, &modules::uses(folder, &files));
    assert_none(&folders.iter().flat_map(circles).collect::<Vec<_>>());
}

#[test]
fn a_circle_of_modules_is_refused() {
    let file = |path: &str, text: &str| (path.to_string(), text.to_string());
    let circles = |b: &str| {
        let a = file("new/src/a.rs", "use crate::{\n    b::B,\n    c,\n};\n// crate::d\n");
        let files = [a, file("new/src/b/deep.rs", b), file("new/src/c.rs", ""), file("new/src/lib.rs", "mod a;")];
        modules::circles("new", &modules::uses("new", &files))
    };
    assert_eq!(circles("use crate::c::C;\n"), Vec::<String>::new());
    assert_eq!(circles("use crate::a::A;\n").len(), 2);
    assert_eq!(circles("fn f() { crate::a::g() }\n")[0], "new: a -> b -> a use each other in a circle");
}

#[test]
fn pure_crates_need_nothing_that_needs_std() {
    assert_none(&arrows::impure(&arrows::outside_of_workspace()));
    assert_eq!(arrows::impure(&[arrows::arrow("algorithms/units", "chrono")]).len(), 1);
    assert_eq!(arrows::impure(&[arrows::arrow("hosts/simulator", "chrono")]).len(), 0);
}

#[test]
fn algorithms_build_without_std() {
    let roots: Vec<String> =
        sources(&["src/lib.rs"]).into_iter().filter(|path| path.starts_with("algorithms/")).collect();
    assert!(roots.len() >= 5, "only {roots:?}");
    let bare = |path: &String| text::lacks_no_std(path, &fs::read_to_string(root().join(path)).unwrap());
    assert_none(&roots.iter().flat_map(bare).collect::<Vec<String>>());
    assert_none(&offences(&[".rs"], text::links_std));
}

#[test]
fn a_crate_with_std_is_refused() {
    assert_eq!(text::lacks_no_std("algorithms/new/src/lib.rs", "//! New.\nextern crate alloc;\n").len(), 1);
    assert_eq!(text::lacks_no_std("algorithms/new/src/lib.rs", "//! Says #![no_std] only in words.\n").len(), 1);
    assert_eq!(text::links_std("algorithms/new/src/lib.rs", "#![no_std]\nextern crate std;\n").len(), 1);
    assert_eq!(text::links_std("algorithms/new/src/lib.rs", "#[cfg(test)]\nextern crate std;\n").len(), 0);
}

#[test]
fn unsafe_stays_where_foreign_code_is_called() {
    assert_none(&offences(&[".rs"], text::unsafe_elsewhere));
    assert_none(&offences(&["Cargo.toml"], text::lints_not_inherited));
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(text::forbids_unsafe(&workspace), "the workspace's lints must say unsafe_code = \"forbid\"");
}

#[test]
fn unsafe_elsewhere_is_refused() {
    assert_eq!(text::unsafe_elsewhere("cli/src/main.rs", "let x = unsafe { *p };").len(), 1);
    assert_eq!(text::unsafe_elsewhere("algorithms/rapid/src/ffi.rs", "let x = unsafe { *p };").len(), 0);
    assert_eq!(text::unsafe_elsewhere("cli/src/main.rs", "// unsafe is not used\nlet unsafe_code = 1;").len(), 0);
    let bare = "[package]\nname = \"new\"\n";
    assert_eq!(text::lints_not_inherited("experiment/new/Cargo.toml", bare).len(), 1);
    assert_eq!(text::lints_not_inherited("algorithms/rapid/Cargo.toml", bare).len(), 0);
    assert!(!text::forbids_unsafe("[workspace.lints.rust]\nunsafe_code = \"deny\"\n"));
}

#[test]
fn modules_are_named_for_what_they_are() {
    let paths = sources(&[".rs", ".h", ".c", ".py", ".js"]);
    assert_none(&paths.iter().flat_map(|path| text::empty_name(path)).collect::<Vec<String>>());
    for wrong in ["cli/src/utils.rs", "experiment/common/mod.rs", "algorithms/rapid/include/rapid/helpers.h"] {
        assert_eq!(text::empty_name(wrong).len(), 1, "{wrong}");
    }
}

#[test]
fn files_fit_a_sitting() {
    assert_none(&offences(&[".rs", ".c", ".h", ".py", ".js", ".css", ".tcl", ".sh"], text::too_long));
    assert_eq!(text::too_long("new.rs", &"x\n".repeat(text::MOST_LINES + 1)).len(), 1);
    assert_eq!(text::too_long("new.rs", &"x\n".repeat(text::MOST_LINES)).len(), 0);
}

#[test]
fn c_says_its_licence() {
    assert_none(&offences(&[".h", ".c"], text::lacks_licence));
    assert_eq!(text::lacks_licence("new.h", "/* A header. */\n").len(), 1);
    assert_eq!(text::lacks_licence("new.h", "/* SPDX-License-Identifier: MIT */\n").len(), 1);
}

#[test]
fn crates_say_whether_their_documentation_has_examples() {
    let read = |path: &String| fs::read_to_string(root().join(path)).unwrap();
    let roots = sources(&["/src/lib.rs"]);
    let folders: Vec<&str> = roots.iter().filter_map(|path| path.strip_suffix("/src/lib.rs")).collect();
    assert!(folders.len() > 10, "only {folders:?}: the wall looks at nothing");
    let wall = |folder: &&str| {
        let inside = sources(&[".rs"]).into_iter().filter(|path| path.starts_with(&format!("{folder}/src/")));
        let has_examples = inside.map(|path| read(&path)).any(|text| examples::has_examples(&text));
        examples::offence(folder, &read(&format!("{folder}/Cargo.toml")), has_examples)
    };
    assert_none(&folders.iter().filter_map(wall).collect::<Vec<_>>());
}

#[test]
fn examples_that_are_not_run_are_refused() {
    assert!(examples::has_examples("/// Adds.\n/// ```\n/// assert_eq!(1 + 1, 2);\n/// ```\n"));
    assert!(!examples::has_examples("//! ```text\n//! x = y\n//! ```\n"));
    assert!(!examples::has_examples("// ```\nlet fence = \"```\";\n"));
    let off = "[package]\nname = \"new\"\n[lib]\ndoctest = false\n";
    assert!(examples::offence("new", off, true).is_some() && examples::offence("new", off, false).is_none());
    let on = "[package]\nname = \"new\"\n";
    assert!(examples::offence("new", on, false).is_some() && examples::offence("new", on, true).is_none());
}

#[test]
fn every_file_of_tests_is_compiled() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap_or_default();
    let manifests = sources(&["/Cargo.toml"]);
    let folders: Vec<&str> = manifests.iter().filter_map(|path| path.strip_suffix("/Cargo.toml")).collect();
    let listed: Vec<&&str> =
        folders.iter().filter(|folder| root().join(folder).join("tests/all.rs").is_file()).collect();
    assert!(listed.len() > 5, "only {listed:?}: the wall looks at nothing");
    let rust = sources(&[".rs"]);
    let wall = |folder: &&str| {
        let place = format!("{folder}/tests/");
        let inside = rust.iter().filter_map(|path| path.strip_prefix(&place)?.strip_suffix(".rs"));
        let files: Vec<&str> = inside.filter(|name| !name.contains('/')).collect();
        programs::unheard(folder, &read(&format!("{folder}/Cargo.toml")), &read(&format!("{place}all.rs")), &files)
    };
    assert_none(&folders.iter().flat_map(wall).collect::<Vec<_>>());
}

#[test]
fn a_file_of_tests_that_nobody_names_is_refused() {
    let listing = "[package]\nname = \"new\"\nautotests = false\n[[test]]\nname = \"all\"\n[[test]]\nname = \"own\"\n";
    let files = ["all", "own", "named", "forgotten"];
    let offences = programs::unheard("new", listing, "mod named;\n", &files);
    assert_eq!(offences, ["new/tests/forgotten.rs: nobody compiles it: name it in tests/all.rs"]);
    assert!(programs::unheard("new", "[package]\nname = \"new\"\n", "", &files).is_empty());
}

#[test]
fn every_algorithm_has_a_page() {
    let controllers = congestion::registry().iter().map(|entry| entry.name);
    let names: Vec<&str> = controllers.chain(queueing::registry().iter().map(|entry| entry.name)).collect();
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
    let denoisers = estimation::denoisers().iter().map(|entry| entry.name);
    let names: Vec<&str> = denoisers.chain(estimation::estimators().iter().map(|entry| entry.name)).collect();
    let missing = |names: &[&str]| -> Vec<String> {
        let has = |name: &&&str| page.contains(&format!("\n| `{name}` |"));
        names.iter().filter(|name| !has(name)).map(|name| format!("docs/estimation.md has no row for {name}")).collect()
    };
    assert_none(&missing(&names));
    assert_eq!(missing(&["no-such-estimator"]).len(), 1);
}

#[test]
fn every_setting_is_on_its_page_with_its_default_and_range() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap_or_default();
    let controllers = congestion::registry().iter().map(|entry| (entry.name, entry.parameters));
    let queues = queueing::registry().iter().map(|entry| (entry.name, entry.parameters));
    let own_page = controllers.chain(queues).flat_map(|(name, parameters)| {
        let path = format!("docs/algorithms/{name}.md");
        pages::missing_rows(&path, &read(&path), None, parameters)
    });
    let path = "docs/estimation.md";
    let page = read(path);
    let denoisers = estimation::denoisers().iter().map(|entry| (entry.name, entry.parameters));
    let methods = denoisers.chain(estimation::estimators().iter().map(|entry| (entry.name, entry.parameters)));
    let one_page = methods.flat_map(|(name, parameters)| pages::missing_rows(path, &page, Some(name), parameters));
    assert_none(&own_page.chain(one_page).collect::<Vec<_>>());
}

#[test]
fn a_setting_without_its_default_or_range_is_refused() {
    const LEVELS: Parameter<u32> = Parameter::new("levels", 4, 2..=16, "rates in a stream");
    let missing = |row: &str| pages::missing_rows("new.md", row, None, &[&LEVELS]).len();
    assert_eq!(missing("| `levels` | 4 | from 2 to 16 | rates |"), 0);
    assert_eq!(missing("| `levels` | 5 | from 2 to 16 | rates |"), 1);
    assert_eq!(missing("| `levels` | 4 | from 1 to 16 | rates |"), 1);
    assert_eq!(missing("`levels` is 4, from 2 to 16"), 1);
}

#[test]
fn the_lock_file_is_committed() {
    assert!(tree::tracked("Cargo.lock"), "Cargo.lock is not in the repository");
    assert!(!tree::tracked("target/CACHEDIR.TAG"), "build output is in the repository");
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

/// A reader finds every page from docs/README.md, and every algorithm from its own list.
#[test]
fn every_page_is_listed() {
    let missing = |index: &str, folder: &str| -> Vec<String> {
        let text = text_at(index).unwrap_or_default();
        let listed = links::targets(&text);
        let depth = folder.matches('/').count();
        let pages = sources(&[".md"])
            .into_iter()
            .filter(|path| path.starts_with(folder) && path.matches('/').count() == depth && path != index);
        let name = |path: &str| path.trim_start_matches(folder).to_string();
        let lists = |path: &String| listed.iter().any(|target| target.split('#').next() == Some(name(path).as_str()));
        pages.filter(|path| !lists(path)).map(|path| format!("{index} does not list {path}")).collect()
    };
    assert_none(&missing("docs/README.md", "docs/"));
    assert_none(&missing("docs/algorithms/README.md", "docs/algorithms/"));
    assert_none(&missing("docs/decisions/README.md", "docs/decisions/"));
    assert!(!missing("CHANGELOG.md", "docs/").is_empty(), "the wall looks at nothing");
}

#[test]
fn crates_that_can_be_published_say_what_they_are() {
    let manifests: Vec<String> = sources(&["Cargo.toml"]).into_iter().filter(|path| path != "Cargo.toml").collect();
    assert!(manifests.len() > 20, "only {} manifests: the wall looks at nothing", manifests.len());
    let lacking = manifests.iter().flat_map(|path| {
        let folder = path.trim_end_matches("/Cargo.toml");
        let read = |name: &str| fs::read_to_string(root().join(folder).join(name));
        let text = read("src/lib.rs").or_else(|_| read("src/main.rs")).expect("a crate has one of the two");
        manifests::lacking(folder, &read("Cargo.toml").expect("a manifest"), &text)
    });
    assert_none(&lacking.collect::<Vec<_>>());
}

#[test]
fn a_crate_that_says_nothing_is_refused() {
    let bare = "[package]\nname = \"new\"\nversion.workspace = true\n";
    assert_eq!(manifests::lacking("new", bare, "mod a;\n").len(), 7);
    assert!(manifests::lacking("new", &format!("{bare}publish = false\n"), "mod a;\n").is_empty());
}
