//! Modules of a kernel: which the machine may need, and what each needs itself.

use crate::virtual_time::error::VirtualError;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the guest finds what its modules need.
pub(crate) const MODULES: &str = "/modules/needs.json";

/// Modules, and those that each needs, by the kernel's names (`_` for `-`).
pub(crate) type Modules = BTreeMap<String, Vec<String>>;

/// Modules of every path.
const ALWAYS: [&str; 9] =
    ["veth", "sch_ingress", "cls_bpf", "sch_tbf", "sch_netem", "sch_prio", "cls_u32", "cls_fw", "act_police"];

/// Further modules for tests.
const BENCH: [&str; 2] = ["tun", "bridge"];

/// Whether a module belongs into the image, apart from what others need.
pub(crate) fn is_wanted(module: &str) -> bool {
    let queue =
        module.strip_prefix("sch_").is_some_and(|name| crate::lab::disciplines().any(|(known, _)| known == name));
    // `tcp_diag` lists sockets; the others are congestion controls.
    let control = module.starts_with("tcp_") && module != "tcp_diag";
    queue || control || ALWAYS.contains(&module) || BENCH.contains(&module)
}

/// A module, not compressed.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub name: String,
    pub file: PathBuf,
    pub needs: Vec<String>,
}

/// The modules below a folder that the machine may need, and those that these need.
pub(crate) fn modules(folder: &Path) -> Result<Vec<Module>, VirtualError> {
    let mut files = BTreeMap::new();
    find(folder, &mut files)?;
    let mut taken: BTreeMap<String, Module> = BTreeMap::new();
    let mut open: Vec<String> = files.keys().filter(|name| is_wanted(name)).cloned().collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(name) = open.pop() {
        // A missing module is built in, or was not downloaded because nothing needs it.
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
    fn reads_module_dependencies() {
        assert_eq!(needs(b"...\0license=GPL\0depends=act-api,llc\0retpoline=Y\0"), ["act_api", "llc"]);
        assert!(needs(b"\0depends=\0").is_empty());
    }

    #[test]
    fn takes_needed_modules_with_dependencies() {
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

    #[test]
    fn selects_only_controllers_and_disciplines() {
        let wanted = ["tcp_bbr", "sch_codel", "veth"].map(is_wanted);
        assert_eq!((wanted, is_wanted("tcp_diag"), is_wanted("sch_hfsc")), ([true; 3], false, false));
    }
}
