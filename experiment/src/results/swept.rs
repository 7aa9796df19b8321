//! Swept values as numbers.
//!
//! A scenario writes `"2.5 ms"`; a table that is read by a program has the number `0.0025` in a column whose name says the
//! unit, `path.delay_s`, as every other column does. That is so where all values of a key are of one kind: rates, times,
//! amounts of data, packets, products of bandwidth and delay, or plain numbers (a percentage is a fraction). Otherwise the
//! values are words, and stay as they are written.

use crate::results::figures::Kind;
use crate::results::schema::Run;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a swept value is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dimension {
    Rate,
    Time,
    Data,
    Packets,
    Products,
    Number,
}

/// The units of a scenario: spelling, what it measures, multiplier and divisor to the unit of the column. Only one of the
/// two is above 1, so that `35 us` becomes exactly the number that reads `0.000035`.
const UNITS: &[(&str, Dimension, f64, f64)] = &[
    ("bit/s", Dimension::Rate, 1.0, 1.0),
    ("bps", Dimension::Rate, 1.0, 1.0),
    ("kbit/s", Dimension::Rate, 1e3, 1.0),
    ("kbps", Dimension::Rate, 1e3, 1.0),
    ("Mbit/s", Dimension::Rate, 1e6, 1.0),
    ("Mbps", Dimension::Rate, 1e6, 1.0),
    ("Gbit/s", Dimension::Rate, 1e9, 1.0),
    ("Gbps", Dimension::Rate, 1e9, 1.0),
    ("Tbit/s", Dimension::Rate, 1e12, 1.0),
    ("Tbps", Dimension::Rate, 1e12, 1.0),
    ("ps", Dimension::Time, 1.0, 1e12),
    ("ns", Dimension::Time, 1.0, 1e9),
    ("us", Dimension::Time, 1.0, 1e6),
    ("µs", Dimension::Time, 1.0, 1e6),
    ("ms", Dimension::Time, 1.0, 1e3),
    ("s", Dimension::Time, 1.0, 1.0),
    ("min", Dimension::Time, 60.0, 1.0),
    ("h", Dimension::Time, 3600.0, 1.0),
    ("B", Dimension::Data, 1.0, 1.0),
    ("byte", Dimension::Data, 1.0, 1.0),
    ("bytes", Dimension::Data, 1.0, 1.0),
    ("kB", Dimension::Data, 1e3, 1.0),
    ("KB", Dimension::Data, 1e3, 1.0),
    ("MB", Dimension::Data, 1e6, 1.0),
    ("GB", Dimension::Data, 1e9, 1.0),
    ("TB", Dimension::Data, 1e12, 1.0),
    ("KiB", Dimension::Data, 1024.0, 1.0),
    ("MiB", Dimension::Data, 1_048_576.0, 1.0),
    ("GiB", Dimension::Data, 1_073_741_824.0, 1.0),
    ("packet", Dimension::Packets, 1.0, 1.0),
    ("packets", Dimension::Packets, 1.0, 1.0),
    ("bdp", Dimension::Products, 1.0, 1.0),
    ("", Dimension::Number, 1.0, 1.0),
    ("%", Dimension::Number, 1.0, 100.0),
];

impl Dimension {
    /// What the name of a column ends in, and the symbol of the unit.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Dimension::Rate => ("_bps", "bit/s"),
            Dimension::Time => ("_s", "s"),
            Dimension::Data => ("_bytes", "byte"),
            Dimension::Packets => ("_packets", "packets"),
            Dimension::Products => ("_bdp", "bdp"),
            Dimension::Number => ("", ""),
        }
    }
}

/// Reads a number with a unit, as a scenario writes it.
fn read(text: &str) -> Option<(f64, Dimension)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || "._-+eE".contains(c))).unwrap_or(text.len());
    // `1 e` is no number, and neither is `5 EB`: an exponent has digits.
    let (number, unit) = (text[..end].trim_end_matches(['e', 'E']), text[end..].trim());
    let number: f64 = number.replace('_', "").parse().ok()?;
    let (_, dimension, times, over) = UNITS.iter().find(|(name, ..)| *name == unit)?;
    Some((number * times / over, *dimension)).filter(|(value, _)| value.is_finite())
}

