//! Files of connection vectors, in both formats that ns-2's Tmix reads (ns manual, section 44.2); the first word of
//! each connection identifies its format. Times are microseconds, sizes bytes.
//!
//! ```text
//! original                                    alternate
//!
//! SEQ start epochs id id                      S start epochs id id      messages take turns
//! CONC start initiator's acceptor's id id     C start ... id id         both ends send on their own
//! w initiator's-window acceptor's-window      w ...
//! r least-round-trip-time                     r ...
//! l loss-to-acceptor loss-to-initiator        l ...
//! > size, < size, t wait                      I after-sent after-received size
//! c> size, c< size, t> wait, t< wait          A after-sent after-received size
//! ```
//!
//! In the original format, a wait precedes the message that waits. Where messages take turns, it counts from the
//! arrival of the previous message if the other end sent that, else from its sending. Text after `#` is ignored.
//!
//! Deviations: messages of size zero, and waits at the end of a connection, represent its closing segments, which are
//! not simulated. Loss rates are checked but not applied, because loss belongs to the links.

use super::{After, End, Message, Vector};
use crate::traffic::TrafficError;
use packetscale_models::units::{Bytes, Span};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

/// Reads every connection of a file. Returns them in order of start.
pub fn read(file: &Path) -> Result<Vec<Vector>, TrafficError> {
    let text = File::open(file).map_err(|source| TrafficError::Io { file: file.into(), source })?;
    parse(BufReader::new(text), file)
}

/// Reads every connection of a text; `file` names it in messages.
pub(super) fn parse(text: impl BufRead, file: &Path) -> Result<Vec<Vector>, TrafficError> {
    let io = |source| TrafficError::Io { file: file.into(), source };
    let mut reader = Reader { vectors: Vec::new(), draft: None };
    for (number, line) in text.lines().enumerate() {
        let at = |fault: Fault| TrafficError::vectors(file, number + 1, fault.found, fault.expected);
        let line = match line {
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(at(fault("invalid UTF-8", LINE)));
            }
            line => line.map_err(io)?,
        };
        let line = if number == 0 { line.trim_start_matches('\u{feff}') } else { &line };
        reader.line(line.split('#').next().unwrap_or_default(), number + 1).map_err(at)?;
    }
    let last = reader.draft.as_ref().map_or(1, |draft| draft.line);
    reader.finish().map_err(|fault| TrafficError::vectors(file, last, fault.found, fault.expected))?;
    reader.vectors.sort_by_key(|vector| vector.start);
    Ok(reader.vectors)
}

const LINE: &str =
    "a line of a connection vector, which begins with SEQ, CONC, S, C, w, r, l, >, <, t, c>, c<, t>, t<, I or A";
const FIRST: &str = "a connection's first line, like \"SEQ 6851 1 21217 555382\"";
const LONGEST_US: u64 = 10_000_000_000_000;

/// The error of a line.
struct Fault {
    found: String,
    expected: String,
}

fn fault(found: impl Into<String>, expected: impl Into<String>) -> Fault {
    Fault { found: found.into(), expected: expected.into() }
}

struct Reader {
    vectors: Vec<Vector>,
    draft: Option<Draft>,
}

/// A connection being read.
struct Draft {
    /// The line where it begins.
    line: usize,
    sequential: bool,
    start: Span,
    windows: [Bytes; 2],
    rtt: Option<Span>,
    /// Waits that do not belong to a message yet: of the connection, or of each end.
    waits: [Span; 2],
    /// The end that sent last.
    last: Option<End>,
    messages: [Vec<Message>; 2],
}

