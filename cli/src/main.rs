//! The `packetscale` command, on every host that it knows.

use std::process::ExitCode;

fn main() -> ExitCode {
    packetscale_cli::main_with(&packetscale_cli::hosts(), std::env::args_os())
}
