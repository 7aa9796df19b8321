//! Commands and options under the names that they had in 0.2: they work, and say their new names.

use crate::command::{SCENARIO, folder, packetscale, stderr, stdout};

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
fn an_old_command_is_the_new_one_and_names_it() {
    let folder = folder(SCENARIO);
    let run = |words: &str| packetscale(folder.path(), &words.split(' ').collect::<Vec<_>>());
    for (old, new) in COMMANDS {
        for [old_words, new_words] in [
            [format!("{old} --help"), format!("{new} --help")],
            [format!("help {old}"), format!("help {new}")],
            [format!("{old} --no-such-option"), format!("{new} --no-such-option")],
        ] {
            let (by_old, by_new) = (run(&old_words), run(&new_words));
            let note = format!("packetscale {old}: renamed to \"packetscale {new}\"; the old name goes in 0.3\n");
            assert_eq!(stdout(&by_old), stdout(&by_new), "{old_words}");
            assert_eq!(by_old.status.code(), by_new.status.code(), "{old_words}");
            assert_eq!(stderr(&by_old), format!("{note}{}", stderr(&by_new)), "{old_words}");
        }
    }
}

#[test]
fn an_old_command_does_its_work() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["init", "first"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.path().join("first.toml").is_file());
}

#[test]
fn force_means_replace_and_is_in_no_help() {
    let folder = folder(SCENARIO);
    std::fs::write(folder.path().join("first.toml"), "mine").expect("written");
    let output = packetscale(folder.path(), &["new", "scenario", "first", "--force"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_ne!(std::fs::read_to_string(folder.path().join("first.toml")).expect("the file"), "mine");
    // One meaning, one text, wherever it exists.
    for command in [
        "run",
        "sweep merge",
        "new scenario",
        "reproduce",
        "judge evaluate",
        "judge matrix",
        "live probe",
        "live receive",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = stdout(&packetscale(folder.path(), &words));
        let at = help.find("--replace").unwrap_or_else(|| panic!("{command} has no --replace"));
        assert!(
            help[at..].trim_start_matches("--replace").trim_start().starts_with("Overwrite earlier output"),
            "{command}"
        );
        assert!(!help.contains("--force"), "{command}");
    }
}

#[cfg(feature = "kernel")]
#[test]
fn a_wrong_time_is_refused_as_in_a_scenario() {
    let wrong = packetscale(folder(SCENARIO).path(), &["tcp", "events", "--duration", "5 parsecs"]);
    assert_eq!(wrong.status.code(), Some(2));
    let expected = "'--duration <TIME>': found \"5 parsecs\" (an unknown unit); expected a time like \"30 ms\"";
    assert!(stderr(&wrong).contains(expected), "{}", stderr(&wrong));
}

/// What a run is known by does not change with the word for its host.
#[test]
fn runs_on_this_machines_kernel_keep_their_identities() {
    let folder = folder(SCENARIO);
    let plan = |on| packetscale(folder.path(), &["sweep", "plan", "small.toml", "--on", on]);
    let (old, new) = (plan("kernel"), plan("linux"));
    assert_eq!((new.status.code(), stdout(&new).lines().count()), (Some(0), 8), "{}", stderr(&new));
    assert_eq!(stdout(&old), stdout(&new));
    let note = "--on kernel: renamed to \"--on linux\"; the old name goes in 0.3\n";
    assert_eq!(stderr(&old), format!("{note}{}", stderr(&new)));
    let help = stdout(&packetscale(folder.path(), &["run", "--help"]));
    assert!(help.contains("- linux: ") && !help.contains("- kernel: ") && !help.contains("--clock"), "{help}");
}

/// The names in the list of commands of a help text.
fn listed(help: &str) -> Vec<&str> {
    let commands = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn the_help_lists_at_most_fourteen_commands_and_no_old_name() {
    let folder = folder(SCENARIO);
    let help = stdout(&packetscale(folder.path(), &["--help"]));
    let commands = listed(&help);
    assert!(commands.contains(&"run") && commands.contains(&"sweep") && commands.len() <= 14, "{commands:?}");
    let hidden = COMMANDS.map(|(old, _)| old).into_iter().chain(["guest", "completions", "man"]);
    for name in hidden {
        assert!(!commands.contains(&name), "{name}");
    }
}

#[test]
fn shells_complete_new_names_only() {
    let folder = folder(SCENARIO);
    let bash = stdout(&packetscale(folder.path(), &["completions", "bash"]));
    let top = bash.split("    packetscale)").nth(1).and_then(|rest| rest.split(";;").next()).expect("the top level");
    let words: Vec<&str> =
        top.split("opts=\"").nth(1).expect("words").split('"').next().expect("words").split(' ').collect();
    assert!(words.contains(&"run") && words.contains(&"sweep"), "{words:?}");
    for name in COMMANDS.map(|(old, _)| old).into_iter().chain(["guest", "completions"]) {
        assert!(!words.contains(&name), "{name}: {words:?}");
    }
}
