//! Controllers of files, for the laws: CUBIC in C and the templates of `packetscale new controller` in C and Rust, compiled
//! here, and those that `PACKETSCALE_CONTROLLERS` names (separated by colons, as in `mine.so:other.so`).

#![allow(dead_code)]

use super::path;
use experiment::scenario::{ControllerSpec, FlowSpec};
use packetscale_models::units::Span;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const USERS: &str = "PACKETSCALE_CONTROLLERS";
const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// The templates' own text where a user's name goes.
const PLACE: &str = "@NAME@";
pub const AIMD_IN_C: &str = "aimd-in-c";
pub const AIMD_IN_RUST: &str = "aimd-in-rust";

/// The controllers of files, by their names. A language without a compiler is left out, with a message.
pub fn objects() -> &'static [(String, PathBuf)] {
    static OBJECTS: OnceLock<Vec<(String, PathBuf)>> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        let users = std::env::var_os(USERS).unwrap_or_default();
        let users = std::env::split_paths(&users).filter(|file| !file.as_os_str().is_empty()).collect::<Vec<_>>();
        let ours = [cubic_in_c(), aimd_in_c(), aimd_in_rust()].into_iter().flatten();
        let named = |file: PathBuf| {
            let object =
                experiment::plugins::open(&file).unwrap_or_else(|e| panic!("{}: {}", e.file.display(), e.found));
            (object.name.to_string(), file)
        };
        ours.chain(users).map(named).collect()
    })
}

/// One flow for each of them.
pub fn flows(packet: u64, rtt: Span) -> Vec<(String, FlowSpec)> {
    let flow = |(name, file): &(String, PathBuf)| {
        let (kind, label, file) = (name.clone(), name.clone(), Some(file.clone()));
        let controller = ControllerSpec { kind, label, file, ..ControllerSpec::default() };
        (name.clone(), FlowSpec { controller, ..path::flow(name, packet, rtt) })
    };
    objects().iter().map(flow).collect()
}

fn cubic_in_c() -> Option<PathBuf> {
    in_c("cubic-in-c", &Path::new(TOP).join("controller/examples/cubic.c"))
}

fn aimd_in_c() -> Option<PathBuf> {
    in_c(AIMD_IN_C, &of_template("controller.c", AIMD_IN_C))
}

fn in_c(name: &str, text: &Path) -> Option<PathBuf> {
    compiled(name, |object| {
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-O2", "-fPIC", "-ffp-contract=off", "-I"]);
        cc.arg(Path::new(TOP).join("controller/include")).arg(text).arg("-o").arg(object);
        vec![cc]
    })
}

fn aimd_in_rust() -> Option<PathBuf> {
    let (contract, text) = (scratch("libpacketscale_controller.rlib"), of_template("lib.rs", AIMD_IN_RUST));
    compiled(AIMD_IN_RUST, |object| {
        let rustc = |kind: &str, text: &Path, object: &Path| {
            let mut rustc = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string()));
            rustc.args(["--edition=2024", "-O", "-Cpanic=abort", "--crate-type", kind]).arg(text).arg("-o").arg(object);
            rustc
        };
        let mut own = rustc("rlib", &Path::new(TOP).join("controller/src/lib.rs"), &contract);
        own.args(["--crate-name", "packetscale_controller"]);
        let mut users = rustc("cdylib", &text, object);
        users.arg("--extern").arg(format!("packetscale_controller={}", contract.display()));
        vec![own, users]
    })
}

/// A template with the user's name put in.
fn of_template(template: &str, name: &str) -> PathBuf {
    let text =
        std::fs::read_to_string(Path::new(TOP).join("cli/assets/controller").join(template)).expect("a template");
    let file = scratch(&format!("{name}-{template}"));
    std::fs::write(&file, text.replace(PLACE, name)).expect("written");
    file
}

/// A file of this test program's own.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(concat!("files-of-", env!("CARGO_CRATE_NAME")));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name)
}

/// The object that these commands build from a source; `None` without the compiler.
fn compiled(name: &str, commands: impl Fn(&Path) -> Vec<Command>) -> Option<PathBuf> {
    let object = scratch(&format!("{name}.so"));
    for mut command in commands(&object) {
        match command.output() {
            Ok(output) => assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => {
                println!("left out: {name} ({}: {error})", command.get_program().display());
                return None;
            }
        }
    }
    Some(object)
}
