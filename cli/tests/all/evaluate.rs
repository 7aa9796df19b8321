//! `packetscale judge evaluate` as people use it.

use crate::support::Place;

/// Three packets in ten are lost: as many are sent again, by whomever.
#[test]
fn question_is_answered_for_controller_and_references() {
    let place = Place::empty();
    let json = place.done("judge evaluate veno --quick --only 5.1.1 --json").json();
    let evaluation = &json["evaluation"];
    let names: Vec<&str> = evaluation["contenders"].as_array().unwrap().iter().filter_map(|c| c[0].as_str()).collect();
    assert_eq!(names, ["veno", "cubic", "bbr"]);
    assert_eq!(evaluation["sections"].as_array().unwrap().len(), 1);
    let question = &evaluation["sections"][0]["questions"][0];
    assert_eq!(question["figures"][1], "sent_again");
    let rows = question["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let again = row["cells"][1]["mean"].as_f64().unwrap();
        assert!((again - 0.3).abs() < 0.06, "{row}");
    }
    let page = place.read("out/evaluate/veno/report.html");
    assert!(page.contains("5.1.1 Protection Against Congestion Collapse") && page.contains("veno"));
    assert!(place.at("out/evaluate/veno/evaluation.json").is_file());
}

/// Neither direction is better, so the figure is shown and not judged.
#[test]
fn flow_that_loses_everything_is_not_judged() {
    let place = Place::empty();
    let said = place.done("judge evaluate newreno --quick --only 5.1.1");
    let page = place.read("out/evaluate/newreno/report.html");
    let question = "A wire that loses everything";
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("<tr>") && line.contains(question)).collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((rows[0].matches(">not judged<").count(), rows[0].matches("chip").count()), (2, 0), "{}", rows[0]);
    let head = said.out.split(question).nth(1).and_then(|table| table.lines().nth(1));
    assert!(head.is_some_and(|head| head.contains("Throughput")), "{head:?}");
}

#[test]
fn a_controller_with_settings_is_evaluated_like_one_without() {
    let place = Place::empty();
    let said = place.done("judge evaluate '{ kind = \"rapid-thesis\", gamma = 1 }' --quick --only 7.4");
    assert!(said.out.contains("A thin path"), "{}", said.out);
    assert!(place.at("out/evaluate/rapid-thesis-gamma-1/report.html").is_file());
}

#[test]
fn a_wrong_argument_is_refused_by_name() {
    for (arguments, why) in
        [("rapit", "perhaps \"rapid\""), ("rapid --only 9", "--only: found \"9\"; expected one of 5.1.1")]
    {
        let refused = Place::empty().refused(&format!("judge evaluate {arguments}"));
        assert!(refused.contains(why), "{arguments}: {refused}");
    }
}
