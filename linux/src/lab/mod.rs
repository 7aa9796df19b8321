//! Scenarios over real TCP connections through a real bottleneck, in private network namespaces.
//!
//! [`check`] returns whether this machine and this kernel can run a plan; [`run`] makes one run. A run builds
//! its path ([`path`]), attaches two programs to the ends of the bottleneck ([`tap`]), sends real connections ([`flows`])
//! and real datagrams ([`cross`]) through it for the length of the scenario, and turns the packet records into the figures of
//! [`measure`] ([`books`], [`summary`]). Nothing outlives the process, however it ends ([`namespace`]).

mod accept;
mod books;
mod bottleneck;
mod calibrate;
mod cross;
mod delay_line;
mod devices;
mod disciplines;
mod error;
mod flows;
mod has;
mod host;
mod namespace;
mod owner;
mod path;
mod probes;
mod qdiscs;
mod rapid;
mod rates;
mod raw;
mod red;
mod sampler;
mod sender;
mod sockets;
mod steps;
mod summary;
mod tap;
mod tcp_info;
mod verdict;

pub use accept::{Has, PathHas, lacks};
pub use cross::Packets;
pub(crate) use devices::Means;
pub(crate) use disciplines::disciplines;
pub use error::LabError;
pub(crate) use has::{polices, queues};
pub use host::{Alone, Lab, draws};
pub use rates::Carried;
pub use raw::Raw;
pub use sender::Offers;

use books::Books;
use calibrate::{calibrate, one_flow};
use cross::Cross;
use delay_line::{Account, DelayLine};
use experiment::results::Run;
use experiment::scenario::{Experiment, Impairments};
use flows::Flows;
use harness::realtime::clock::{monotonic_ns, sleep_until};
use harness::realtime::priority::{PriorityGuard, Urgency};
use harness::realtime::processors::Meter;
use harness::runner::{Refusal, Unfit};
use packetscale_models::units::{Bytes, Rate, Time};
use path::Path;
use probes::Probes;
use sampler::Samples;
use steps::Steps;
use tap::{Record, Tap};

/// Decisions before a run: random draws, and contents of files.
#[derive(Default)]
pub struct Draws {
    /// When each flow starts.
    pub starts: Vec<Time>,
    /// When the application of each flow hands over a packet; `None`, or no entry: it always has data.
    pub offers: Vec<Option<Offers>>,
    /// The packets of each source of traffic.
    pub traffic: Vec<Packets>,
    /// The bottleneck's capacity over time; empty if constant.
    pub carried: Vec<(Time, Carried)>,
}

/// Interval between reads of records, and minimum interval between samples of connections.
const POLL_NS: u64 = 10_000_000;

/// From the making of the threads to the start of the run.
const LEAD_NS: u64 = 100_000_000;

/// Conditions of every run.
const CONDITIONS: [&str; 5] = [
    "hosts are network namespaces of one machine, devices are virtual, and all hosts share its processors",
    "the sender's device has gso_max_segs 1, so that every controller sends packets of one segment",
    "packets are frames with their Ethernet header: the MTU is 14 bytes less",
    "queueing delay is the time from the queue's entry to the next host, less the smallest of the run",
    "cpu_s is the busy time of the machine's processors, from all programs",
];

/// Whether the lab can run a plan in real time.
///
/// # Errors
/// The key that it does not support.
pub fn accept(plan: &[Experiment]) -> Result<(), Unfit> {
    plan.iter().try_for_each(|experiment| accept::accept(experiment, Means::DelayLine))
}

/// Whether the lab can run a plan with an exact clock.
///
/// # Errors
/// The key that it does not support.
pub fn accept_exactly(plan: &[Experiment]) -> Result<(), Unfit> {
    plan.iter().try_for_each(|experiment| accept::accept(experiment, Means::Qdiscs))
}

/// Whether this machine can make every run of an accepted plan. Returns the lab's conditions beyond the scenario, one sentence
/// each, for the manifest.
///
/// # Errors
/// What is missing, or a rate that this machine does not reach.
pub fn check(plan: &[Experiment]) -> Result<Vec<String>, Refusal> {
    root()?;
    let release =
        std::fs::read_to_string("/proc/sys/kernel/osrelease").map_err(LabError::doing("the kernel's release"))?;
    let kernel = format!("Linux {}", release.trim());
    let (queues, polices) = (queues()?, polices()?);
    let has = PathHas { kernel: &kernel, queues: &queues, more: "", polices };
    plan.iter().try_for_each(|experiment| accept::lacks_path(experiment, &has))?;
    accept::controllers(plan)?;
    let loaded = flows::loaded();
    let mut conditions = conditions(plan, Means::DelayLine, |name| loaded.iter().any(|known| known == name));
    conditions.extend(calibrate(plan)?);
    Ok(conditions)
}

/// Conditions of the lab beyond the scenarios of a plan, one sentence each. `has`: whether the kernel has a congestion control.
pub(crate) fn conditions(plan: &[Experiment], means: Means, has: impl Fn(&str) -> bool) -> Vec<String> {
    let own = CONDITIONS.iter().map(|output| output.to_string());
    own.chain(path::changes_let_through(plan, means)).chain(flows::which_bbr(plan, has)).collect()
}

/// Whether the lab works here at all: builds a path, watches it and removes it. Describes the means found, or what is missing.
pub fn ability() -> Result<String, String> {
    let built = || -> Result<(), LabError> {
        root()?;
        let packet = Bytes::new(1_514);
        let path = Path::build(&one_flow(Rate::from_mbps(10), packet, packet * 100), Means::DelayLine, true)?;
        Tap::attach(&path).map(drop)
    };
    let made = "paths of network namespaces, watched packet by packet; each ends with its process";
    built().map(|()| made.to_string()).map_err(|error| error.to_string())
}

