//! The numbers of an expectation in words: with the prefix and the digits of tables.

use crate::results::figures::{SUMMARY, Unit};
use crate::results::numbers::{digits, quantity};
use crate::results::schema::ExpectationOutcome;

/// Digits of a number, and most of them where fewer would make it look like a bound that it is not.
const DIGITS: i32 = 4;
const MOST_DIGITS: i32 = 16;

impl ExpectationOutcome {
    /// The bound with prefixes and units: `at least 90.00 %`.
    pub fn bound_in_words(&self) -> String {
        let unit = self.unit();
        let word = |word: &str| word.parse().map_or(word.to_string(), |bound| quantity(bound, unit));
        self.bound.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    /// What was found, with its prefix and unit: as tables show it, or with as many digits as tell it from a bound.
    pub fn found_in_words(&self) -> String {
        let Some(found) = self.found.filter(|found| found.is_finite()) else { return "no value".to_string() };
        let unit = self.unit();
        let bounds: Vec<f64> =
            self.bound.split(' ').filter_map(|word| word.parse().ok()).filter(|bound| *bound != found).collect();
        let alike =
            |places: &i32| bounds.iter().any(|bound| digits(*bound, unit, *places) == digits(found, unit, *places));
        let places = (DIGITS..MOST_DIGITS).find(|places| !alike(places)).unwrap_or(MOST_DIGITS);
        digits(found, unit, places)
    }

    fn unit(&self) -> Unit {
        SUMMARY.iter().find(|figure| figure.name == self.metric).map_or(Unit::Index, |figure| figure.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(metric: &str, bound: &str, found: Option<f64>) -> [String; 2] {
        let outcome = ExpectationOutcome {
            metric: metric.to_string(),
            selected: String::new(),
            bound: bound.to_string(),
            found,
            met: false,
            why: String::new(),
        };
        [outcome.bound_in_words(), outcome.found_in_words()]
    }

    #[test]
    fn numbers_are_those_of_tables() {
        let share = outcome("utilisation", "at least 0.98", Some(0.997_116_000_000_000_1));
        assert_eq!(share, ["at least 98.00 %", "99.71 %"]);
        let index = outcome("fairness_jain", "at least 0.8 and at most 0.97", Some(0.838_003_337_024_270_3));
        assert_eq!(index, ["at least 0.8000 and at most 0.9700", "0.8380"]);
        assert_eq!(outcome("rtt_mean_s", "at most 0.02", None), ["at most 20.00 ms", "no value"]);
    }

    #[test]
    fn near_miss_is_printed_with_enough_digits() {
        assert_eq!(outcome("utilisation", "at least 0.98", Some(0.979_999)), ["at least 98.00 %", "97.9999 %"]);
        assert_eq!(outcome("utilisation", "at least 0.98", Some(0.98)), ["at least 98.00 %", "98.00 %"]);
    }
}
