//! Reads the bytes of a file in order, and keeps track of their place.

use crate::traffic::error::Fault;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

/// Bytes read from the file at once.
const BUFFER: usize = 1 << 16;

/// A buffered file and how far it has been read.
pub(super) struct Input {
    from: BufReader<Box<dyn Read + Send>>,
    offset: u64,
}

impl Input {
    pub(super) fn new(from: impl Read + Send + 'static) -> Input {
        Input { from: BufReader::with_capacity(BUFFER, Box::new(from)), offset: 0 }
    }

    /// Returns how many bytes have been read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads on until `bytes` has `count` bytes, or all that the file has. Returns whether it has them.
    #[inline]
    pub(super) fn fill(&mut self, bytes: &mut Vec<u8>, count: usize) -> Result<bool, Fault> {
        let wanted = count.saturating_sub(bytes.len());
        if let Some(buffered) = self.from.buffer().get(..wanted) {
            bytes.extend_from_slice(buffered);
            self.from.consume(wanted);
            self.offset += wanted as u64;
            return Ok(true);
        }
        self.fill_across_buffers(bytes, wanted)
    }

    /// The same for `wanted` more bytes that are not all in the buffer.
    #[cold]
    fn fill_across_buffers(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> Result<bool, Fault> {
        let read = self.from.by_ref().take(wanted as u64).read_to_end(bytes).map_err(Fault::Io)?;
        self.offset += read as u64;
        Ok(read == wanted)
    }

    /// Reads the next line into `line`, without its line end. Returns false at the end of the file.
    pub(super) fn line(&mut self, line: &mut Vec<u8>, longest: usize) -> Result<bool, Fault> {
        line.clear();
        let begin = self.offset;
        let mut limited = Read::take(&mut self.from, longest as u64 + 1);
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
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("offset", &self.offset).finish_non_exhaustive()
    }
}
