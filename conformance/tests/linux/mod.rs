//! Linux's own congestion controls, in virtual time, and those here on the same paths: the cells of the table, how a run
//! is made, which figures are compared, and how it is written.
#![allow(dead_code)]

pub mod queues;
pub mod situations;

use crate::path::{apart, flow, link, mean, replicate, single};
use ::linux::virtual_time::{Find, Kernel, Virtual};
use experiment::results::Run;
use experiment::scenario::{Buffer, Experiment};
use harness::runner::{Host, Refusal};
use packetscale_models::settings::{Setting, Settings};
use packetscale_models::units::{Packets, Rate, Span};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Size of a frame, its Ethernet header included: what the kernel's bottleneck counts.
pub const PACKET: u64 = 1514;
pub const WARMUP_S: u64 = 10;
const RTT: Span = Span::from_millis(60);
/// How often the windows are sampled.
const STEP: Span = Span::from_millis(10);

/// The registry's names of Linux's congestion controls.
pub const LAWS: [&str; 15] = [
    "newreno",
    "cubic",
    "bbr1",
    "dctcp",
    "vegas",
    "veno",
    "westwood",
    "htcp",
    "illinois",
    "highspeed",
    "scalable",
    "hybla",
    "bic",
    "yeah",
    "lp",
];

/// A path: one loss in this many packets (0: none), the length of a run, and the runs to average in Linux and here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    pub one_in: u64,
    pub seconds: u64,
    pub there: u64,
    pub here: u64,
    /// The laws that are run on it.
    pub laws: &'static [&'static str],
}

pub const LOSSES: [Loss; 3] = [
    Loss { one_in: 0, seconds: 40, there: 1, here: 1, laws: &LAWS },
    Loss { one_in: 10_000, seconds: 60, there: 2, here: 12, laws: &LAWS },
    Loss { one_in: 1000, seconds: 40, there: 3, here: 16, laws: &LAWS },
];

/// More runs in Linux for the cells with the least certain means: law, one loss in this many, and number of runs.
const MORE_THERE: [(&str, u64, u64); 4] =
    [("cubic", 10_000, 4), ("cubic", 1000, 4), ("highspeed", 1000, 4), ("bic", 1000, 4)];

impl Loss {
    /// The runs of a law to average in Linux.
    pub fn runs_there(&self, law: &str) -> u64 {
        let more = MORE_THERE.iter().find(|(of, one_in, _)| (*of, *one_in) == (law, self.one_in));
        more.map_or(self.there, |(.., runs)| *runs)
    }
}

/// Cells that are run again: short ones.
pub const SAMPLE: Loss =
    Loss { one_in: 1000, seconds: 12, there: 1, here: 1, laws: &["newreno", "cubic", "bbr1", "vegas"] };

/// Cells that differ by more than is allowed: law, one loss in this many, figure, and the known reason.
const DIFFERENCES: &[(&str, u64, &str, &str)] = &[
    ("westwood", 0, "throughput", PAPERS_RECOVERY),
    ("westwood", 0, "window", PAPERS_RECOVERY),
    ("westwood", 10_000, "throughput", PAPERS_RECOVERY),
    ("westwood", 10_000, "window", PAPERS_RECOVERY),
    ("westwood", 1000, "throughput", PAPERS_RECOVERY),
    ("westwood", 1000, "window", PAPERS_RECOVERY),
    ("pie with newreno", 0, "99th", SPACED),
    ("pie with newreno", 12, "mean", SPACED),
    ("pie with newreno", 12, "95th", SPACED),
    ("red with newreno", 12, "median", NO_IDLE_TIME),
    ("red with newreno", 12, "99th", NO_IDLE_TIME),
    ("pie with newreno, marks", 0, "dropped", SPACED),
    ("pie with newreno, marks", 0, "marked", SPACED),
    ("pie with newreno, marks", 0, "95th", SPACED),
    ("pie with newreno, marks", 0, "99th", SPACED),
];

const PAPERS_RECOVERY: &str =
    "the window moves towards the estimate in recovery, as in the paper; recovery = half agrees";
const NO_IDLE_TIME: &str = "under tc-tbf, which peeks before it dequeues, Linux's RED never learns that its queue is empty, and \
    its average does not fall while nothing arrives: it drops SYNs, and flows start ten seconds late";
const SPACED: &str = "Linux spaces drops (RFC 8033, section 5.4); derandomise = true agrees";

