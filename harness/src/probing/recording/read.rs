//! Reads a recording one stream at a time. A mistake is refused with line, column, what was found and what was expected.

use super::{COLUMNS, REQUIRED};
use packetscale_models::estimation::{Abstain, Estimate, Gap, Method, Stream};
use packetscale_models::units::{Bytes, Span};
use std::collections::VecDeque;
use std::io::{self, Chain, Read};

/// Gaps beyond this in one stream are discarded, to bound memory; the stream is then too long to be read.
const MOST_GAPS: usize = 65_536;

/// A stream that continues after so few others is a mixed-up recording.
const REMEMBERED: usize = 256;

/// Longest row: a longer one is a device without end, or a file that is no text.
const LONGEST_ROW_BYTES: usize = 65_536;

/// 10 s: a longer gap is no probe, and sums of [`MOST_GAPS`] gaps still fit.
const LONGEST_NS: f64 = 1e10;

/// Why a recording is refused.
#[derive(Debug)]
pub enum Refusal {
    /// Its bytes cannot be read.
    Unreadable(io::Error),
    /// The description of the error: line, column, found, expected.
    Wrong(String),
}

/// A recording being read.
pub struct Recording<R> {
    rows: csv::Reader<Chain<Rows<R>, &'static [u8]>>,
    /// Where each of [`COLUMNS`] is.
    places: [Option<usize>; 6],
    /// The first row of the next stream.
    next: Option<Row>,
    record: csv::ByteRecord,
    finished: VecDeque<String>,
}

/// The same bytes, refused where a row of them has no end.
struct Rows<R> {
    input: R,
    /// Bytes since the last line feed.
    open: usize,
}

impl<R: Read> Read for Rows<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(bytes)?;
        self.open = match bytes[..read].iter().rposition(|byte| *byte == b'\n') {
            Some(end) => read - end - 1,
            None => self.open + read,
        };
        if self.open > LONGEST_ROW_BYTES {
            let found =
                format!("found {LONGEST_ROW_BYTES} bytes without the end of a row; expected a recording in CSV");
            return Err(io::Error::new(io::ErrorKind::InvalidData, found));
        }
        Ok(read)
    }
}

/// One stream of a recording.
pub struct Recorded {
    /// Its name or number.
    pub id: String,
    /// Its gaps, or that it is too long.
    pub stream: Result<Stream, Abstain>,
}

impl Recorded {
    /// A method's reading of it.
    ///
    /// # Errors
    /// Why it reads nothing.
    pub fn estimate(self, method: &Method) -> Result<Estimate, Abstain> {
        self.stream.and_then(|stream| method.estimate(stream))
    }
}

/// One packet, as recorded.
struct Row {
    line: u64,
    id: String,
    pkt: u64,
    /// `None` where both gaps are empty, or zero.
    gap: Option<Gap>,
}

fn wrong(line: u64, column: &str, found: impl std::fmt::Display, expected: &str) -> Refusal {
    Refusal::Wrong(format!("{line}: {column}: found {found}, expected {expected}"))
}

fn csv_error(error: csv::Error) -> Refusal {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Refusal::Unreadable(error),
        other => Refusal::Wrong(format!("1: not CSV: {other:?}")),
    }
}

impl<R: Read> Recording<R> {
    /// Reads the header and the first row.
    ///
    /// # Errors
    /// A file that cannot be read, or that is no recording.
    pub fn open(input: R) -> Result<Recording<R>, Refusal> {
        // A line feed ends every row, the last one too, so that lines can be counted; a carriage return is white space.
        let builder = &mut csv::ReaderBuilder::new();
        let builder = builder.flexible(true).trim(csv::Trim::All).terminator(csv::Terminator::Any(b'\n'));
        let mut rows = builder.from_reader(Rows { input, open: 0 }.chain(&b"\n"[..]));
        let header = rows.byte_headers().map_err(csv_error)?.clone();
        let names: Vec<String> = header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let names: Vec<&str> = names.iter().map(|name| name.trim_start_matches('\u{feff}')).collect();
        let places = places(&names)?;
        let record = csv::ByteRecord::new();
        let mut recording = Recording { rows, places, next: None, record, finished: VecDeque::new() };
        recording.next = recording.row(None)?;
        if recording.next.is_none() {
            return Err(wrong(2, "stream_id", "the end of the file", "a row for every packet"));
        }
        Ok(recording)
    }

    /// The next stream; `None` after the last.
    ///
    /// # Errors
    /// A row that cannot be read, or is no packet of a stream.
    pub fn next_stream(&mut self) -> Result<Option<Recorded>, Refusal> {
        let Some(first) = self.next.take() else { return Ok(None) };
        self.remember(&first)?;
        let (id, mut pkt) = (first.id, first.pkt);
        let mut stream = Stream::new(first.gap.into_iter().collect());
        while let Some(row) = self.row(Some(&id))? {
            if row.id != id {
                self.next = Some(row);
                break;
            }
            let Some(ahead) = row.pkt.checked_sub(pkt).filter(|ahead| *ahead > 0) else {
                return Err(wrong(row.line, "pkt", row.pkt, &format!("more than {pkt}, the packet before")));
            };
            let Some(gap) = row.gap else {
                return Err(wrong(row.line, "send_gap_ns", "no gap", "gaps for all but the first packet of a stream"));
            };
            stream.lost += ahead - 1;
            pkt = row.pkt;
            if stream.gaps.len() <= MOST_GAPS {
                stream.gaps.push(gap);
            }
        }
        let too_long = stream.gaps.len() > MOST_GAPS;
        let stream = if too_long { Err(Abstain::TooLong { most: MOST_GAPS }) } else { Ok(stream) };
        Ok(Some(Recorded { id, stream }))
    }

