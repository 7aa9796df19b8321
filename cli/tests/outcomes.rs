//! The stored outcomes of the papers: a sample is run again, and a wrong law is caught.

use papers::{Judged, Outcome, STORE, Store};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Figures that take a second together: closed forms, an exact method, a pacer packet by packet.
const SAMPLE: [&str; 5] = [
    "burstiness-2011/figure-9a",
    "burstiness-2011/figure-9b",
    "burstiness-2011/figure-9c",
    "multiplexing-2007/figure-6",
    "qlbp/table-2",
];

fn packetscale(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_packetscale")).args(arguments).current_dir(folder).output().expect("the command")
}

/// Judges a figure in an empty folder. Returns its outcomes.
fn judged(folder: &Path, figure: &str) -> Store {
    let output = packetscale(folder, &["reproduce", figure, "--store", "outcomes.ndjson"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{figure}: {said}");
    Store::read(&folder.join("outcomes.ndjson")).expect("a store")
}

#[test]
fn a_sample_comes_out_as_it_is_stored() {
    let stored = Store::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(STORE)).expect("a store");
    let folder = tempfile::tempdir().expect("a folder");
    for figure in SAMPLE {
        let again = judged(folder.path(), figure);
        let without_commit = |outcome: &Outcome| Outcome { commit: String::new(), ..outcome.clone() };
        let ours: Vec<Outcome> = again.of(figure).iter().map(without_commit).collect();
        let kept: Vec<Outcome> = stored.of(figure).iter().map(without_commit).collect();
        assert!(!ours.is_empty(), "{figure} has nothing to judge");
        assert_eq!(ours, kept, "{figure}: reproduce {figure} --store {STORE}");
    }
}

/// The row tau = 50 ms, eta = 1/4 of table 8.1, behind the testbed's noise: the law as printed (no margin), a card of 10
/// Gbit/s, and interrupts 120 us after the first packet of a batch.
fn row_of_table_8_1(loss_cut: f64) -> String {
    format!(
        r#"title = "T"
place = "table 8.1"
says = "So."

[[simulate]]
name = "rapid"
scenario = '''
[run]
duration = "15 s"
warmup = "5 s"
seed = 1

[path]
rate = "10 Gbit/s"
delay = "15 ms"
buffer = "1 bdp"
access = "10 Gbit/s"

[receiver]
coalescing = {{ time = "120 us" }}

[[flow]]
controller = {{ kind = "rapid-thesis", tau = "50 ms", eta = 4, margin = 0.0, loss_cut = {loss_cut}, label = "law" }}
packet = "9000 B"

[sweep]
"path.loss" = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]

[record]
detail = false
'''

[[table]]
place = "table 8.1"
from = "rapid"
metric = "throughput_bps"
times = 1e-9
unit = "Gbit/s"
row = "controller"
column = "path.loss"
columns = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]

[table.rows]
law = [9.33, 9.20, 8.76, 4.51, 1.29, 0.01]
"#
    )
}

/// How many of the row's six values are kept.
fn score(loss_cut: f64) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let paper = "title = \"P\"\nauthors = [\"A\"]\npublished = \"Here\"\nabout = \"Nothing.\"\n";
    fs::create_dir(folder.path().join("paper")).expect("a folder");
    fs::write(folder.path().join("paper/paper.toml"), paper).expect("written");
    fs::write(folder.path().join("paper/table.toml"), row_of_table_8_1(loss_cut)).expect("written");
    let store = judged(folder.path(), "paper/table.toml");
    let outcomes = store.of("paper/table");
    assert_eq!(outcomes.len(), 6);
    outcomes.iter().filter(|outcome| outcome.verdict == Judged::Kept).count()
}

/// A law that halves its rate at a loss, where the dissertation's keeps three quarters, falls below the bound. The bound
/// was set when the score was known: all but the column of 1e-4, which no reading of the law explains.
#[test]
fn a_law_that_cuts_half_instead_of_a_quarter_falls_below_the_bound() {
    const BOUND: usize = 5;
    let (right, wrong) = (score(0.25), score(0.5));
    assert!(right >= BOUND, "the law as printed keeps {right} of 6");
    assert!(wrong < BOUND, "a law with twice the cut keeps {wrong} of 6");
}

/// What was judged by this program is not run again; another figure's lines stay.
#[test]
fn a_figure_replaces_its_own_lines_only() {
    let folder = tempfile::tempdir().expect("a folder");
    judged(folder.path(), SAMPLE[0]);
    let both = judged(folder.path(), SAMPLE[1]);
    assert!(!both.of(SAMPLE[0]).is_empty() && !both.of(SAMPLE[1]).is_empty());
    assert_eq!(judged(folder.path(), SAMPLE[0]), both);
}

#[test]
fn the_short_form_is_not_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = packetscale(folder.path(), &["reproduce", SAMPLE[0], "--quick", "--store", "outcomes.ndjson"]);
    assert_eq!(output.status.code(), Some(2));
}
