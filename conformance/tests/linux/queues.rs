//! Linux's queue disciplines and those here: five flows with round trips of 20 to 60 ms over 25 Mbit/s, NewReno alone and
//! with a step of unresponsive traffic, NewReno that reads marks, and DCTCP.

use super::{Read, kernel, there_of};
use crate::path::{dumbbell, flow, link, replicate, traffic};
use ::linux::virtual_time::Virtual;
use experiment::results::Run;
use experiment::scenario::{Buffer, Experiment, FlowSpec, QueueSpec, Start, TrafficKind};
use harness::runner::Refusal;
use packetscale_models::settings::{Setting, Settings};
use packetscale_models::units::{Packets, Rate, Ratio, Span, Time};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const PACKET: u64 = 1514;
const WARMUP_S: u64 = 5;
const SECONDS: u64 = 25;
const FLOWS: u64 = 5;
/// Enough never to be full after the start.
const BUFFER: u64 = 1000;
/// When the first flow may start. Linux's PIE updates p for the first time half a second after it was set up (`pie_init`),
/// which is before a run's first second; a slow start in that time fills the whole buffer.
const PIE_IS_AWAKE: Span = Span::from_millis(600);

/// What is offered to a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The discipline's name in scenarios, and in Linux.
    pub here: &'static str,
    pub there: &'static str,
    pub controller: &'static str,
    /// Traffic that does not respond, in the middle.
    pub step_mbps: u64,
    /// Whether packets are marked instead of dropped.
    pub marks: bool,
    /// Whether all flows start within a tenth of a second, and not within two.
    pub together: bool,
}

const fn alone(here: &'static str, there: &'static str) -> Cell {
    Cell { here, there, controller: "newreno", step_mbps: 0, marks: false, together: false }
}

const fn beside_a_step(cell: Cell) -> Cell {
    Cell { step_mbps: 12, ..cell }
}

const fn with_marks(cell: Cell) -> Cell {
    Cell { marks: true, ..cell }
}

const fn dctcp(cell: Cell) -> Cell {
    Cell { controller: "dctcp", marks: true, ..cell }
}

const CODEL: Cell = alone("codel", "codel");
const FQ_CODEL: Cell = alone("fq-codel", "fq_codel");
const PIE: Cell = alone("pie", "pie");
const RED: Cell = alone("red", "red");

/// NewReno alone over RED is not among them: in Linux all is dropped from 3 s on (`NO_IDLE_TIME`). With the step it is
/// included twice: as the others, where RED then drops the packets that open connections, and with flows that are all
/// connected before it drops.
pub const CELLS: [Cell; 13] = [
    CODEL,
    beside_a_step(CODEL),
    FQ_CODEL,
    beside_a_step(FQ_CODEL),
    PIE,
    beside_a_step(PIE),
    dctcp(FQ_CODEL),
    beside_a_step(RED),
    dctcp(RED),
    Cell { together: true, ..beside_a_step(RED) },
    with_marks(FQ_CODEL),
    with_marks(PIE),
    with_marks(RED),
];
pub const SEEDS_THERE: u64 = 2;
const SEEDS_HERE: u64 = 12;

/// The settings of a discipline, here and in Linux. Linux's RED has no defaults, and a weight of a power of two. Only comparisons
/// of idle time set it.
fn settings_of(cell: &Cell) -> Settings {
    if cell.here != "red" {
        return Settings::new();
    }
    let packets = |number| Setting::Packets(Packets::new(number));
    let all = [
        ("min", packets(10)),
        ("max", packets(30)),
        ("max_p", Setting::Ratio(Ratio::of(1, 10))),
        ("weight", Setting::Ratio(Ratio::of(1, 512))),
        ("gentle", Setting::Switch(false)),
        ("mark_above", Setting::Switch(true)),
    ];
    let idle_time = (cell.together || cell.marks).then_some(("idle_time", Setting::Switch(false)));
    all.into_iter().chain(idle_time).map(|(name, value)| (name.to_string(), value)).collect()
}

