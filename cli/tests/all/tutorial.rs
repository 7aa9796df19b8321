//! The tutorial is run as it stands, and what it prints is compared with what it says.
//!
//! A block of commands is followed by a block of what they print, or both stand in one, behind a `$`. The page leaves out
//! lines (`...`) and columns: the cells of every line that is there must be in a printed line, in this order.

use crate::support::{PROGRAM, Place, repository};
use std::fs;
use std::process::Command;

/// A block of the page: its language and its text, and the paragraph before it.
struct Block {
    before: String,
    language: String,
    text: String,
}

/// Every block, in the order of the page.
fn page() -> Vec<Block> {
    let page = fs::read_to_string(repository().join("docs/tutorial.md")).expect("the tutorial");
    let (mut blocks, mut before, mut open): (Vec<Block>, String, bool) = (Vec::new(), String::new(), false);
    for line in page.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                blocks.push(Block {
                    before: std::mem::take(&mut before),
                    language: language.into(),
                    text: String::new(),
                });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => blocks.last_mut().expect("an open block").text += &format!("{line}\n"),
            (None, false) => before += &format!("{line} "),
        }
    }
    blocks
}

/// A folder like the clone that the tutorial begins in, with the files that it has its reader save.
fn clone_with(blocks: &[Block]) -> Place {
    let place = Place::empty();
    let link = |to: &std::path::Path, name: &str| std::os::unix::fs::symlink(to, place.at(name)).expect("linked");
    fs::create_dir_all(place.at("target/release")).expect("made");
    link(&repository().join("scenarios"), "scenarios");
    link(PROGRAM.as_ref(), "target/release/packetscale");
    for block in blocks.iter().filter(|block| matches!(block.language.as_str(), "toml" | "python")) {
        let said = block.before.rsplit_once("ave ").expect("a paragraph that says how to save it").1;
        place.write(said.split('`').nth(1).expect("the name of the file"), &block.text);
    }
    place
}

/// Commands with what the page says they print, in order.
fn commands(blocks: &[Block]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let lines = block.text.lines().map(str::to_string);
        match block.language.as_str() {
            "sh" => {
                let says = blocks.get(at + 1).filter(|next| next.language == "text" && !next.text.starts_with('$'));
                found.push((
                    block.text.trim().to_string(),
                    says.map_or(vec![], |next| next.text.lines().map(str::to_string).collect()),
                ));
            }
            "text" if block.text.starts_with("$ ") => {
                let mut lines = lines;
                let command = lines.next().expect("the command")[2..].to_string();
                found.push((command, lines.collect()));
            }
            _ => {}
        }
    }
    found
}

/// The cells of a line: two spaces or more are between them.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty() && *cell != "...").collect()
}

/// Whether the printed line has these cells, in this order; one cut short with `...` is the beginning of a cell.
fn has(printed: &str, said: &str) -> bool {
    let mut printed = cells(printed).into_iter();
    cells(said).into_iter().all(|cell| {
        printed.any(|there| there == cell || cell.strip_suffix(" ...").is_some_and(|start| there.starts_with(start)))
    })
}

/// Runs the commands that `wanted` takes, and compares. Returns how many lines were compared.
fn run(wanted: impl Fn(&str) -> bool) -> usize {
    let blocks = page();
    let place = clone_with(&blocks);
    let mut compared = 0;
    for (command, says) in commands(&blocks).into_iter().filter(|(command, _)| wanted(command)) {
        let done = Command::new("sh").args(["-c", &command]).current_dir(place.path()).output().expect("a shell");
        let printed = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        for line in says.iter().filter(|line| !cells(line).is_empty()) {
            assert!(printed.lines().any(|there| has(there, line)), "{command}\nprints no\n{line}\nbut\n{printed}");
            compared += 1;
        }
    }
    compared
}

fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|done| done.status.success())
}

/// Runs of minutes: 10 Gbit/s, or a minute long.
fn is_long(command: &str) -> bool {
    command.contains("make demo") || command.contains("out/small-buffer") || command.contains("out/long")
}

#[test]
fn tutorial_quotes_match_output_of_its_commands() {
    let compared = run(|command| !is_long(command) && (has_python() || !command.starts_with("python3")));
    let least = if has_python() { 19 } else { 13 };
    assert!(compared >= least, "only {compared} lines were compared");
}

/// In a release build: `cargo test --release -p packetscale-cli --test all -- --ignored tutorial`.
#[test]
#[ignore = "takes minutes, in a release build"]
fn what_the_tutorial_prints_is_what_its_long_commands_print() {
    let long = |command: &str| is_long(command) && !command.contains("make demo");
    assert!(run(long) >= 10);
}

#[test]
fn scenarios_of_labs_are_valid() {
    let labs = fs::read_dir(repository().join("docs/labs")).expect("the labs");
    let names = labs.map(|page| format!("labs/{}", page.expect("an entry").file_name().display()));
    let scenarios: Vec<String> = names.flat_map(|page| crate::support::blocks(&page, "toml")).collect();
    assert_eq!(scenarios.len(), 5);
    for scenario in scenarios {
        Place::with(&scenario).done("run small.toml --print");
    }
}

#[test]
fn a_line_that_differs_in_a_digit_or_in_the_order_is_noticed() {
    assert!(has("rapid  1 bdp   728.0 ± 10.9    80.89", "rapid   1 bdp  80.89"));
    assert!(has("a long name of a controller  868.2", "a long name ...  868.2"));
    assert!(!has("rapid  1 bdp   728.0 ± 10.9    80.89", "rapid  728.1 ± 10.9"));
    assert!(!has("rapid  1 bdp", "1 bdp  rapid"));
}
