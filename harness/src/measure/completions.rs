//! Completion times of files and pages, for web-browsing traffic.

use crate::measure::curves::binned;
use crate::measure::period::Period;
use crate::measure::waits::histogram_ns;
use experiment::results::TrafficResult;
use experiment::scenario::{Experiment, TrafficKind, TrafficSpec};
use hdrhistogram::Histogram;
use packetscale_models::units::Time;

/// The accounts of all browsing users, by traffic source.
#[derive(Clone, Debug)]
pub struct Users {
    warm: Time,
    /// `None`: a source without such users.
    sources: Vec<Option<Box<Completions>>>,
}

impl Users {
    pub(crate) fn of(experiment: &Experiment) -> Users {
        let browses = |spec: &TrafficSpec| matches!(&spec.kind, TrafficKind::Web(web) if web.responsive);
        let account = |spec| browses(spec).then(|| Box::new(Completions::new()));
        Users { warm: Period::of(experiment).warm, sources: experiment.traffic.iter().map(account).collect() }
    }

    pub(crate) fn of_source(&self, source: usize) -> Option<&Completions> {
        self.sources.get(source)?.as_deref()
    }

    /// The account of a source, if requests at that time count.
    fn counting(&mut self, source: usize, requested: Time) -> Option<&mut Completions> {
        self.sources[source].as_deref_mut().filter(|_| requested > self.warm)
    }

    /// A user of this traffic source requests a file.
    pub fn file_requested(&mut self, source: usize, now: Time) {
        if let Some(completions) = self.counting(source, now) {
            completions.requested += 1;
        }
    }

    /// A file that was requested at that time is complete.
    pub fn file_fetched(&mut self, source: usize, requested: Time, now: Time) {
        if let Some(completions) = self.counting(source, requested) {
            completions.files_ns.saturating_record(now.since(requested).nanos());
        }
    }

    /// The last file of a page is complete; the first was requested at that time.
    pub fn page_fetched(&mut self, source: usize, requested: Time, now: Time) {
        if let Some(completions) = self.counting(source, requested) {
            completions.pages_ns.saturating_record(now.since(requested).nanos());
        }
    }
}

/// Completion times of files and pages requested after the warm-up.
#[derive(Clone, Debug)]
pub(crate) struct Completions {
    /// Requested files.
    requested: u64,
    /// From the request of a file to its completion, nanoseconds.
    files_ns: Histogram<u64>,
    /// From the request of a page's first file to the completion of the last.
    pages_ns: Histogram<u64>,
}

/// Forty bins for each factor of ten.
const DECADE_IN_40: f64 = 1.059_253_725_177_288_8;

impl Completions {
    fn new() -> Completions {
        Completions { requested: 0, files_ns: histogram_ns(), pages_ns: histogram_ns() }
    }

    /// The figures of files and pages; the others are not there.
    pub(crate) fn figures(&self) -> TrafficResult {
        let (files, pages) = (&self.files_ns, &self.pages_ns);
        let at = |durations: &Histogram<u64>, percent: f64| {
            (!durations.is_empty()).then(|| durations.value_at_percentile(percent) as f64 * 1e-9)
        };
        TrafficResult {
            files_asked: Some(self.requested),
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
