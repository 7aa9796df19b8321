//! Reads the bytes of a file in order, and keeps track of their place.

use crate::traffic::error::Fault;
use std::io::{BufRead, ErrorKind};

/// Bytes of a packet that are kept: more than the headers of link, network and transport together.
pub(super) const HEAD: usize = 160;

/// A buffered file and how far it has been read.
#[derive(Debug)]
pub(super) struct Input<R> {
    from: R,
    offset: u64,
}

impl<R: BufRead> Input<R> {
    pub(super) fn new(from: R) -> Input<R> {
        Input { from, offset: 0 }
    }

    /// Returns how many bytes have been read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn at_end(&mut self) -> Result<bool, Fault> {
        Ok(self.available()? == 0)
    }

    /// Reads the next N bytes; `what` describes them in messages.
    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        let mut have = 0;
        while have < N {
            let n = self.available()?.min(N - have);
            if n == 0 {
                return Err(self.cut(have as u64, N as u64, what));
            }
            bytes[have..have + n].copy_from_slice(&self.from.fill_buf().map_err(Fault::Io)?[..n]);
            self.consume(n);
            have += n;
        }
        Ok(bytes)
    }

    /// Skips `count` bytes; `what` describes them in messages.
    pub(super) fn skip(&mut self, count: u64, what: &str) -> Result<(), Fault> {
        let mut left = count;
        while left > 0 {
            let n = (self.available()? as u64).min(left);
            if n == 0 {
                return Err(self.cut(count - left, count, what));
            }
            self.consume(n as usize);
            left -= n;
        }
        Ok(())
    }

    /// Reads `count` bytes, of which the first [`HEAD`] are kept in `head`; `what` describes them in messages.
    pub(super) fn head(&mut self, count: u64, head: &mut Vec<u8>, what: &str) -> Result<(), Fault> {
        head.clear();
        let mut left = count;
        while left > 0 {
            let n = (self.available()? as u64).min(left) as usize;
            if n == 0 {
                return Err(self.cut(count - left, count, what));
            }
            let room = HEAD.saturating_sub(head.len()).min(n);
            head.extend_from_slice(&self.from.fill_buf().map_err(Fault::Io)?[..room]);
            self.consume(n);
            left -= n as u64;
        }
        Ok(())
    }

    /// Reads the next line into `line`, without its line end. Returns false at the end of the file.
    pub(super) fn line(&mut self, line: &mut Vec<u8>, longest: usize) -> Result<bool, Fault> {
        line.clear();
        let begin = self.offset;
        let mut limited = std::io::Read::take(&mut self.from, longest as u64 + 1);
        let n = limited.read_until(b'\n', line).map_err(Fault::Io)?;
        self.offset += n as u64;
        if n > longest {
            return Err(Fault::bad(begin, format!("a line over {longest} bytes"), "a text file of short lines"));
        }
        while matches!(line.last(), Some(b'\n' | b'\r')) {
            line.pop();
        }
        Ok(n > 0)
    }

    fn available(&mut self) -> Result<usize, Fault> {
        loop {
            match self.from.fill_buf() {
                Ok(bytes) => return Ok(bytes.len()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Io(error)),
            }
        }
    }

    fn consume(&mut self, n: usize) {
        self.from.consume(n);
        self.offset += n as u64;
    }

    fn cut(&self, have: u64, want: u64, what: &str) -> Fault {
        Fault::bad(self.offset, format!("the end of the file, after {have} of {want} bytes"), what)
    }
}

/// Byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Big,
    Little,
}

impl Order {
    /// Reads the two bytes at `at`.
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let two = [bytes[at], bytes[at + 1]];
        match self {
            Order::Big => u16::from_be_bytes(two),
            Order::Little => u16::from_le_bytes(two),
        }
    }

    /// Reads the four bytes at `at`.
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Order::Big => u32::from_be_bytes(four),
            Order::Little => u32::from_le_bytes(four),
        }
    }
}
