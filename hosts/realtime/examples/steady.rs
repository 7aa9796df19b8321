//! Whether this machine was steady while something else ran: `steady mark FILE` before, `steady judge FILE` after.
//!
//! `judge` ends with 0 where the machine was steady and with 1 where it was not, and says what it found.

use packetscale_realtime::steadiness::{ProcessorTime, judge};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["mark", file] => mark(file).map(|()| Ok(String::new())),
        ["judge", file] => marked(file).and_then(|since| judge(&since)),
        _ => Err(std::io::Error::other("expected: steady mark FILE, or steady judge FILE")),
    };
    match done {
        Ok(Ok(found)) => {
            print!("{found}");
            ExitCode::SUCCESS
        }
        Ok(Err(found)) => {
            print!("{found}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("steady: {error}");
            ExitCode::from(3)
        }
    }
}

fn mark(file: &str) -> std::io::Result<()> {
    let now = ProcessorTime::now()?;
    std::fs::write(file, format!("{} {}", now.all_ticks, now.stolen_ticks))
}

fn marked(file: &str) -> std::io::Result<ProcessorTime> {
    let text = std::fs::read_to_string(file)?;
    let ticks: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match ticks.as_slice() {
        [all_ticks, stolen_ticks] => Ok(ProcessorTime { all_ticks: *all_ticks, stolen_ticks: *stolen_ticks }),
        _ => Err(std::io::Error::other(format!("{file}: found \"{text}\"; expected two numbers, from steady mark"))),
    }
}
