//! Tells the command which commit it is built from, where that is known.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(head) =
        git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|head| std::path::Path::new(head).exists())
    {
        println!("cargo::rerun-if-changed={head}");
    }
    if let Some(commit) = git(&["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=PACKETSCALE_COMMIT={commit}");
    }
}
