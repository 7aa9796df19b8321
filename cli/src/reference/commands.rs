//! Commands, their arguments, and exit codes.

use super::{assert_documented, code, table};
use crate::args::{self, Arguments, EXIT_CODES};
use clap::{Arg, Command, CommandFactory};
use harness::runner::Host;

/// Hosts of every build on Linux, in this order: others depend on what was fetched.
const HOSTS: [&str; 5] = ["simulator", "linux", "live", "linux-6.1", "linux-6.12"];

fn hosts() -> Vec<&'static dyn Host> {
    let all = crate::hosts();
    HOSTS.iter().filter_map(|word| all.iter().copied().find(|host| host.word() == *word)).collect()
}

/// What help shows of a command's arguments, in the order of the help.
fn shown(command: &Command) -> impl Iterator<Item = &Arg> {
    let common =
        |argument: &&Arg| !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str());
    let (places, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(common).partition(|a| a.is_positional());
    places.into_iter().chain(options)
}

/// `--jobs N`, or `FILE`.
fn written(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default().iter().map(|name| name.to_string());
    let values = names.collect::<Vec<_>>().join(" ");
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let flags = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    let values = if argument.get_action().takes_values() { values } else { String::new() };
    [flags, values].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What it means, without the default; and the default, which the help may have at its end in brackets.
fn meaning(argument: &Arg) -> (String, String) {
    let help = argument.get_help().map(|help| help.to_string().replace('\n', " ")).unwrap_or_default();
    let declared = argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
    let declared = declared.collect::<Vec<_>>().join(" ");
    let default = if argument.get_action().takes_values() { declared } else { String::new() };
    match help.strip_suffix(']').and_then(|help| help.rsplit_once(" [default: ")) {
        Some((help, default)) => (help.to_string(), default.to_string()),
        None => (help, default),
    }
}

fn row(argument: &Arg) -> [String; 3] {
    let (meaning, default) = meaning(argument);
    let words = if argument.get_action().takes_values() { argument.get_possible_values() } else { Vec::new() };
    let word = |word: &clap::builder::PossibleValue| match word.get_help() {
        Some(help) => format!("`{}` ({help})", word.get_name()),
        None => format!("`{}`", word.get_name()),
    };
    let words: Vec<String> = words.iter().filter(|word| !word.is_hide_set()).map(word).collect();
    let words = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    let default = if argument.is_required_set() { "required".to_string() } else { default };
    [code(&written(argument)), default, meaning + &words]
}

/// The command's section, and those of the commands inside it.
fn section(command: &Command, page: &mut String) {
    let name = command.get_display_name().unwrap_or(command.get_name()).replace('-', " ");
    let about = command.get_about().map(|about| about.to_string()).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let arguments = table(["argument", "default", "meaning"], shown(command).map(row));
    let arguments = if arguments.is_empty() { arguments } else { format!("\n{arguments}") };
    *page += &format!("\n## {name}\n\n{about}.\n\n```text\n{usage}\n```\n{arguments}");
    let inside = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    inside.for_each(|inner| section(inner, page));
}

#[test]
fn commands() {
    let mut command = args::command(&hosts());
    command.build();
    let codes = EXIT_CODES.iter().map(|(code, meaning)| [code.to_string(), meaning.to_string()]);
    let mut page = format!(
        "# Commands\n\n{}. `packetscale COMMAND --help` prints the same; on `--on`, also the kernels on this machine. `NO_COLOR` \
         turns colours off.\n\n## Exit codes\n\n{}",
        command.get_about().expect("what it is for"),
        table(["code", "meaning"], codes)
    );
    // In the order of the declaration, as the help has them; changing an argument of one has moved it to the end.
    for declared in Arguments::command().get_subcommands() {
        let hidden = ["guest", "help"].contains(&declared.get_name());
        if let Some(found) = command.find_subcommand(declared.get_name()).filter(|_| !hidden) {
            section(found, &mut page);
        }
    }
    assert_documented("commands.md", &page);
}
