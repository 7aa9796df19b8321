//! A kernel in virtual time, as a host among others.

use crate::lab::{Alone, Has, PathHas, Raw};
use crate::virtual_time::base::{Base, last_words};
use crate::virtual_time::error::VirtualError;
use crate::virtual_time::job::{self, answered};
use crate::virtual_time::kernels::{Kernel, PREFIX};
use crate::virtual_time::machine::{DILATION, Machine};
use experiment::results::{HostLabel, Run};
use experiment::scenario::Experiment;
use harness::runner::{Clock, Host, Refusal, Unfit};
use packetscale_models::units::Span;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Finds a kernel, when it is needed.
pub type Find = Box<dyn Fn() -> Result<Kernel, VirtualError> + Send + Sync>;

/// Linux TCP of one kernel, inside an emulated machine.
pub struct Virtual {
    name: &'static str,
    summary: &'static str,
    kernel: Find,
    alone: Alone,
    own: fn() -> std::io::Result<PathBuf>,
    base: OnceLock<Result<Base, VirtualError>>,
}

/// Poll interval for the end of a machine.
const POLL: Duration = Duration::from_millis(20);

/// Wall time without progress of the machine's clock after which it counts as stuck.
const STUCK: Duration = Duration::from_secs(900);

impl Virtual {
    /// A host of this name over a kernel. `own` finds this program, which is also the guest's; `alone` generates the packets of
    /// unresponsive users.
    pub fn new(
        name: &'static str,
        summary: &'static str,
        kernel: Find,
        alone: Alone,
        own: fn() -> std::io::Result<PathBuf>,
    ) -> Virtual {
        Virtual { name, summary, kernel, alone, own, base: OnceLock::new() }
    }

    fn base(&self) -> Result<&Base, VirtualError> {
        let make = || {
            let kernel = (self.kernel)()?;
            let own = (self.own)().map_err(VirtualError::doing("this program does not find itself"))?;
            Base::of(&kernel, &own, None)
        };
        self.base.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    fn made(&self, experiment: &Experiment, job: &[u8], reached: &(dyn Fn(Span) + Sync)) -> Result<Raw, VirtualError> {
        let place = tempfile::tempdir().map_err(VirtualError::doing("a temporary folder"))?;
        let mut machine = self.base()?.copy(place.path())?;
        machine.board.put(job)?;
        machine.go_on()?;
        wait(&mut machine, reached)?;
        let answer = machine.board.take();
        let raw =
            answered(&answer).and_then(|bytes| Raw::from_bytes(bytes).map_err(VirtualError::doing("the machine")));
        let seed = experiment.seed;
        raw.map_err(|error| {
            VirtualError(format!("seed {seed}: {error}; {}", last_words(&place.path().join("console"))))
        })
    }
}

/// Waits until a machine has ended, reporting its progress. Returns its processor time in seconds, as of the last poll.
pub(crate) fn wait(machine: &mut Machine, reached: &(dyn Fn(Span) + Sync)) -> Result<f64, VirtualError> {
    let (mut last_ns, mut since) = (0, Instant::now());
    let mut cpu_s = 0.0;
    while !machine.has_ended()? {
        let now_ns = machine.board.reached();
        if now_ns != last_ns {
            (last_ns, since) = (now_ns, Instant::now());
            reached(Span::from_nanos(now_ns));
        }
        if since.elapsed() > STUCK {
            let at_s = Span::from_nanos(now_ns).as_secs_f64();
            return Err(VirtualError(format!("the machine is stuck at {at_s} s of the run")));
        }
        cpu_s = machine.cpu_s().unwrap_or(cpu_s);
        std::thread::sleep(POLL);
    }
    Ok(cpu_s)
}

impl Host for Virtual {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn label(&self) -> HostLabel {
        let release = self.base().map(|base| base.facts.release.clone()).unwrap_or_default();
        HostLabel {
            name: self.name.to_string(),
            badge: format!("Linux {release} TCP, virtual time"),
            about: format!(
                "This page shows Linux {release}: its own TCP and queue disciplines, inside an emulated machine with an \
                instruction-driven clock. Hosts share a processor of {DILATION} instructions per nanosecond."
            ),
            path_unknown: false,
        }
    }

    fn ability(&self) -> Result<String, String> {
        let kernel = (self.kernel)().map_err(|error| error.to_string())?;
        crate::virtual_time::machine::qemu().map_err(|error| error.to_string())?;
        Ok(format!("{} in the emulator, with a virtual clock", kernel.file.display()))
    }

    fn clock(&self) -> Clock {
        Clock::Virtual
    }

    fn tools(&self) -> Result<Vec<String>, Refusal> {
        let base = self.base().map_err(machine)?;
        Ok(vec![format!("machine sha256:{}", base.digest)])
    }

    fn accept(&self, plan: &[Experiment]) -> Result<(), Unfit> {
        crate::lab::accept_exactly(plan)
    }

    fn check(&self, plan: &[Experiment]) -> Result<Vec<String>, Refusal> {
        self.accept(plan)?;
        let base = self.base().map_err(machine)?;
        let facts = &base.facts;
        let has = Has {
            path: PathHas {
                kernel: &format!("Linux {}", facts.release),
                queues: &facts.queues,
                polices: facts.polices,
                more: &more(self.name),
            },
            controllers: &facts.controllers,
            no_rapid: facts.no_rapid.as_deref(),
        };
        plan.iter().try_for_each(|experiment| crate::lab::lacks(experiment, &has))?;
        let has = |name: &str| facts.controllers.iter().any(|known| known == name);
        let mut output = crate::lab::conditions(plan, crate::lab::Means::Qdiscs, has);
        output.push(format!("Linux {} inside an emulated machine: machine sha256:{}", facts.release, base.digest));
        output.push(format!("its processor has {DILATION} instructions per nanosecond, and no caches"));
        let (median, most) = (facts.late_median_ns, facts.late_most_ns);
        output.push(format!("a sleep of 1 ms is late by {median} ns at the median, {most} ns at most"));
        Ok(output)
    }

    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        self.run_watched(experiment, &|_| {})
    }

    fn run_watched(&self, experiment: &Experiment, reached: &(dyn Fn(Span) + Sync)) -> Result<Run, Refusal> {
        let job = job::write_run(experiment, crate::lab::draws(experiment, self.alone)?).map_err(machine)?;
        let raw = self.made(experiment, &job, reached).map_err(machine)?;
        Ok(raw.figures(experiment))
    }
}

/// An earlier build of the command fetched fewer modules.
fn more(host: &str) -> String {
    let version = host.strip_prefix(PREFIX).filter(|version| version.starts_with(|first: char| first.is_ascii_digit()));
    version.map_or(String::new(), |version| {
        format!("; `packetscale fetch kernel {version}` fetches all that Debian's has")
    })
}

fn machine(error: VirtualError) -> Refusal {
    Refusal::Machine(error.to_string())
}
