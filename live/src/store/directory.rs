//! Stores files in one directory. An incomplete file is called `.NAME.part`; it holds exactly the bytes that arrived in order,
//! so its length is the progress. When a client resumes it, a separate thread reads it again.

use super::rename::rename_unless_there;
use super::{Keeping, Opening, Part, Store};
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

/// Retry delay for a client whose file is locked by another session: silent sessions have ended by then.
const RETRY_MS: u32 = 5_500;
/// Time without a request after which a client counts as gone, and its file is unlocked.
const IDLE_LIMIT: Duration = Duration::from_secs(5);
/// Prefix and suffix of a partial file's name.
const AROUND: usize = ".".len() + ".part".len();

/// A received file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its name in the directory.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its BLAKE3 hash.
    pub hash: [u8; HASH],
}

/// Called for each file that was received.
type OnReceived = Arc<dyn Fn(&Received) + Send + Sync>;

/// Stores files in a directory.
pub struct Directory {
    path: PathBuf,
    on_received: OnReceived,
    /// Whether existing files may be replaced.
    replace: bool,
    /// Partial files being read again: at most one per session.
    reading: BTreeMap<u64, Reading>,
}

/// A partial file being read again, and the time of its client's last request. Dropping it stops the reading.
struct Reading {
    name: String,
    taken: Receiver<io::Result<Taken>>,
    _interest: Arc<()>,
    requested: Instant,
}

/// Reads a file while its client waits for it.
struct WhileWanted<'a>(&'a File, &'a Weak<()>);

impl Read for WhileWanted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.strong_count() == 0 {
            return Err(io::Error::other("the client has stopped asking for it"));
        }
        self.0.read(buffer)
    }
}

/// A partial file.
struct Taken {
    /// Locked.
    file: File,
    place: Place,
    bytes: u64,
    hasher: blake3::Hasher,
    /// Whether it no longer has the name [`Place::under_way`], or is about to lose it.
    gone: bool,
    /// Receives the result while the file is being saved under its name.
    naming: Option<Receiver<io::Result<()>>>,
    on_received: OnReceived,
}

/// Paths of a partial file and of the final one.
#[derive(Clone)]
struct Place {
    folder: PathBuf,
    under_way: PathBuf,
    name: String,
    /// Whether it may replace a file.
    replace: bool,
}

/// A name from the network as a name in a directory: its last part, without characters that a file system or a terminal
/// interprets. It never begins with a dot.
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
    /// `replace`: existing files may be replaced. `on_received` is called for each file that was received.
    ///
    /// # Errors
    /// The path is not a directory.
    pub fn new(
        path: &Path,
        replace: bool,
        on_received: impl Fn(&Received) + Send + Sync + 'static,
    ) -> io::Result<Directory> {
        if !std::fs::metadata(path)?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "found a file; expected a directory"));
        }
        Ok(Directory {
            path: path.to_path_buf(),
            on_received: Arc::new(on_received),
            replace,
            reading: BTreeMap::new(),
        })
    }

    /// Opens and locks a partial file, and starts to read it.
    fn begin(&self, name: &str, restart: bool) -> io::Result<Option<Reading>> {
        let under_way = self.path.join(format!(".{name}.part"));
        let mut options = OpenOptions::new();
        // Do not follow a symbolic link that someone else has created.
        options.read(true).write(true).create(true).truncate(false).mode(0o644).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&under_way)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("found a special file; expected a regular file"));
        }
        // Another name of the file may be anywhere on the disk.
        if found.nlink() > 1 {
            return Err(io::Error::other(format!(
                "found .{name}.part with {} hard links; expected one: remove it",
                found.nlink()
            )));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if !std::fs::symlink_metadata(&under_way).is_ok_and(|there| same(&there, &file)) {
            // The previous holder renamed or removed it between opening and locking.
            return Ok(None);
        }
        if restart {
            file.set_len(0)?;
        }
        let place = Place { folder: self.path.clone(), under_way, name: name.to_string(), replace: self.replace };
        let (hasher, on_received) = (blake3::Hasher::new(), Arc::clone(&self.on_received));
        let file = Taken { file, place, bytes: 0, hasher, gone: false, naming: None, on_received };
        let (read, taken) = mpsc::channel();
        let interest = Arc::new(());
        let waits = Arc::downgrade(&interest);
        std::thread::Builder::new().name("receive-read".to_string()).spawn(move || {
            let _ = read.send(file.read_again(&waits));
        })?;
        Ok(Some(Reading { name: name.to_string(), taken, _interest: interest, requested: Instant::now() }))
    }
}

fn same(there: &Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|this| (this.dev(), this.ino()) == (there.dev(), there.ino()))
}