    /// Refuses a stream that came before.
    fn remember(&mut self, first: &Row) -> Result<(), Refusal> {
        if self.finished.contains(&first.id) {
            let found = format!("\"{}\" again", first.id);
            return Err(wrong(first.line, "stream_id", found, "the rows of a stream together"));
        }
        if self.finished.len() == REMEMBERED {
            self.finished.pop_front();
        }
        self.finished.push_back(first.id.clone());
        Ok(())
    }

    /// The line on which the current row begins. The reader is already past it.
    fn line(&self) -> u64 {
        let feeds = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        self.rows.position().line() - 1 - feeds
    }

    /// The next row; within stream `of`, only its first has no gap.
    fn row(&mut self, of: Option<&str>) -> Result<Option<Row>, Refusal> {
        loop {
            if !self.rows.read_byte_record(&mut self.record).map_err(csv_error)? {
                return Ok(None);
            }
            let blank = self.record.len() == 1 && self.record[0].is_empty();
            if !blank {
                break;
            }
        }
        let line = self.line();
        let fields = Fields { record: &self.record, places: &self.places, line };
        let id = fields.text(0)?;
        if id.is_empty() {
            return Err(wrong(line, COLUMNS[0], "nothing", "the name or number of a stream"));
        }
        let pkt = fields.whole(1, 0..=u64::MAX >> 1, "a whole number")?;
        let first = of != Some(id);
        let empty = fields.text(2)?.is_empty() && fields.text(3)?.is_empty();
        let size = Bytes::new(fields.whole(4, 1..=65_535, "a size from 1 to 65535 bytes")?);
        let acked = fields.acked()?;
        let gap = if first && empty {
            None
        } else {
            let send = fields.gap(2, true)?;
            let receive = fields.gap(3, acked)?;
            let none = first && send == Span::ZERO && receive == Span::ZERO;
            (!none).then_some(Gap { send, receive, size, acked })
        };
        Ok(Some(Row { line, id: id.to_string(), pkt, gap }))
    }
}

fn places(names: &[&str]) -> Result<[Option<usize>; 6], Refusal> {
    let expected = format!("the columns {}", COLUMNS[..REQUIRED].join(", "));
    if names.iter().all(|name| name.is_empty()) {
        return Err(wrong(1, COLUMNS[0], "an empty file", &expected));
    }
    let mut places = [None; 6];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let mut found = names.iter().enumerate().filter(|(_, name)| **name == column).map(|(at, _)| at);
        *place = found.next();
        if found.next().is_some() {
            return Err(wrong(1, column, "two columns of this name", "one"));
        }
    }
    match COLUMNS[..REQUIRED].iter().zip(places).find(|(_, place)| place.is_none()) {
        Some((missing, _)) => {
            let found = names.iter().take(12).copied().collect::<Vec<_>>().join(",");
            let found: String = found.chars().take(80).collect();
            Err(wrong(1, missing, format!("no such column in \"{}\"", found.escape_debug()), &expected))
        }
        None => Ok(places),
    }
}

/// One row's fields, by number in [`COLUMNS`].
struct Fields<'a> {
    record: &'a csv::ByteRecord,
    places: &'a [Option<usize>; 6],
    line: u64,
}

impl<'a> Fields<'a> {
    fn text(&self, column: usize) -> Result<&'a str, Refusal> {
        let Some(place) = self.places[column] else { return Ok("") };
        let Some(bytes) = self.record.get(place) else {
            let found = format!("a row of {} fields", self.record.len());
            return Err(wrong(self.line, COLUMNS[column], found, &format!("at least {}", place + 1)));
        };
        std::str::from_utf8(bytes).map_err(|_| wrong(self.line, COLUMNS[column], "invalid bytes", "UTF-8"))
    }

    fn wrong(&self, column: usize, text: &str, expected: &str) -> Refusal {
        let short: String = text.chars().take(40).collect();
        let found = if text.is_empty() { "nothing".to_string() } else { format!("\"{}\"", short.escape_debug()) };
        wrong(self.line, COLUMNS[column], found, expected)
    }

    fn whole(
        &self,
        column: usize,
        range: std::ops::RangeInclusive<u64>,
        expected: &'static str,
    ) -> Result<u64, Refusal> {
        let text = self.text(column)?;
        text.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| self.wrong(column, text, expected))
    }

    /// Nanoseconds, with decimals if need be. A gap that the receiver did not give may be left out.
    fn gap(&self, column: usize, given: bool) -> Result<Span, Refusal> {
        let text = self.text(column)?;
        if text.is_empty() && !given {
            return Ok(Span::ZERO);
        }
        if let Ok(ns) = text.parse::<u64>()
            && ns as f64 <= LONGEST_NS
        {
            return Ok(Span::from_nanos(ns));
        }
        match text.parse::<f64>() {
            Ok(ns) if (0.0..=LONGEST_NS).contains(&ns) => Ok(Span::from_picos((ns * 1000.0 + 0.5) as u64)),
            _ => Err(self.wrong(column, text, "nanoseconds from 0 to 10000000000")),
        }
    }

    fn acked(&self) -> Result<bool, Refusal> {
        let text = self.text(5)?;
        match text {
            _ if self.places[5].is_none() => Ok(true),
            "1" | "true" | "True" | "TRUE" => Ok(true),
            "0" | "false" | "False" | "FALSE" => Ok(false),
            _ => Err(self.wrong(5, text, "1 or 0, true or false")),
        }
    }
}
