//! `ns2/flow.tcl`: one flow over one link (Debian package `ns2`).

use super::{Stored, must_check_everything};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const SCRIPT: &str = "ns2/flow.tcl";

/// Packets that the flow of this law delivered; `numbers` are the script's words after the law.
pub fn packets(law: &str, numbers: &[f64]) -> f64 {
    static STORED: OnceLock<Stored> = OnceLock::new();
    let words = [law.to_string()].into_iter().chain(numbers.iter().map(f64::to_string));
    let words: Vec<String> = words.collect();
    STORED.get_or_init(|| Stored::of(SCRIPT)).numbers(&words, || installed().then(|| vec![run(&words)]))[0]
}

fn run(words: &[String]) -> f64 {
    let script = format!("{}/{SCRIPT}", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("ns").arg(script).args(words).output().expect("ns-2 starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let packets = text.lines().find_map(|line| line.trim().parse::<f64>().ok());
    packets.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn installed() -> bool {
    let found = Command::new("ns").arg("/dev/null").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    assert!(found || !must_check_everything(), "ns-2 is not installed (Debian package ns2)");
    if !found {
        println!("not repeated: ns-2 is not installed (Debian package ns2)");
    }
    found
}
