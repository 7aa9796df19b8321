//! `packetscale new controller`: a template for a controller, in a new folder.

use crate::args::new::{Language, NewController};
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// A file to write: its name in the folder, and its text. @NAME@ stands for the controller, @CONTROLLER@ for what names it
/// in a scenario.
type Template = (&'static str, &'static str);

const HEADER: &str = include_str!("../../controller/include/packetscale/controller.h");

const C: &[Template] = &[
    ("@NAME@.c", include_str!("../assets/controller/controller.c")),
    ("Makefile", include_str!("../assets/controller/Makefile")),
    ("@NAME@.toml", include_str!("../assets/controller/scenario.toml")),
];

const RUST: &[Template] = &[
    ("Cargo.toml", include_str!("../assets/controller/Cargo.toml.txt")),
    ("src/lib.rs", include_str!("../assets/controller/lib.rs")),
    ("@NAME@.toml", include_str!("../assets/controller/scenario.toml")),
];

const PYTHON: &[Template] = &[
    ("@NAME@.py", include_str!("../assets/controller/controller.py")),
    ("@NAME@.toml", include_str!("../assets/controller/scenario.toml")),
];

/// What is copied as it is: what C needs.
const FOR_C: &[Template] = &[("packetscale/controller.h", HEADER)];

/// What is copied as it is: the crate that Rust needs, so that nothing has to be fetched.
const FOR_RUST: &[Template] = &[
    ("packetscale-controller/include/packetscale/controller.h", HEADER),
    ("packetscale-controller/src/lib.rs", include_str!("../../controller/src/lib.rs")),
    ("packetscale-controller/src/abi.rs", include_str!("../../controller/src/abi.rs")),
    ("packetscale-controller/src/called.rs", include_str!("../../controller/src/called.rs")),
];

const WRAPPER: &str = include_str!("../assets/controller/wrapper.toml.txt");

/// What a controller in Python needs.
const MODULE: &str = "It needs the module packetscale. In packetscale's sources:\n  \
                      python/test.sh release && pip install target/python/wheels/packetscale-*.whl\n";

pub fn controller(arguments: &NewController) -> Result<(), Failure> {
    let name = arguments.name.as_str();
    check(name)?;
    let object = |file: String| format!("{{ kind = \"c\", file = \"{file}\" }}");
    let packetscale = format!("packetscale run {name}.toml");
    let (filled_in, copied, named, next): (_, &[Template], _, _) = match arguments.language {
        Language::C => (C, FOR_C, object(format!("{name}.so")), format!("make && {packetscale}")),
        Language::Rust => {
            let file = format!("target/release/lib{}.so", name.replace('-', "_"));
            (RUST, FOR_RUST, object(file), format!("cargo build --release && {packetscale}"))
        }
        // The module brings it: the command would not find it.
        Language::Python => (PYTHON, &[], format!("\"{name}\""), format!("python3 {name}.py")),
    };
    let filled = |text: &str| text.replace("@NAME@", name).replace("@CONTROLLER@", &named);
    let mut files: Vec<(String, String)> = filled_in.iter().map(|(file, text)| (filled(file), filled(text))).collect();
    files.extend(copied.iter().map(|(file, text)| (file.to_string(), text.to_string())));
    if matches!(arguments.language, Language::Rust) {
        let manifest = WRAPPER.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
        files.push(("packetscale-controller/Cargo.toml".to_string(), manifest));
    }
    write(Path::new(name), &files).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::Input(format!("{name}: found a file or folder; expected none")),
        _ => unwritable(Path::new(name), &error),
    })?;
    let needs = if matches!(arguments.language, Language::Python) { MODULE } else { "" };
    say(&format!("Written to {name}\nNext: cd {name} && {next}\n{needs}"))
}

/// The name is that of a folder, of a crate, and of the controller.
fn check(name: &str) -> Result<(), Failure> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) {
        let expected = "small letters, digits and -, beginning with a letter, like mine";
        return Err(Failure::Input(format!("NAME: found \"{name}\"; expected {expected}")));
    }
    if packetscale_models::congestion::find(name).is_some() {
        let expected = "a name that no controller of packetscale has";
        return Err(Failure::Input(format!("NAME: found \"{name}\"; expected {expected}")));
    }
    Ok(())
}

/// Writes a folder that is not there yet.
fn write(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    fs::create_dir(folder)?;
    for (file, text) in files {
        let file = folder.join(file);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}
