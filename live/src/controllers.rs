//! Controllers of the registry, configured for real paths. Those that count time in round trips use at least
//! [`SHORTEST_ROUND_TRIP`] unless configured otherwise: one packet's transmission time at the bottleneck may exceed the round
//! trip of the empty path.

use packetscale_models::congestion::rapid::SHORTEST_ROUND_TRIP;
use packetscale_models::congestion::{AnyController, Entry, Setup};
use packetscale_models::settings::{Setting, SettingError, Settings};

/// Name of the setting.
const SHORTEST: &str = "shortest_round_trip";

/// The entry's controller with these settings.
///
/// # Errors
/// A setting that is unknown, of another kind, or out of range.
pub(crate) fn for_a_real_path(
    entry: &Entry,
    setup: &Setup,
    settings: &Settings,
) -> Result<AnyController, SettingError> {
    let mut settings = settings.clone();
    if entry.parameters.iter().any(|parameter| parameter.name() == SHORTEST) {
        settings.entry(SHORTEST.to_string()).or_insert(Setting::Span(SHORTEST_ROUND_TRIP));
    }
    (entry.build)(setup, &settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use packetscale_models::units::{Bytes, Span, Time};

    fn setup() -> Setup {
        let (packet, handshake_rtt) = (Bytes::new(1500), Span::from_micros(12));
        Setup { now: Time::ZERO, packet, handshake_rtt, initial_window: 10, seed: 1 }
    }

    fn shortest(ms: u64) -> Settings {
        Settings::from([("shortest_round_trip".to_string(), Setting::Span(Span::from_millis(ms)))])
    }

    /// The controller configured for a real path, and as the registry builds it, as text.
    fn both(name: &str, settings: &Settings, as_registered: &Settings) -> (String, String) {
        let entry = packetscale_models::congestion::find(name).expect("registered");
        let here = for_a_real_path(entry, &setup(), settings).expect("built");
        let there = (entry.build)(&setup(), as_registered).expect("built");
        (format!("{here:?}"), format!("{there:?}"))
    }

    #[test]
    fn rapid_counts_no_rtt_below_20_ms() {
        let (here, there) = both("rapid", &Settings::new(), &shortest(20));
        assert_eq!(here, there);
        let plain = both("rapid", &Settings::new(), &Settings::new()).1;
        assert_ne!(here, plain);
    }

    #[test]
    fn explicit_shortest_round_trip_is_used() {
        let (here, there) = both("rapid", &shortest(1), &shortest(1));
        assert_eq!(here, there);
    }

    #[test]
    fn other_controllers_keep_registered_settings() {
        let (here, there) = both("cubic", &Settings::new(), &Settings::new());
        assert_eq!(here, there);
    }
}
