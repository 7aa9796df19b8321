//! Checks free disk space for a machine. Without it, the emulator retries for half a minute, and then only reports
//! "Input/output error".

use crate::virtual_time::error::VirtualError;
use nix::sys::statvfs::statvfs;
use std::path::Path;

/// Bytes that a machine may need: its state and its first file system. Measured: 110 to 240 MB.
const NEEDED: u64 = 300_000_000;

/// Purpose of a folder, and the variable that selects another.
pub(crate) struct Use {
    what: &'static str,
    variable: &'static str,
}

/// The cache of machines.
const CACHE: Use = Use { what: "to keep a machine there", variable: "PACKETSCALE_CACHE" };
/// The copy of a machine's disk that a run works on.
const COPY: Use = Use { what: "for a run's copy of a machine", variable: "TMPDIR" };

/// Refuses a folder without disk space for a machine.
pub(crate) fn check(folder: &Path) -> Result<(), VirtualError> {
    enough(folder, free(folder)?, NEEDED, &CACHE)
}

/// Refuses a folder without disk space for a copy of this many bytes.
pub(crate) fn check_copy(folder: &Path, bytes: u64) -> Result<(), VirtualError> {
    enough(folder, free(folder)?, bytes, &COPY)
}

fn free(folder: &Path) -> Result<u64, VirtualError> {
    let disk = statvfs(folder).map_err(VirtualError::doing(folder.display()))?;
    Ok(disk.blocks_available() * disk.fragment_size())
}

fn enough(folder: &Path, free: u64, needed: u64, purpose: &Use) -> Result<(), VirtualError> {
    if free >= needed {
        return Ok(());
    }
    let (place, found, needed) = (folder.display(), free / 1_000_000, needed.div_ceil(1_000_000));
    let Use { what, variable } = purpose;
    let output = format!("{place}: found {found} MB free on its disk; expected {needed} MB, {what}");
    Err(VirtualError(format!("{output}: free some space, or set {variable} to another folder")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_error_names_free_and_needed() {
        let output =
            enough(Path::new("/cache/machines/12ab"), 17_900_000, NEEDED, &CACHE).expect_err("too little").to_string();
        let start = "/cache/machines/12ab: found 17 MB free on its disk; expected 300 MB";
        assert!(output.starts_with(start), "{output}");
        let with = |free| enough(Path::new("/cache"), free, NEEDED, &CACHE);
        assert!(with(NEEDED).is_ok() && with(NEEDED - 1).is_err());
    }

    #[test]
    fn checks_disk_of_folder() {
        // A folder of the kernel's has no blocks, and a file that is not there no disk.
        let output = check(Path::new("/proc")).expect_err("no room").to_string();
        assert!(output.starts_with("/proc: found 0 MB free"), "{output}");
        assert!(check(Path::new("/no/such/folder")).is_err());
        let output = check_copy(Path::new("/proc"), 140_000_001).expect_err("no room").to_string();
        let expected =
            "expected 141 MB, for a run's copy of a machine: free some space, or set TMPDIR to another folder";
        assert!(output.ends_with(expected), "{output}");
    }
}
