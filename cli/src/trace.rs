//! `packetscale run --trace FILE`: what left the measured link, as a file that traffic of kind `trace` replays.

use crate::args::run::Run as Arguments;
use crate::outcome::{Failure, unwritable};
use crate::place::may_write;
use crate::recordings::Growing;
use experiment::scenario::Experiment;
use harness::runner::Host;
use simulator::Simulator;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Whether what is planned can be recorded: one run, on the simulator; whether the file's name says what it is; and
/// whether it may be written.
pub fn check(arguments: &Arguments, host: &dyn Host, out: &Path, plan: &[Experiment]) -> Result<(), Failure> {
    let Some(file) = &arguments.trace else { return Ok(()) };
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if let Some("pcap" | "pcapng" | "cap") = ending.as_deref() {
        let found = format!("{}, the name of a capture", file.display());
        return Err(Failure::Input(format!(
            "--trace: found {found}; expected a name like packets.csv: the file is CSV. --pcap writes a capture"
        )));
    }
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    if !file.as_os_str().as_encoded_bytes().ends_with(name) || name.is_empty() {
        return Err(Failure::Input(format!("--trace: found {}; expected the name of a file", file.display())));
    }
    may_write("--trace", file, Path::is_file, arguments, out, plan)?;
    if host.name() == Simulator.name() && plan.len() == 1 {
        return Ok(());
    }
    let found = format!("a plan of {} runs with --on {}", plan.len(), host.word());
    Err(Failure::Input(format!("--trace: found {found}; expected one run on the simulator")))
}

/// Writes the packets of the only run.
pub fn write(file: &Path, plan: &[Experiment]) -> Result<(), Failure> {
    let packets =
        plan.first().map(simulator::departures).transpose().map_err(|error| Failure::Input(error.to_string()))?;
    let unwritable = |error: io::Error| unwritable(file, &error);
    let growing = Growing::begin(file.to_path_buf()).map_err(unwritable)?;
    let written = File::create(&growing.partial).map(BufWriter::new).and_then(|mut out| {
        writeln!(out, "time_ns,size_bytes")?;
        let mut packets = packets.iter().flatten();
        packets.try_for_each(|packet| writeln!(out, "{},{}", packet.at.nanos(), packet.size.get()))?;
        out.flush()
    });
    written.map_err(unwritable)?;
    growing.complete()
}
