//! What a machine must have, whatever is loaded.

use crate::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Checks what every load needs.
pub fn able() -> Result<(), Error> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::Machine("this needs root; try sudo".to_string()));
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(Error::Machine(
            "/sys/kernel/btf/vmlinux does not exist: this kernel was built without CONFIG_DEBUG_INFO_BTF".to_string(),
        ));
    }
    Ok(())
}

/// Returns where cgroup2 is mounted for this thread, which may have entered other mounts than the process has.
pub fn cgroup_root() -> Result<PathBuf, Error> {
    let mounts = fs::read_to_string("/proc/thread-self/mounts").unwrap_or_default();
    let mut words = mounts.lines().map(|line| line.split(' '));
    words
        .find_map(|mut line| Some((line.nth(1)?, line.next()?)).filter(|(_, kind)| *kind == "cgroup2"))
        .map(|(place, _)| PathBuf::from(place))
        .ok_or_else(|| Error::Machine(NO_CGROUP.to_string()))
}

const NO_CGROUP: &str = "cgroup2 is not mounted, and the TCP option needs it: mount -t cgroup2 none FOLDER, or, inside \
                         `ip netns exec`, which hides it, nsenter --net=/run/netns/NAME packetscale tcp load";
