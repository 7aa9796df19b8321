//! The `packetscale` command: arguments, words, exit codes.
//!
//! [`main_with`] is the whole command on a list of hosts; the binary calls it with [`hosts`]. A program with a host of its
//! own calls it with one more.

mod args;
mod attack;
mod completions;
mod create;
mod doctor;
mod estimate;
mod evaluate;
#[cfg(feature = "kernel")]
mod fetch;
mod finished;
mod hosts;
mod kernels;
mod list;
#[cfg(target_os = "linux")]
mod listening;
mod man;
mod matrix;
mod new_controller;
mod new_scenario;
mod outcome;
mod output;
#[cfg(target_os = "linux")]
mod peer;
mod place;
mod plugins;
#[cfg(target_os = "linux")]
mod probe;
mod probing;
mod program;
#[cfg(target_os = "linux")]
mod receive;
mod recordings;
#[cfg(test)]
mod reference;
mod renamed;
mod report;
mod reproduce;
mod run;
#[cfg(target_os = "linux")]
mod send;
#[cfg(target_os = "linux")]
mod serve;
mod sweep;
mod task;
#[cfg(feature = "kernel")]
mod tcp;
mod terminal;
mod theory;
mod trace;

pub use hosts::hosts;
pub use plugins::written as controller_written;
pub use program::PROGRAM;
pub use report::page_of;
pub use reproduce::{Chosen, chosen, outcome, read, write_page};

use args::judge::Judge;
use args::new::New;
use args::sweep::Sweep;
use args::{Arguments, Command};
use clap::FromArgMatches;
use experiment::scenario::visible;
use harness::runner::Host;
use outcome::Failure;
use output::say;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The command with these words, the first of which is its own name, on these hosts. The first host is the one where
/// runs are made if nothing says where.
pub fn main_with(hosts: &[&dyn Host], words: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(code_with(hosts, words))
}

/// As [`main_with`], for callers that end their process themselves: returns the exit code.
pub fn code_with(hosts: &[&dyn Host], words: impl IntoIterator<Item = OsString>) -> u8 {
    experiment::plugins::guarded(warn, || done_with(hosts, words))
}

/// A line on standard error.
fn warn(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

fn done_with(hosts: &[&dyn Host], words: impl IntoIterator<Item = OsString>) -> u8 {
    let words = renamed::current(words.into_iter().collect());
    let parsed = args::command(hosts).try_get_matches_from(words).and_then(|found| Arguments::from_arg_matches(&found));
    let done = match parsed {
        Ok(arguments) => perform(arguments.command, hosts),
        Err(refused) => {
            print(&refused);
            return if refused.use_stderr() { 2 } else { 0 };
        }
    };
    let (code, message) = match done {
        Ok(()) => return 0,
        Err(Failure::Missed) => return 1,
        Err(Failure::Reported(code)) => return code,
        Err(Failure::Input(message)) => (2, message),
        Err(Failure::Machine(message)) => (3, message),
    };
    terminal::wait_if_ending();
    warn(&message);
    code
}

/// Prints what is wrong with the arguments, in colours unless it quotes what controls a terminal.
fn print(refused: &clap::Error) {
    let text = refused.render().to_string();
    let _ = if visible(&text) == text { refused.print() } else { write!(std::io::stderr(), "{}", visible(&text)) };
}

fn perform(command: Command, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let first = || hosts::first(hosts);
    match command {
        Command::Run(arguments) => run::run(&arguments, hosts),
        Command::Sweep(Sweep::Plan(arguments)) => sweep::plan::plan(&arguments, hosts),
        Command::Sweep(Sweep::Merge(arguments)) => sweep::merge::merge(&arguments, hosts),
        Command::Sweep(Sweep::Submit(arguments)) => sweep::submit::submit(&arguments, hosts),
        Command::New(New::Scenario(arguments)) => new_scenario::scenario(&arguments),
        Command::New(New::Controller(arguments)) => new_controller::controller(&arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments, first()?),
        Command::Judge(Judge::Evaluate(arguments)) => evaluate::evaluate(&arguments, first()?),
        Command::Judge(Judge::Matrix(arguments)) => matrix::matrix(&arguments, first()?),
        Command::Judge(Judge::Attack(arguments)) => attack::attack(&arguments, hosts),
        Command::Report(arguments) => report::report(&arguments),
        Command::List { what, files, json } => list::list(what, &files, json).and_then(|text| say(&text)),
        Command::Theory(question) => theory::answer(&question),
        #[cfg(feature = "kernel")]
        Command::Tcp(command) => tcp::tcp(&command),
        #[cfg(feature = "kernel")]
        Command::Fetch { what } => fetch::fetch(&what),
        #[cfg(feature = "kernel")]
        Command::Guest => fetch::guest(),
        Command::Estimate(arguments) => estimate::estimate(&arguments),
        #[cfg(target_os = "linux")]
        Command::Live(command) => live(&command),
        Command::Doctor { json } => say(&doctor::doctor(hosts, json)),
        Command::Completions { shell } => completions::completions(shell, hosts),
        Command::Man { pages: None, .. } => man::page(hosts).and_then(|page| say(&page)),
        Command::Man { pages: Some(folder), replace } => man::pages(hosts, &folder, replace),
    }
}

#[cfg(target_os = "linux")]
fn live(command: &args::live::Live) -> Result<(), Failure> {
    use args::live::Live;
    match command {
        Live::Probe(arguments) => probe::probe(arguments),
        Live::Serve(arguments) => serve::serve(arguments),
        Live::Send(arguments) => send::send(arguments),
        Live::Receive(arguments) => receive::receive(arguments),
    }
}
