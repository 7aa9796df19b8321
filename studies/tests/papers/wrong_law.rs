//! The judge of quantities, asked about laws that are wrong: each must come out below the law as published, over both quantities.
//!
//! Six rows of table 8.4 (tau and eta beside bursty traffic, 5 ms), run shortly. Each wrong law has one change that the
//! dissertation calls harmful, or a constant that is off.

use harness::runner::Host;
use simulator::Simulator;
use std::fs;
use std::path::Path;
use studies::agreement::quantity::{Cell, Quantity};
use studies::agreement::size::Size;
use studies::papers::{Findings, FoundBy, Library, Paper, Store, Stores, Task};

const FIGURE: &str = "rapid-2017/table-8.4";
const COLUMN: &str = "2.5 ms";
const ROWS: [&str; 6] = ["5 ms, 1", "5 ms, 1/10", "10 ms, 1/4", "20 ms, 1/2", "50 ms, 1", "50 ms, 1/10"];

/// The cells of `quantity` in [`ROWS`], with the law that `keys` change.
fn cells(keys: &str) -> Vec<Quantity> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("papers/rapid-2017");
    fs::create_dir_all(&folder).expect("a folder");
    for name in ["paper.toml", "testbed.toml", "table-8.4.toml"] {
        let text = fs::read_to_string(root.join("papers/rapid-2017").join(name)).expect("a paper's file");
        let law = "{ kind = \"rapid-thesis\", ";
        let text = text.replace(law, &format!("{law}{keys}")).replace("duration = \"8 s\"", "duration = \"3 s\"");
        fs::write(folder.join(name), text).expect("written");
    }
    let (paper, _) = Paper::read(&folder.join("table-8.4.toml")).expect("a paper");
    let paper = paper.with_traces(place.path()).expect("recordings");
    let figure = paper.figure("table-8.4", false).expect("a figure");
    let findings: Vec<Findings> = figure.tasks.iter().map(found).collect();
    let mut store = Store::default();
    store.put("rapid-2017", &figure.outcome(&findings), FoundBy { commit: "", depends_on: "" });
    let stores = Stores { found: store, ..Stores::default() };
    let mut all = Quantity::all(&Library::embedded().expect("papers"), &stores).expect("quantities");
    let asked = |cell: &Cell| ROWS.contains(&cell.row.as_str()) && cell.column == COLUMN;
    all.retain(|quantity| quantity.figure == FIGURE);
    all.iter_mut().for_each(|quantity| quantity.cells.retain(asked));
    all
}

fn found(task: &Task) -> Findings {
    let Task::Simulate { name, plan, .. } = task else { return Findings::Answers(Vec::new()) };
    let asked = |run: &&experiment::scenario::Experiment| {
        name == "rapid"
            && ROWS.contains(&run.controller.as_str())
            && run.params.get("path.delay").is_some_and(|delay| delay == COLUMN)
    };
    Findings::Runs(plan.iter().filter(asked).map(|run| Simulator.run(run).expect("a run")).collect())
}

fn skill(quantities: &[Quantity], name: &str) -> f64 {
    let quantity = quantities.iter().find(|quantity| quantity.name == name).expect("a quantity");
    assert_eq!(quantity.pairs().len(), ROWS.len(), "{quantity:?}");
    Size::of(&quantity.pairs()).and_then(|size| size.skill).expect("a skill")
}

/// What it shows is that the judge tells these laws apart, not that the published one is near print: its mean skill here is below
/// that of a constant, zero.
///
/// A doubled cut loses less than print's law does, as ours loses more: so one quantity alone can favour it.
#[test]
fn wrong_law_has_less_skill_than_published_one() {
    let mean = |keys: &str| {
        let found = cells(keys);
        (skill(&found, "Throughput with BCT") + skill(&found, "Loss with BCT")) / 2.0
    };
    let published = mean("");
    for (wrong, keys) in [("no denoising", "estimator = \"raw\", smoothing = 1, "), ("cut doubled", "loss_cut = 0.5, ")]
    {
        let found = mean(keys);
        assert!(found < published, "{wrong}: skill {found:.2}, as published {published:.2}");
    }
}
