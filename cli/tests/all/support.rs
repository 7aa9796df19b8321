//! The command as users call it, in a new folder.
#![allow(dead_code)] // each test program uses some of it

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_packetscale");

/// What a command printed, and its exit code.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(command: &mut Command) -> Said {
        command.output().expect("the command starts").into()
    }

    /// The one JSON value on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// A folder that is removed in the end.
pub struct Place(TempDir);

impl Place {
    pub fn empty() -> Place {
        Place(tempfile::tempdir().expect("a temporary folder"))
    }

    /// With this scenario in `small.toml`.
    pub fn with(scenario: &str) -> Place {
        let place = Place::empty();
        place.write("small.toml", scenario);
        place
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.at(name).exists()
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Writes a file, and the folders that lead to it.
    #[track_caller]
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let file = self.at(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, content).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// The names in a folder of it, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(folder)).expect("the folder").map(|entry| entry.expect("one").file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().expect("text")).collect();
        names.sort();
        names
    }

    /// The command with the words of this line.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words(line)).current_dir(self.path());
        command
    }

    pub fn says(&self, line: &str) -> Said {
        Said::of(&mut self.command(line))
    }

    /// The command ends with 0.
    #[track_caller]
    pub fn done(&self, line: &str) -> Said {
        let said = self.says(line);
        assert_eq!(said.code, Some(0), "{line}: {}", said.err);
        said
    }

    /// Why the command ended with 2.
    #[track_caller]
    pub fn refused(&self, line: &str) -> String {
        let said = self.says(line);
        assert_eq!(said.code, Some(2), "{line}: {}", said.err);
        said.err
    }

    /// A shell's command ends with 0; `packetscale` is this program.
    #[track_caller]
    pub fn shell(&self, script: &str) -> Said {
        let mut shell = Command::new("sh");
        let said = Said::of(shell.args(["-e", "-c", script]).current_dir(self.path()).env("PATH", search_path()));
        assert_eq!(said.code, Some(0), "{script}: {}", said.err);
        said
    }

    /// Starts the command, sends it a signal as soon as it is `ready`, and returns what it said.
    pub fn interrupted(&self, line: &str, signal: &str, ready: impl Fn() -> bool) -> Said {
        let mut command = self.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        // Not a limit on speed: it ends a test that would wait for ever.
        let deadline = Instant::now() + Duration::from_secs(600);
        while !ready() {
            let waits = child.try_wait().expect("its state").is_none() && Instant::now() < deadline;
            assert!(waits, "{line}: it was done or late before it was interrupted");
            std::thread::sleep(Duration::from_millis(1));
        }
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status();
        assert!(sent.expect("sh starts").success());
        child.wait_with_output().expect("the command ends").into()
    }
}

/// The words of a line as a shell splits it: single quotes keep spaces.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("a word").push(letter),
        }
    }
    words
}

/// PATH for programs that start `packetscale` by its name: the command's own folder first.
pub fn search_path() -> String {
    let own = Path::new(PROGRAM).parent().expect("a folder");
    format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default())
}

/// The folder that holds all crates.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The blocks of a language in a page of the documentation.
pub fn blocks(page: &str, language: &str) -> Vec<String> {
    let page = fs::read_to_string(repository().join("docs").join(page)).expect("the page");
    let opening = format!("```{language}\n");
    let parts = page.split(&opening).skip(1);
    parts.map(|part| part.split("```").next().expect("its text").to_string()).collect()
}

/// The files of results that depend on scenario and seed only.
fn comparable(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let timed = |name: &str| name.starts_with("timing.") || name == "report.html" || name == "submit.sh";
    let paths = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<(String, Vec<u8>)> = paths
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path))
        .filter(|(name, _)| !timed(name))
        .map(|(name, path)| (name, fs::read(path).expect("read")))
        .collect();
    files.sort();
    files
}

/// Two folders have the same results, byte by byte.
#[track_caller]
pub fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (comparable(one), comparable(other));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    assert!(one.iter().any(|(name, bytes)| name == "runs.csv" && bytes.len() > 1000));
    for (one, other) in one.iter().zip(&other) {
        assert!(one.1 == other.1, "{}", one.0);
    }
}
