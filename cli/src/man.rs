//! Pages of the manual, from the arguments' own texts.

use crate::args::{self, Arguments};
use crate::create::taken;
use crate::outcome::{Failure, unwritable};
use clap::CommandFactory;
use clap_mangen::Man;
use harness::runner::Host;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a page for the command and one for each of its subcommands: `packetscale-run.1`. Files of these names are overwritten
/// only to `replace` them.
pub fn pages(hosts: &[&dyn Host], folder: &Path, replace: bool) -> Result<(), Failure> {
    let mut command = args::command(hosts).disable_help_subcommand(true);
    command.build();
    let pages: Vec<Man> = each(&command).into_iter().map(Man::new).collect();
    let there = |file: &PathBuf| file.symlink_metadata().ok().map(|found| found.is_file());
    let mut files = pages.iter().map(|page| folder.join(page.get_filename()));
    // A link may lead to nowhere, and a pipe is written without an end.
    if let Some(file) = files.clone().find(|file| there(file) == Some(false)) {
        return Err(Failure::Input(format!("{}: found no regular file; expected none, or a page", file.display())));
    }
    if let Some(file) = files.find(|file| there(file).is_some()).filter(|_| !replace) {
        return Err(taken(&file));
    }
    let written = || pages.iter().try_for_each(|page| page.generate_to(folder).map(drop));
    std::fs::create_dir_all(folder).and_then(|()| written()).map_err(|error| unwritable(folder, &error))
}

/// A command and those inside it that help shows.
fn each(command: &clap::Command) -> Vec<clap::Command> {
    let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set()).flat_map(each);
    inner.chain([command.clone()]).collect()
}

/// One page: the command, each of its subcommands in the order of its help, and what holds for all of them.
pub fn page(hosts: &[&dyn Host]) -> Result<String, Failure> {
    let mut command = args::command(hosts);
    command.build();
    written(&command)
        .map(|page| String::from_utf8_lossy(&page).into_owned())
        .map_err(|error| Failure::Machine(error.to_string()))
}

fn written(command: &clap::Command) -> std::io::Result<Vec<u8>> {
    let (mut page, man) = (Vec::new(), Man::new(command.clone()));
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    // In the order of the declaration, as the help has them; changing an argument of one has moved it to the end.
    for declared in Arguments::command().get_subcommands() {
        if let Some(found) = command.find_subcommand(declared.get_name()).filter(|found| !found.is_hide_set()) {
            writeln!(page, ".SH {}", name_of(found).to_uppercase())?;
            described(&mut page, found)?;
        }
    }
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}

/// `packetscale theory burstiness`.
fn name_of(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).replace('-', " ")
}

/// What a subcommand does, how it is written, its arguments; and the same of those inside it.
fn described(page: &mut Vec<u8>, command: &clap::Command) -> std::io::Result<()> {
    let (mut inner, man) = (Vec::new(), Man::new(command.clone()));
    man.render_description_section(&mut inner)?;
    man.render_synopsis_section(&mut inner)?;
    man.render_options_section(&mut inner)?;
    // Sections of a separate page are subsections here.
    let text = String::from_utf8_lossy(&inner).into_owned();
    let kept = text.lines().filter(|line| !line.starts_with(".ie ") && !line.starts_with(".el "));
    let lower = |line: &str| line.strip_prefix(".SH ").map_or(line.to_string(), |title| format!(".SS {title}"));
    kept.map(lower).try_for_each(|line| writeln!(page, "{line}"))?;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set()) {
        writeln!(page, ".SS \"{}\"", name_of(inner).to_uppercase())?;
        described(page, inner)?;
    }
    Ok(())
}
