//! Contents of the cache: downloaded kernels, and machines made from them. A machine belongs to one build of the command, one
//! emulator and one kernel; when one of them is replaced, it is obsolete.

use crate::virtual_time::base::{self, Base};
use crate::virtual_time::error::VirtualError;
use crate::virtual_time::job::Facts;
use crate::virtual_time::kernels::{Kernel, cache, folder, versions};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A kernel of the cache.
pub struct KeptKernel {
    /// Its version, as in `6.12`.
    pub version: String,
    /// Bytes on the disk, modules included.
    pub bytes: u64,
}

/// A machine of the cache.
pub struct KeptMachine {
    /// SHA-256 of all that it is made from.
    pub digest: String,
    /// The kernel's release; `None`: it was not finished.
    pub release: Option<String>,
    /// Bytes on the disk.
    pub bytes: u64,
    /// The version of the cached kernel whose runs start from it; `None`: this build of the command does not use it.
    pub used_by: Option<String>,
    folder: PathBuf,
}

/// The kernels of the cache, the oldest first.
///
/// # Errors
/// There is no cache.
pub fn kernels() -> Result<Vec<KeptKernel>, VirtualError> {
    let kept = |version: String| Ok(KeptKernel { bytes: size(&folder(&version)?), version });
    versions().into_iter().map(kept).collect()
}

/// The machines of the cache. `own` is this program.
///
/// # Errors
/// There is no cache, or no emulator.
pub fn machines(own: &Path) -> Result<Vec<KeptMachine>, VirtualError> {
    let place = cache()?.join(base::MACHINES);
    let Ok(entries) = fs::read_dir(&place) else { return Ok(Vec::new()) };
    let mut used: BTreeMap<String, String> = BTreeMap::new();
    for version in versions() {
        used.insert(Base::digest_of(&Kernel::cached(&version)?, own)?, version);
    }
    let kept = |folder: PathBuf| {
        let digest = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let facts = fs::read(folder.join(base::FACTS)).ok();
        let facts: Option<Facts> = facts.and_then(|text| serde_json::from_slice(&text).ok());
        let (release, bytes) = (facts.map(|facts| facts.release), size(&folder));
        KeptMachine { release, bytes, used_by: used.get(&digest).cloned(), digest, folder }
    };
    let mut found: Vec<KeptMachine> = entries.flatten().map(|entry| kept(entry.path())).collect();
    found.sort_by(|one, other| (&one.release, &one.digest).cmp(&(&other.release, &other.digest)));
    Ok(found)
}

impl KeptMachine {
    /// Removes it, unless another process is making it. Returns whether it is gone. A run that started from it continues.
    ///
    /// # Errors
    /// The system refuses.
    pub fn remove(&self) -> Result<bool, VirtualError> {
        let into = || VirtualError::doing(self.folder.display().to_string());
        let alone = File::open(&self.folder).map_err(into())?;
        if alone.try_lock().is_err() {
            return Ok(false);
        }
        fs::remove_dir_all(&self.folder).map_err(into())?;
        Ok(true)
    }
}

/// Bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|entry| entry.metadata().ok()).map(|about| about.len()).sum()
}
