//! The abscissa of a picture's line: a key, or the difference or quotient of two.

use crate::papers::point::Point;
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span};

/// `KEY`, `KEY - KEY` or `KEY / KEY`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Abscissa {
    Key(String),
    Difference(String, String),
    Quotient(String, String),
}

impl Abscissa {
    /// Parses it. An operator needs blanks around it, because keys may contain dashes.
    pub fn parse(text: &str) -> Abscissa {
        let pair = |by: &str| text.split_once(by).map(|(a, b)| (a.trim().to_string(), b.trim().to_string()));
        match (pair(" - "), pair(" / ")) {
            (Some((a, b)), _) => Abscissa::Difference(a, b),
            (None, Some((a, b))) => Abscissa::Quotient(a, b),
            _ => Abscissa::Key(text.trim().to_string()),
        }
    }

    /// Returns the keys that it needs.
    pub fn keys(&self) -> Vec<&str> {
        match self {
            Abscissa::Key(key) => vec![key],
            Abscissa::Difference(a, b) | Abscissa::Quotient(a, b) => vec![a, b],
        }
    }

    /// Returns its value at a point, in plain units; `None` where a key is not a number.
    pub fn at(&self, point: &Point) -> Option<f64> {
        let value = |key: &String| number(point.get(key)?);
        match self {
            Abscissa::Key(key) => value(key),
            Abscissa::Difference(a, b) => Some(value(a)? - value(b)?),
            Abscissa::Quotient(a, b) => Some(value(a)? / value(b)?),
        }
    }
}

/// Returns a quantity as a number: seconds, bit/s, bytes, packets, a fraction, or the number before any other unit.
pub(crate) fn number(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return Some(number);
    }
    if let Ok(time) = text.parse::<Span>() {
        return Some(time.as_secs_f64());
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return Some(rate.bps() as f64);
    }
    if let Ok(packets) = text.parse::<Packets>() {
        return Some(packets.get() as f64);
    }
    if let Ok(bytes) = text.parse::<Bytes>() {
        return Some(bytes.get() as f64);
    }
    if let Ok(ratio) = text.parse::<Ratio>() {
        return Some(ratio.as_f64());
    }
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_convert_to_plain_units() {
        for (text, expected) in
            [("50 ms", 0.05), ("2 Gbit/s", 2e9), ("20 packets", 20.0), ("0.95", 0.95), ("1.5 bdp", 1.5)]
        {
            let found = number(text).unwrap();
            assert!((found - expected).abs() < 1e-12 * expected, "{text}: {found}");
        }
        assert_eq!(number("uniform"), None);
    }

    #[test]
    fn key_may_contain_dashes() {
        assert_eq!(Abscissa::parse("target-loss"), Abscissa::Key("target-loss".into()));
        let point = Point::from([("on".into(), "100 ms".into()), ("off".into(), "350 ms".into())]);
        assert!((Abscissa::parse("off - on").at(&point).unwrap() - 0.25).abs() < 1e-12);
        assert!((Abscissa::parse("on / off").at(&point).unwrap() - 2.0 / 7.0).abs() < 1e-12);
    }
}
