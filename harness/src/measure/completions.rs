//! How long files and pages take, for traffic that is made of users who browse.

use crate::measure::curves::binned;
use experiment::results::TrafficResult;
use hdrhistogram::Histogram;
use packetscale_models::units::Span;

/// How long files and pages took, over those asked for after the warm-up.
#[derive(Clone, Debug)]
pub(crate) struct Completions {
    /// Files asked for.
    pub(crate) asked: u64,
    /// From asking for a file until it is there, nanoseconds.
    files_ns: Histogram<u64>,
    /// From asking for the first file of a page until the last is there.
    pages_ns: Histogram<u64>,
}

/// Forty bins for each factor of ten.
const DECADE_IN_40: f64 = 1.059_253_725_177_288_8;

impl Completions {
    pub(crate) fn new() -> Completions {
        let durations = || Histogram::new_with_bounds(1, 1_000_000_000_000, 3).expect("bounds are in range");
        Completions { asked: 0, files_ns: durations(), pages_ns: durations() }
    }

    pub(crate) fn file(&mut self, took: Span) {
        self.files_ns.saturating_record(took.nanos());
    }

    pub(crate) fn page(&mut self, took: Span) {
        self.pages_ns.saturating_record(took.nanos());
    }

    /// The figures of files and pages; the others are not there.
    pub(crate) fn figures(&self) -> TrafficResult {
        let (files, pages) = (&self.files_ns, &self.pages_ns);
        let at = |durations: &Histogram<u64>, percent: f64| {
            (!durations.is_empty()).then(|| durations.value_at_percentile(percent) as f64 * 1e-9)
        };
        TrafficResult {
            files_asked: Some(self.asked),
            files_fetched: Some(files.len()),
            file_mean_s: (!files.is_empty()).then(|| files.mean() * 1e-9),
            file_p05_s: at(files, 5.0),
            file_p10_s: at(files, 10.0),
            file_p50_s: at(files, 50.0),
            file_p90_s: at(files, 90.0),
            file_p95_s: at(files, 95.0),
            file_p99_s: at(files, 99.0),
            file_duration: binned(files, 10_000, DECADE_IN_40),
            pages_fetched: Some(pages.len()),
            page_p50_s: at(pages, 50.0),
            page_p95_s: at(pages, 95.0),
            page_p99_s: at(pages, 99.0),
            ..TrafficResult::default()
        }
    }
}
