//! The stored outcomes of the papers: a sample is run again, and a wrong law is caught.

use crate::support::{Place, repository};
use studies::papers::{Judged, Outcome, STORE, Store};

/// Figures that take a second together: closed forms, an exact method, a pacer packet by packet.
const SAMPLE: [&str; 5] = [
    "burstiness-2011/figure-9a",
    "burstiness-2011/figure-9b",
    "burstiness-2011/figure-9c",
    "multiplexing-2007/figure-6",
    "qlbp/table-2",
];

/// The outcomes of a figure that is judged in this folder.
fn judged(place: &Place, figure: &str) -> Store {
    let said = place.says(&format!("reproduce {figure} --store outcomes.ndjson"));
    assert!(matches!(said.code, Some(0 | 1)), "{figure}: {}", said.err);
    Store::read(&place.at("outcomes.ndjson")).expect("a store")
}

#[test]
fn sample_of_figures_matches_stored_outcomes() {
    let stored = Store::read(&repository().join(STORE)).expect("a store");
    let place = Place::empty();
    for figure in SAMPLE {
        let again = judged(&place, figure);
        let without_commit =
            |outcome: &Outcome| Outcome { commit: String::new(), depends_on: String::new(), ..outcome.clone() };
        let ours: Vec<Outcome> = again.of(figure).iter().map(without_commit).collect();
        let kept: Vec<Outcome> = stored.of(figure).iter().map(without_commit).collect();
        assert!(!ours.is_empty(), "{figure} has nothing to judge");
        assert_eq!(ours, kept, "{figure}: reproduce {figure} --store {STORE}");
    }
}

/// Settings of the law that a wrong law changes.
const LAW: &str = r#"kind = "rapid-thesis", tau = "50 ms", eta = 4, initial_rate = "6 Gbit/s", label = "law""#;

/// A path of the testbed, as papers/rapid-2017/testbed.toml has it: a card of 10 Gbit/s, interrupts at least 120 us apart,
/// and a receive window of one bandwidth-delay product. `more` goes on with the scenario, `table` is what was printed.
fn figure(law: &str, seconds: u32, more: &str, table: &str) -> String {
    format!(
        r#"title = "T"
place = "chapter 8"
says = "So."

[[simulate]]
name = "rapid"
scenario = '''
[run]
duration = "{seconds} s"
warmup = "{} s"
seed = 1

[path]
rate = "10 Gbit/s"
delay = "15 ms"
buffer = "600 kB"
access = "10 Gbit/s"

[receiver]
coalescing = {{ kind = "spacing", time = "120 us" }}
window = "4167 packets"

[[flow]]
controller = {{ {law} }}
packet = "9000 B"

[record]
detail = false
{more}
'''
{table}
"#,
        seconds / 3
    )
}

/// The row tau = 50 ms, eta = 1/4 of table 8.1: random loss.
fn random_loss(law: &str) -> String {
    let more = "[sweep]\n\"path.loss\" = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]";
    let table = r#"
[[table]]
place = "table 8.1"
from = "rapid"
metric = "throughput_bps"
times = 1e-9
unit = "Gbit/s"
row = "controller"
column = "path.loss"
columns = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]
rows = { law = [9.33, 9.20, 8.76, 4.51, 1.29, 0.01] }
"#;
    figure(law, 15, more, table)
}

/// The same row of table 8.3: throughput and loss beside constant traffic, over 5 and 30 ms.
fn constant_traffic(law: &str) -> String {
    let more = r#"
[[traffic]]
kind = "cbr"
copies = 9
rate = "274.4 Mbit/s"

[sweep]
"path.delay" = ["2.5 ms", "15 ms"]
"#;
    let table = |metric: &str, times: &str, unit: &str, printed: &str| {
        format!(
            r#"
[[table]]
what = "{metric}"
place = "table 8.3"
from = "rapid"
metric = "{metric}"
times = {times}
unit = "{unit}"
row = "controller"
column = "path.delay"
columns = ["2.5 ms", "15 ms"]
rows = {{ law = [{printed}] }}
"#
        )
    };
    let both =
        table("throughput_bps", "1e-9", "Gbit/s", "6.67, 6.65") + &table("loss_ratio", "100", "%", "0.000, 0.000");
    figure(law, 6, more, &both)
}

/// How many values are kept.
fn score(figure: &str) -> usize {
    let place = Place::empty();
    place.write("paper/paper.toml", "title = \"P\"\nauthors = [\"A\"]\npublished = \"Here\"\nabout = \"Nothing.\"\n");
    place.write("paper/table.toml", figure);
    let store = judged(&place, "paper/table.toml");
    let outcomes = store.of("paper/table");
    assert!(!outcomes.is_empty());
    outcomes.iter().filter(|outcome| outcome.verdict == Judged::Kept).count()
}

/// The rule, which has no number of ours: the law as printed keeps more values than a wrong law.
#[track_caller]
fn assert_caught(right: &str, wrong: &str) {
    let (right, wrong) = (score(right), score(wrong));
    assert!(wrong < right, "the law as printed keeps {right}, the wrong law {wrong}");
}

#[test]
fn a_law_that_cuts_half_instead_of_a_quarter_is_caught() {
    assert_caught(&random_loss(LAW), &random_loss(&format!("{LAW}, loss_cut = 0.5")));
}

/// Without BASS the capacity is taken for available: more is sent than fits.
#[test]
fn a_law_without_bass_is_caught() {
    assert_caught(&constant_traffic(LAW), &constant_traffic(&format!("{LAW}, estimator = \"raw\"")));
}

/// What was judged by this program is not run again; another figure's lines stay.
#[test]
fn a_figure_replaces_its_own_lines_only() {
    let place = Place::empty();
    judged(&place, SAMPLE[0]);
    let both = judged(&place, SAMPLE[1]);
    assert!(!both.of(SAMPLE[0]).is_empty() && !both.of(SAMPLE[1]).is_empty());
    assert_eq!(judged(&place, SAMPLE[0]), both);
}

#[test]
fn the_short_form_is_not_stored() {
    Place::empty().refused(&format!("reproduce {} --quick --store outcomes.ndjson", SAMPLE[0]));
}