/// What is known of a cell that differs.
pub fn known_difference(law: &str, one_in: u64, figure: &str) -> Option<&'static str> {
    let cell = (law, one_in, figure);
    DIFFERENCES.iter().find(|(law, one_in, figure, _)| (*law, *one_in, *figure) == cell).map(|(.., why)| *why)
}

/// What is compared with a law of Linux: the law here, and where it has a setting for what Linux does, with that, too.
pub fn sides(law: &str) -> Vec<(String, Settings)> {
    let as_linux = match law {
        // RFC 8312's estimate of Reno.
        "cubic" => Some(("full_reno", "false", Setting::Switch(false))),
        // Towards half the window in recovery.
        "westwood" => Some(("recovery", "half", Setting::Word("half".to_string()))),
        _ => None,
    };
    let with = |(name, text, value): (&str, &str, Setting)| {
        let label = format!("{law}, {name} = {text}");
        (label, Settings::from([(name.to_string(), value)]))
    };
    [(law.to_string(), Settings::new())].into_iter().chain(as_linux.map(with)).collect()
}

/// One flow over 40 Mbit/s, base round trip 60 ms, a quarter of the bandwidth-delay product as buffer.
pub fn experiment(law: &str, loss: Loss, seed: u64) -> Experiment {
    let mut experiment = single(flow(law, PACKET, RTT), loss.one_in, WARMUP_S, loss.seconds);
    let random = experiment.links[0].loss;
    experiment.links[0] = link(Rate::from_mbps(40), RTT / 2, Buffer::Packets(Packets::new(50)));
    experiment.links[0].loss = random;
    // Linux's DCTCP always negotiates ECN. This path does not mark.
    experiment.flows[0].ecn = law == "dctcp";
    experiment.seed = seed;
    as_in_linux(&mut experiment);
    experiment.record.detail = true;
    experiment.record.step = STEP;
    experiment
}

/// A receiver that Linux has: it acknowledges every packet, and grows its window itself.
fn as_in_linux(experiment: &mut Experiment) {
    experiment.receiver.window = Packets::MAX;
    experiment.receiver.stamp_granularity = Span::from_nanos(1);
}

/// What is compared, of one run. Counts are of the whole run, the others of the time after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub throughput_mbps: f64,
    /// Mean of the congestion window, packets.
    pub window: f64,
    /// Its 10th and its 90th percentile.
    pub window_p10: f64,
    pub window_p90: f64,
    /// Packets dropped at the bottleneck, in percent of those that arrived.
    pub dropped_percent: f64,
    pub retransmissions: u64,
    pub timeouts: u64,
}

/// A figure's name, and how it is read of a run.
pub type Read<F> = (&'static str, fn(&F) -> f64);

/// The figures that are judged.
pub const JUDGED: [Read<Figures>; 2] =
    [("throughput", |figures| figures.throughput_mbps), ("window", |figures| figures.window)];

/// Figures that are shown: where nothing is lost at random they are a few overflows, and else mostly chance's own losses.
pub const SHOWN: [Read<Figures>; 2] =
    [("dropped", |figures| figures.dropped_percent), ("retransmissions", |figures| figures.retransmissions as f64)];

pub fn figures(run: &Run) -> Figures {
    let mut windows: Vec<f64> =
        window(run).into_iter().filter(|(s, _)| *s >= WARMUP_S as f64).map(|(_, w)| w).collect();
    windows.sort_by(f64::total_cmp);
    let at = |share: f64| windows[((windows.len() - 1) as f64 * share) as usize];
    let flow = &run.flows[0];
    let round = |value: f64| (value * 1e4).round() / 1e4;
    Figures {
        throughput_mbps: round(run.summary.throughput_bps.expect("packets arrived") / 1e6),
        window: round(windows.iter().sum::<f64>() / windows.len() as f64),
        window_p10: at(0.1),
        window_p90: at(0.9),
        dropped_percent: round(100.0 * run.summary.drop_ratio.unwrap_or_default()),
        retransmissions: flow.retransmitted_packets,
        timeouts: flow.timeouts.unwrap_or_default(),
    }
}

/// The congestion window over time: seconds and packets.
pub fn window(run: &Run) -> Vec<(f64, f64)> {
    let curve = run.series.iter().find(|series| series.metric == "window").expect("a curve of windows");
    let values = curve.values.iter().enumerate();
    values.filter_map(|(i, value)| Some((curve.start_s + curve.step_s * i as f64, f64::from((*value)?)))).collect()
}

/// A row of the table: a run in Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The kernel's release and, in short, the digest of its machine: emulator, kernel, programs.
    pub kernel: String,
    pub law: String,
    pub one_in: u64,
    pub seconds: u64,
    pub seed: u64,
    pub figures: Figures,
    /// Without random losses: the window every 200 ms, in packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<u32>,
}

