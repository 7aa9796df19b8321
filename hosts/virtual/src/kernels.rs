//! Kernels, with the modules that the machine may need, each in a folder of the cache.

use crate::error::VirtualError;
use crate::image::is_wanted;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A kernel that can be booted.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What it is called, as in `linux-6.12`.
    pub name: String,
    /// Its image, `bzImage`.
    pub file: PathBuf,
    /// The modules of the machine's file system, in order of their names.
    pub(crate) modules: Vec<Module>,
}

/// A module, not compressed.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub name: String,
    pub file: PathBuf,
    pub needs: Vec<String>,
}

/// The file of a kernel in its folder.
pub(crate) const IMAGE: &str = "vmlinuz";

/// What every host of this kind is called, before the version.
pub(crate) const PREFIX: &str = "linux-";

/// The folder for what is fetched and built: `PACKETSCALE_CACHE`, or one in the user's cache.
///
/// # Errors
/// Nothing says where the user's files are.
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

/// The modules below a folder that the machine may need, and those that these need.
fn modules(folder: &Path) -> Result<Vec<Module>, VirtualError> {
    let mut files = BTreeMap::new();
    find(folder, &mut files)?;
    let mut taken: BTreeMap<String, Module> = BTreeMap::new();
    let mut open: Vec<String> = files.keys().filter(|name| is_wanted(name)).cloned().collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(name) = open.pop() {
        // A module that is not there is built in, or was not fetched because nothing needs it.
        let Some(file) = files.get(&name) else { continue };
        let content = fs::read(file).map_err(VirtualError::doing(file.display()))?;
        let needs = needs(&content);
        open.extend(needs.iter().filter(|need| seen.insert((*need).clone())).cloned());
        taken.insert(name.clone(), Module { name, file: file.clone(), needs });
    }
    Ok(taken.into_values().collect())
}

/// All files `NAME.ko` below a folder, by the names that the kernel uses.
fn find(folder: &Path, files: &mut BTreeMap<String, PathBuf>) -> Result<(), VirtualError> {
    for entry in fs::read_dir(folder).map_err(VirtualError::doing(folder.display()))?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if let Some(name) = entry.file_name().to_str().and_then(|name| name.strip_suffix(".ko")) {
            files.insert(name.replace('-', "_"), path);
        }
    }
    Ok(())
}

/// The modules that a module needs: the text `depends=A,B` of its section `.modinfo`.
pub(crate) fn needs(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(at) = module.windows(KEY.len()).position(|window| window == KEY) else { return Vec::new() };
    let rest = &module[at + KEY.len()..];
    let text = String::from_utf8_lossy(&rest[..rest.iter().position(|byte| *byte == 0).unwrap_or(0)]).into_owned();
    text.split(',').filter(|name| !name.is_empty()).map(|name| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_needs_is_read_from_its_text() {
        assert_eq!(needs(b"...\0license=GPL\0depends=act-api,llc\0retpoline=Y\0"), ["act_api", "llc"]);
        assert!(needs(b"\0depends=\0").is_empty());
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert!(order("6.9") < order("6.12") && order("6.12.9+deb13") < order("6.12.10+deb12"));
    }

    #[test]
    fn only_modules_that_may_be_needed_are_taken_with_those_that_they_need() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("deep")).expect("made");
        for (name, text) in [
            ("deep/veth.ko", "\0depends=a-b\0"),
            ("a-b.ko", "\0depends=c\0"),
            ("c.ko", "\0depends=built_in\0"),
            ("x.ko", ""),
        ] {
            fs::write(folder.path().join(name), text).expect("written");
        }
        let found: Vec<String> = modules(folder.path()).expect("read").into_iter().map(|module| module.name).collect();
        assert_eq!(found, ["a_b", "c", "veth"]);
    }
}
