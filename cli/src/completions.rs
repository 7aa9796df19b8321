//! `packetscale completions`: what a shell completes.

use crate::args;
use crate::outcome::Failure;
use crate::output::say;
use clap::Command;
use harness::runner::Host;

/// Prints the script.
pub fn completions(shell: clap_complete::Shell, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown(&args::command(hosts)), "packetscale", &mut script);
    say(&String::from_utf8_lossy(&script))
}

/// The command without what its help hides: clap_complete would complete that, too.
fn shown(command: &Command) -> Command {
    // clap wants names that live as long as the program, which ends after this.
    let kept = |name: &str| -> &'static str { name.to_string().leak() };
    let copy = Command::new(kept(command.get_name()))
        .about(command.get_about().cloned().unwrap_or_default())
        .args(command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().filter(|inner| !inner.is_hide_set()).map(shown));
    match command.get_version() {
        Some(version) => copy.version(kept(version)),
        None => copy,
    }
}
