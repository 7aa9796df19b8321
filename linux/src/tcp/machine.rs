//! Requirements of every load on the machine.

use crate::tcp::Error;
use crate::tcp::options::Options;
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

/// Capabilities of a load, with their numbers (include/uapi/linux/capability.h). The first includes CAP_BPF and CAP_PERFMON.
const NEEDED: [(&str, u32); 2] = [("CAP_SYS_ADMIN", 21), ("CAP_NET_ADMIN", 12)];

/// Checks that this thread may load: mounts and namespaces are for the first capability, devices and filters for the second.
pub fn may_load() -> Result<(), Error> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    match lacking(&status) {
        Some(name) => Err(Error::Machine(format!(
            "this needs {name}, which this process lacks (as in a container or a service with fewer capabilities)"
        ))),
        None => Ok(()),
    }
}

/// The first needed capability that a thread lacks, from its `/proc/PID/status`.
fn lacking(status: &str) -> Option<&'static str> {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let effective = u64::from_str_radix(effective.trim(), 16).ok()?;
    NEEDED.iter().find(|(_, number)| effective >> number & 1 == 0).map(|(name, _)| *name)
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

/// Checks that this much kernel memory is available.
pub fn has_memory(needed: u64, options: &Options) -> Result<(), Error> {
    let output = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    available(&output).map_or(Ok(()), |free| fits(needed, free, options))
}

/// Available memory in bytes, from `/proc/meminfo`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse().ok().map(|kib: u64| kib * 1024)
}

fn fits(needed: u64, free: u64, options: &Options) -> Result<(), Error> {
    if needed <= free {
        return Ok(());
    }
    let (flows, window) = (options.flows, options.window);
    Err(Error::Machine(format!(
        "{flows} connections with {window} packets in flight of each need {} MB of kernel memory, and {} MB are available: \
         load with fewer --flows, or with a smaller --window",
        needed.div_ceil(1_000_000),
        free / 1_000_000
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lacking_capability() {
        assert_eq!(lacking("Name:\tps\nCapEff:\t000001ffffffffff\n"), None);
        // CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN.
        assert_eq!(lacking("CapEff:\t000000c000001000\n"), Some("CAP_SYS_ADMIN"));
        assert_eq!(lacking("CapEff:\t000001ffffffefff\n"), Some("CAP_NET_ADMIN"));
        // Without /proc the kernel's refusal has to do.
        assert_eq!(lacking(""), None);
    }

    #[test]
    fn refuses_load_without_memory() {
        let free = available("MemTotal:  2048 kB\nMemAvailable:     1000 kB\n");
        assert_eq!(free, Some(1_024_000));
        let options = Options { flows: 3, window: 57_344, ..Options::default() };
        assert!(fits(1_024_000, 1_024_000, &options).is_ok());
        let refused = fits(1_024_001, 1_024_000, &options).expect_err("too much").to_string();
        for word in ["3 connections", "57344 packets", "2 MB", "1 MB", "--flows", "--window"] {
            assert!(refused.contains(word), "{refused}");
        }
    }
}
