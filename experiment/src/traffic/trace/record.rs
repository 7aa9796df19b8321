//! The records of a capture, one at a time. A record is whole in memory before `pcap-parser` sees it: the crate's own
//! readers lose the system's errors and the place of a fault, and take a damaged record for one that needs more bytes.

use super::input::Input;
use crate::traffic::error::Fault;

/// A file of records, and the bytes of the one that is read.
#[derive(Debug)]
pub(super) struct Records {
    input: Input,
    /// Where the record begins.
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
    cut: bool,
}

impl Records {
    pub(super) fn new(input: Input) -> Records {
        Records { input, offset: 0, bytes: Vec::new(), cut: false }
    }

    /// Begins the next record.
    pub(super) fn begin(&mut self) {
        self.offset = self.input.offset();
        self.bytes.clear();
    }

    /// Reads the record up to `count` bytes. Returns false where the file ends first.
    pub(super) fn fill(&mut self, count: usize) -> Result<bool, Fault> {
        let there = self.input.fill(&mut self.bytes, count)?;
        self.cut |= !there && !self.bytes.is_empty();
        Ok(there)
    }

    /// The same for what no capture is without; `what` describes it in messages.
    pub(super) fn need(&mut self, count: usize, what: &str) -> Result<(), Fault> {
        if self.fill(count)? {
            return Ok(());
        }
        let found = format!("the end of the file, after {} of {count} bytes", self.bytes.len());
        Err(Fault::bad(self.end(), found, what))
    }

    /// Returns whether the file ended within a record.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Returns how far the file has been read.
    pub(super) fn end(&self) -> u64 {
        self.input.offset()
    }
}

/// Byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Big,
    Little,
}

impl Order {
    /// Reads the four bytes at `at`.
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Order::Big => u32::from_be_bytes(four),
            Order::Little => u32::from_le_bytes(four),
        }
    }
}
