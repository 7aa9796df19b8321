//! Commands under the names that they had in 0.2.

use std::ffi::OsString;

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

/// The words of a command line under the command's name of today; and what to say where that is another one.
pub fn current(mut words: Vec<OsString>) -> (Vec<OsString>, Option<String>) {
    // The command, or what help is asked about.
    let at = if words.get(1).is_some_and(|word| word == "help") { 2 } else { 1 };
    let known = |word: &OsString| RENAMED.iter().find(|(old, _)| word == old);
    let Some((old, new)) = words.get(at).and_then(known) else { return (words, None) };
    words.splice(at..=at, new.map(OsString::from));
    let new = new.join(" ");
    let note = format!("packetscale {old}: renamed to \"packetscale {new}\"; the old name goes in 0.3");
    (words, Some(note))
}
