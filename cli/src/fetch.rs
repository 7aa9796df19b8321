//! `packetscale fetch`: kernels for runs in virtual time; and the hidden command that is the first process of their machines.

use crate::args::Fetched;
use crate::kernels::named;
use crate::outcome::Failure;
use crate::output::say;
use linux::virtual_time::{KeptKernel, KeptMachine, VirtualError};

/// Fetches a kernel of Debian's into the cache, or lists or cleans the cache.
pub fn fetch(what: &Fetched) -> Result<(), Failure> {
    match what {
        Fetched::Kernel { version } => kernel(version),
        Fetched::List => list(),
        Fetched::Clean => clean(),
    }
}

fn kernel(version: &str) -> Result<(), Failure> {
    let package = linux::virtual_time::fetch(version)?;
    let run = format!("packetscale run FILE --on {}", named(version));
    say(&format!("{package} is in the cache; `{run}` uses it\n"))
}

const MEGABYTE: u64 = 1_000_000;

fn machines() -> Result<Vec<KeptMachine>, Failure> {
    let own = std::env::current_exe().map_err(|error| Failure::Machine(format!("this program: {error}")))?;
    Ok(linux::virtual_time::machines(&own)?)
}

fn list() -> Result<(), Failure> {
    let mut lines = format!("{}\n", linux::virtual_time::cache()?.display());
    for KeptKernel { version, bytes } in linux::virtual_time::kernels()? {
        lines += &format!("kernel   {version:<30} {:>5} MB\n", bytes / MEGABYTE);
    }
    for machine in machines()? {
        let release = machine.release.as_deref().unwrap_or("unfinished");
        let use_of_it = match &machine.used_by {
            Some(version) => format!("runs --on {} begin from it", named(version)),
            None => "of another build, or of --kernel: `packetscale fetch clean` removes it".to_string(),
        };
        lines += &format!("machine  {release:<30} {:>5} MB  {use_of_it}\n", machine.bytes / MEGABYTE);
    }
    say(&lines)
}

fn clean() -> Result<(), Failure> {
    let (mut number, mut bytes) = (0, 0);
    for machine in machines()?.iter().filter(|machine| machine.used_by.is_none()) {
        if machine.remove()? {
            (number, bytes) = (number + 1, bytes + machine.bytes);
        }
    }
    say(&format!("removed {number} machines, {} MB; kernels stay\n", bytes / MEGABYTE))
}

/// The first process of an emulated machine.
pub fn guest() -> Result<(), Failure> {
    if std::process::id() != 1 {
        return Err(Failure::Input("guest: found an ordinary process; an emulated machine calls this".to_string()));
    }
    linux::virtual_time::guest();
    Ok(())
}

impl From<VirtualError> for Failure {
    fn from(error: VirtualError) -> Failure {
        Failure::Machine(error.to_string())
    }
}
