//! `packetscale run`: reads a scenario, has its plan run, writes the page, prints the table.

use crate::args::run::{Clock, Run as Arguments};
use crate::finished::{met, shown, write_page};
use crate::hosts::named;
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use crate::program::PROGRAM;
use crate::recordings::Recordings;
use crate::terminal::Terminal;
use crate::{task, trace};
use experiment::scenario::Scenario;
use harness::runner::{Host, Made, Refusal, Runner, Swept, Unfit};
use std::path::Path;

pub fn run(arguments: &Arguments, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let scenario =
        Scenario::read(&arguments.file, &arguments.set).map_err(|error| Failure::Input(error.to_string()))?;
    let plan = scenario.plan();
    let own = own(arguments)?;
    let host = match &own {
        Some(own) => own.as_ref(),
        None => named(&on(arguments)?, hosts)?,
    };
    let unfit = |unfit: Unfit| {
        let found = format!("{} with {}", unfit.found, typed(arguments));
        Failure::Input(scenario.refuse(&arguments.file, &unfit.key, found, unfit.expected).to_string())
    };
    let probes = plan.iter().any(|experiment| experiment.probe.is_some());
    if !probes {
        host.accept(&plan).map_err(unfit)?;
    }
    if arguments.print {
        return say(&scenario.to_toml());
    }
    if probes {
        let how = format!("packetscale estimate --from-simulator {}", arguments.file.display());
        return Err(Failure::Input(format!(
            "{}: probe: found probe streams, which `{how}` sends and judges",
            arguments.file.display()
        )));
    }
    at_once(host, arguments.jobs)?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(scenario.name()));
    trace::check(arguments, host, &folder, &plan)?;
    let recordings = Recordings::wanted(arguments, host, &folder, &plan)?;
    let name = arguments.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (jobs, replace, progress) = (arguments.jobs, arguments.output.replace, &Terminal::new(arguments.json));
    let runner = Runner { host, program: &PROGRAM, jobs, replace, progress };
    let mut made = arguments.cache.as_ref().map_or_else(Made::new, |cache| Made::in_folder(cache));
    let refused = |error| match error {
        harness::runner::Error::Refused(Refusal::Unfit(what)) => unfit(what),
        other => other.into(),
    };
    if let Some(shard) = &arguments.shard {
        let swept = Swept { scenario: &scenario, plan: &plan, file: &arguments.file, changes: &arguments.set };
        let shard = task::numbered(shard, |name| std::env::var(name).ok())?;
        let done = runner.shard(&swept, shard, &folder, &made).map_err(refused)?;
        return say(&task::done(shard, done, &folder));
    }
    let results = runner.record(&scenario, &plan, name, &folder, &mut made).map_err(refused)?;
    write_page(&results, &folder, !arguments.no_page).map_err(|error| unwritable(&folder, &error))?;
    if let Some(file) = &arguments.trace {
        trace::write(file, &plan)?;
    }
    recordings.write(&plan)?;
    if arguments.json {
        say(&experiment::results::to_json(&results))?;
    } else {
        shown(&results, &folder)?;
    }
    met(&results)
}

/// The host as it was typed.
fn typed(arguments: &Arguments) -> String {
    match arguments.clock {
        Clock::Virtual if arguments.on == "kernel" => "--on kernel --clock virtual".to_string(),
        _ => format!("--on {}", arguments.on),
    }
}

/// The name of the host that is asked for.
fn on(arguments: &Arguments) -> Result<String, Failure> {
    match (arguments.clock, arguments.on.as_str()) {
        (Clock::Real, on) => Ok(on.to_string()),
        #[cfg(feature = "kernel")]
        (Clock::Virtual, "kernel") => Ok(crate::kernels::usual()),
        // In virtual time anyway.
        (Clock::Virtual, on) if on.starts_with("linux-") => Ok(on.to_string()),
        (Clock::Virtual, on) => {
            Err(Failure::Input(format!("--clock: found virtual with --on {on}; expected --on kernel --clock virtual")))
        }
    }
}

/// A host that the arguments make: over a path to a server, or over the user's own kernel.
fn own(arguments: &Arguments) -> Result<Option<Box<dyn Host>>, Failure> {
    match over_a_path(arguments)? {
        Some(host) => Ok(Some(host)),
        None => own_kernel(arguments),
    }
}

/// A host over the path to a server, if one is named.
#[cfg(target_os = "linux")]
fn over_a_path(arguments: &Arguments) -> Result<Option<Box<dyn Host>>, Failure> {
    let Some(to) = &arguments.to else { return Ok(None) };
    if arguments.on != "live" {
        return Err(Failure::Input(format!("--to: found --on {}; expected --on live", arguments.on)));
    }
    let to = crate::peer::destination(to, arguments.key.as_deref())?;
    Ok(Some(Box::new(live::host::Live { to: Some(to) })))
}

#[cfg(not(target_os = "linux"))]
fn over_a_path(_: &Arguments) -> Result<Option<Box<dyn Host>>, Failure> {
    Ok(None)
}

/// A host over the user's own kernel, if there is one.
#[cfg(feature = "kernel")]
fn own_kernel(arguments: &Arguments) -> Result<Option<Box<dyn Host>>, Failure> {
    let Some(kernel) = &arguments.kernel else { return Ok(None) };
    if arguments.on != "kernel" || arguments.clock != Clock::Virtual {
        return Err(Failure::Input(format!(
            "--kernel: found --on {}; expected --on kernel --clock virtual",
            arguments.on
        )));
    }
    Ok(Some(Box::new(crate::kernels::own(kernel, arguments.modules.as_deref()))))
}

#[cfg(not(feature = "kernel"))]
fn own_kernel(_: &Arguments) -> Result<Option<Box<dyn Host>>, Failure> {
    Ok(None)
}

/// Refuses more runs at the same time than the host makes.
fn at_once(host: &dyn Host, jobs: Option<u16>) -> Result<(), Failure> {
    let (Some(most), Some(jobs)) = (host.at_once(), jobs) else { return Ok(()) };
    if jobs <= most {
        return Ok(());
    }
    let expected = if most == 1 { "1, one run at a time".to_string() } else { format!("{most} or fewer at a time") };
    Err(Failure::Input(format!("--jobs: found {jobs}; expected {expected}, with --on {}", host.name())))
}
