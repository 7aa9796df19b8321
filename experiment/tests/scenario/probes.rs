//! `[probe]` and the errors of hosts: what is refused, and in which words.

use crate::support::{read, refusal};

const RIGHT: &str = r#"[run]
duration = "5 s"

[path]
rate = "10 Gbit/s"
delay = "1 ms"

[probe]
rate = { from = "5 Gbit/s", to = "9 Gbit/s" }
streams = 100
"#;

/// A change, and a part of the message.
const REFUSED: [(&str, &str); 15] = [
    ("probe.streams=2000", "probe.streams: found 2000 streams, which may take "),
    ("probe.streams=2000", "expected at most about "),
    ("probe.rate.to=4 Gbit/s", "probe.rate.to: found \"4 Gbit/s\"; expected a rate of at least \"5 Gbit/s\""),
    ("probe.rate=7", "two as in { from = \"5 Gbit/s\", to = \"9 Gbit/s\" }"),
    ("probe.levels=64", "probe.levels: found 64; expected a whole number from 1 to 63"),
    ("flow=[{ controller = \"rapid\" }]", "probe: found probe streams with flows"),
    ("path.queue=qlbp", "path.queue: found \"qlbp\" under probe streams; expected \"fifo\""),
    (
        "receiver.coalescing={ kind = \"adaptve\", time = \"20 us\" }",
        "perhaps \"adaptive\"; expected one of \"timer\", \"spacing\", \"adaptive\"",
    ),
    (
        "receiver.coalescing={ kind = \"adaptive\", time = \"20 us\" }",
        "receiver.coalescing.time: found \"20 us\" without frames",
    ),
    (
        "sender.gaps={ kind = \"late\", p50 = \"1 us\", p99 = \"2 us\", p999 = \"1 us\" }",
        "sender.gaps.p50: found \"1 us\", \"2 us\", \"1 us\"; expected p50 <= p99 <= p999",
    ),
    (
        "probe={ search = \"prc-mt\", packets = 64, rate = { from = \"1 Gbit/s\", to = \"9 Gbit/s\" } }",
        "probe.packets: found ",
    ),
    ("probe={ search = \"pathload\", rate = \"5 Gbit/s\" }", "probe.rate: found one rate with a search; expected two"),
    (
        "probe.search={ kind = \"pathload\", fleet = 6 }",
        "probe.streams: found a number with a search; expected no number",
    ),
    ("probe.search=pathlod", "perhaps \"pathload\"; expected one of \"pathload\", \"prc-mt\""),
    ("probe.search={ kind = \"pathload\", fleets = 3 }", "probe.search.fleets: found an unknown key"),
];

#[test]
fn refuses_keys_incompatible_with_probe_streams() {
    assert!(read(RIGHT, &[]).is_ok());
    for (change, message) in REFUSED {
        let found = refusal(RIGHT, &[change]);
        assert!(found.contains(message), "{change}: {found}");
    }
}

#[test]
fn early_host_requires_application_for_flows() {
    let path = RIGHT.split("[probe]").next().unwrap_or_default();
    let flow = |keys: &str| format!("{path}[sender]\ngaps = \"busy-wait\"\n[[flow]]\ncontroller = \"rapid\"\n{keys}");
    let found = refusal(&flow(""), &[]);
    assert!(found.contains("sender.gaps: found \"busy-wait\" with flows"), "{found}");
    let paced = flow("application = { kind = \"cbr\", rate = \"1 Gbit/s\" }\n").replace("\"rapid\"", "\"newreno\"");
    assert_eq!(read(&paced, &[]).map(|_| ()), Ok(()));
}

#[test]
fn the_resolved_scenario_reads_again_as_the_same() {
    let scenario = read(RIGHT, &["sender.gaps=hrtimer"]).expect("right");
    assert_eq!(read(&scenario.to_toml(), &[]).expect("right").plan(), scenario.plan());
}

#[test]
fn a_search_takes_its_defaults_from_its_kind_and_the_highest_rate() {
    let text = RIGHT.replace("streams = 100\n", "search = \"pathload\"\n");
    let resolved = read(&text, &[]).unwrap_or_else(|error| panic!("{error}")).to_toml();
    for line in ["packets = 100", "levels = 1", "kind = \"pathload\"", "fleet = 12", "resolution = \"180 Mbit/s\""] {
        assert!(resolved.contains(line), "{line}: {resolved}");
    }
}
