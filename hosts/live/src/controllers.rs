//! A controller of the registry as a real path wants it. One that counts time in round trips counts none shorter than
//! [`SHORTEST_ROUND_TRIP`], unless it is told how short: a packet's own time at the bottleneck may be more than the round
//! trip of the empty path.

use congestion::rapid::SHORTEST_ROUND_TRIP;
use congestion::{AnyController, Entry, Setup};
use settings::{Setting, SettingError, Settings};

/// The setting that says it.
const SHORTEST: &str = "shortest_round_trip";

/// The entry's controller with these settings.
///
/// # Errors
/// A setting that is unknown, of another kind, or out of range.
pub(crate) fn for_a_real_path(entry: &Entry, setup: &Setup, settings: &Settings) -> Result<AnyController, SettingError> {
    let mut settings = settings.clone();
    if entry.parameters.iter().any(|parameter| parameter.name() == SHORTEST) {
        settings.entry(SHORTEST.to_string()).or_insert(Setting::Span(SHORTEST_ROUND_TRIP));
    }
    (entry.build)(setup, &settings)
}
