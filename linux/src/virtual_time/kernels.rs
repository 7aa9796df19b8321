//! Kernels, with the modules that the machine may need, each in a folder of the cache.

use crate::virtual_time::error::VirtualError;
use crate::virtual_time::modules::{Module, modules};
use std::fs;
use std::path::{Path, PathBuf};

/// A kernel that can be booted.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name, as in `linux-6.12`.
    pub name: String,
    /// Its image, `bzImage`.
    pub file: PathBuf,
    /// The modules of the machine's file system, in order of their names.
    pub(crate) modules: Vec<Module>,
}

/// The file of a kernel in its folder.
pub(crate) const IMAGE: &str = "vmlinuz";

/// Prefix of the hosts' names, before the version.
pub(crate) const PREFIX: &str = "linux-";

/// The folder for downloads and machines: `PACKETSCALE_CACHE`, or one in the user's cache.
///
/// # Errors
/// The user's home is unknown.
pub fn cache() -> Result<PathBuf, VirtualError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = set("PACKETSCALE_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("packetscale")))
        .or_else(|| set("HOME").map(|folder| folder.join(".cache/packetscale")));
    found.ok_or_else(|| VirtualError("no folder for a cache: set PACKETSCALE_CACHE".to_string()))
}

/// The folder of a version's kernel.
pub(crate) fn folder(version: &str) -> Result<PathBuf, VirtualError> {
    Ok(cache()?.join("kernels").join(version))
}

/// Versions in the cache, the oldest first.
pub fn versions() -> Vec<String> {
    let folder = cache()
        .map(|cache| cache.join("kernels"))
        .and_then(|folder| fs::read_dir(&folder).map_err(VirtualError::doing(folder.display())));
    let there = folder.into_iter().flatten().flatten().filter(|entry| entry.path().join(IMAGE).is_file());
    let mut found: Vec<String> = there.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    found.sort_by_key(|version| order(version));
    found
}

/// The numbers in a version: versions in their order are these in theirs.
pub(crate) fn order(version: &str) -> Vec<u64> {
    version.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

impl Kernel {
    /// The kernel of this version in the cache.
    ///
    /// # Errors
    /// It is not there.
    pub fn cached(version: &str) -> Result<Kernel, VirtualError> {
        let folder = folder(version)?;
        let file = folder.join(IMAGE);
        if !file.is_file() {
            let how = format!("`packetscale fetch kernel {version}` fetches it");
            return Err(VirtualError(format!("{}: there is no kernel {version}; {how}", folder.display())));
        }
        Ok(Kernel { name: format!("{PREFIX}{version}"), file, modules: modules(&folder)? })
    }

    /// A kernel of one's own, with the modules below a folder.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn own(file: &Path, folder: Option<&Path>) -> Result<Kernel, VirtualError> {
        let found = folder.map_or(Ok(Vec::new()), modules)?;
        if !file.is_file() {
            return Err(VirtualError(format!("--kernel: found {}; expected a file, bzImage", file.display())));
        }
        Ok(Kernel { name: format!("{PREFIX}own"), file: file.to_path_buf(), modules: found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_numerically() {
        assert!(order("6.9") < order("6.12") && order("6.12.9+deb13") < order("6.12.10+deb12"));
    }
}
