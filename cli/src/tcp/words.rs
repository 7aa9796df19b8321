//! Quantities and causes, as people read them.

use linux::tcp::{Activity, Limit, Reason, Source};

/// Shows bytes per second as bits per second.
pub fn rate(bytes: u64) -> String {
    let bits = bytes as f64 * 8.0;
    match bits {
        1e9.. => format!("{:.2} Gbit/s", bits / 1e9),
        1e5.. => format!("{:.2} Mbit/s", bits / 1e6),
        0.0 => "0.00 Mbit/s".to_string(),
        _ => format!("{:.2} kbit/s", bits / 1e3),
    }
}

pub fn time(ns: u64) -> String {
    match ns {
        0 => "0 s".to_string(),
        1..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}

pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

pub fn part(of: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { of as f64 / whole as f64 }
}

/// Why CUBIC has taken over.
pub fn because(reason: Reason) -> &'static str {
    match reason {
        Reason::TooManyConnections => "more connections than --flows allows",
        Reason::NoStamps => "the peer reports no arrival times",
        Reason::CannotPace => "this machine creates gaps too late at this rate",
        Reason::Bursts => "packets leave in bursts (load with --device to prevent this)",
        Reason::SwitchedOff => "Rapid is switched off, or was being unloaded",
        Reason::TooManyOfUser => "its user has more connections than --flows-per-user allows",
        Reason::Unknown => "unknown",
    }
}

/// The same as a key: of JSON, and of labels.
pub fn key_of(reason: Reason) -> &'static str {
    match reason {
        Reason::TooManyConnections => "too-many-connections",
        Reason::NoStamps => "no-stamps",
        Reason::CannotPace => "cannot-pace",
        Reason::Bursts => "bursts",
        Reason::SwitchedOff => "switched-off",
        Reason::TooManyOfUser => "too-many-of-user",
        Reason::Unknown => "unknown",
    }
}

/// What kept packets back, as a key.
pub fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Application => "application",
        Limit::Receiver => "receiver",
        Limit::Window => "window",
    }
}

pub fn activity(activity: Activity) -> &'static str {
    match activity {
        Activity::Waits => "waits",
        Activity::Receives => "receives",
        Activity::StartsUp => "start-up",
        Activity::Sends => "rapid",
    }
}

pub fn source(source: Source) -> &'static str {
    match source {
        Source::Undecided => "undecided",
        Source::Option => "option",
        Source::Timestamps => "timestamps",
        Source::None => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn a_rate_that_is_not_zero_is_not_shown_as_zero() {
        assert_eq!(
            [0, 500, 12_500, 125_000_000].map(rate),
            ["0.00 Mbit/s", "4.00 kbit/s", "0.10 Mbit/s", "1.00 Gbit/s"]
        );
    }
}
