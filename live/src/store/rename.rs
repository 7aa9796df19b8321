//! A rename that never replaces a file.

use nix::errno::Errno;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::path::Path;

/// Renames a file, unless the new name exists.
///
/// # Errors
/// EEXIST if the name exists; EINVAL or ENOSYS if the file system cannot do it atomically.
pub fn rename_unless_there(from: &Path, to: &Path) -> Result<(), Errno> {
    // The nix crate has it for glibc only.
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(|error| Errno::from_raw(error.raw_os_error()))
}
