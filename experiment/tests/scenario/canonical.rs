//! What an experiment is, written out: the same text for the same experiment, another for another.

use experiment::scenario::{Experiment, Scenario};
use tempfile::TempDir;

const TEXT: &str = r#"
run = { duration = "200 ms" }
path = { rate = "10 Mbit/s", delay = "5 ms", buffer = "20 packets" }
flow = [{ controller = { kind = "vegas", alpha = 3 } }]
traffic = [{ kind = "trace", file = "packets.csv" }]
"#;

/// A folder with the trace in it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("packets.csv"), "time_ns,size_bytes\n0,1500\n").expect("written");
    std::fs::write(folder.path().join("cell.mahi"), "1\n2\n").expect("written");
    folder
}

/// The runs of a scenario that stands in such a folder.
fn changed(text: &str, folder: &TempDir, changes: &[&str]) -> Vec<Experiment> {
    let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
    let scenario = Scenario::parse(text, &folder.path().join("small.toml"), &changes);
    scenario.unwrap_or_else(|error| panic!("{error}")).plan()
}

fn plan(text: &str) -> Vec<Experiment> {
    changed(text, &folder(), &[])
}

fn canonical(experiment: &Experiment) -> String {
    serde_json::to_string(experiment).expect("JSON")
}

#[test]
fn quantities_are_whole_numbers_and_settings_carry_their_unit() {
    let text = canonical(&plan(TEXT)[0]);
    // 200 ms in picoseconds, 10 Mbit/s in bit/s, 20 packets.
    assert!(text.contains(r#""duration":200000000000,"#), "{text}");
    assert!(text.contains(r#""rate":10000000,"#), "{text}");
    assert!(text.contains(r#""buffer":{"Packets":20}"#), "{text}");
    assert!(text.contains(r#""settings":{"alpha":{"integer":3}}"#), "{text}");
}

#[test]
fn canonical_text_omits_paths_of_files() {
    let (here, there) = (folder(), folder());
    let [one, other] = [&here, &there].map(|folder| changed(TEXT, folder, &[]).remove(0));
    assert_eq!(canonical(&one), canonical(&other));
    assert_eq!(one.files().collect::<Vec<_>>(), [here.path().join("packets.csv")]);
    assert_eq!(other.files().collect::<Vec<_>>(), [there.path().join("packets.csv")]);
    let cell = changed(TEXT, &here, &["path.rate_trace={ file = \"cell.mahi\" }"]).remove(0);
    assert_eq!(cell.files().collect::<Vec<_>>(), [here.path().join("cell.mahi"), here.path().join("packets.csv")]);
}

#[test]
fn sweep_point_is_independent_of_other_points() {
    let swept = |values: &str| plan(&format!("{TEXT}\n[sweep]\n\"path.buffer\" = [{values}]\n"));
    let (few, many) = (swept("\"5 packets\""), swept("\"2 packets\", \"5 packets\", \"9 packets\""));
    assert_eq!(canonical(&few[0]), canonical(&many[1]));
    assert_ne!(canonical(&few[0]), canonical(&many[0]));
}

/// Every change of a key changes the text; so does another replication.
#[test]
fn every_change_of_scenario_changes_canonical_text() {
    let changes = [
        "run.duration=201 ms",
        "run.warmup=1 ms",
        "run.seed=2",
        "path.rate=10000001 bit/s",
        "path.delay=5001 us",
        "path.buffer=30000 B",
        "path.queue=qlbp",
        "path.loss=0.001",
        "path.rate_steps=[[\"10 ms\", \"5 Mbit/s\"]]",
        "path.rate_trace={ file = \"cell.mahi\" }",
        "path.rate_trace={ file = \"cell.mahi\", repeat = false }",
        "path.aggregation={ period = \"2 ms\" }",
        "path.policer={ rate = \"5 Mbit/s\", bucket = \"15 kB\" }",
        "path.shaper={ rate = \"5 Mbit/s\", bucket = \"15 kB\" }",
        "receiver.stamps=false",
        "receiver.coalescing.time=1 us",
        "sender.gaps={ kind = \"timer\", granularity = \"1 us\" }",
        "sender.ecn=true",
        "flow.0.controller={ kind = \"vegas\", alpha = 2 }",
        "flow.0.packet=1000 B",
        "flow.0.start=1 ms",
        "flow.0.size=1 MB",
        "flow.0.count=2",
        "traffic.0.rate=1 Mbit/s",
        "traffic.0.stop=100 ms",
        "record.detail=false",
    ];
    let plain = canonical(&plan(TEXT)[0]);
    let mut texts = vec![plain];
    let folder = folder();
    for change in changes {
        let text = canonical(&changed(TEXT, &folder, &[change])[0]);
        assert!(!texts.contains(&text), "{change} changes nothing");
        texts.push(text);
    }
    let plan = changed(TEXT, &folder, &["run.replications=2"]);
    assert_eq!(canonical(&plan[0]), texts[0], "the first replication is the same beside a second");
    assert_ne!(canonical(&plan[1]), texts[0]);
}