impl Reader {
    fn line(&mut self, line: &str, number: usize) -> Result<(), Fault> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((key, values)) = words.split_first() else { return Ok(()) };
        if matches!(*key, "SEQ" | "S" | "CONC" | "C") {
            self.finish()?;
            let sequential = key.starts_with('S');
            let fields = if sequential { 4 } else { 5 };
            let start = numbers(line, values, fields)?[0];
            self.draft = Some(Draft {
                line: number,
                sequential,
                start: micros(start, line)?,
                windows: [Bytes::MAX; 2],
                rtt: None,
                waits: [Span::ZERO; 2],
                last: None,
                messages: [Vec::new(), Vec::new()],
            });
            return Ok(());
        }
        match &mut self.draft {
            Some(draft) => draft.line(key, values, line),
            None => Err(fault(shown(line), FIRST)),
        }
    }

    fn finish(&mut self) -> Result<(), Fault> {
        if let Some(draft) = self.draft.take() {
            let missing = "a line \"r\" with the round-trip time of the connection before the next begins";
            let rtt = draft.rtt.ok_or_else(|| fault("none", missing))?;
            let Draft { start, windows, messages, .. } = draft;
            self.vectors.push(Vector { start, windows, rtt, messages });
        }
        Ok(())
    }
}

impl Draft {
    fn line(&mut self, key: &str, values: &[&str], line: &str) -> Result<(), Fault> {
        match (key, self.sequential) {
            ("w", _) => {
                let windows = numbers(line, values, 2)?;
                self.windows = [Bytes::new(windows[0]), Bytes::new(windows[1])];
            }
            ("r", _) => self.rtt = Some(micros(numbers(line, values, 1)?[0], line)?),
            ("l", _) => losses(line, values)?,
            (">", true) | ("c>", false) => self.message(End::Initiator, numbers(line, values, 1)?[0]),
            ("<", true) | ("c<", false) => self.message(End::Acceptor, numbers(line, values, 1)?[0]),
            ("t", true) => self.waits = [micros(numbers(line, values, 1)?[0], line)?; 2],
            ("t>", false) => self.waits[0] = micros(numbers(line, values, 1)?[0], line)?,
            ("t<", false) => self.waits[1] = micros(numbers(line, values, 1)?[0], line)?,
            ("I" | "A", sequential) => {
                let end = if key == "I" { End::Initiator } else { End::Acceptor };
                let numbers = numbers(line, values, 3)?;
                let turn = sequential && self.last == Some(end.other());
                self.waits[end as usize] = micros(numbers[usize::from(turn)], line)?;
                self.message(end, numbers[2]);
            }
            (">" | "<" | "t", false) | ("c>" | "c<" | "t>" | "t<", true) => {
                let kind = if self.sequential { "whose messages take turns" } else { "whose ends send on their own" };
                return Err(fault(shown(line), format!("a line of a connection {kind}")));
            }
            _ => return Err(fault(shown(line), LINE)),
        }
        Ok(())
    }

    fn message(&mut self, end: End, size: u64) {
        let after = match self.last {
            Some(other) if self.sequential && other != end => {
                After::Received(self.messages[other as usize].len() as u32)
            }
            _ if self.messages[end as usize].is_empty() => After::Start,
            _ => After::Sent,
        };
        let wait = std::mem::take(&mut self.waits[end as usize]);
        if self.sequential {
            self.waits = [Span::ZERO; 2];
        }
        if size > 0 {
            self.messages[end as usize].push(Message { after, wait, size: Bytes::new(size) });
            self.last = Some(end);
        }
    }
}

fn numbers(line: &str, values: &[&str], count: usize) -> Result<Vec<u64>, Fault> {
    let numbers: Option<Vec<u64>> = values.iter().map(|value| value.parse().ok()).collect();
    numbers
        .filter(|numbers| numbers.len() == count)
        .ok_or_else(|| fault(shown(line), format!("{count} whole {}", if count == 1 { "number" } else { "numbers" })))
}

fn micros(us: u64, line: &str) -> Result<Span, Fault> {
    if us > LONGEST_US {
        return Err(fault(shown(line), format!("a time of at most {LONGEST_US} us")));
    }
    Ok(Span::from_micros(us))
}

fn losses(line: &str, values: &[&str]) -> Result<(), Fault> {
    let right = values.len() == 2
        && values.iter().all(|value| value.parse::<f64>().is_ok_and(|loss| (0.0..=1.0).contains(&loss)));
    if right { Ok(()) } else { Err(fault(shown(line), "two rates of loss from 0 to 1")) }
}

fn shown(line: &str) -> String {
    let begin: String = line.trim().chars().take(60).collect();
    format!("\"{}\"", begin.escape_default())
}
