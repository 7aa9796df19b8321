//! `packetscale judge attack` as people use it.

use crate::support::Place;
use serde_json::Value;
use studies::attack::Figure;

/// A few paths only, of the first cause: whether it finds something is not judged here.
#[test]
fn a_search_prints_one_object_and_writes_the_same() {
    let place = Place::empty();
    let json = place.done("judge attack vegas --evaluations 6 --json").json();
    let found = &json["attack"];
    assert_eq!((&found["controller"], &found["against"]), (&"vegas".into(), &"cubic".into()));
    assert_eq!((&found["figure"], &found["evaluations"]), (&"share".into(), &6.into()));
    let command = "packetscale judge attack vegas --against cubic --figure share --seed 1 --evaluations 6";
    assert_eq!(found["command"], command);
    let file = place.read("out/attack/vegas-share-cubic/attack.json");
    assert_eq!(serde_json::from_str::<Value>(&file).expect("JSON"), json);
    for finding in found["findings"].as_array().expect("a list") {
        let name = finding["name"].as_str().expect("a name");
        assert!(place.at(&format!("out/attack/vegas-share-cubic/{name}.toml")).is_file());
    }
}

#[test]
fn findings_of_another_search_are_replaced_only_if_asked() {
    let place = Place::empty();
    place.done("judge attack vegas --evaluations 6");
    // The same search finds the same.
    place.done("judge attack vegas --evaluations 6");
    let refused = place.refused("judge attack vegas --evaluations 7");
    let expected = "out/attack/vegas-share-cubic: found what another search wrote; name another folder with --out, or replace \
                    it with --replace\n";
    assert_eq!(refused, expected);
    place.done("judge attack vegas --evaluations 7 --replace");
}

/// Twice the floor is three times worse than nothing.
#[test]
fn printed_floor_equals_used_floor() {
    for (figure, words, twice) in [
        (Figure::Share, "1 % of the path's capacity", 0.2e6),
        (Figure::Queue, "1 ms", 0.002),
        (Figure::Loss, "0.1 %", 0.002),
        (Figure::Completion, "1 ms", 0.002),
    ] {
        assert_eq!(figure.floor_words(), words);
        let (subject, reference) = if figure == Figure::Share { (0.0, twice) } else { (twice, 0.0) };
        let times = figure.times_worse(subject, reference, 10e6);
        assert!((times - 3.0).abs() < 1e-9, "{words}: {times}");
    }
}

#[test]
fn a_wrong_argument_is_refused_by_name() {
    for (arguments, why) in [
        ("vegaz", "attack vegaz: found the unknown controller \"vegaz\", perhaps \"vegas\""),
        ("vegas --against cubik", "--against cubik"),
        ("cubic --against cubic", "--against: found cubic, which is attacked itself"),
        ("vegas --figure speed", "completion"),
        ("vegas --on moon", "invalid value 'moon' for '--on <HOST>'"),
        ("vegas --budget ten", "found \"ten\" (not a number with a unit); expected a time"),
        ("vegas --budget '1 min' --evaluations 9", "cannot be used with"),
    ] {
        let refused = Place::empty().refused(&format!("judge attack {arguments}"));
        assert!(refused.contains(why), "{arguments}: {refused}");
    }
}
