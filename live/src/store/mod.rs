//! Where a receiver puts files: names from the network are only names, a file that is under way has another one, and what
//! is there is not lost.

mod directory;
mod rename;

pub use directory::{Directory, Received, plain};

use crate::wire::{HASH, Reason};
use std::io;

/// Takes files.
pub trait Store: Send {
    /// A session's client wants to send a file of this name, perhaps repeatedly. `restart`: discard a partial file.
    fn open(&mut self, session: u64, name: &str, restart: bool) -> Opening;

    /// Lets go what sessions that are there no longer, or ask no more, were waiting for.
    fn tidy(&mut self, is_there: &dyn Fn(u64) -> bool);
}

/// Whether a file is taken.
pub enum Opening {
    /// This is not known yet: the client will ask again.
    Later,
    /// It is open: its length and BLAKE3 hash so far.
    Open(Box<dyn Part>, u64, [u8; HASH]),
    /// Refused, for this reason; perhaps retry after this number of milliseconds.
    Refused(Reason, u32, String),
}

/// A file that is under way. Dropping it keeps what has arrived, for a client that comes again.
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
    /// It is being written: the client will ask again.
    Later,
    /// It is on the disk, under its name.
    Kept,
    /// It is not, for this reason.
    Refused(String),
}
