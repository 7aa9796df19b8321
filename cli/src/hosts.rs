//! The hosts that the command knows.

use crate::outcome::Failure;
use crate::{kernels, renamed};
use harness::runner::Host;
use simulator::Simulator;

/// Every host of this build, in the order in which they are listed. Where nothing says where, the first one runs it.
pub fn hosts() -> Vec<&'static dyn Host> {
    let known: [&'static dyn Host; 2] = [&Simulator, &KERNEL];
    known.into_iter().chain(live()).chain(kernels::hosts()).collect()
}

/// The host where runs are made if nothing says where.
pub fn first<'a>(hosts: &[&'a dyn Host]) -> Result<&'a dyn Host, Failure> {
    hosts.first().copied().ok_or_else(|| Failure::Machine("there is no host to run on".to_string()))
}

/// The host that `--on` asks for, or the first.
pub fn chosen<'a>(on: Option<&str>, hosts: &[&'a dyn Host]) -> Result<&'a dyn Host, Failure> {
    let Some(on) = on else { return first(hosts) };
    let host = named(on, hosts)?;
    if host.word() != on {
        renamed::note(&format!("--on {on}"), &format!("--on {}", host.word()));
    }
    Ok(host)
}

/// The host of this word or name.
pub fn named<'a>(name: &str, hosts: &[&'a dyn Host]) -> Result<&'a dyn Host, Failure> {
    let host = hosts.iter().find(|host| [host.word(), host.name()].contains(&name));
    host.copied().ok_or_else(|| Failure::Input(format!("--on: found \"{name}\"; expected a host")))
}

#[cfg(target_os = "linux")]
fn live() -> Option<&'static dyn Host> {
    static LIVE: live::host::Live = live::host::Live { to: None };
    Some(&LIVE)
}

/// Times of packets are those of Linux.
#[cfg(not(target_os = "linux"))]
fn live() -> Option<&'static dyn Host> {
    None
}

#[cfg(feature = "kernel")]
static KERNEL: linux::lab::Lab = linux::lab::Lab { alone: kernels::ALONE };

#[cfg(not(feature = "kernel"))]
static KERNEL: without_kernel::Kernel = without_kernel::Kernel;

/// In a build without Linux TCP: says what is missing.
#[cfg(not(feature = "kernel"))]
mod without_kernel {
    use experiment::results::{HostLabel, Run};
    use experiment::scenario::Experiment;
    use harness::runner::{Clock, Host, Refusal};

    const MISSING: &str = "this build has no kernel host (feature \"kernel\")";

    pub struct Kernel;

    impl Host for Kernel {
        fn name(&self) -> &'static str {
            "kernel"
        }

        fn word(&self) -> &'static str {
            "linux"
        }

        fn summary(&self) -> &'static str {
            "Real Linux TCP, which this build does not have"
        }

        fn label(&self) -> HostLabel {
            HostLabel { name: self.name().to_string(), ..HostLabel::default() }
        }

        fn ability(&self) -> Result<String, String> {
            Err(MISSING.to_string())
        }

        fn clock(&self) -> Clock {
            Clock::Real
        }

        fn check(&self, _: &[Experiment]) -> Result<Vec<String>, Refusal> {
            Err(Refusal::Machine(format!("{MISSING}: run the scenario with --on simulator")))
        }

        fn run(&self, _: &Experiment) -> Result<Run, Refusal> {
            Err(Refusal::Machine(MISSING.to_string()))
        }
    }
}
