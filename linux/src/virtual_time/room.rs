//! Room on the disk for a machine. Where it lacks, the emulator tries for half a minute, and then only says
//! "Input/output error".

use crate::virtual_time::error::VirtualError;
use nix::sys::statvfs::statvfs;
use std::path::Path;

/// What a machine may take, in bytes: its state and its first file system. Found: 110 to 240 MB.
const NEEDED: u64 = 300_000_000;

/// What a folder is for, and the variable that names another.
pub(crate) struct Use {
    what: &'static str,
    variable: &'static str,
}

/// A machine that is kept.
const CACHE: Use = Use { what: "to keep a machine there", variable: "PACKETSCALE_CACHE" };
/// The copy of a machine's disk that a run works on.
const COPY: Use = Use { what: "for a run's copy of a machine", variable: "TMPDIR" };

/// Refuses a folder whose disk is too full to keep a machine in.
pub(crate) fn check(folder: &Path) -> Result<(), VirtualError> {
    enough(folder, free(folder)?, NEEDED, &CACHE)
}

/// Refuses a folder whose disk is too full for a copy of this many bytes.
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
    let said = format!("{place}: found {found} MB free on its disk; expected {needed} MB, {what}");
    Err(VirtualError(format!("{said}: make room, or set {variable} to a folder elsewhere")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_with_what_is_free_and_what_is_needed() {
        let said =
            enough(Path::new("/cache/machines/12ab"), 17_900_000, NEEDED, &CACHE).expect_err("too little").to_string();
        let start = "/cache/machines/12ab: found 17 MB free on its disk; expected 300 MB";
        assert!(said.starts_with(start), "{said}");
        let with = |free| enough(Path::new("/cache"), free, NEEDED, &CACHE);
        assert!(with(NEEDED).is_ok() && with(NEEDED - 1).is_err());
    }

    #[test]
    fn the_room_is_that_of_the_folders_disk() {
        // A folder of the kernel's has no blocks, and a file that is not there no disk.
        let said = check(Path::new("/proc")).expect_err("no room").to_string();
        assert!(said.starts_with("/proc: found 0 MB free"), "{said}");
        assert!(check(Path::new("/no/such/folder")).is_err());
        let said = check_copy(Path::new("/proc"), 140_000_001).expect_err("no room").to_string();
        let expected = "expected 141 MB, for a run's copy of a machine: make room, or set TMPDIR to a folder elsewhere";
        assert!(said.ends_with(expected), "{said}");
    }
}
