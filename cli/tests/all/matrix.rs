//! `packetscale judge matrix` as people use it, and what it has in common with `judge evaluate`.

use crate::command::SCENARIO;
use crate::support::Place;

const ONE: &str = "judge matrix --quick newreno --only prudentia-8mbps";

#[test]
fn several_settings_are_asked_for_in_a_list_or_one_by_one() {
    let place = Place::empty();
    for only in [
        "--out list --only shallow-100mbps,prudentia-8mbps",
        "--out each --only shallow-100mbps --only prudentia-8mbps",
    ] {
        let json = place.done(&format!("judge matrix --quick newreno --json {only}")).json();
        let settings = json["matrix"]["settings"].as_array().expect("a list").iter();
        let names: Vec<&str> = settings.filter_map(|setting| setting["name"].as_str()).collect();
        assert_eq!(names, ["prudentia-8mbps", "shallow-100mbps"], "{only}: in the order of the settings");
    }
}

/// Commands whose results differ, the folder that both write, and what is in it after the first.
const OTHERS: [[&str; 4]; 2] = [
    [
        ONE,
        "judge matrix --quick newreno --only shallow-100mbps",
        "out/matrix",
        "a matrix in its short form of newreno on prudentia-8mbps",
    ],
    [
        "judge evaluate veno --quick --jobs 1 --only 7.4",
        "judge evaluate veno --quick --jobs 1 --only 5.1.1",
        "out/evaluate/veno",
        "an evaluation in its short form of veno, 1 section",
    ],
];

#[test]
fn another_judgement_is_not_overwritten_without_replace() {
    for [first, other, folder, found] in OTHERS {
        let place = Place::empty();
        place.done(first);
        let expected = "expected an empty folder, or one of this plan; name another folder";
        let refused = place.refused(other);
        assert!(refused.starts_with(&format!("{folder}: found {found}; {expected}")), "{refused}");
        assert_eq!(place.done(first).err, "", "the same is asked again");
        assert_eq!(place.done(&format!("{other} --replace")).err, format!("{folder}: replaces {found}\n"));
    }
}

#[test]
fn other_settings_under_the_same_label_are_named() {
    for (judge, found) in [
        ("matrix --only prudentia-8mbps", "a matrix in its short form of mine on prudentia-8mbps"),
        ("evaluate --only 7.4", "an evaluation in its short form of mine, 1 section"),
    ] {
        let place = Place::empty();
        let of = |beta: &str| {
            let controller = format!("{{ kind = \"newreno\", beta = {beta}, label = \"mine\" }}");
            place.done(&format!("judge {judge} '{controller}' --quick --out out")).err
        };
        of("0.5");
        assert_eq!(of("0.7"), format!("out: replaces {found}, with other settings\n"));
    }
}

#[test]
fn the_short_form_of_a_matrix_does_not_replace_the_full_one() {
    let place = Place::empty();
    place.done(ONE);
    let full = place.read("out/matrix/matrix.json").replacen("\"quick\":true", "\"quick\":false", 1);
    place.write("out/matrix/matrix.json", full.replacen("\"asked\":\"", "\"asked\":\"0", 1));
    let refused = place.refused(ONE);
    let found = "out/matrix: found a matrix in its full form of newreno on prudentia-8mbps;";
    assert!(refused.starts_with(found), "{refused}");
}

#[test]
fn a_page_of_another_command_is_not_overwritten_without_replace() {
    let place = Place::with(SCENARIO);
    place.done(ONE);
    let page = place.read("out/matrix/report.html");
    let run = "run small.toml --out out/matrix";
    let refused = place.refused(run);
    let message = "out/matrix: found the matrix.json of a matrix, and its page; expected an empty folder";
    assert!(refused.starts_with(message), "{refused}");
    assert_eq!(place.read("out/matrix/report.html"), page);
    place.done(&format!("{run} --replace"));
    place.done(run); // its own page lies there
    place.refused(ONE);
}
