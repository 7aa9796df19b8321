//! `packetscale run --trace FILE`: what left the measured link, as a file that traffic of kind `trace` replays.

use crate::args::On;
use crate::{Failure, host};
use scenario::Experiment;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Whether what is planned can be recorded: one run, in virtual time.
pub fn check(file: Option<&PathBuf>, on: On, plan: &[Experiment]) -> Result<(), Failure> {
    if file.is_none() || (on == On::Simulator && plan.len() == 1) {
        return Ok(());
    }
    let where_ = if on == On::Simulator { "the simulator" } else { "the kernel" };
    let found = format!("a plan of {} runs on {where_}", plan.len());
    Err(Failure::Input(format!("--trace: found {found}; expected one run on the simulator")))
}

/// Writes the packets of the only run.
pub fn write(file: &Path, plan: &[Experiment]) -> Result<(), Failure> {
    let packets = plan.first().map(host::departures).transpose()?.unwrap_or_default();
    let unwritable = |error: std::io::Error| Failure::Input(format!("{}: cannot be written: {error}", file.display()));
    let name = file.file_name().ok_or_else(|| unwritable(std::io::ErrorKind::InvalidFilename.into()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let content = |out: &mut dyn Write| {
        writeln!(out, "time_ns,size_bytes")?;
        packets.iter().try_for_each(|(at_ns, bytes)| writeln!(out, "{at_ns},{bytes}"))
    };
    results::write_file(folder, &name.to_string_lossy(), content).map_err(unwritable)
}