/// Every how many samples of the window one is stored: 200 ms.
pub const STRIDE: usize = 20;

/// The rows, one JSON object a line.
pub fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("linux/table.ndjson")
}

/// Reads the rows of a table, none without the file.
pub fn rows<R: DeserializeOwned>(file: &Path) -> Vec<R> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let read = |(number, line): (usize, &str)| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{}:{}: {error}", file.display(), number + 1))
    };
    text.lines().enumerate().map(read).collect()
}

/// Makes the runs here.
pub fn here(law: &str, settings: &Settings, loss: Loss) -> Vec<Figures> {
    let mut experiment = experiment(law, loss, 1);
    experiment.flows[0].controller.settings.clone_from(settings);
    replicate(&experiment, loss.here).iter().map(figures).collect()
}

/// A figure here and in Linux: means over seeds with their standard errors.
pub struct Judged {
    here: (f64, f64),
    there: (f64, f64),
    /// Whether they differ by more than is allowed.
    pub far: bool,
}

pub fn judge<F>(here: &[F], there: &[F], of: fn(&F) -> f64) -> Judged {
    let mean_of = |all: &[F]| mean(&all.iter().map(of).collect::<Vec<_>>());
    let (here, there) = (mean_of(here), mean_of(there));
    Judged { here, there, far: apart(here, there) }
}

impl fmt::Display for Judged {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((a, b), (c, d)) = (self.here, self.there);
        let ratio = if c > 0.0 { format!("{:.2}", a / c) } else { String::new() };
        write!(to, "{a:.2} +- {b:.2} | {c:.2} +- {d:.2} | {ratio}")
    }
}

/// Whether a kernel can be run here: what is missing, if something is.
pub fn present(kernel: &Path) -> Result<(), String> {
    let emulator = ["qemu-system-x86_64", "qemu-img"];
    let missing = emulator.into_iter().find(|program| Command::new(program).arg("--version").output().is_err());
    match missing {
        Some(program) => Err(format!("{program} is missing (Debian packages qemu-system-x86 and qemu-utils)")),
        None if !kernel.join("vmlinuz").is_file() => {
            Err(format!("{} has no kernel; setup.sh test fetches it", kernel.display()))
        }
        None => Ok(()),
    }
}

/// A kernel in virtual time, with this program as its first process. So `main` must begin with
/// [`becomes_the_guest`].
pub fn linux(kernel: Find) -> Virtual {
    let none: ::linux::lab::Alone = |_, _| Err(Refusal::Input("no users here".to_string()));
    Virtual::new("linux", "Linux TCP in virtual time", kernel, none, std::env::current_exe)
}

/// Debian's kernel 6.1 and its modules, where `setup.sh test` puts them.
pub fn sample_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debian-6.1")
}

pub fn sample_kernel() -> Find {
    Box::new(|| Kernel::own(&sample_folder().join("vmlinuz"), Some(&sample_folder())))
}

/// In a machine this program is the first process, works for the host, and ends with the machine.
pub fn becomes_the_guest() -> bool {
    let first = std::process::id() == 1;
    if first {
        ::linux::virtual_time::guest();
    }
    first
}

/// Makes a run in Linux.
pub fn there(host: &Virtual, law: &str, loss: Loss, seed: u64) -> Result<Row, Refusal> {
    let run = there_of(host, &experiment(law, loss, seed))?;
    let windows = if loss.one_in == 0 { window(&run) } else { Vec::new() };
    let windows = windows.into_iter().step_by(STRIDE).map(|(_, packets)| packets as u32).collect();
    let Loss { one_in, seconds, .. } = loss;
    Ok(Row { kernel: kernel(host), law: law.to_string(), one_in, seconds, seed, figures: figures(&run), windows })
}

impl Row {
    pub fn is_of(&self, law: &str, loss: Loss) -> bool {
        (self.law.as_str(), self.one_in, self.seconds) == (law, loss.one_in, loss.seconds)
    }
}

/// The kernel's release and, in short, the digest of its machine.
fn kernel(host: &Virtual) -> String {
    let digest = host.tools().map(|tools| tools.join(" ")).unwrap_or_default();
    format!("{}; {}", host.label().badge, &digest[..digest.len().min(32)])
}

fn there_of(host: &Virtual, experiment: &Experiment) -> Result<Run, Refusal> {
    host.check(std::slice::from_ref(experiment))?;
    host.run(experiment)
}
