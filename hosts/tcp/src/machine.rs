//! What a machine must have, whatever is loaded.

use crate::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Checks what every load needs.
pub fn able() -> Result<(), Error> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::Machine("loading needs root; try sudo".to_string()));
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(Error::Machine(
            "/sys/kernel/btf/vmlinux does not exist: this kernel was built without CONFIG_DEBUG_INFO_BTF".to_string(),
        ));
    }
    Ok(())
}

/// Returns where cgroup2 is mounted: here, or for the first process, whose mounts `ip netns exec` hides.
pub fn cgroup_root() -> Result<PathBuf, Error> {
    let of_first = || mounted("/proc/1/mounts").map(|place| format!("/proc/1/root{place}"));
    let place = mounted("/proc/thread-self/mounts").or_else(of_first).map(PathBuf::from);
    place.ok_or_else(|| {
        Error::Machine("cgroup2 is not mounted (mount -t cgroup2 none FOLDER); the TCP option needs it".to_string())
    })
}

/// Where this list of mounts has cgroup2.
fn mounted(list: &str) -> Option<String> {
    let mounts = fs::read_to_string(list).unwrap_or_default();
    let mut words = mounts.lines().map(|line| line.split(' '));
    words
        .find_map(|mut line| Some((line.nth(1)?, line.next()?)).filter(|(_, kind)| *kind == "cgroup2"))
        .map(|(place, _)| place.to_string())
}