fn root() -> Result<(), LabError> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    Err(LabError("network namespaces need root; try sudo".to_string()))
}

/// Makes one run.
///
/// # Errors
/// When the machine refuses something, or could not keep up.
pub fn run(experiment: &Experiment, draws: Draws) -> Result<Run, LabError> {
    let raw = measure(experiment, draws, Means::DelayLine, DelayLine::is_needed(experiment))?;
    let books = judged(experiment, &raw)?;
    Ok(raw.figures_with(experiment, books))
}

/// Makes one run with an exact clock: the kernel's queue disciplines make the path, and the run is not checked for a machine
/// that was too slow. Returns the records; [`Raw::figures`] makes the figures.
///
/// # Errors
/// When a system call fails.
pub fn run_exactly(experiment: &Experiment, draws: Draws, reached: &dyn Fn(u64)) -> Result<Raw, LabError> {
    measure_reporting(experiment, draws, Means::Qdiscs, needs_wire(experiment), reached)
}

/// Whether something happens behind the bottleneck.
fn needs_wire(experiment: &Experiment) -> bool {
    DelayLine::is_needed(experiment) || experiment.links[experiment.bottleneck].impairments != Impairments::default()
}

/// Returns the packets of a run in real time.
///
/// # Errors
/// When packets waited for the machine.
fn judged(experiment: &Experiment, raw: &Raw) -> Result<Books, LabError> {
    let books = raw.books(experiment);
    verdict::check(&books, &experiment.links[experiment.bottleneck], path::full_buffer_ns(experiment))?;
    Ok(books)
}

fn measure(experiment: &Experiment, draws: Draws, means: Means, with_wire: bool) -> Result<Raw, LabError> {
    measure_reporting(experiment, draws, means, with_wire, &|_| {})
}

/// Builds the path, performs the run, and removes the path. Reports the time passed, in nanoseconds of the run.
fn measure_reporting(
    experiment: &Experiment,
    draws: Draws,
    means: Means,
    with_wire: bool,
    reached: &dyn Fn(u64),
) -> Result<Raw, LabError> {
    let mut path = Path::build(experiment, means, with_wire)?;
    let tap = Tap::attach(&path)?;
    path.police(experiment)?;
    rapid::note_arrivals(&path, experiment)?;
    let meter = Meter::start().map_err(LabError::doing("/proc/stat"))?;
    let zero_ns = monotonic_ns() + LEAD_NS;
    tap.make_wire(experiment, means, zero_ns)?;
    let starts_ns: Vec<u64> = draws.starts.iter().map(|start| start.nanos()).collect();
    let delay_line = path.start_delay_line(experiment, zero_ns)?;
    let delay_steps = path.start_delay_steps(experiment, zero_ns)?;
    let rate_steps = path.start_rate_steps(experiment, &draws.carried, zero_ns)?;
    let flows = Flows::start(&path, &experiment.flows, &draws.starts, draws.offers, zero_ns)?;
    let cross = Cross::start(&path, draws.traffic, path::mtu(experiment), zero_ns)?;
    let probes = Probes::start(experiment, zero_ns);
    let mut samples = Samples::new(experiment.flows.len());
    let records = watch(experiment, &tap, zero_ns, &flows, &mut samples, reached)?;
    let cpu_s = meter.used_s().map_err(LabError::doing("/proc/stat"))?;
    let heard = probes.end();
    let completed_ns = flows.connections.iter().map(|flow| flow.completed_ns().map(|at| at.saturating_sub(zero_ns)));
    let completed_ns = completed_ns.collect();
    let steered = rapid::steered(experiment, zero_ns)?;
    flows.end()?;
    cross.end()?;
    [delay_steps, rate_steps].into_iter().flatten().try_for_each(Steps::end)?;
    let account = delay_line.map_or_else(|| Ok(Account::default()), DelayLine::end)?;
    account.check(experiment)?;
    let missed = tap.missed()?;
    if missed > 0 {
        let message = format!("this machine was too busy: {missed} records of packets at the bottleneck were lost");
        return Err(LabError(message));
    }
    let losses = account.losses;
    Ok(Raw { zero_ns, starts_ns, completed_ns, samples, steered, heard, cpu_s, losses, records })
}

/// Reads records and samples connections until the run is over.
fn watch(
    experiment: &Experiment,
    tap: &Tap,
    zero_ns: u64,
    flows: &Flows,
    samples: &mut Samples,
    reached: &dyn Fn(u64),
) -> Result<Vec<Record>, LabError> {
    let mut records = Vec::new();
    let step_ns = experiment.record.step.nanos().max(1);
    let end_ns = zero_ns + experiment.duration.nanos();
    // Records that are not read in time are lost.
    let _urgent = PriorityGuard::new(Urgency::Application).map_err(LabError::doing("no real-time priority"))?;
    tap.records(&mut records, |look| {
        let mut sample_ns = zero_ns + step_ns / 2;
        let mut now = monotonic_ns();
        while now < end_ns {
            sleep_until((now + POLL_NS).min(sample_ns.max(now)).min(end_ns));
            now = monotonic_ns();
            if now >= sample_ns {
                samples.take(&flows.connections, now - zero_ns > experiment.warmup.nanos());
                sample_ns += step_ns;
            }
            look()?;
            reached(now.saturating_sub(zero_ns));
        }
        samples.remember(&flows.connections);
        look()
    })?;
    Ok(records)
}
