//! Room on the disk for a machine. Where it lacks, the emulator tries for half a minute, and then only says
//! "Input/output error".

use crate::error::VirtualError;
use nix::sys::statvfs::statvfs;
use std::path::Path;

/// What a machine may take, in bytes: its state and its first file system. Found: 110 to 240 MB.
const NEEDED: u64 = 300_000_000;

/// Refuses a folder whose disk is too full to keep a machine in.
pub(crate) fn check(folder: &Path) -> Result<(), VirtualError> {
    let disk = statvfs(folder).map_err(VirtualError::doing(folder.display()))?;
    enough(folder, disk.blocks_available() * disk.fragment_size())
}

fn enough(folder: &Path, free: u64) -> Result<(), VirtualError> {
    if free >= NEEDED {
        return Ok(());
    }
    let (place, found, needed) = (folder.display(), free / 1_000_000, NEEDED / 1_000_000);
    let what = format!("{place}: found {found} MB free on its disk; expected {needed} MB, to keep a machine there");
    Err(VirtualError(format!("{what}: make room, or set PACKETSCALE_CACHE to a folder elsewhere")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_with_what_is_free_and_what_is_needed() {
        let said = enough(Path::new("/cache/machines/12ab"), 17_900_000).expect_err("too little").to_string();
        let start = "/cache/machines/12ab: found 17 MB free on its disk; expected 300 MB";
        assert!(said.starts_with(start), "{said}");
        assert!(enough(Path::new("/cache"), NEEDED).is_ok() && enough(Path::new("/cache"), NEEDED - 1).is_err());
    }

    #[test]
    fn the_room_is_that_of_the_folders_disk() {
        // A folder of the kernel's has no blocks, and a file that is not there no disk.
        let said = check(Path::new("/proc")).expect_err("no room").to_string();
        assert!(said.starts_with("/proc: found 0 MB free"), "{said}");
        assert!(check(Path::new("/no/such/folder")).is_err());
    }
}
