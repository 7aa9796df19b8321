//! A receiver's files: names from the network never leave the directory, partial files have a different name, and existing
//! files are not lost.

mod directory;
mod rename;

pub use directory::{Directory, Received, plain};

use crate::wire::{HASH, Reason};
use std::io;

/// Stores files.
pub trait Store: Send {
    /// A session's client wants to send a file of this name, perhaps repeatedly. `restart`: discard a partial file.
    fn open(&mut self, session: u64, name: &str, restart: bool) -> Opening;

    /// Releases files of sessions that have ended, or no longer request them.
    fn tidy(&mut self, is_there: &dyn Fn(u64) -> bool);
}

/// Result of opening a file.
pub enum Opening {
    /// Not yet known: the client will repeat its request.
    Later,
    /// It is open: its length and BLAKE3 hash so far.
    Open(Box<dyn Part>, u64, [u8; HASH]),
    /// Refused, for this reason; perhaps retry after this number of milliseconds.
    Refused(Reason, u32, String),
}

/// A partial file. Dropping it keeps its bytes, so that the client can resume.
pub trait Part: Send {
    /// The next bytes.
    ///
    /// # Errors
    /// The system's.
    fn append(&mut self, data: &[u8]) -> io::Result<()>;

    /// The client reports the end of data, perhaps repeatedly: saves the file under its name if length and hash agree.
    fn keep(&mut self, bytes: u64, hash: &[u8; HASH]) -> Keeping;
}

/// Whether a file is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// In progress: the client will repeat its request.
    Later,
    /// Flushed to disk, under its final name.
    Kept,
    /// Refused, for this reason.
    Refused(String),
}
