//! Commands and options under the names that they had in 0.2: they work, and say their new names.

use crate::command::SCENARIO;
use crate::support::Place;

/// Old names of commands, and new ones.
const COMMANDS: [(&str, &str); 11] = [
    ("plan", "sweep plan"),
    ("merge", "sweep merge"),
    ("submit", "sweep submit"),
    ("init", "new scenario"),
    ("evaluate", "judge evaluate"),
    ("matrix", "judge matrix"),
    ("attack", "judge attack"),
    ("probe", "live probe"),
    ("serve", "live serve"),
    ("send", "live send"),
    ("receive", "live receive"),
];

#[test]
fn old_command_runs_and_names_new_one() {
    let place = Place::empty();
    for (old, new) in COMMANDS {
        for line in ["NAME --help", "help NAME", "NAME --no-such-option"] {
            let (by_old, by_new) = (place.says(&line.replace("NAME", old)), place.says(&line.replace("NAME", new)));
            let note = format!("packetscale {old}: renamed to \"packetscale {new}\"; the old name goes in 0.3\n");
            assert_eq!((by_old.code, by_old.out), (by_new.code, by_new.out), "{old}: {line}");
            assert_eq!(by_old.err, format!("{note}{}", by_new.err), "{old}: {line}");
        }
    }
}

#[test]
fn old_command_still_runs() {
    let place = Place::empty();
    place.done("init first");
    assert!(place.at("first.toml").is_file());
}

#[test]
fn force_is_hidden_alias_of_replace() {
    let place = Place::empty();
    place.write("first.toml", "mine");
    place.done("new scenario first --force");
    assert_ne!(place.read("first.toml"), "mine");
    // One meaning, one text, wherever it exists.
    let commands = "run, sweep merge, new scenario, reproduce, judge evaluate, judge matrix, live probe, live receive";
    for command in commands.split(", ") {
        let help = place.done(&format!("{command} --help")).out;
        let text = help.split_once("--replace").unwrap_or_else(|| panic!("{command} has no --replace")).1;
        assert!(text.trim_start().starts_with("Overwrite earlier output"), "{command}");
        assert!(!help.contains("--force"), "{command}");
    }
}

#[cfg(feature = "kernel")]
#[test]
fn a_wrong_time_is_refused_as_in_a_scenario() {
    let refused = Place::empty().refused("tcp events --duration '5 parsecs'");
    let expected = "'--duration <TIME>': found \"5 parsecs\" (an unknown unit); expected a time like \"30 ms\"";
    assert!(refused.contains(expected), "{refused}");
}

/// What a run is known by does not change with the word for its host.
#[test]
fn runs_on_this_machines_kernel_keep_their_identities() {
    let place = Place::with(SCENARIO);
    let [old, new] = ["kernel", "linux"].map(|host| place.done(&format!("sweep plan small.toml --on {host}")));
    assert_eq!(new.out.lines().count(), 8, "{}", new.out);
    assert_eq!(old.out, new.out);
    let note = "--on kernel: renamed to \"--on linux\"; the old name goes in 0.3\n";
    assert_eq!(old.err, format!("{note}{}", new.err));
    let help = place.done("run --help").out;
    assert!(help.contains("- linux: ") && !help.contains("- kernel: ") && !help.contains("--clock"), "{help}");
}

fn old_and_hidden() -> impl Iterator<Item = &'static str> {
    COMMANDS.map(|(old, _)| old).into_iter().chain(["guest", "completions"])
}

#[test]
fn the_help_lists_at_most_fourteen_commands_and_no_old_name() {
    let help = Place::empty().done("--help").out;
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    let commands: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(commands.contains(&"run") && commands.contains(&"sweep"), "{commands:?}");
    assert!(commands.iter().filter(|name| !name.is_empty()).count() <= 14, "{commands:?}");
    for name in old_and_hidden().chain(["man"]) {
        assert!(!commands.contains(&name), "{name}");
    }
}

#[test]
fn shells_complete_new_names_only() {
    let bash = Place::empty().done("completions bash").out;
    let top = bash.split("    packetscale)").nth(1).and_then(|rest| rest.split(";;").next()).expect("the top level");
    let words = top.split("opts=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("words");
    let words: Vec<&str> = words.split(' ').collect();
    assert!(words.contains(&"run") && words.contains(&"sweep"), "{words:?}");
    for name in old_and_hidden() {
        assert!(!words.contains(&name), "{name}: {words:?}");
    }
}