impl Store for Directory {
    fn open(&mut self, session: u64, name: &str, restart: bool) -> Opening {
        let name = plain(name);
        let refused = |why: &dyn std::fmt::Display| Opening::Refused(Reason::Unwanted, 0, format!("{name}: {why}"));
        // A request for another file cancels the one before.
        let reading = match self.reading.remove(&session).filter(|reading| reading.name == name) {
            Some(reading) => reading,
            None if !self.replace && std::fs::symlink_metadata(self.path.join(&name)).is_ok() => {
                return refused(&"it exists; packetscale live receive --replace would overwrite it");
            }
            None => match self.begin(&name, restart) {
                Ok(Some(reading)) => reading,
                Ok(None) => {
                    let text = format!("{name}: the file is locked by another session");
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
                self.reading.insert(session, Reading { requested: Instant::now(), ..reading });
                Opening::Later
            }
            Err(TryRecvError::Disconnected) => refused(&"it cannot be read"),
        }
    }

    fn tidy(&mut self, is_there: &dyn Fn(u64) -> bool) {
        self.reading.retain(|session, reading| is_there(*session) && reading.requested.elapsed() < IDLE_LIMIT);
    }
}

impl Taken {
    fn read_again(mut self, waits: &Weak<()>) -> io::Result<Taken> {
        self.hasher.update_reader(WhileWanted(&self.file, waits))?;
        self.bytes = self.file.metadata()?.len();
        if self.hasher.count() != self.bytes {
            return Err(io::Error::other("another process is writing the file"));
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

    fn keep(&mut self, bytes: u64, hash: &[u8; HASH]) -> Keeping {
        let not = |error: io::Error| {
            Keeping::Refused(format!("{}: cannot rename it to its final name: {error}", self.place.under_way.display()))
        };
        let Some(naming) = &self.naming else {
            if self.bytes != bytes || self.hasher.finalize() != blake3::Hash::from_bytes(*hash) {
                // Never resume a wrong file.
                self.gone = true;
                let _ = std::fs::remove_file(&self.place.under_way);
                return Keeping::Refused("the hash differs from the sender's: the file was removed".to_string());
            }
            return match self.named(hash) {
                Ok(naming) => {
                    (self.gone, self.naming) = (true, Some(naming));
                    Keeping::Later
                }
                Err(error) => not(error),
            };
        };
        match naming.try_recv() {
            Ok(Ok(())) => Keeping::Kept,
            Ok(Err(error)) => not(error),
            Err(TryRecvError::Empty) => Keeping::Later,
            Err(TryRecvError::Disconnected) => not(io::Error::other("its thread has ended")),
        }
    }
}

impl Taken {
    /// Starts to flush the file and to rename it to its name, in a separate thread: disks may be slow, and other clients must
    /// not wait. The file stays locked meanwhile.
    fn named(&self, hash: &[u8; HASH]) -> io::Result<Receiver<io::Result<()>>> {
        let (file, place, on_received) = (self.file.try_clone()?, self.place.clone(), Arc::clone(&self.on_received));
        let received = Received { name: place.name.clone(), bytes: self.bytes, hash: *hash };
        let (done, naming) = mpsc::channel();
        std::thread::Builder::new().name("receive-keep".to_string()).spawn(move || {
            let saved = file.sync_all().and_then(|()| place.name());
            if saved.is_ok() {
                on_received(&received);
            }
            let _ = done.send(saved);
        })?;
        Ok(naming)
    }
}

impl Place {
    /// Renames the file to its final name, and flushes the directory.
    fn name(&self) -> io::Result<()> {
        let named = self.folder.join(&self.name);
        if self.replace {
            std::fs::rename(&self.under_way, &named)?;
        } else {
            match rename_unless_there(&self.under_way, &named) {
                // Some file systems (NFS) cannot do this. A hard link does not replace a file, either.
                Err(Errno::EINVAL | Errno::ENOSYS) => {
                    std::fs::hard_link(&self.under_way, &named)?;
                    std::fs::remove_file(&self.under_way)?;
                }
                other => other.map_err(io::Error::from)?,
            }
        }
        // Some file systems cannot flush a directory; the file itself is flushed.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // Nothing of it has arrived, so nothing can be resumed. It is still locked.
        if !self.gone && self.file.metadata().is_ok_and(|file| file.len() == 0) {
            let _ = std::fs::remove_file(&self.place.under_way);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repeats the request until the result is known.
    fn opened(store: &mut Directory, session: u64, name: &str, restart: bool) -> Opening {
        loop {
            match store.open(session, name, restart) {
                Opening::Later => std::thread::yield_now(),
                known => return known,
            }
        }
    }

    /// A directory without a callback.
    fn directory(path: &Path, replace: bool) -> Directory {
        Directory::new(path, replace, |_| {}).expect("a store")
    }

    /// Repeats the request until the result is known.
    fn kept(part: &mut Box<dyn Part>, bytes: u64, hash: &[u8; HASH]) -> Keeping {
        loop {
            match part.keep(bytes, hash) {
                Keeping::Later => std::thread::yield_now(),
                known => return known,
            }
        }
    }

    fn hash(data: &[u8]) -> [u8; HASH] {
        *blake3::hash(data).as_bytes()
    }

    #[test]
    fn network_names_cannot_leave_directory() {
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
    fn resumes_partial_file_and_renames_it_at_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = directory(folder.path(), false);
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
        assert_eq!(kept(&mut part, 7, &hash(b"one two")), Keeping::Kept);
        assert_eq!(std::fs::read(folder.path().join("data")).expect("there"), b"one two");
        assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 1);
        assert!(matches!(opened(&mut store, 3, "data", false), Opening::Refused(Reason::Unwanted, 0, _)));
    }

    #[test]
    fn overwrites_only_on_request_and_drops_corrupt_file() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("data"), b"old").expect("written");
        let mut store = directory(folder.path(), true);
        let Opening::Open(mut part, ..) = opened(&mut store, 1, "data", false) else { panic!("not opened") };
        part.append(b"new").expect("written");
        assert!(matches!(kept(&mut part, 3, &hash(b"neu")), Keeping::Refused(_)));
        drop(part);
        assert_eq!(std::fs::read(folder.path().join("data")).expect("there"), b"old");
        let Opening::Open(mut part, 0, _) = opened(&mut store, 2, "data", false) else { panic!("not opened") };
        part.append(b"new").expect("written");
        assert_eq!(kept(&mut part, 3, &hash(b"new")), Keeping::Kept);
        assert_eq!(std::fs::read(folder.path().join("data")).expect("there"), b"new");
    }

    #[test]
    fn session_has_one_file_and_leaves_no_empty_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = directory(folder.path(), false);
        for name in 0..100 {
            let _ = store.open(1, &format!("file{name}"), false);
            assert!(store.reading.len() <= 1);
        }
        drop(opened(&mut store, 1, "last", false));
        let _ = store.open(2, "other", false);
        store.tidy(&|session| session == 1);
        assert!(store.reading.is_empty());
        // The reading threads notice soon that no client waits.
        while std::fs::read_dir(folder.path()).expect("read").count() > 0 {
            std::thread::yield_now();
        }
    }

