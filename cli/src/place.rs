//! Where `packetscale run` may write a file that is not of its results: `--trace`, `--pcap`, `--perfetto`, `--qlog`.

use crate::args::run::Run as Arguments;
use crate::outcome::Failure;
use experiment::results::is_of_results;
use experiment::scenario::Experiment;
use std::path::Path;
use std::{fs, io};

/// Whether the file that `option` names may be written, in the folder `out` of the results or elsewhere. What lies there is
/// replaced only if it may be an earlier one (`is_own`) and `--replace` is given; what the run reads never is.
///
/// # Errors
/// What is there, or that nothing can be there.
pub fn may_write(
    option: &str,
    file: &Path,
    is_own: impl Fn(&Path) -> bool,
    arguments: &Arguments,
    out: &Path,
    plan: &[Experiment],
) -> Result<(), Failure> {
    let refuse = |what: &str, expected: &str| {
        Err(Failure::Input(format!("{option}: found {}, {what}; expected {expected}", file.display())))
    };
    // The folder of the results will be there.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !out.starts_with(folder));
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return refuse("in a missing folder", "an existing folder");
    }
    if is_in(file, out) && file.file_name().is_some_and(|name| is_of_results(&name.to_string_lossy())) {
        return refuse("a results file of the run", "another name");
    }
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return refuse(&format!("which cannot be read ({error})"), "a new name"),
        Ok(_) => {}
    }
    if is_read(file, &arguments.file, plan) {
        return refuse("an input of the run", "a new name");
    }
    if !is_own(file) {
        return refuse("which holds other content", "a new name");
    }
    if !arguments.making.output.replace {
        return refuse("which exists", "a new name, or --replace");
    }
    Ok(())
}

/// Whether this folder, which need not be there, holds the file.
fn is_in(file: &Path, folder: &Path) -> bool {
    let plain = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    std::path::absolute(file).is_ok_and(|file| file.parent().and_then(plain) == plain(folder))
}

/// Whether this file is the scenario, or one of those that the runs read.
fn is_read(file: &Path, scenario: &Path, plan: &[Experiment]) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let mut read = plan.iter().flat_map(Experiment::files).chain([scenario]);
    read.any(|other| other.canonicalize().is_ok_and(|other| other == file))
}
