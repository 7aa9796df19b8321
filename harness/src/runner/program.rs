//! The program that makes the runs.

use crate::runner::digest::of_file;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Identity of the program: version and commit, or the executable itself without a commit. The compiler is left
/// out: the results are the same bytes.
#[derive(Debug)]
pub struct Program {
    version: &'static str,
    commit: Option<&'static str>,
    executable: OnceLock<Result<String, String>>,
}

impl Program {
    /// This version, built from this commit, `None` where it was built outside a repository. A build from changed sources
    /// has a distinct commit, as in `COMMIT+dirty-DIGEST`.
    pub const fn new(version: &'static str, commit: Option<&'static str>) -> Program {
        Program { version, commit, executable: OnceLock::new() }
    }

    /// Its version.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// The commit that it was built from, if known.
    pub fn commit(&self) -> Option<&'static str> {
        self.commit
    }

    /// A text that identifies it: the version and the commit; where the commit is unknown, the content of
    /// the executable, but not its path or time.
    ///
    /// # Errors
    /// When the commit is unknown and the executable cannot be read.
    pub(crate) fn identity(&self) -> Result<String, String> {
        match self.commit {
            Some(commit) => Ok(format!("{} {commit}", self.version)),
            None => {
                let content = self.executable.get_or_init(|| content(&executable()?)).clone()?;
                Ok(format!("{} unknown commit, executable sha256:{content}", self.version))
            }
        }
    }
}

/// The executable that is running, even if its file was replaced.
fn executable() -> Result<PathBuf, String> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() {
        return Ok(running);
    }
    std::env::current_exe().map_err(|error| format!("cannot find the program's own file: {error}"))
}

fn content(file: &Path) -> Result<String, String> {
    of_file(file).map(|(_, digest)| digest).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn with_a_commit_the_executable_does_not_matter() {
        assert_eq!(Program::new("1.2.3", Some("abc")).identity(), Ok("1.2.3 abc".to_string()));
        assert_ne!(
            Program::new("1.2.3", Some("abc+dirty-1")).identity(),
            Program::new("1.2.3", Some("abc")).identity()
        );
    }

    #[test]
    fn without_a_commit_identity_is_the_executables_content() {
        let identity = Program::new("1.2.3", None).identity().expect("the test reads itself");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = folder.path().join("copy");
        fs::copy(std::env::current_exe().expect("the test"), &copy).expect("copied");
        let file = fs::File::options().append(true).open(&copy).expect("opened");
        file.set_modified(std::time::UNIX_EPOCH).expect("another time");
        let copied = content(&copy).expect("read");
        assert!(identity.ends_with(&format!("sha256:{copied}")), "{identity}");
        fs::write(&copy, "another program").expect("written");
        assert_ne!(content(&copy).expect("read"), copied);
    }
}
