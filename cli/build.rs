//! Passes to the command the commit it is built from, where that is known.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

#[path = "build/digests.rs"]
mod digests;

/// Sources of the command outside its own folder: from the root of the repository.
const SOURCES: [&str; 14] = [
    "Cargo.toml",
    "Cargo.lock",
    "law",
    "controller",
    "models",
    "experiment",
    "harness",
    "report",
    "simulator",
    "linux",
    "live",
    "studies",
    "papers",
    "scenarios/traces",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for source in SOURCES {
        println!("cargo::rerun-if-changed=../{source}");
    }
    println!("cargo::rerun-if-changed=.");
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|head| Path::new(head).exists()) {
        println!("cargo::rerun-if-changed={head}");
    }
    set_digests().expect("the sources can be read");
    let commit = commit();
    if let Some(commit) = &commit {
        println!("cargo::rustc-env=PACKETSCALE_COMMIT={commit}");
    }
    println!("cargo::rustc-env=PACKETSCALE_VERSION={}", version(commit.as_deref()));
}

/// Sets the digests of the code that judges figures, and of the code that their values depend on.
fn set_digests() -> std::io::Result<()> {
    let root = Path::new("..");
    println!(
        "cargo::rustc-env=PACKETSCALE_CODE_JUDGE={:016x}",
        digests::digest(root, digests::JUDGES.iter().copied())?
    );
    for (table, crates) in digests::DOES {
        let all = digests::with_dependencies(root, crates)?;
        let digest = digests::digest(root, all.iter().map(String::as_str))?;
        println!("cargo::rustc-env=PACKETSCALE_CODE_{}={digest:016x}", table.to_uppercase());
    }
    Ok(())
}

/// What `--version` says: `0.2.0 (commit 1234abcd, x86_64-unknown-linux-gnu, with kernel)`.
fn version(commit: Option<&str>) -> String {
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    let features = if std::env::var_os("CARGO_FEATURE_KERNEL").is_some() { "with kernel" } else { "without kernel" };
    let commit = commit.unwrap_or("unknown");
    format!("{} (commit {commit}, {}, {features})", said("CARGO_PKG_VERSION"), said("TARGET"))
}

/// The commit; of changed sources `COMMIT+dirty-DIGEST`, with a digest of what differs from it. `None`: this folder
/// belongs to no repository, or is an untracked copy in one.
fn commit() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let commit = git(&["rev-parse", "HEAD"])?;
    let sources: Vec<String> = SOURCES.iter().map(|source| format!(":/{source}")).chain([".".to_string()]).collect();
    let with = |words: &[&str]| -> Option<String> {
        let words: Vec<&str> = words.iter().copied().chain(["--"]).chain(sources.iter().map(String::as_str)).collect();
        git(&words)
    };
    let changed = with(&["diff", "--binary", "--no-ext-diff", "--no-textconv", "HEAD"])?;
    let new = with(&["ls-files", "--others", "--exclude-standard", "--full-name"])?;
    if changed.is_empty() && new.is_empty() {
        return Some(commit);
    }
    let root = git(&["rev-parse", "--show-toplevel"])?;
    let digest = |name: &str| git(&["hash-object", &format!("{root}/{name}")]);
    let new: Option<Vec<String>> = new.lines().map(|name| Some(format!("{name} {}", digest(name)?))).collect();
    Some(format!("{commit}+dirty-{}", digest_of(&format!("{changed}\n{}", new?.join("\n")))?))
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// As git names content.
fn digest_of(text: &str) -> Option<String> {
    let mut git = Command::new("git");
    git.args(["hash-object", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = git.spawn().ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
