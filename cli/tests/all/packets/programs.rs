//! The programs that read what the command writes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub fn packetscale(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(arguments).current_dir(folder).output().expect("the command starts")
}

/// Starts the command, presses Ctrl-C as soon as this file is there, and returns what the command said.
pub fn interrupted(folder: &Path, arguments: &[&str], file: &Path, signal: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(arguments).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the command starts");
    // Not a limit on speed: it ends a test that would wait for ever.
    let deadline = Instant::now() + Duration::from_secs(600);
    while !file.exists() {
        assert!(Instant::now() < deadline, "{} never came", file.display());
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().expect("sh starts");
    assert!(sent.success());
    child.wait_with_output().expect("the command ends")
}

/// Runs a command as a reader types it.
pub fn shell(folder: &Path, command: &str) -> Output {
    let here = Path::new(env!("CARGO_BIN_EXE_packetscale")).parent().expect("its folder").display();
    let path = format!("{here}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", path).output().expect("a shell")
}

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
