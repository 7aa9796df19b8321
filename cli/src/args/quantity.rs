//! Times, rates and sizes on the command line, as scenario files write them: "60 s", "10 Mbit/s", "1500 B".

use packetscale_models::units::{Bytes, ParseError, Span};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Reads a quantity. A plain number counts `unit`s, as it did in 0.2; that goes in 0.3.
fn with_plain<T: FromStr<Err = ParseError>>(text: &str, unit: &str) -> Result<T, ParseError> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { format!("{text} {unit}").parse() } else { text.parse() }
}

/// A time; a plain number counts seconds.
pub fn seconds(text: &str) -> Result<Span, ParseError> {
    with_plain(text, "s")
}

/// A time; a plain number counts microseconds.
pub fn microseconds(text: &str) -> Result<Span, ParseError> {
    with_plain(text, "us")
}

/// A time between two updates.
pub fn interval(text: &str) -> Result<Span, String> {
    let expected = "a time from 1 s to 1 h";
    let every = seconds(text).map_err(|error| error.to_string())?;
    match (Span::from_secs(1)..=Span::from_secs(3600)).contains(&every) {
        true => Ok(every),
        false => Err(format!("found \"{text}\"; expected {expected}")),
    }
}

/// A quantity above zero.
pub fn positive<T: FromStr<Err = ParseError> + Default + PartialEq>(text: &str) -> Result<T, String> {
    let value: T = text.parse().map_err(|error: ParseError| error.to_string())?;
    if value == T::default() { Err(format!("found \"{text}\"; expected more than 0")) } else { Ok(value) }
}

/// The size of an IP packet, in bytes.
pub fn packet(text: &str) -> Result<u16, String> {
    const SIZES: RangeInclusive<u16> = 1280..=9000;
    let size: Bytes = text.parse().map_err(|error: ParseError| error.to_string())?;
    let fits = u16::try_from(size.get()).ok().filter(|size| SIZES.contains(size));
    fits.ok_or_else(|| format!("found \"{text}\"; expected {} B to {} B", SIZES.start(), SIZES.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_number_takes_unit_of_flag() {
        assert_eq!(seconds("90"), Ok(Span::from_secs(90)));
        assert_eq!(microseconds("20"), Ok(Span::from_micros(20)));
        assert_eq!(seconds("1.5 min"), Ok(Span::from_secs(90)));
    }

    #[test]
    fn refuses_invalid_quantities_as_scenarios_do() {
        let said = seconds("5 parsecs").map_err(|error| error.to_string());
        assert_eq!(said, Err("found \"5 parsecs\" (an unknown unit); expected a time like \"30 ms\"".to_string()));
        assert!(seconds("").is_err() && seconds("-1").is_err() && seconds("1.5").is_err());
        assert_eq!(packet("1279 B"), Err("found \"1279 B\"; expected 1280 B to 9000 B".to_string()));
        let plain = "found \"1500\" (no unit); expected an amount of data like \"1500 B\"";
        assert_eq!(packet("1500"), Err(plain.to_string()));
        assert!(packet("9 kB").is_ok() && packet("70 kB").is_err());
        assert!(interval("500 ms").is_err() && interval("1 h").is_ok());
        assert_eq!(positive::<Bytes>("0 B"), Err("found \"0 B\"; expected more than 0".to_string()));
        assert_eq!(positive::<Span>("1 ps"), Ok(Span::from_picos(1)));
    }
}
