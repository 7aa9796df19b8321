//! The `packetscale` command.

mod args;
mod doctor;
mod estimate;
mod evaluate;
mod host;
mod list;
mod machine;
mod reproduce;
mod resume;
mod run;
#[cfg(feature = "kernel")]
mod tcp;
mod theory;
mod trace;

use args::{Arguments, Command};
use clap::{CommandFactory, Parser};
use std::io::Write;
use std::process::ExitCode;

/// Why the command ends with something else than 0.
enum Failure {
    /// An expectation was missed; the table has said which. Exit code 1.
    Missed,
    /// The input is wrong. Exit code 2, which is also clap's for wrong arguments.
    Input(String),
    /// This machine cannot do it. Exit code 3.
    Machine(String),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments),
        Command::Evaluate(arguments) => evaluate::evaluate(&arguments),
        Command::List { what } => list::list(what).and_then(|text| say(&text)),
        Command::Theory(question) => theory::answer(&question),
        #[cfg(feature = "kernel")]
        Command::Tcp(command) => tcp::tcp(&command),
        Command::Estimate(arguments) => estimate::estimate(&arguments),
        Command::Doctor => say(&doctor::doctor()),
        Command::Completions { shell } => say(&completions(shell)),
        Command::Man => man().and_then(|page| say(&page)),
    };
    let (code, message) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Missed) => return ExitCode::from(1),
        Err(Failure::Input(message)) => (2, message),
        Err(Failure::Machine(message)) => (3, message),
    };
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::from(code)
}

/// Prints on standard output. A reader that has gone away (`packetscale list queues | head -1`) is no mistake.
fn say(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Machine(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "packetscale", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// One page: the command, then each of its subcommands.
fn man() -> Result<String, Failure> {
    let mut page = Vec::new();
    let mut command = Arguments::command();
    command.build();
    let written = clap_mangen::Man::new(command.clone()).render(&mut page).and_then(|()| {
        command.get_subcommands().filter(|inner| inner.get_name() != "help").try_for_each(|inner| {
            let man = clap_mangen::Man::new(inner.clone());
            let name = inner.get_display_name().unwrap_or(inner.get_name()).replace('-', " ");
            writeln!(page, ".SH {}", name.to_uppercase())?;
            man.render_description_section(&mut page)?;
            man.render_synopsis_section(&mut page)?;
            man.render_options_section(&mut page)
        })
    });
    written.map_err(|error| Failure::Machine(error.to_string()))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
