//! Reports what this machine can do, what will be skipped, and why.

#[cfg(target_os = "linux")]
mod gaps;

use harness::runner::{Host, system};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One capability that a machine has or lacks.
struct Finding<'a> {
    name: &'a str,
    /// What was found, or what is missing.
    state: Result<String, String>,
    /// What is skipped without it.
    skipped: String,
}

/// Lines of text, or one JSON object.
pub fn doctor(hosts: &[&dyn Host], as_json: bool) -> String {
    let of_host = |host: &&dyn Host| finding(host.word(), host.ability(), &format!("run --on {}", host.word()));
    let mut findings: Vec<Finding> = hosts.iter().map(of_host).collect();
    findings.extend([
        finding("release", kernel(), "real Linux TCP"),
        finding("BTF", btf(), "Rapid in Linux TCP"),
        finding("clang", program(&["clang"], "clang"), "building Rapid for Linux TCP"),
        finding("root", root(), "network namespaces and Rapid in Linux TCP"),
        finding("rapid", rapid(), "Rapid in Linux TCP"),
        finding("iterator", iterator(), "the list of connections taken over by CUBIC (tcp status)"),
        finding("qdisc", qdisc(), "queue disciplines of papers in Linux (tcp qdisc load)"),
        finding("fq", discipline("fq"), "trying TCP under fq"),
        finding(
            "chromium",
            program(&["chromium", "chromium-browser", "google-chrome"], "chromium"),
            "the test that opens the page in a browser",
        ),
        finding("ns-2", program(&["ns2", "ns"], "ns2"), "the comparison with ns-2"),
    ]);
    let gaps = gaps(&mut findings);
    if as_json {
        let found: Vec<Value> = findings.iter().map(Finding::object).collect();
        return format!("{}\n", json!({ "schema": 1, "findings": found, "gaps": gaps }));
    }
    findings.iter().map(Finding::line).collect()
}

fn finding<'a>(name: &'a str, state: Result<String, String>, skipped: &str) -> Finding<'a> {
    Finding { name, state, skipped: skipped.to_string() }
}

#[cfg(target_os = "linux")]
fn gaps(findings: &mut Vec<Finding>) -> Value {
    let measured = gaps::measured();
    findings.extend(gaps::findings(&measured));
    gaps::object(&measured)
}

#[cfg(not(target_os = "linux"))]
fn gaps(_: &mut Vec<Finding>) -> Value {
    Value::Null
}

impl Finding<'_> {
    fn line(&self) -> String {
        let Finding { name, state, skipped } = self;
        match state {
            Ok(there) => format!("yes  {name:<10} {there}\n"),
            Err(missing) => format!("no   {name:<10} {missing}; skipped: {skipped}\n"),
        }
    }

    fn object(&self) -> Value {
        let (able, words) = match &self.state {
            Ok(there) => (true, there),
            Err(missing) => (false, missing),
        };
        json!({ "name": self.name, "able": able, "words": words, "skipped": (!able).then_some(&self.skipped) })
    }
}

/// Struct_ops congestion controllers with the arguments and helpers that Rapid needs came with Linux 6.1.
const LEAST_KERNEL: (u32, u32) = (6, 1);

fn kernel() -> Result<String, String> {
    let system = system();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").map_err(|_| format!("{system} is not Linux"))?;
    let (major, minor) = LEAST_KERNEL;
    match version(&release) {
        Some(found) if found >= LEAST_KERNEL => Ok(system),
        _ => Err(format!("{system} is older than Linux {major}.{minor}")),
    }
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn btf() -> Result<String, String> {
    const FILE: &str = "/sys/kernel/btf/vmlinux";
    if Path::new(FILE).exists() { Ok(FILE.to_string()) } else { Err(format!("{FILE} does not exist")) }
}

#[cfg(feature = "kernel")]
fn rapid() -> Result<String, String> {
    linux::tcp::readiness().map_err(|error| error.to_string())
}

#[cfg(not(feature = "kernel"))]
fn rapid() -> Result<String, String> {
    Err("this build has no Linux TCP (feature kernel)".to_string())
}

#[cfg(feature = "kernel")]
fn iterator() -> Result<String, String> {
    let listed =
        linux::tcp::listable().map(|()| "lists the connections that CUBIC has taken over from Rapid".to_string());
    listed.map_err(|error| error.to_string())
}

#[cfg(not(feature = "kernel"))]
fn iterator() -> Result<String, String> {
    rapid()
}

#[cfg(feature = "kernel")]
fn qdisc() -> Result<String, String> {
    let there = linux::qdisc::readiness().map(|()| "can be loaded: packetscale tcp qdisc load qlbp".to_string());
    there.map_err(|error| error.to_string())
}

#[cfg(not(feature = "kernel"))]
fn qdisc() -> Result<String, String> {
    rapid()
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    uid.and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}

fn root() -> Result<String, String> {
    if is_root() { Ok("running as root".to_string()) } else { Err("not running as root; try sudo".to_string()) }
}

/// Returns the path of the first program found, or an error that names its Debian package.
fn program(names: &[&str], package: &str) -> Result<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = names.iter().flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    let found = found.into_iter().find(|file: &PathBuf| file.is_file());
    found.map(|file| file.display().to_string()).ok_or_else(|| format!("not found; apt-get install {package}"))
}

/// Tries a queue discipline in a network namespace that ends with the trial.
fn discipline(name: &str) -> Result<String, String> {
    if !is_root() {
        return Err("only root can try it".to_string());
    }
    program(&["tc"], "iproute2")?;
    let mut trial = Command::new("unshare");
    trial.args(["--net", "tc", "qdisc", "add", "dev", "lo", "root", name]).stdin(Stdio::null());
    let output = trial.output().map_err(|error| format!("unshare: {error}"))?;
    if output.status.success() {
        return Ok("can be set".to_string());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(format!("cannot be set ({})", reason.lines().last().unwrap_or("no reason given").trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_release_is_read_up_to_its_minor_number() {
        assert_eq!(version("6.12.0-rc1+deb13-amd64\n"), Some((6, 12)));
        assert_eq!(version("6.9.10"), Some((6, 9)));
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn a_missing_program_names_its_package_and_what_is_skipped() {
        let state = program(&["no-such-program-anywhere"], "clang");
        assert_eq!(
            Finding { name: "clang", state, skipped: "building".to_string() }.line(),
            "no   clang      not found; apt-get install clang; skipped: building\n"
        );
    }
}
