//! Files in one directory. A file that is under way is called `.NAME.part`; it holds what has arrived in order, and nothing
//! else, so its length is how far it is. It is read again when a client comes back, in a thread of its own.

use super::rename::rename_unless_there;
use super::{Opening, Part, Store};
use crate::wire::{HASH, MOST_NAME, Reason, harmless};
use nix::errno::Errno;
use nix::libc;
use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// A client whose file another session still has is told to come again after this: sessions that are silent have ended then.
const RETRY_MS: u32 = 5_500;
/// Who asks no more for this long has gone: his file is unlocked.
const ASKS: Duration = Duration::from_secs(5);
/// Before and after the name of a file that is under way.
const AROUND: usize = ".".len() + ".part".len();

/// A directory that takes files.
pub struct Directory {
    path: PathBuf,
    /// Files that are there may be replaced.
    force: bool,
    /// What is being read again, by session: one file of each.
    reading: BTreeMap<u64, Reading>,
}

/// A file that is read again, and when its client asked last. Dropping it ends the reading.
struct Reading {
    name: String,
    taken: Receiver<io::Result<Taken>>,
    _wanted: Arc<()>,
    asked: Instant,
}

/// Reads a file as long as somebody waits for it.
struct WhileWanted<'a>(&'a File, &'a Weak<()>);

impl Read for WhileWanted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.strong_count() == 0 {
            return Err(io::Error::other("its client has gone"));
        }
        self.0.read(buffer)
    }
}

/// A file that is under way.
struct Taken {
    /// Locked.
    file: File,
    under_way: PathBuf,
    name: PathBuf,
    force: bool,
    bytes: u64,
    hasher: blake3::Hasher,
    /// It is called [`Taken::under_way`] no longer.
    gone: bool,
}

/// A name from the network as a name in a directory: its last part, without what a file system or a terminal may take for
/// something else. It never begins with a dot.
pub fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean = harmless(last);
    let clean = match clean.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if clean.is_empty() => "unnamed".to_string(),
        None => clean,
    };
    clean[..clean.floor_char_boundary(MOST_NAME - AROUND)].to_string()
}

impl Directory {
    /// `force`: files that are there may be replaced.
    ///
    /// # Errors
    /// It is no directory.
    pub fn new(path: &Path, force: bool) -> io::Result<Directory> {
        if !std::fs::metadata(path)?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no directory"));
        }
        Ok(Directory { path: path.to_path_buf(), force, reading: BTreeMap::new() })
    }

    /// Opens and locks what is under way, and begins to read it.
    fn begin(&self, name: &str, anew: bool) -> io::Result<Option<Reading>> {
        let (named, under_way) = (self.path.join(name), self.path.join(format!(".{name}.part")));
        let mut options = OpenOptions::new();
        // A link that somebody else has put there is not followed.
        options.read(true).write(true).create(true).truncate(false).mode(0o644).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&under_way)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("what is there is no ordinary file"));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if !std::fs::symlink_metadata(&under_way).is_ok_and(|there| same(&there, &file)) {
            // Between opening and locking, who had it has renamed or removed it.
            return Ok(None);
        }
        if anew {
            file.set_len(0)?;
        }
        let (force, hasher) = (self.force, blake3::Hasher::new());
        let file = Taken { file, under_way, name: named, force, bytes: 0, hasher, gone: false };
        let (read, taken) = mpsc::channel();
        let wanted = Arc::new(());
        let waits = Arc::downgrade(&wanted);
        std::thread::Builder::new().name("receive-read".to_string()).spawn(move || {
            let _ = read.send(file.read_again(&waits));
        })?;
        Ok(Some(Reading { name: name.to_string(), taken, _wanted: wanted, asked: Instant::now() }))
    }
}

fn same(there: &Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|this| (this.dev(), this.ino()) == (there.dev(), there.ino()))
}