    /// Once the callback runs the file is saved, even if the client has gone.
    #[test]
    fn saves_file_without_further_requests() {
        let folder = tempfile::tempdir().expect("a folder");
        let (on_received, received) = mpsc::channel();
        let on_received = move |received: &Received| drop(on_received.send(received.clone()));
        let mut store = Directory::new(folder.path(), false, on_received).expect("a store");
        let Opening::Open(mut part, ..) = opened(&mut store, 1, "data", false) else { panic!("not opened") };
        part.append(b"all").expect("written");
        let _ = part.keep(3, &hash(b"all"));
        drop(part);
        let expected = Received { name: "data".to_string(), bytes: 3, hash: hash(b"all") };
        assert_eq!(received.recv().expect("sent"), expected);
        assert_eq!(std::fs::read(folder.path().join("data")).expect("there"), b"all");
    }

    #[test]
    fn restart_discards_partial_and_follows_no_link() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(".data.part"), b"of another").expect("written");
        let mut store = directory(folder.path(), false);
        assert!(matches!(opened(&mut store, 1, "data", true), Opening::Open(_, 0, _)));
        std::fs::write(folder.path().join("elsewhere"), b"precious").expect("written");
        std::os::unix::fs::symlink("elsewhere", folder.path().join(".linked.part")).expect("a link");
        assert!(matches!(opened(&mut store, 1, "linked", true), Opening::Refused(Reason::Unwanted, ..)));
        assert_eq!(std::fs::read(folder.path().join("elsewhere")).expect("there"), b"precious");
    }

    #[test]
    fn writes_through_no_hard_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let victim = folder.path().join("victim");
        std::fs::write(&victim, b"precious").expect("written");
        std::fs::hard_link(&victim, folder.path().join(".data.part")).expect("a link");
        let mut store = directory(folder.path(), false);
        for restart in [false, true] {
            let Opening::Refused(Reason::Unwanted, _, why) = opened(&mut store, 1, "data", restart) else {
                panic!("not refused")
            };
            assert!(why.contains("2 hard links"), "{why}");
        }
        assert_eq!(std::fs::read(&victim).expect("there"), b"precious");
    }
}
