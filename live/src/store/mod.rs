//! Where a receiver puts files: names from the network are only names, a file that is under way has another one, and what
//! is there is not lost.

mod directory;
mod rename;

pub use directory::{Directory, Received, plain};

use crate::wire::{HASH, Reason};
use std::io;

/// Takes files.
pub trait Store: Send {
    /// The client of a session wants to send a file of this name, perhaps asking again. `anew`: what is there is of another.
    fn open(&mut self, session: u64, name: &str, anew: bool) -> Opening;

    /// Lets go what sessions that are there no longer, or ask no more, were waiting for.
    fn tidy(&mut self, is_there: &dyn Fn(u64) -> bool);
}

/// Whether a file is taken.
pub enum Opening {
    /// This is not known yet: the client will ask again.
    Later,
    /// It is: there are so many bytes of it, with this BLAKE3 hash.
    Open(Box<dyn Part>, u64, [u8; HASH]),
    /// It is not, for this reason; perhaps after so many milliseconds.
    Refused(Reason, u32, String),
}

/// A file that is under way. Dropping it keeps what has arrived, for a client that comes again.
pub trait Part: Send {
    /// The next bytes.
    ///
    /// # Errors
    /// The system's.
    fn append(&mut self, data: &[u8]) -> io::Result<()>;

    /// All has arrived, as its client says, perhaps again: the file gets its name, if it has so many bytes with this hash.
    fn keep(&mut self, bytes: u64, hash: &[u8; HASH]) -> Keeping;
}

/// Whether a file is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// It is being written: the client will ask again.
    Later,
    /// It is on the disk, under its name.
    Kept,
    /// It is not, for this reason.
    Refused(String),
}
