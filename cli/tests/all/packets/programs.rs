//! The programs that read what the command writes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether a program is installed. Its absence fails the test where `CI=true` promises it, and skips it elsewhere.
pub fn there(program: &str, asked: &str) -> bool {
    let found = Command::new(program).arg(asked).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    assert!(found || std::env::var("CI").as_deref() != Ok("true"), "{program} is not installed, and CI needs it");
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// What tshark prints of the packets that pass a filter, with these preferences.
pub fn printed(program: &str, file: &Path, filter: &str, preferences: &[&str]) -> String {
    let mut command = Command::new(program);
    command.arg("-r").arg(file).args(["-Y", filter]);
    preferences.iter().for_each(|preference| _ = command.args(["-o", preference]));
    text(command)
}

/// These fields of the packets that pass a filter.
pub fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(file).args(["-Y", filter, "-T", "fields", "-E", "separator=;"]);
    fields.iter().for_each(|field| _ = command.args(["-e", field]));
    text(command).lines().map(|line| line.split(';').map(str::to_string).collect()).collect()
}

/// What tcptrace says of each connection in the direction of its data, numbers by their names.
pub fn tcptrace(file: &Path) -> Vec<BTreeMap<String, f64>> {
    let mut command = Command::new("tcptrace");
    command.args(["-l", "-r", "-n"]).arg(file);
    let text = text(command);
    let number = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        Some((name.trim().to_string(), rest.split_whitespace().next()?.parse().ok()?))
    };
    text.split("TCP connection ").skip(2).map(|part| part.lines().filter_map(number).collect()).collect()
}

fn text(mut command: Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}
