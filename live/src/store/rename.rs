//! A rename that never replaces a file.

use nix::errno::Errno;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::path::Path;

/// Gives a file its name, unless there is one of that name.
///
/// # Errors
/// EEXIST where there is one; EINVAL or ENOSYS where the file system cannot do it in one step.
pub fn rename_unless_there(from: &Path, to: &Path) -> Result<(), Errno> {
    // Not by nix, which has it for glibc alone.
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(|error| Errno::from_raw(error.raw_os_error()))
}
