//! The lab as a host among others.

use crate::lab::{Draws, LabError, Offers, Packets, rates};
use experiment::results::{HostLabel, Run};
use experiment::scenario::{Experiment, FlowSpec};
use experiment::traffic::{Application, CrossPacket, Source};
use harness::runner::{Clock, Host, Refusal, Unfit};
use packetscale_models::units::Time;

/// Packets of unresponsive users, copy by copy, as sent without the path: only a simulation can generate them.
pub type Alone = fn(&Experiment, usize) -> Result<Vec<Vec<CrossPacket>>, Refusal>;

/// Real Linux TCP, between network namespaces of this machine.
pub struct Lab {
    /// Generates the packets of unresponsive users.
    pub alone: Alone,
}

impl Host for Lab {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn word(&self) -> &'static str {
        "linux"
    }

    fn summary(&self) -> &'static str {
        "This machine's Linux TCP, in real time"
    }

    fn label(&self) -> HostLabel {
        HostLabel {
            name: self.name().to_string(),
            badge: "measured: Linux kernel TCP, real time".to_string(),
            about:
                "This page shows a measurement: Linux TCP in real time. The machine\u{2019}s own scheduling and timers \
                are part of it."
                    .to_string(),
            path_unknown: false,
        }
    }

    fn ability(&self) -> Result<String, String> {
        crate::lab::ability()
    }

    fn clock(&self) -> Clock {
        Clock::Real
    }

    fn accept(&self, plan: &[Experiment]) -> Result<(), Unfit> {
        crate::lab::accept(plan)
    }

    fn check(&self, plan: &[Experiment]) -> Result<Vec<String>, Refusal> {
        self.accept(plan)?;
        crate::lab::check(plan)
    }

    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        Ok(crate::lab::run(experiment, draws(experiment, self.alone)?)?)
    }
}

/// Random draws before a run.
///
/// # Errors
/// Traffic or an application that has no packets.
pub fn draws(experiment: &Experiment, alone: Alone) -> Result<Draws, Refusal> {
    let sources = experiment::traffic::cross_traffic(experiment, |experiment, index| Ok(alone(experiment, index)?));
    let packets = |mut source: experiment::traffic::Superposition<_>| -> Packets {
        Box::new(std::iter::from_fn(move || source.next().map(|packet| (packet.at, packet.size))))
    };
    let traffic = sources.map_err(|Unsent(refusal)| refusal)?.into_iter().map(packets).collect();
    let starts = experiment::traffic::starts(experiment);
    let offers = experiment.flows.iter().zip(&starts).enumerate();
    let offers =
        offers.map(|(index, (flow, start))| offers_of(experiment, flow, index, *start)).collect::<Result<_, _>>();
    Ok(Draws { starts, offers: offers.map_err(|Unsent(refusal)| refusal)?, traffic, carried: rates::of(experiment) })
}

/// When the application of a flow hands over its packets.
fn offers_of(experiment: &Experiment, flow: &FlowSpec, index: usize, start: Time) -> Result<Option<Offers>, Unsent> {
    let application = Application::of_flow(experiment, flow, index, start)?;
    let offers = |mut application: Application| -> Offers {
        let (mut due, mut packets) = (Time::ZERO, 0);
        Box::new(std::iter::from_fn(move || {
            if packets == 0 {
                due = Some(application.next()).filter(|at| *at < Time::MAX)?;
                packets = application.take(due);
            }
            packets -= 1;
            Some(due)
        }))
    };
    Ok(application.map(offers))
}

impl From<LabError> for Refusal {
    fn from(error: LabError) -> Refusal {
        Refusal::Machine(error.to_string())
    }
}

/// Why traffic has no packets.
struct Unsent(Refusal);

impl From<Refusal> for Unsent {
    fn from(refusal: Refusal) -> Unsent {
        Unsent(refusal)
    }
}

impl From<experiment::traffic::TrafficError> for Unsent {
    fn from(error: experiment::traffic::TrafficError) -> Unsent {
        Unsent(Refusal::Input(error.to_string()))
    }
}
