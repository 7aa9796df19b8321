//! Commands and options under the names that they had in 0.2.

use std::ffi::OsString;
use std::io::Write;

/// Old names, and the words that replace them. They go in 0.3.
const RENAMED: [(&str, [&str; 2]); 11] = [
    ("plan", ["sweep", "plan"]),
    ("merge", ["sweep", "merge"]),
    ("submit", ["sweep", "submit"]),
    ("init", ["new", "scenario"]),
    ("evaluate", ["judge", "evaluate"]),
    ("matrix", ["judge", "matrix"]),
    ("attack", ["judge", "attack"]),
    ("probe", ["live", "probe"]),
    ("serve", ["live", "serve"]),
    ("send", ["live", "send"]),
    ("receive", ["live", "receive"]),
];

/// The words of a command line under the command's name of today. Says on standard error where that is another one.
pub fn current(mut words: Vec<OsString>) -> Vec<OsString> {
    // The command, or what help is asked about.
    let at = if words.get(1).is_some_and(|word| word == "help") { 2 } else { 1 };
    let known = |word: &OsString| RENAMED.iter().find(|(old, _)| word == old);
    let Some((old, new)) = words.get(at).and_then(known) else { return words };
    words.splice(at..=at, new.map(OsString::from));
    note(&format!("packetscale {old}"), &format!("packetscale {}", new.join(" ")));
    words
}

/// Says that something has another name.
pub fn note(old: &str, new: &str) {
    let _ = writeln!(std::io::stderr(), "{old}: renamed to \"{new}\"; the old name goes in 0.3");
}