/// Returns a rate in bit/s or a time in seconds; `None` for anything else.
pub fn rate_or_time(text: &str) -> Option<f64> {
    read(text).filter(|(_, dimension)| matches!(dimension, Dimension::Rate | Dimension::Time)).map(|(value, _)| value)
}

/// A swept key and what its values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptKey {
    /// The key, as the scenario writes it.
    pub key: String,
    /// `None`: words.
    dimension: Option<Dimension>,
    whole: bool,
}

impl SweptKey {
    fn new<'a>(key: &str, values: impl Iterator<Item = &'a str> + Clone) -> SweptKey {
        let first = values.clone().next().and_then(read).map(|(_, dimension)| dimension);
        let alike = |text: &str| read(text).map(|(_, dimension)| dimension) == first;
        SweptKey {
            key: key.to_string(),
            dimension: first.filter(|_| values.clone().all(alike)),
            whole: values.clone().all(|text| text.parse::<u64>().is_ok()),
        }
    }

    /// The name of its column.
    pub fn column(&self) -> String {
        format!("{}{}", self.key, self.dimension.map_or("", |dimension| dimension.words().0))
    }

    /// The symbol of its unit; `None` where the values are words.
    pub fn unit(&self) -> Option<&'static str> {
        self.dimension.map(|dimension| dimension.words().1)
    }

    /// What its column holds.
    pub(crate) fn kind(&self) -> Kind {
        match self.dimension {
            None => Kind::Text,
            Some(_) if self.whole => Kind::Integer,
            Some(_) => Kind::Float,
        }
    }

    /// The number that a value means; `None` where the values are words.
    pub fn number(&self, text: &str) -> Option<f64> {
        self.dimension.and_then(|_| read(text)).map(|(value, _)| value)
    }

    /// A value as its column holds it.
    pub(crate) fn value(&self, text: &str) -> Value {
        match self.kind() {
            Kind::Text => json!(text),
            Kind::Integer => json!(text.parse::<u64>().ok()),
            Kind::Float => json!(self.number(text)),
        }
    }
}

/// Returns the swept keys of these runs, in the order of the scenario's keys.
pub fn swept(runs: &[Run]) -> Vec<SweptKey> {
    let keys = runs.first().into_iter().flat_map(|run| run.params.keys());
    keys.map(|key| SweptKey::new(key, runs.iter().filter_map(|run| run.params.get(key)).map(String::as_str))).collect()
}

/// A sweep point as an object: columns and numbers.
pub(crate) fn point(keys: &[SweptKey], params: &BTreeMap<String, String>) -> Map<String, Value> {
    let value = |key: &SweptKey| params.get(&key.key).map(|text| (key.column(), key.value(text)));
    keys.iter().filter_map(value).collect()
}

/// Units in which a value of a column is written again, largest first: the first that the value reaches.
const WRITTEN: &[(Dimension, f64, &str)] = &[
    (Dimension::Rate, 1e9, "Gbit/s"),
    (Dimension::Rate, 1e6, "Mbit/s"),
    (Dimension::Rate, 1e3, "kbit/s"),
    (Dimension::Rate, 0.0, "bit/s"),
    (Dimension::Time, 1.0, "s"),
    (Dimension::Time, 1e-3, "ms"),
    (Dimension::Time, 1e-6, "us"),
    (Dimension::Time, 0.0, "ns"),
    (Dimension::Data, 1e6, "MB"),
    (Dimension::Data, 1e3, "kB"),
    (Dimension::Data, 0.0, "B"),
    (Dimension::Packets, 0.0, "packets"),
    (Dimension::Products, 0.0, "bdp"),
];

