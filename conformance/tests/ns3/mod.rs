//! Programs of `ns3/`: compiled and run beside ours (Debian packages `libns3-dev` and `g++`).

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Programs compiled so far: tests of one process compile the same source side by side.
static COMPILED: AtomicU32 = AtomicU32::new(0);

/// A compiled program, removed when it is no longer needed.
pub struct Program(PathBuf);

impl Program {
    /// Compiles `ns3/NAME.cc`. Returns `None` without ns-3, which is a failure if everything must be checked.
    pub fn compile(name: &str, libraries: &[&str]) -> Option<Program> {
        let (process, number) = (std::process::id(), COMPILED.fetch_add(1, Ordering::Relaxed));
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ns3-{name}-{process}-{number}"));
        let source = format!("{}/ns3/{name}.cc", env!("CARGO_MANIFEST_DIR"));
        let built = Command::new("g++")
            .args(["-std=c++17", "-O1", &source, "-o"])
            .arg(&program)
            .args(libraries.iter().map(|library| format!("-lns3-{library}")))
            .output();
        let why = match built {
            Ok(output) if output.status.success() => return Some(Program(program)),
            Ok(output) => String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_string(),
            Err(error) => format!("g++: {error}"),
        };
        assert!(std::env::var("CI").as_deref() != Ok("true"), "ns-3 (Debian packages libns3-dev, g++): {why}");
        println!("skipped: no ns-3 (Debian packages libns3-dev, g++): {why}");
        None
    }

    /// Runs it with these words. Returns the numbers that it prints.
    pub fn run(&self, words: &[String]) -> Vec<f64> {
        let output = Command::new(&self.0).args(words).output().expect("starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        let numbers = numbers.ok().filter(|numbers| !numbers.is_empty());
        numbers.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // a file left in the build folder does no harm
    }
}
