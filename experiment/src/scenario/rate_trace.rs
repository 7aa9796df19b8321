//! Files of rates: what a link can carry over time.
//!
//! * **Mahimahi** (`mm-link`): a line per delivery opportunity of 1500 B, its time in whole milliseconds, in order. The
//!   last line's time is also the period after which the trace repeats.
//! * **CSV**: the line `time_s,rate_bps`, then a line for each change: from this time on, this rate. The first time is 0.
//!   The last line ends the trace: where it repeats, its own rate never counts.
//!
//! Deviations from `mm-link`: a number with anything behind it is refused (`atoi` ignores that), and lines that begin
//! with `#` and empty lines are ignored (`mm-link` refuses them).

use crate::scenario::model::RateFormat;
use crate::scenario::text_file::{self, Fault};
use packetscale_models::units::{Bytes, Capacity, CapacityPoint, Rate, Span};
use std::path::Path;

/// The bytes of a delivery opportunity.
const OPPORTUNITY: Bytes = Bytes::new(1500);

/// The longest trace and the highest rate: far above every link, far below what overflows.
const LONGEST_S: u64 = 10_000_000;
const HIGHEST_BPS: f64 = 1e15;

/// The shortest trace that repeats: a run steps through each of its changes.
const SHORTEST: Span = Span::from_micros(1);

const HEADER: &str = "time_s,rate_bps";
/// What a line after the first is.
const CHANGE: &str = "a time in s, a comma and a rate in bit/s, like \"12.5,3000000\"";

/// Reads a file.
pub(crate) fn read(file: &Path, format: RateFormat, repeat: bool) -> Result<Capacity, Fault> {
    parse(&text_file::read(file)?, format, repeat)
}

/// Reads the text of a file.
fn parse(text: &str, format: RateFormat, repeat: bool) -> Result<Capacity, Fault> {
    let lines = text_file::lines(text);
    let points = match format {
        RateFormat::Mahimahi => opportunities(lines)?,
        RateFormat::Csv => rates(lines)?,
    };
    let period = points.last().map(|last| last.at).filter(|_| repeat);
    if let Some(period) = period.filter(|period| (Span::from_picos(1)..SHORTEST).contains(period)) {
        let expected = format!("{SHORTEST} or more, or repeat = false");
        return Err(Fault { found: format!("a trace that repeats after {period}"), expected });
    }
    Capacity::new(points, period).ok_or_else(|| Fault {
        found: "a trace that carries nothing".to_string(),
        expected: match format {
            RateFormat::Mahimahi => "an opportunity after 0 ms".to_string(),
            RateFormat::Csv => "a rate above zero that lasts".to_string(),
        },
    })
}

fn opportunities<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<CapacityPoint>, Fault> {
    let mut points: Vec<CapacityPoint> = Vec::new();
    for (number, line) in lines {
        let ms = line.parse().ok().filter(|ms: &u64| *ms <= LONGEST_S * 1000);
        let ms = ms.ok_or_else(|| Fault::at(number, line, "a time in whole milliseconds like \"1043\""))?;
        let at = Span::from_millis(ms);
        match points.last_mut() {
            Some(last) if last.at > at => return Err(Fault::at(number, line, "times that do not fall")),
            Some(last) if last.at == at => last.burst += OPPORTUNITY,
            _ => points.push(CapacityPoint { at, burst: OPPORTUNITY, rate: Rate::ZERO }),
        }
    }
    Ok(points)
}

fn rates<'a>(mut lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<CapacityPoint>, Fault> {
    match lines.next() {
        Some((_, line)) if line == HEADER => {}
        Some((number, line)) => return Err(Fault::at(number, line, format!("the line \"{HEADER}\""))),
        None => return Err(Fault::missing("no line", format!("the line \"{HEADER}\""))),
    }
    let mut points: Vec<CapacityPoint> = Vec::new();
    for (number, line) in lines {
        let (at, rate) = change(line).ok_or_else(|| Fault::at(number, line, CHANGE))?;
        match points.last() {
            None if at > Span::ZERO => return Err(Fault::at(number, line, "a first time of 0")),
            Some(last) if last.at >= at => return Err(Fault::at(number, line, "times that rise")),
            _ => points.push(CapacityPoint { at, burst: Bytes::ZERO, rate }),
        }
    }
    if points.is_empty() {
        return Err(Fault::missing("no line after the first", CHANGE));
    }
    Ok(points)
}

