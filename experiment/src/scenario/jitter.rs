//! Jitter of a wire: a distribution, or samples in a file.
//!
//! The file is CSV: the line `jitter_s`, then one delay in seconds per line. Lines that begin with `#` name the source.

use crate::scenario::document::Node;
use crate::scenario::error::{ScenarioError, listed};
use crate::scenario::fields::{Fields, Zero, file};
use crate::scenario::model::{Jitter, JitterLaw};
use crate::scenario::text_file::{self, Fault};
use packetscale_models::units::Span;
use std::path::Path;

const KINDS: [&str; 3] = ["uniform", "normal", "file"];

const HEADER: &str = "jitter_s";

/// The longest delay of a file, in seconds.
const LONGEST_S: f64 = 3600.0;

/// Reads the value of the key `jitter`, called `key` in messages.
pub(crate) fn jitter(node: &mut Node, key: &str, folder: &Path) -> Result<Jitter, ScenarioError> {
    const EXPECTED: &str = "a table like { kind = \"uniform\", most = \"5 ms\" }";
    let mut fields = Fields::of(node, key, EXPECTED)?;
    let kind = fields.kind(EXPECTED)?;
    let law = match kind.as_str() {
        "uniform" => JitterLaw::Uniform(fields.quantity("most", Zero::Refused)?),
        "normal" => JitterLaw::Normal {
            mean: fields.quantity("mean", Zero::Refused)?,
            sd: fields.quantity("sd", Zero::Refused)?,
        },
        "file" => {
            let file = file(&mut fields, folder)?;
            let samples = text_file::read(&file).and_then(|text| parse(&text));
            let samples = samples.map_err(|Fault { found, expected }| fields.refuse("file", found, expected))?;
            JitterLaw::File { file, samples }
        }
        _ => return Err(fields.refuse("kind", format!("\"{kind}\""), format!("one of {}", listed(KINDS.into_iter())))),
    };
    let reorder = fields.switch_or("reorder", false)?;
    fields.finish()?;
    Ok(Jitter { law, reorder })
}

fn parse(text: &str) -> Result<Vec<Span>, Fault> {
    let (number, lines) = text_file::below(HEADER, text)?;
    let sample = |(number, line): (usize, &str)| {
        let seconds = line.parse().ok().filter(|seconds: &f64| (0.0..=LONGEST_S).contains(seconds));
        let expected = || format!("a delay from 0 to {LONGEST_S} seconds, like 0.005");
        seconds.map(Span::from_secs_f64).ok_or_else(|| Fault::at(number, line, expected()))
    };
    let samples: Vec<Span> = lines.map(sample).collect::<Result<_, Fault>>()?;
    if samples.is_empty() {
        return Err(Fault::at(number, HEADER, "a delay in seconds on the lines after it"));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_has_a_sample_on_each_line() {
        let samples = parse("# measured\njitter_s\n0.005\n\n 0 \n1e-3\n").unwrap();
        assert_eq!(samples, [5_000, 0, 1_000].map(Span::from_micros));
    }

    #[test]
    fn refuses_an_invalid_sample_at_its_line() {
        for (text, found) in [
            ("", "line 1, \"\""),
            ("0.005\n", "line 1, \"0.005\""),
            ("jitter_s\n", "line 1, \"jitter_s\""),
            ("jitter_s\n0.1\n-0.1\n", "line 3, \"-0.1\""),
            ("jitter_s\nnan\n", "line 2, \"nan\""),
            ("jitter_s\n5 ms\n", "line 2, \"5 ms\""),
        ] {
            assert_eq!(parse(text).unwrap_err().found, found);
        }
    }

    #[test]
    fn fuzz_jitter_samples() {
        conformance::fuzz::mutated_text(2_000, &["# measured\njitter_s\n0.005\n\n0\n1e-3\n"], |text| {
            if let Ok(samples) = parse(text) {
                prop_assert!(!samples.is_empty() && samples.iter().all(|sample| sample.as_secs_f64() <= LONGEST_S));
            }
            Ok(())
        });
    }
}
