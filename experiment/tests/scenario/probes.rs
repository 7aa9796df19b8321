//! `[probe]` and the errors of hosts: what is refused, and in which words.

use experiment::scenario::Scenario;
use std::path::Path;

const RIGHT: &str = r#"[run]
duration = "5 s"

[path]
rate = "10 Gbit/s"
delay = "1 ms"

[probe]
rate = { from = "5 Gbit/s", to = "9 Gbit/s" }
streams = 100
"#;

#[track_caller]
fn refused(changes: &[&str], message: &str) {
    let read = |changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
        Scenario::parse(RIGHT, Path::new("p.toml"), &changes)
    };
    assert!(read(&[]).is_ok(), "{:?}", read(&[]).map(|_| ()));
    let error = read(changes).map(|_| ()).expect_err("it is wrong").to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn streams_that_do_not_fit_say_how_many_would() {
    refused(&["probe.streams=2000"], "probe.streams: found 2000 streams, which may take ");
    refused(&["probe.streams=2000"], "expected at most about ");
}

#[test]
fn rates_that_fall_are_refused() {
    refused(&["probe.rate.to=4 Gbit/s"], "probe.rate.to: found \"4 Gbit/s\"; expected a rate of at least \"5 Gbit/s\"");
    refused(&["probe.rate=7"], "two as in { from = \"5 Gbit/s\", to = \"9 Gbit/s\" }");
}

#[test]
fn more_rates_than_gaps_are_refused() {
    refused(&["probe.levels=64"], "probe.levels: found 64; expected a whole number from 1 to 63");
}

#[test]
fn flows_and_disciplines_beside_probe_streams_are_refused() {
    refused(&["flow=[{ controller = \"rapid\" }]"], "probe: found probe streams with flows");
    refused(&["path.queue=qlbp"], "path.queue: found \"qlbp\" under probe streams; expected \"fifo\"");
}

#[test]
fn a_kind_of_coalescence_that_does_not_exist_names_those_that_do() {
    let change = "receiver.coalescing={ kind = \"adaptve\", time = \"20 us\" }";
    refused(&[change], "perhaps \"adaptive\"; expected one of \"timer\", \"spacing\", \"adaptive\"");
}

#[test]
fn an_adaptive_card_beyond_12_us_needs_frames() {
    let change = "receiver.coalescing={ kind = \"adaptive\", time = \"20 us\" }";
    refused(&[change], "receiver.coalescing.time: found \"20 us\" without frames");
}

#[test]
fn a_host_that_is_early_cannot_have_flows() {
    let text = RIGHT.split("[probe]").next().unwrap_or_default().to_string()
        + "[sender]\ngaps = \"busy-wait\"\n[[flow]]\ncontroller = \"rapid\"\n";
    let error = Scenario::parse(&text, Path::new("p.toml"), &[]).map(|_| ()).expect_err("it is wrong").to_string();
    assert!(error.contains("sender.gaps: found \"busy-wait\" with flows"), "{error}");
}

#[test]
fn a_host_that_is_early_can_have_flows_that_an_application_paces() {
    let text = RIGHT.split("[probe]").next().unwrap_or_default().to_string()
        + "[sender]\ngaps = \"busy-wait\"\n[[flow]]\ncontroller = \"newreno\"\n"
        + "application = { kind = \"cbr\", rate = \"1 Gbit/s\" }\n";
    assert!(Scenario::parse(&text, Path::new("p.toml"), &[]).is_ok());
}

#[test]
fn quantiles_that_fall_are_refused() {
    let change = "sender.gaps={ kind = \"late\", p50 = \"1 us\", p99 = \"2 us\", p999 = \"1 us\" }";
    refused(&[change], "sender.gaps.p50: found \"1 us\", \"2 us\", \"1 us\"; expected p50 <= p99 <= p999");
}

#[test]
fn the_resolved_scenario_reads_again_as_the_same() {
    let scenario = Scenario::parse(RIGHT, Path::new("p.toml"), &["sender.gaps=hrtimer".to_string()]).expect("right");
    let again = Scenario::parse(&scenario.to_toml(), Path::new("p.toml"), &[]).expect("right");
    assert_eq!(scenario.plan(), again.plan());
}

const SEARCH: &str = "probe.search={ kind = \"pathload\", fleet = 6 }";

#[test]
fn a_search_takes_its_defaults_from_its_kind_and_the_highest_rate() {
    let text = RIGHT.replace("streams = 100\n", "search = \"pathload\"\n");
    let scenario = Scenario::parse(&text, Path::new("p.toml"), &[]).unwrap_or_else(|error| panic!("{error}"));
    let resolved = scenario.to_toml();
    for line in ["packets = 100", "levels = 1", "kind = \"pathload\"", "fleet = 12", "resolution = \"180 Mbit/s\""] {
        assert!(resolved.contains(line), "{line}: {resolved}");
    }
}

#[test]
fn what_a_search_finds_out_by_itself_is_refused_beside_it() {
    refused(&[SEARCH], "probe.streams: found a number with a search; expected no number");
    refused(
        &["probe={ search = \"prc-mt\", packets = 64, rate = { from = \"1 Gbit/s\", to = \"9 Gbit/s\" } }"],
        "probe.packets: found ",
    );
    refused(
        &["probe={ search = \"pathload\", rate = \"5 Gbit/s\" }"],
        "probe.rate: found one rate with a search; expected two",
    );
}

#[test]
fn a_search_that_does_not_exist_names_those_that_do() {
    refused(&["probe.search=pathlod"], "perhaps \"pathload\"; expected one of \"pathload\", \"prc-mt\"");
    refused(&["probe.search={ kind = \"pathload\", fleets = 3 }"], "probe.search.fleets: found an unknown key");
}
