//! `packetscale new scenario`: a commented scenario to begin with.

use crate::args::new::NewScenario;
use crate::create::create;
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use std::io::Write;
use std::path::Path;

const TEMPLATE: &str = include_str!("../assets/scenario.toml");

pub fn scenario(arguments: &NewScenario) -> Result<(), Failure> {
    let name = arguments.name.trim_end_matches(".toml");
    let file = Path::new(name).with_file_name(format!("{}.toml", stem(name)?));
    let shown = file.display();
    create(&file, arguments.output.replace)?
        .write_all(text(&shown.to_string()).as_bytes())
        .map_err(|error| unwritable(&file, &error))?;
    say(&format!("Written to {shown}\nNext: packetscale run {}\n", typed(&shown.to_string())))
}

/// The last part of the name, which is also what the results are called.
fn stem(name: &str) -> Result<String, Failure> {
    let stem = Path::new(name).file_name().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem.starts_with(char::is_alphanumeric) {
        return Ok(stem);
    }
    Err(Failure::Input(format!(
        "NAME: found \"{name}\"; expected a name that begins with a letter or digit, like first"
    )))
}

/// A word as it is typed in a shell.
fn typed(word: &str) -> String {
    shlex::try_quote(word).map_or(word.to_string(), String::from)
}

/// The template, with the file's own name in its commands.
fn text(file: &str) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    TEMPLATE.replace("out/NAME/", &format!("out/{stem}/")).replace("NAME.toml", &typed(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Scenario;

    fn runs(text: &str) -> usize {
        Scenario::parse(text, Path::new("first.toml"), &[]).unwrap_or_else(|error| panic!("{error}")).plan().len()
    }

    #[test]
    fn template_is_valid_with_and_without_optional_keys() {
        // Three controllers, three replications; three buffers.
        assert_eq!(runs(&text("first.toml")), 9);
        let all = text("first.toml").replace("#: ", "");
        assert_eq!(runs(&all), 27);
    }

    #[test]
    fn template_commands_name_the_file() {
        assert!(text("labs/mine.toml").contains("packetscale run labs/mine.toml --print"));
        assert!(text("my first.toml").contains("packetscale run 'my first.toml' --print"));
        assert!(text("labs/mine.toml").contains("out/mine/") && !text("labs/mine.toml").contains("NAME"));
    }
}