impl Store for Directory {
    fn open(&mut self, session: u64, name: &str, anew: bool) -> Opening {
        let name = plain(name);
        let refused = |why: &dyn std::fmt::Display| Opening::Refused(Reason::Unwanted, 0, format!("{name}: {why}"));
        // Who asks for another file waits no more for the one before.
        let reading = match self.reading.remove(&session).filter(|reading| reading.name == name) {
            Some(reading) => reading,
            None if !self.force && std::fs::symlink_metadata(self.path.join(&name)).is_ok() => {
                return refused(&"it is there already; packetscale receive --force would replace it");
            }
            None => match self.begin(&name, anew) {
                Ok(Some(reading)) => reading,
                Ok(None) => {
                    let text = format!("{name}: another session writes it");
                    return Opening::Refused(Reason::Busy, RETRY_MS, text);
                }
                Err(error) => return refused(&error),
            },
        };
        match reading.taken.try_recv() {
            Ok(Ok(taken)) => {
                let (bytes, hash) = (taken.bytes, taken.hash());
                Opening::Open(Box::new(taken), bytes, hash)
            }
            Ok(Err(error)) => refused(&error),
            Err(TryRecvError::Empty) => {
                self.reading.insert(session, Reading { asked: Instant::now(), ..reading });
                Opening::Later
            }
            Err(TryRecvError::Disconnected) => refused(&"it cannot be read"),
        }
    }

    fn tidy(&mut self, is_there: &dyn Fn(u64) -> bool) {
        self.reading.retain(|session, reading| is_there(*session) && reading.asked.elapsed() < ASKS);
    }
}

impl Taken {
    fn read_again(mut self, waits: &Weak<()>) -> io::Result<Taken> {
        self.hasher.update_reader(WhileWanted(&self.file, waits))?;
        self.bytes = self.file.metadata()?.len();
        if self.hasher.count() != self.bytes {
            return Err(io::Error::other("somebody else writes it"));
        }
        Ok(self)
    }

    fn hash(&self) -> [u8; HASH] {
        if self.bytes == 0 { [0; HASH] } else { *self.hasher.finalize().as_bytes() }
    }
}

impl Part for Taken {
    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        self.file.write_all(data)?;
        self.hasher.update(data);
        self.bytes += data.len() as u64;
        Ok(())
    }

    fn keep(&mut self, bytes: u64, hash: &[u8; HASH]) -> Result<(), String> {
        if self.bytes != bytes || self.hasher.finalize() != blake3::Hash::from_bytes(*hash) {
            // What is wrong must not be continued.
            self.gone = true;
            let _ = std::fs::remove_file(&self.under_way);
            return Err("what arrived is not what was sent: it was removed".to_string());
        }
        self.named().map_err(|error| format!("{}: cannot have its name: {error}", self.under_way.display()))?;
        self.gone = true;
        Ok(())
    }
}

