//! Opens the compiled programs with libbpf, and captures its messages for errors.

use crate::tcp::Error;
use libbpf_rs::{ObjectBuilder, OpenObject, PrintLevel};
use std::sync::{Mutex, PoisonError};

// Compiled by `linux/build-programs.sh`.
pub static SENDER_OBJECT: &[u8] = include_bytes!("../../objects/sender.bpf.o");
pub static SENDER_THESIS_OBJECT: &[u8] = include_bytes!("../../objects/sender_thesis.bpf.o");
pub static OPTION_OBJECT: &[u8] = include_bytes!("../../objects/option.bpf.o");
pub static STAMP_OBJECT: &[u8] = include_bytes!("../../objects/stamp.bpf.o");

/// The last messages of libbpf, which would otherwise be printed.
static OUTPUT: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Lines stored, and lines in an error: the verifier's verdict is the fifth from the end.
const LINES: usize = 12;
const IN_ERROR: usize = 5;
/// libbpf's prefix of a program's name, its message about one that the kernel refuses, and the verifier's last line.
const PROGRAM: &str = "prog '";
const REFUSED: &str = "': failed to load";
const STATISTICS: &str = "processed ";
/// libbpf's message about a program that fails to load or to attach, before the error's name; and the start of the verifier's log.
const FAILED: [&str; 2] = ["': BPF program load failed: -", "': failed to attach to iterator: -"];
const LOG: &str = "BEGIN PROG LOAD LOG";

fn listen(_level: PrintLevel, text: String) {
    let mut output = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    output.extend(text.lines().filter(|line| !line.trim().is_empty()).map(|line| line.trim().to_string()));
    let surplus = output.len().saturating_sub(LINES);
    output.drain(..surplus);
}

pub fn failed(what: &str) -> impl Fn(libbpf_rs::Error) -> Error + '_ {
    move |error| Error::machine(what, with_messages(format!("{error:#}")))
}

/// Adds libbpf's last messages to a text.
pub fn with_messages(text: String) -> String {
    let output = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    let words = wordless_of(&output).unwrap_or_else(|| output[output.len().saturating_sub(IN_ERROR)..].join("; "));
    if words.is_empty() { text } else { format!("{text} ({words})") }
}

/// Explains the refusal of a program without a verifier message.
fn wordless_of(output: &[String]) -> Option<String> {
    if output.iter().any(|line| line.contains(LOG)) {
        return None;
    }
    let named = |line: &String| {
        let (program, error) = FAILED.iter().find_map(|failed| line.split_once(PROGRAM)?.1.split_once(failed))?;
        Some((program.to_string(), error.to_string()))
    };
    let (program, error) = output.iter().rev().find_map(named)?;
    let why = match error.as_str() {
        "EPERM" => "lockdown, a security module, or a missing capability (CAP_BPF, CAP_PERFMON)",
        _ => "it gives no reason",
    };
    Some(format!("the kernel refuses the program `{program}` with {error}: {why}"))
}

/// The program that the kernel has just refused, and why: the verifier's last line before its statistics.
pub fn verdict() -> Option<(String, String)> {
    verdict_of(&OUTPUT.lock().unwrap_or_else(PoisonError::into_inner))
}

fn verdict_of(output: &[String]) -> Option<(String, String)> {
    let named = |line: &String| Some(line.split_once(PROGRAM)?.1.split_once(REFUSED)?.0.to_string());
    let (program, end) = (output.iter().find_map(named)?, output.iter().position(|line| line.starts_with(STATISTICS))?);
    Some((program, output.get(end.checked_sub(1)?)?.clone()))
}

/// From now on, keeps the messages of libbpf instead of printing them.
pub fn listen_to_libbpf() {
    OUTPUT.lock().unwrap_or_else(PoisonError::into_inner).clear();
    libbpf_rs::set_print(Some((PrintLevel::Warn, listen)));
}

pub fn open(object: &[u8]) -> Result<OpenObject, Error> {
    ObjectBuilder::default().open_memory(object).map_err(failed("opening a compiled object"))
}

pub fn broken(what: &str) -> Error {
    Error::Machine(format!("the compiled objects have no {what}: this is a broken build"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of libbpf 1.7, line by line.
    #[test]
    fn verdict_precedes_verifier_statistics() {
        let output = [
            "libbpf: prog 'acked': BPF program load failed: -EACCES",
            "libbpf: prog 'acked': -- BEGIN PROG LOAD LOG --",
            "0: R1=ctx() R10=fp0",
            "write access at off 1340 with size 4",
            "processed 5 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0",
            "-- END PROG LOAD LOG --",
            "libbpf: prog 'acked': failed to load: -EACCES",
            "libbpf: failed to load object ''",
        ];
        let output = output.map(str::to_string);
        let expected = ("acked".to_string(), "write access at off 1340 with size 4".to_string());
        assert_eq!(verdict_of(&output), Some(expected));
        assert_eq!(verdict_of(&output[5..]), None);
        assert_eq!(wordless_of(&output), None);
    }

    /// Messages of libbpf 1.7 for root under a limit of locked memory.
    #[test]
    fn refusal_without_log_names_program_and_causes() {
        let output = |line: &str| {
            let lines = [line, "libbpf: permission error while running as root; try raising 'ulimit -l'?"];
            wordless_of(&lines.map(str::to_string)).unwrap_or_default()
        };
        for refused in ["BPF program load failed: -EPERM", "failed to attach to iterator: -EPERM"] {
            let words = output(&format!("libbpf: prog 'list_taken': {refused}"));
            for word in ["`list_taken`", "EPERM", "lockdown", "CAP_BPF"] {
                assert!(words.contains(word), "{words}");
            }
            assert!(!words.contains("ulimit"), "{words}");
        }
        assert!(!output("libbpf: prog 'acked': BPF program load failed: -EINVAL").contains("lockdown"));
        assert_eq!(output("libbpf: failed to find valid kernel BTF"), "");
    }
}
