//! `packetscale run`: reads a scenario, has its plan run, writes the page, prints the table.

use crate::args::{Clock, Run as Arguments};
use crate::recordings::Recordings;
use crate::terminal::Terminal;
use crate::{Failure, PROGRAM, say, task, trace};
use experiment::results::Results;
use experiment::scenario::Scenario;
use harness::runner::{Host, Made, Progress, Refusal, Runner, Swept, Unfit};
use report::PAGE;
use std::path::Path;

pub use harness::runner::threads;

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
    let (jobs, replace, progress) = (arguments.jobs, arguments.replace, &Terminal::new(arguments.json));
    experiment::traffic::warnings(&plan).iter().for_each(|flaw| progress.say(&format!("warning: {flaw}")));
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

/// Prints the table.
pub fn shown(results: &Results, folder: &Path) -> Result<(), Failure> {
    say(&format!(
        "{}\nWritten to {}\n",
        experiment::results::to_table(results, experiment::results::colours_wanted()),
        folder.display()
    ))
}

/// Whether every expectation was.
pub fn met(results: &Results) -> Result<(), Failure> {
    if results.expectations.iter().all(|expectation| expectation.met) { Ok(()) } else { Err(Failure::Missed) }
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
        (Clock::Virtual, "kernel") => Ok(crate::virtual_time::usual()),
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
    let to = crate::send::destination(to, arguments.key.as_deref())?;
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
    Ok(Some(Box::new(crate::virtual_time::own(kernel, arguments.modules.as_deref()))))
}

#[cfg(not(feature = "kernel"))]
fn own_kernel(_: &Arguments) -> Result<Option<Box<dyn Host>>, Failure> {
    Ok(None)
}

/// The host of this name. The arguments have been checked against the list.
pub fn named<'a>(name: &str, hosts: &[&'a dyn Host]) -> Result<&'a dyn Host, Failure> {
    let host = hosts.iter().find(|host| host.name() == name);
    host.copied().ok_or_else(|| Failure::Input(format!("--on: found \"{name}\"; expected a host")))
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

pub fn write_page(results: &Results, folder: &Path, page: bool) -> std::io::Result<()> {
    if page {
        return experiment::results::write_file(folder, PAGE, |file| file.write_all(report::page(results).as_bytes()));
    }
    match std::fs::remove_file(folder.join(PAGE)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub fn unwritable(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::Input(format!("{}: cannot be written: {error}; name another folder with --out", folder.display()))
}
