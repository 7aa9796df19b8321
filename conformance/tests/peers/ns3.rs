//! Programs of `ns3/`: compiled for runs without a stored result, and compared with ours (Debian packages `libns3-dev` and `g++`).

use super::{Stored, must_check_everything};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Programs compiled so far: tests of one process compile the same source side by side.
static COMPILED: AtomicU32 = AtomicU32::new(0);

/// A program of `ns3/`. What was compiled of it is removed when it is no longer needed.
pub struct Program {
    name: &'static str,
    libraries: &'static [&'static str],
    kept: Stored,
    /// Where it is compiled; `None`: ns-3 is not there.
    compiled: OnceLock<Option<PathBuf>>,
}

impl Program {
    /// `ns3/NAME.cc`, with the libraries of ns-3 that it needs.
    pub fn new(name: &'static str, libraries: &'static [&'static str]) -> Program {
        Program { name, libraries, kept: Stored::of(&format!("ns3/{name}.cc")), compiled: OnceLock::new() }
    }

    /// Returns the numbers that it prints after these words.
    pub fn run(&self, words: &[String]) -> Vec<f64> {
        self.kept.numbers(words, || {
            let program = self.compiled.get_or_init(|| self.compile()).as_ref()?;
            let output = Command::new(program).args(words).output().expect("starts");
            let text = String::from_utf8_lossy(&output.stdout);
            let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
            let numbers = numbers.ok().filter(|numbers| !numbers.is_empty());
            Some(numbers.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))))
        })
    }

    fn compile(&self) -> Option<PathBuf> {
        let (name, process, number) = (self.name, std::process::id(), COMPILED.fetch_add(1, Ordering::Relaxed));
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ns3-{name}-{process}-{number}"));
        let built = Command::new("g++")
            .args(["-std=c++17", "-O1", &format!("{}/ns3/{name}.cc", env!("CARGO_MANIFEST_DIR")), "-o"])
            .arg(&program)
            .args(self.libraries.iter().map(|library| format!("-lns3-{library}")))
            .output();
        let why = match built {
            Ok(output) if output.status.success() => return Some(program),
            Ok(output) => String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_string(),
            Err(error) => format!("g++: {error}"),
        };
        assert!(!must_check_everything(), "ns-3 (Debian packages libns3-dev, g++): {why}");
        println!("not repeated: no ns-3 (Debian packages libns3-dev, g++): {why}");
        None
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(Some(file)) = self.compiled.get() {
            let _ = std::fs::remove_file(file); // a file left in the build folder does no harm
        }
    }
}