pub fn experiment(cell: &Cell, seed: u64) -> Experiment {
    let mut wire = link(Rate::from_mbps(25), Span::from_millis(5), Buffer::Packets(Packets::new(BUFFER)));
    wire.queue = QueueSpec { settings: settings_of(cell), ..QueueSpec::named(cell.here) };
    let first = Time::ZERO + if cell.here == "pie" { PIE_IS_AWAKE } else { Span::ZERO };
    let one = |number: u64| FlowSpec {
        start: Start::Uniform(first, first + Span::from_millis(if cell.together { 100 } else { 2_000 })),
        ecn: cell.marks,
        ..flow(cell.controller, PACKET, Span::from_millis(20 + 10 * number))
    };
    let mut experiment = dumbbell(wire, Span::from_secs(SECONDS));
    experiment.warmup = Span::from_secs(WARMUP_S);
    experiment.flows = (0..FLOWS).map(one).map(Into::into).collect();
    experiment.record.detail = true;
    experiment.seed = seed;
    super::as_in_linux(&mut experiment);
    if cell.step_mbps > 0 {
        let mut step = traffic(TrafficKind::Cbr { rate: Rate::from_mbps(cell.step_mbps) }, PACKET);
        (step.start, step.stop) = (at(10), at(18));
        experiment.traffic = vec![step];
    }
    experiment
}

fn at(s: u64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

/// What is compared, of one run: packets dropped and those that arrived marked, in percent of those sent in the whole run,
/// and waits after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub dropped_percent: f64,
    #[serde(default)]
    pub marked_percent: f64,
    pub mean_ms: f64,
    pub median_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
}

/// The figures, all judged.
pub const JUDGED: [Read<Figures>; 6] = [
    ("dropped", |figures| figures.dropped_percent),
    ("marked", |figures| figures.marked_percent),
    ("mean", |figures| figures.mean_ms),
    ("median", |figures| figures.median_ms),
    ("95th", |figures| figures.p95_ms),
    ("99th", |figures| figures.p99_ms),
];

fn figures(run: &Run) -> Figures {
    let summary = &run.summary;
    let rounded = |value: Option<f64>, factor: f64| (value.expect("packets were served") * factor * 1e4).round() / 1e4;
    Figures {
        dropped_percent: rounded(summary.drop_ratio, 100.0),
        marked_percent: rounded(summary.mark_ratio, 100.0),
        mean_ms: rounded(summary.queue_delay_mean_s, 1e3),
        median_ms: rounded(summary.queue_delay_p50_s, 1e3),
        p95_ms: rounded(summary.queue_delay_p95_s, 1e3),
        p99_ms: rounded(summary.queue_delay_p99_s, 1e3),
    }
}

/// A row of the table: a run in Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub kernel: String,
    pub discipline: String,
    pub controller: String,
    pub step_mbps: u64,
    #[serde(default)]
    pub marks: bool,
    #[serde(default)]
    pub together: bool,
    pub seed: u64,
    pub figures: Figures,
}

pub fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("linux/queues.ndjson")
}

/// What is compared: the discipline here, and where it has a setting for what Linux does, with that, too.
pub fn sides(cell: &Cell) -> Vec<(String, Settings)> {
    let marks = if cell.marks && cell.controller != "dctcp" { ", marks" } else { "" };
    let together = if cell.together { ", together" } else { "" };
    let plain = (format!("{} with {}{marks}{together}", cell.here, cell.controller), Settings::new());
    let spaced = || {
        let settings = Settings::from([("derandomise".to_string(), Setting::Switch(true))]);
        (format!("{}, derandomise = true", plain.0), settings)
    };
    let as_linux = (cell.here == "pie").then(spaced);
    [plain].into_iter().chain(as_linux).collect()
}

pub fn here(cell: &Cell, settings: &Settings) -> Vec<Figures> {
    let mut experiment = experiment(cell, 1);
    experiment.links[0].queue.settings.extend(settings.clone());
    replicate(&experiment, SEEDS_HERE).iter().map(figures).collect()
}

pub fn there(host: &Virtual, cell: &Cell, seed: u64) -> Result<Row, Refusal> {
    let figures = there_of(host, &experiment(cell, seed)).map(|run| figures(&run))?;
    let (discipline, controller) = (cell.there.to_string(), cell.controller.to_string());
    let Cell { step_mbps, marks, together, .. } = *cell;
    Ok(Row { kernel: kernel(host), discipline, controller, step_mbps, marks, together, seed, figures })
}

impl Row {
    pub fn is_of(&self, cell: &Cell) -> bool {
        (self.discipline.as_str(), self.controller.as_str(), self.step_mbps, self.marks, self.together)
            == (cell.there, cell.controller, cell.step_mbps, cell.marks, cell.together)
    }
}
