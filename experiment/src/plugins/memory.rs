//! Files in memory, which nobody else can change or replace.

use nix::sys::memfd::{MFdFlags, memfd_create};
use std::ffi::CStr;
use std::fs::File;
use std::io;

/// An empty one of this name.
pub(crate) fn file(name: &CStr) -> io::Result<File> {
    Ok(File::from(memfd_create(name, MFdFlags::MFD_CLOEXEC)?))
}