fn change(line: &str) -> Option<(Span, Rate)> {
    let (at, rate) = line.split_once(',')?;
    let at: f64 = at.trim().parse().ok().filter(|s: &f64| (0.0..=LONGEST_S as f64).contains(s))?;
    let rate: f64 = rate.trim().parse().ok().filter(|bps: &f64| (0.0..=HIGHEST_BPS).contains(bps))?;
    Some((Span::from_secs_f64(at), Rate::from_bps(rate as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use packetscale_models::units::Time;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn amount(text: &str, format: RateFormat, repeat: bool, (from, to): (u64, u64)) -> u64 {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        parse(text, format, repeat).unwrap().amount(at(from), at(to)).get()
    }

    #[test]
    fn each_line_of_a_mahimahi_trace_is_an_opportunity() {
        let text = "1\n3\n3\n\n# a comment\n5\n";
        assert_eq!(amount(text, RateFormat::Mahimahi, true, (0, 10)), 8 * 1500);
        assert_eq!(amount(text, RateFormat::Mahimahi, true, (1, 3)), 2 * 1500);
        assert_eq!(amount(text, RateFormat::Mahimahi, false, (0, 10)), 4 * 1500);
    }

    #[test]
    fn a_csv_trace_ends_or_continues_at_its_last_rate() {
        // 8 Mbit/s is 1000 B per ms.
        let text = "time_s,rate_bps\n0,8e6\n0.010,0\n0.02, 16000000\n";
        assert_eq!(amount(text, RateFormat::Csv, true, (0, 40)), 20_000);
        assert_eq!(amount(text, RateFormat::Csv, false, (0, 40)), 10_000 + 40_000);
    }

    #[test]
    fn a_wrong_line_is_named_with_its_number() {
        let refused = |text: &str, format| parse(text, format, true).unwrap_err();
        for (text, format, found, expected) in [
            ("1\n2 ms\n", RateFormat::Mahimahi, "line 2, \"2 ms\"", "whole milliseconds"),
            ("5\n# x\n4\n", RateFormat::Mahimahi, "line 3, \"4\"", "do not fall"),
            ("-1\n", RateFormat::Mahimahi, "line 1, \"-1\"", "whole milliseconds"),
            ("0\n", RateFormat::Mahimahi, "carries nothing", "opportunity after 0 ms"),
            ("", RateFormat::Mahimahi, "carries nothing", "opportunity after 0 ms"),
            ("", RateFormat::Csv, "no line", "the line \"time_s,rate_bps\""),
            ("# x\n\n", RateFormat::Csv, "no line", "the line \"time_s,rate_bps\""),
            ("time_s,rate_bps\n", RateFormat::Csv, "no line after the first", "a rate in bit/s"),
            ("0,1\n", RateFormat::Csv, "line 1, \"0,1\"", "time_s,rate_bps"),
            ("time_s,rate_bps\n1,5\n", RateFormat::Csv, "line 2, \"1,5\"", "first time of 0"),
            ("time_s,rate_bps\n0,5\n0,6\n", RateFormat::Csv, "line 3, \"0,6\"", "times that rise"),
            ("time_s,rate_bps\n0,-5\n", RateFormat::Csv, "line 2, \"0,-5\"", "a rate in bit/s"),
            ("time_s,rate_bps\n0,nan\n", RateFormat::Csv, "line 2, \"0,nan\"", "a rate in bit/s"),
            ("time_s,rate_bps\n0,0\n5,1\n", RateFormat::Csv, "carries nothing", "a rate above zero that lasts"),
        ] {
            let fault = refused(text, format);
            assert!(fault.found.contains(found) && fault.expected.contains(expected), "{text:?}: {fault:?}");
        }
    }

    #[test]
    fn refuses_a_trace_that_repeats_within_a_microsecond() {
        let text = "time_s,rate_bps\n0,1e15\n1e-12,0\n";
        let fault = parse(text, RateFormat::Csv, true).unwrap_err();
        assert_eq!(fault.found, "a trace that repeats after 1 ps");
        assert!(fault.expected.starts_with("1 us or more"), "{fault:?}");
        assert!(parse(text, RateFormat::Csv, false).is_ok());
        assert!(parse("time_s,rate_bps\n0,1e9\n1e-6,0\n", RateFormat::Csv, true).is_ok());
    }

    #[test]
    fn fuzz_rate_traces() {
        let valid = ["1\n3\n3\n\n# a comment\n5\n", "time_s,rate_bps\n0,8e6\n0.010,0\n0.02, 16000000\n"];
        conformance::fuzz::mutated_text(2_000, &valid, |text| {
            for (format, repeat) in [(RateFormat::Mahimahi, true), (RateFormat::Csv, true), (RateFormat::Csv, false)] {
                let Ok(capacity) = parse(text, format, repeat) else { continue };
                let parts = [1, 7, 40, 100].map(|ms| Time::ZERO + Span::from_millis(ms));
                let amounts = parts.map(|at| capacity.amount(Time::ZERO, at));
                prop_assert!(amounts.is_sorted(), "what is carried falls: {:?}", amounts);
            }
            Ok(())
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_text_is_read_or_refused(text in "(time_s,rate_bps\n)?([0-9a-e., #-]{0,12}\n){0,8}", repeat in any::<bool>()) {
            for format in [RateFormat::Mahimahi, RateFormat::Csv] {
                let _ = parse(&text, format, repeat);
            }
        }

        #[test]
        fn what_is_written_is_what_is_read(gaps in prop::collection::vec(0u64..20, 1..50)) {
            let mut at = 1;
            let times: Vec<u64> = gaps.iter().map(|gap| { at += gap; at }).collect();
            let text: String = times.iter().map(|ms| format!("{ms}\n")).collect();
            let cell = parse(&text, RateFormat::Mahimahi, true).unwrap();
            for until in 0..=at {
                let lines = times.iter().filter(|ms| **ms <= until).count() as u64;
                prop_assert_eq!(cell.amount(Time::ZERO, Time::ZERO + Span::from_millis(until)).get(), lines * 1500);
            }
        }
    }
}
