//! `packetscale run`: reads a scenario, has its plan run, writes the page, prints the table.

use crate::args::OVER_A_PATH;
use crate::args::run::{Clock, Run as Arguments};
use crate::finished::{met, shown, write_page};
use crate::hosts::chosen;
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use crate::recordings::Recordings;
use crate::terminal::Terminal;
use crate::{task, trace};
use experiment::scenario::{Scenario, plain};
use harness::runner::{Host, Made, Progress, Refusal, Swept, Unfit};
use std::path::Path;

pub fn run(arguments: &Arguments, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let scenario =
        Scenario::read(&arguments.file, &arguments.set).map_err(|error| Failure::Input(error.to_string()))?;
    let plan = scenario.plan();
    let own = own(arguments)?;
    let host = match &own {
        Some(own) => own.as_ref(),
        None => chosen(on(arguments)?.as_deref(), hosts)?,
    };
    let unfit = |unfit: Unfit| {
        let found = format!("{} with {}", unfit.found, asked(arguments, host));
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
    at_once(host, arguments.making.jobs)?;
    let folder =
        arguments.out.clone().unwrap_or_else(|| Path::new("out").join(changed(scenario.name(), &arguments.set)));
    trace::check(arguments, host, &folder, &plan)?;
    let recordings = Recordings::wanted(arguments, host, &folder, &plan)?;
    let name = arguments.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let progress = Terminal::new(arguments.making.json);
    let warnings = experiment::traffic::warnings(&scenario, &plan);
    warnings.iter().for_each(|flaw| progress.note(&format!("warning: {flaw}")));
    let runner = arguments.making.runner(host, &progress);
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
    if !arguments.set.is_empty() {
        runner.may_change(&scenario, &name, &folder)?;
    }
    let results = runner.record(&scenario, &plan, name, &folder, &mut made).map_err(refused)?;
    write_page(&results, &folder, !arguments.no_page).map_err(|error| unwritable(&folder, &error))?;
    if let Some(file) = &arguments.trace {
        trace::write(file, &plan)?;
    }
    recordings.write(&plan)?;
    if arguments.making.json {
        say(&experiment::results::to_json(&results))?;
    } else {
        shown(&results, &folder, arguments.wide)?;
    }
    met(&results)
}

/// The name of the results' folder: the scenario's, and what `--set` changes, as in `mix-path.buffer-4-bdp`.
fn changed(name: &str, changes: &[String]) -> String {
    let word = |change: &String| format!("-{}", plain(&change.replace('"', "")).trim_matches('-'));
    name.chars().chain(changes.iter().map(word).collect::<String>().chars()).take(LONGEST_NAME).collect()
}

/// The longest name that a folder has by default, in letters; file systems allow 255 bytes.
const LONGEST_NAME: usize = 100;

/// The arguments that ask for the host.
fn asked(arguments: &Arguments, host: &dyn Host) -> String {
    match &arguments.kernel {
        Some(kernel) => format!("--kernel {}", kernel.display()),
        None => format!("--on {}", host.word()),
    }
}

/// What `--on` says, or `--clock` in its place.
fn on(arguments: &Arguments) -> Result<Option<String>, Failure> {
    let on = arguments.on.as_deref();
    if arguments.clock != Some(Clock::Virtual) {
        return Ok(on.map(str::to_string));
    }
    match on {
        #[cfg(feature = "kernel")]
        Some("kernel" | "linux") => {
            let usual = crate::kernels::usual();
            crate::renamed::note(&format!("--on {} --clock virtual", on.unwrap_or_default()), &format!("--on {usual}"));
            Ok(Some(usual))
        }
        // In virtual time anyway.
        Some(on) if on.starts_with("linux-") => Ok(Some(on.to_string())),
        _ => Err(Failure::Input(format!("--clock: found virtual with {}; expected --on linux-6.12", typed(on)))),
    }
}

fn typed(on: Option<&str>) -> String {
    on.map_or("no --on".to_string(), |on| format!("--on {on}"))
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
    let on = arguments.on.as_deref();
    if on != Some(OVER_A_PATH) {
        return Err(Failure::Input(format!("--to: found {}; expected --on live", typed(on))));
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
    match (arguments.on.as_deref(), arguments.clock) {
        (None, None | Some(Clock::Virtual)) => {}
        (Some("kernel" | "linux"), Some(Clock::Virtual)) => {
            crate::renamed::note("--on kernel --clock virtual --kernel", "--kernel");
        }
        (on, _) => return Err(Failure::Input(format!("--kernel: found {}; expected no --on", typed(on)))),
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
    Err(Failure::Input(format!("--jobs: found {jobs}; expected {expected}, with --on {}", host.word())))
}
