//! `packetscale completions`: what a shell completes.

use crate::args;
use crate::outcome::Failure;
use crate::output::say;
use harness::runner::Host;

/// Prints the script.
pub fn completions(shell: clap_complete::Shell, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(hosts), "packetscale", &mut script);
    say(&String::from_utf8_lossy(&script))
}