/// Returns key and value as a scenario writes them, of a column and its value: the reverse of [`SweptKey::column`] and
/// [`SweptKey::value`], though perhaps in another unit.
pub(crate) fn as_written(column: &str, value: &str) -> (String, String) {
    let Some(number) = value.parse::<f64>().ok().filter(|number| number.is_finite()) else {
        return (column.to_string(), value.to_string());
    };
    let known = |(dimension, least, unit): &(Dimension, f64, &str)| {
        let key = column.strip_suffix(dimension.words().0)?;
        let (_, _, times, over) = UNITS.iter().find(|(name, ..)| name == unit)?;
        // Nine digits, so that 35 us does not come back as 34.999999999999996 us.
        let shown: f64 = format!("{:.8e}", number * over / times).parse().ok()?;
        (number.abs() >= *least).then(|| (key.to_string(), format!("{shown} {unit}")))
    };
    // A plain number is as short as it can be: 0 comes back from a column of numbers as 0.0.
    WRITTEN.iter().find_map(known).unwrap_or_else(|| (column.to_string(), number.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(values: &[&str]) -> SweptKey {
        SweptKey::new("path.key", values.iter().copied())
    }

    #[test]
    fn values_of_one_kind_are_numbers_in_the_unit_that_the_column_names() {
        let column = |values: &[&str]| (key(values).column(), key(values).value(values[0]));
        let expected = |name: &str, value: Value| (name.to_string(), value);
        assert_eq!(column(&["2.5 ms", "15 ms", "1 s"]), expected("path.key_s", json!(0.0025)));
        assert_eq!(column(&["35 us"]), expected("path.key_s", json!(0.000035)));
        assert_eq!(column(&["500 Mbit/s", "2 Gbps"]), expected("path.key_bps", json!(5e8)));
        assert_eq!(column(&["0.25 bdp", "1 bdp"]), expected("path.key_bdp", json!(0.25)));
        assert_eq!(column(&["64 KiB", "2 MB"]), expected("path.key_bytes", json!(65536.0)));
        assert_eq!(column(&["100 packets"]), expected("path.key_packets", json!(100.0)));
        assert_eq!(column(&["1 %", "0.5"]), expected("path.key", json!(0.01)));
        assert_eq!(column(&["1e-6", "0.001"]), expected("path.key", json!(1e-6)));
        assert_eq!(column(&["4", "16"]), expected("path.key", json!(4)));
    }

    #[test]
    fn values_of_different_kinds_and_words_stay_as_they_are_written() {
        for values in [&["1 bdp", "2 MB"][..], &["fifo", "red"], &["1 s", "often"], &["5 furlongs"], &["nan"], &["e"]] {
            assert_eq!((key(values).column(), key(values).unit()), ("path.key".to_string(), None), "{values:?}");
            assert_eq!(key(values).value(values[0]), json!(values[0]));
        }
    }

    #[test]
    fn a_column_is_written_again_as_in_a_scenario() {
        for (values, again) in [
            (["2.5 ms", "15 ms"], "2.5 ms"),
            (["35 us", "1 s"], "35 us"),
            (["500 Mbit/s", "2 Gbps"], "500 Mbit/s"),
            (["0.25 bdp", "1 bdp"], "0.25 bdp"),
            (["2 MB", "64 KiB"], "2 MB"),
            (["100 packets", "7 packets"], "100 packets"),
            (["4", "16"], "4"),
            (["0", "0.001"], "0"),
            (["fifo", "red"], "fifo"),
        ] {
            let key = key(&values);
            let value = match key.value(values[0]) {
                Value::String(text) => text,
                number => number.to_string(),
            };
            assert_eq!(as_written(&key.column(), &value), ("path.key".to_string(), again.to_string()));
        }
    }

    #[test]
    fn rates_and_times_are_read_and_nothing_else() {
        assert_eq!((rate_or_time("10 Gbit/s"), rate_or_time("500 ms")), (Some(1e10), Some(0.5)));
        assert_eq!((rate_or_time("1 bdp"), rate_or_time("7"), rate_or_time("")), (None, None, None));
    }
}
