//! Where `packetscale run` may write a file that is not of its results: `--trace`, `--pcap`, `--perfetto`, `--qlog`.

use crate::Failure;
use crate::args::Run as Arguments;
use scenario::Experiment;
use std::fs;
use std::path::Path;

/// Whether the file that `option` names may be written. What lies there is replaced only if it may be an earlier one
/// (`is_own`) and `--replace` is given; what the run reads never is.
///
/// # Errors
/// What is there, or that nothing can be there.
pub fn may_write(
    option: &str,
    file: &Path,
    is_own: impl Fn(&Path) -> bool,
    arguments: &Arguments,
    plan: &[Experiment],
) -> Result<(), Failure> {
    let refuse = |what: &str, expected: &str| {
        Err(Failure::Input(format!("{option}: found {}, {what}; expected {expected}", file.display())))
    };
    if file.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        return refuse("in a folder that is not there", "a name in one that is");
    }
    if fs::symlink_metadata(file).is_err() {
        return Ok(());
    }
    if is_read(file, &arguments.file, plan) {
        return refuse("which the run reads", "a new name");
    }
    if !is_own(file) {
        return refuse("which is something else", "a new name");
    }
    if !arguments.replace {
        return refuse("which is there", "a new name, or --replace");
    }
    Ok(())
}

/// Whether this file is the scenario, or one of those that the runs read.
fn is_read(file: &Path, scenario: &Path, plan: &[Experiment]) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let mut read = plan.iter().flat_map(Experiment::files).chain([scenario]);
    read.any(|other| other.canonicalize().is_ok_and(|other| other == file))
}
