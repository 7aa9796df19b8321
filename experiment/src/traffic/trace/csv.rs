//! Traces as text: a line `time_ns,size_bytes`, then a line per packet. Times may count from any instant; sizes count
//! the bytes on the wire. Empty lines and lines that begin with `#` are ignored.

use super::input::Input;
use super::stamped::Stamped;
use crate::traffic::error::Fault;
use packetscale_models::units::Bytes;

const HEADER: &str = "time_ns,size_bytes";
/// The byte order mark that some editors write before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Longest line and largest packet that are accepted.
const LONGEST: usize = 1_000;
const LARGEST: u64 = 262_144;

#[derive(Debug)]
pub(super) struct Csv {
    pub(super) input: Input,
    line: Vec<u8>,
    number: u64,
}

impl Csv {
    pub(super) fn begin(input: Input) -> Result<Csv, Fault> {
        let mut csv = Csv { input, line: Vec::new(), number: 0 };
        let found = match csv.line()? {
            Some(_) if csv.line == HEADER.as_bytes() => return Ok(csv),
            Some(_) => csv.shown(),
            None => "the end of the file".into(),
        };
        Err(Fault::bad(0, found, format!("the line \"{HEADER}\"")))
    }

    pub(super) fn next(&mut self) -> Result<Option<Stamped>, Fault> {
        let Some(offset) = self.line()? else {
            return Ok(None);
        };
        match std::str::from_utf8(&self.line).ok().and_then(packet) {
            Some((ns, size)) => Ok(Some(Stamped { offset, at_ps: i128::from(ns) * 1_000, size: Bytes::new(size) })),
            None => {
                let expected = format!("a time in ns, a comma and a size of 1 to {LARGEST} bytes, like \"1200,1514\"");
                Err(Fault::bad(offset, self.shown(), expected))
            }
        }
    }

    /// Reads the next line that is neither empty nor a comment. Returns where it begins.
    fn line(&mut self) -> Result<Option<u64>, Fault> {
        loop {
            let offset = self.input.offset();
            if !self.input.line(&mut self.line, LONGEST)? {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.line.is_empty() && !self.line.starts_with(b"#") {
                return Ok(Some(offset));
            }
        }
    }

    fn shown(&self) -> String {
        format!("line {}, \"{}\"", self.number, self.line[..self.line.len().min(60)].escape_ascii())
    }
}

fn packet(line: &str) -> Option<(u64, u64)> {
    let (ns, size) = line.split_once(',')?;
    let (ns, size) = (ns.trim().parse().ok()?, size.trim().parse().ok()?);
    (1..=LARGEST).contains(&size).then_some((ns, size))
}