impl Taken {
    /// Gives the file its name.
    fn named(&self) -> io::Result<()> {
        if self.force {
            return std::fs::rename(&self.under_way, &self.name);
        }
        match rename_unless_there(&self.under_way, &self.name) {
            // Not every file system can (NFS). A link does not replace, either.
            Err(Errno::EINVAL | Errno::ENOSYS) => {
                std::fs::hard_link(&self.under_way, &self.name)?;
                std::fs::remove_file(&self.under_way)
            }
            other => other.map_err(io::Error::from),
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // Nothing of it has arrived: there is nothing to go on with. It is still locked.
        if !self.gone && self.file.metadata().is_ok_and(|file| file.len() == 0) {
            let _ = std::fs::remove_file(&self.under_way);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks until it is known.
    fn opened(store: &mut Directory, session: u64, name: &str, anew: bool) -> Opening {
        loop {
            match store.open(session, name, anew) {
                Opening::Later => std::thread::yield_now(),
                known => return known,
            }
        }
    }

    fn hash(data: &[u8]) -> [u8; HASH] {
        *blake3::hash(data).as_bytes()
    }

    #[test]
    fn names_from_the_network_are_only_names() {
        for (name, expected) in [
            ("a.txt", "a.txt"),
            ("../../etc/passwd", "passwd"),
            ("/etc/passwd", "passwd"),
            ("..\\x", "x"),
            ("..", "_."),
            (".", "_"),
            (".bashrc", "_bashrc"),
            ("", "unnamed"),
            ("a/", "unnamed"),
            ("a\0b\x1b[2J\n", "a_b_[2J_"),
            ("naïve ü", "naïve ü"),
            ("a\u{202e}txt.\u{2066}exe\u{200f}", "a_txt._exe_"),
        ] {
            assert_eq!(plain(name), expected, "{name:?}");
        }
        let long = plain(&"ü".repeat(200));
        assert!(long.len() + AROUND <= MOST_NAME && long.chars().all(|c| c == 'ü'));
    }

    #[test]
    fn a_file_that_was_left_in_the_middle_goes_on_and_gets_its_name_at_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Directory::new(folder.path(), false).expect("a store");
        let Opening::Open(mut part, 0, none) = opened(&mut store, 1, "x/data", false) else { panic!("not opened") };
        assert_eq!(none, [0; HASH]);
        part.append(b"one ").expect("written");
        let busy = opened(&mut store, 2, "data", false);
        assert!(matches!(busy, Opening::Refused(Reason::Busy, 1.., _)));
        drop(part);
        let Opening::Open(mut part, 4, known) = opened(&mut store, 2, "data", false) else { panic!("not opened") };
        assert_eq!(known, hash(b"one "));
        part.append(b"two").expect("written");
        assert!(!folder.path().join("data").exists());
        part.keep(7, &hash(b"one two")).expect("kept");
        assert_eq!(std::fs::read(folder.path().join("data")).expect("there"), b"one two");
        assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 1);
        assert!(matches!(opened(&mut store, 3, "data", false), Opening::Refused(Reason::Unwanted, 0, _)));
    }

    #[test]
    fn what_is_there_is_replaced_only_by_force_and_what_differs_is_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("data"), b"old").expect("written");
        let mut store = Directory::new(folder.path(), true).expect("a store");
        let Opening::Open(mut part, ..) = opened(&mut store, 1, "data", false) else { panic!("not opened") };
        part.append(b"new").expect("written");
        assert!(part.keep(3, &hash(b"neu")).is_err());
        drop(part);
        assert_eq!(std::fs::read(folder.path().join("data")).expect("there"), b"old");
        let Opening::Open(mut part, 0, _) = opened(&mut store, 2, "data", false) else { panic!("not opened") };
        part.append(b"new").expect("written");
        part.keep(3, &hash(b"new")).expect("kept");
        assert_eq!(std::fs::read(folder.path().join("data")).expect("there"), b"new");
    }

    #[test]
    fn a_session_that_names_many_files_has_one_and_leaves_none_that_is_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Directory::new(folder.path(), false).expect("a store");
        for name in 0..100 {
            let _ = store.open(1, &format!("file{name}"), false);
            assert!(store.reading.len() <= 1);
        }
        drop(opened(&mut store, 1, "last", false));
        let _ = store.open(2, "other", false);
        store.tidy(&|session| session == 1);
        assert!(store.reading.is_empty());
        // The threads that were reading notice soon that nobody waits.
        while std::fs::read_dir(folder.path()).expect("read").count() > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_begins_anew_does_not_get_what_was_there_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(".data.part"), b"of another").expect("written");
        let mut store = Directory::new(folder.path(), false).expect("a store");
        assert!(matches!(opened(&mut store, 1, "data", true), Opening::Open(_, 0, _)));
        std::fs::write(folder.path().join("elsewhere"), b"precious").expect("written");
        std::os::unix::fs::symlink("elsewhere", folder.path().join(".linked.part")).expect("a link");
        assert!(matches!(opened(&mut store, 1, "linked", true), Opening::Refused(Reason::Unwanted, ..)));
        assert_eq!(std::fs::read(folder.path().join("elsewhere")).expect("there"), b"precious");
    }
}
