//! The simulator as a host among others.

use crate::run;
use results::{HostLabel, Run};
use runner::{Clock, Host, Refusal};
use scenario::Experiment;

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
            about: "This page shows a simulation: packets, links, queues and protocol end points in virtual time. Hosts \
                take no time to process a packet and links do not reorder, unless the scenario says so, and the traffic \
                does not react to the flows. Rates and delays at the bottleneck come from the simulator\u{2019}s own \
                books, not from sampling."
                .to_string(),
        }
    }

    fn ability(&self) -> Result<String, String> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Ok(format!("always; {cores} runs at a time"))
    }

    fn clock(&self) -> Clock {
        Clock::Virtual
    }

    fn check(&self, _: &[Experiment]) -> Result<Vec<String>, Refusal> {
        Ok(Vec::new())
    }

    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        run(experiment).map_err(|error| Refusal::Input(error.to_string()))
    }
}
