//! A run as a line of a file, with a digest. The digest is for accidents: a line that was edited, or damaged on its way, is
//! found. Whoever writes a line on purpose can write its digest, too.

use crate::runner::digest::Hash;
use experiment::results::Run;
use std::io::{self, Write};

/// The fixed parts of a line.
const ID: &str = "{\"id\":\"";
const DIGEST: &str = "\",\"sha256\":\"";
const RUN: &str = "\",\"run\":";
const END: &str = "}";

/// A run and its id, as a line of JSON with its end: `{"id":ID,"sha256":DIGEST,"run":RUN}`. The digest is SHA-256 of the id
/// and of the run's text behind it, each as it is in the line.
pub(crate) fn line(id: &str, run: &Run) -> io::Result<String> {
    let run = serde_json::to_string(run)?;
    Ok(format!("{ID}{id}{DIGEST}{}{RUN}{run}{END}\n", digest(id, &run)))
}

/// The run of a line, with its id; `None` where the line is not as it was written.
pub(crate) fn parse(line: &[u8]) -> Option<(String, Run)> {
    let line = std::str::from_utf8(line).ok()?;
    let (id, rest) = line.strip_prefix(ID)?.split_once(DIGEST)?;
    let (written, rest) = rest.split_once(RUN)?;
    let run = rest.strip_suffix('\n').unwrap_or(rest).strip_suffix(END)?;
    let run = (digest(id, run) == written).then(|| serde_json::from_str(run).ok())??;
    Some((id.to_string(), run))
}

/// Whether a line begins as a run does, in a file that is not empty. The last may be cut short.
pub(crate) fn any_begins(content: &[u8]) -> bool {
    let mut lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    content.is_empty() || lines.any(|line| line.starts_with(ID.as_bytes()) || ID.as_bytes().starts_with(line))
}

/// The runs of a file behind its first lines, which are not for runs. A last line without an end is no run.
///
/// # Errors
/// In words, the first whole line that is not as it was written.
pub(crate) fn all(content: &[u8], first: usize) -> Result<Vec<(String, Run)>, String> {
    let whole = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = content[..whole].split_inclusive(|byte| *byte == b'\n').enumerate().skip(first);
    let one = |(index, line)| parse(line).ok_or_else(|| format!("line {} changed since it was written", index + 1));
    lines.map(one).collect()
}

fn digest(id: &str, run: &str) -> String {
    let mut hash = Hash::default();
    // Hashing fails never.
    let _ = hash.write_all(id.as_bytes()).and_then(|()| hash.write_all(run.as_bytes()));
    hash.hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_character_is_detected() {
        let run = Run { controller: "cubic".to_string(), seed: 7, ..Run::default() };
        let whole = line("0123", &run).expect("a line");
        let read: serde_json::Value = serde_json::from_str(&whole).expect("JSON");
        assert_eq!((&read["id"], &read["run"]["seed"]), (&"0123".into(), &7.into()));
        assert_eq!(parse(whole.as_bytes()), Some(("0123".to_string(), run)));
        for place in 0..whole.len() - 1 {
            let mut changed = whole.clone().into_bytes();
            changed[place] ^= 1;
            assert_eq!(parse(&changed), None, "{}", String::from_utf8_lossy(&changed));
        }
    }

    #[test]
    fn reports_a_changed_line_but_not_a_truncated_one() {
        let lines = ["1", "2"].map(|id| line(id, &Run::default()).expect("a line")).concat();
        let count = |text: &str| all(text.as_bytes(), 1).map(|runs| runs.len());
        assert_eq!(count(&format!("head\n{lines}")), Ok(2));
        assert_eq!(count(&format!("head\n{}", &lines[..lines.len() - 1])), Ok(1));
        let changed = lines.replacen("\"id\":\"2\"", "\"id\":\"3\"", 1);
        assert_eq!(count(&format!("head\n{changed}")), Err("line 3 changed since it was written".to_string()));
    }
}
