//! The simulator as a host among others.

use crate::{Mode, RunError, observed, watched};
use experiment::results::{HostLabel, Run};
use experiment::scenario::{Experiment, KERNEL_QUEUES};
use harness::packets::Sequences;
use harness::runner::{Clock, Host, Refusal, Unfit};
use packetscale_models::units::{Span, Time};

/// Virtual time.
pub struct Simulator;

impl Host for Simulator {
    fn name(&self) -> &'static str {
        "simulator"
    }

    fn summary(&self) -> &'static str {
        "Virtual time"
    }

    fn label(&self) -> HostLabel {
        HostLabel {
            name: self.name().to_string(),
            badge: "simulated: virtual time".to_string(),
            about:
                "This page shows a simulation: packets, links, queues and protocol end points in virtual time. Hosts \
                take no time to process a packet and links do not reorder, unless the scenario says so. Rates and \
                delays at the bottleneck come from the simulator\u{2019}s counters, not from sampling."
                    .to_string(),
            path_unknown: false,
        }
    }

    fn ability(&self) -> Result<String, String> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Ok(format!("always; {cores} runs at a time"))
    }

    fn clock(&self) -> Clock {
        Clock::Virtual
    }

    fn accept(&self, plan: &[Experiment]) -> Result<(), Unfit> {
        plan.iter().try_for_each(queues)
    }

    fn check(&self, plan: &[Experiment]) -> Result<Vec<String>, Refusal> {
        self.accept(plan)?;
        Ok(Vec::new())
    }

    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        self.run_watched(experiment, &|_| {})
    }

    fn run_watched(&self, experiment: &Experiment, watch: &(dyn Fn(Span) + Sync)) -> Result<Run, Refusal> {
        let report = |now: Time| watch(now.since(Time::ZERO));
        let run = if experiment.record.packets {
            with_packets(experiment, &report)
        } else {
            watched(experiment, Mode::Fused, &report)
        };
        run.map_err(|error| Refusal::Input(error.to_string()))
    }
}

/// Makes one run that records what happened to each packet of its flows.
fn with_packets(experiment: &Experiment, watch: &dyn Fn(Time)) -> Result<Run, RunError> {
    let mut sequences = Sequences::default();
    let run = observed(experiment, &mut sequences, watch)?;
    Ok(Run { sequences: sequences.records(), ..run })
}

/// Refuses queues that only a kernel has.
fn queues(experiment: &Experiment) -> Result<(), Unfit> {
    for (number, link) in experiment.links.iter().enumerate() {
        let kind = &link.queue.kind;
        if KERNEL_QUEUES.iter().any(|(name, _)| name == kind) {
            let key = if number == 0 { "path.queue".to_string() } else { format!("link.{number}.queue") };
            let expected = format!("a queue that it has; only a kernel has {kind}: --on linux-6.12");
            return Err(Unfit { key, found: format!("\"{kind}\""), expected });
        }
    }
    Ok(())
}
