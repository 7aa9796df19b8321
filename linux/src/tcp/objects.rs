//! The compiled programs as libbpf opens them, and what it says of them. It prints its messages; kept here, they can go into
//! errors.

use crate::tcp::Error;
use libbpf_rs::{ObjectBuilder, OpenObject, PrintLevel};
use std::sync::{Mutex, PoisonError};

// Compiled by `linux/build-programs.sh`.
pub static SENDER_OBJECT: &[u8] = include_bytes!("../../objects/sender.bpf.o");
pub static SENDER_THESIS_OBJECT: &[u8] = include_bytes!("../../objects/sender_thesis.bpf.o");
pub static OPTION_OBJECT: &[u8] = include_bytes!("../../objects/option.bpf.o");
pub static STAMP_OBJECT: &[u8] = include_bytes!("../../objects/stamp.bpf.o");

/// The last messages of libbpf. It prints its messages; kept here, they can go into errors.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// How many lines are kept, and how many of them go into an error: the verifier's verdict is the fifth from the end.
const LINES: usize = 12;
const TOLD: usize = 5;
/// What libbpf puts before the name of a program, and says of one that the kernel refuses; and the verifier's last line.
const PROGRAM: &str = "prog '";
const REFUSED: &str = "': failed to load";
const STATISTICS: &str = "processed ";
/// What it says of one that fails to load or to attach, before the error's name; and what it puts before the verifier's log.
const FAILED: [&str; 2] = ["': BPF program load failed: -", "': failed to attach to iterator: -"];
const LOG: &str = "BEGIN PROG LOAD LOG";

fn listen(_level: PrintLevel, text: String) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    said.extend(text.lines().filter(|line| !line.trim().is_empty()).map(|line| line.trim().to_string()));
    let surplus = said.len().saturating_sub(LINES);
    said.drain(..surplus);
}

pub fn failed(what: &str) -> impl Fn(libbpf_rs::Error) -> Error + '_ {
    move |error| Error::machine(what, with_what_was_said(format!("{error:#}")))
}

/// Adds libbpf's last messages to a text.
pub fn with_what_was_said(text: String) -> String {
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let words = wordless_of(&said).unwrap_or_else(|| said[said.len().saturating_sub(TOLD)..].join("; "));
    if words.is_empty() { text } else { format!("{text} ({words})") }
}

/// The refusal of a program of which the verifier says nothing, in words.
fn wordless_of(said: &[String]) -> Option<String> {
    if said.iter().any(|line| line.contains(LOG)) {
        return None;
    }
    let named = |line: &String| {
        let (program, error) = FAILED.iter().find_map(|failed| line.split_once(PROGRAM)?.1.split_once(failed))?;
        Some((program.to_string(), error.to_string()))
    };
    let (program, error) = said.iter().rev().find_map(named)?;
    let why = match error.as_str() {
        "EPERM" => "lockdown, a security module, or a missing capability (CAP_BPF, CAP_PERFMON)",
        _ => "it gives no reason",
    };
    Some(format!("the kernel refuses the program `{program}` with {error}: {why}"))
}

/// The program that the kernel has just refused, and why: the verifier's last line before its statistics.
pub fn verdict() -> Option<(String, String)> {
    verdict_of(&SAID.lock().unwrap_or_else(PoisonError::into_inner))
}

fn verdict_of(said: &[String]) -> Option<(String, String)> {
    let named = |line: &String| Some(line.split_once(PROGRAM)?.1.split_once(REFUSED)?.0.to_string());
    let (program, end) = (said.iter().find_map(named)?, said.iter().position(|line| line.starts_with(STATISTICS))?);
    Some((program, said.get(end.checked_sub(1)?)?.clone()))
}

/// From now on, keeps the messages of libbpf instead of printing them.
pub fn listen_to_libbpf() {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
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

    /// As libbpf 1.7 says it, line by line.
    #[test]
    fn the_verdict_is_the_line_before_the_verifiers_statistics() {
        let said = [
            "libbpf: prog 'acked': BPF program load failed: -EACCES",
            "libbpf: prog 'acked': -- BEGIN PROG LOAD LOG --",
            "0: R1=ctx() R10=fp0",
            "write access at off 1340 with size 4",
            "processed 5 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0",
            "-- END PROG LOAD LOG --",
            "libbpf: prog 'acked': failed to load: -EACCES",
            "libbpf: failed to load object ''",
        ];
        let said = said.map(str::to_string);
        let expected = ("acked".to_string(), "write access at off 1340 with size 4".to_string());
        assert_eq!(verdict_of(&said), Some(expected));
        assert_eq!(verdict_of(&said[5..]), None);
        assert_eq!(wordless_of(&said), None);
    }

    /// As libbpf 1.7 says it to root under a limit of locked memory.
    #[test]
    fn a_refusal_without_a_log_names_the_program_and_what_may_forbid_it() {
        let said = |line: &str| {
            let lines = [line, "libbpf: permission error while running as root; try raising 'ulimit -l'?"];
            wordless_of(&lines.map(str::to_string)).unwrap_or_default()
        };
        for refused in ["BPF program load failed: -EPERM", "failed to attach to iterator: -EPERM"] {
            let words = said(&format!("libbpf: prog 'list_taken': {refused}"));
            for word in ["`list_taken`", "EPERM", "lockdown", "CAP_BPF"] {
                assert!(words.contains(word), "{words}");
            }
            assert!(!words.contains("ulimit"), "{words}");
        }
        assert!(!said("libbpf: prog 'acked': BPF program load failed: -EINVAL").contains("lockdown"));
        assert_eq!(said("libbpf: failed to find valid kernel BTF"), "");
    }
}
