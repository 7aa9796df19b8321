//! The data of a page as JSON.

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter};
use std::io::{Result, Write};

/// Every whole number below is exact in 64 bits and in a number of JavaScript.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Writes whole numbers without `.0`.
struct Short;

impl Formatter for Short {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> Result<()> {
        match value.fract() == 0.0 && value.abs() < EXACT {
            true => write!(writer, "{}", value as i64),
            false => CompactFormatter.write_f64(writer, value),
        }
    }
}

/// Returns the data as JSON; an empty object if they cannot be written.
pub fn json(data: &impl Serialize) -> String {
    let mut out = Vec::new();
    let written = data.serialize(&mut Serializer::with_formatter(&mut out, Short));
    written.ok().and_then(|()| String::from_utf8(out).ok()).unwrap_or_else(|| "{}".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        let numbers = [11932.0, -3.0, 0.25, 1e300, EXACT, f64::NAN];
        assert_eq!(json(&numbers), "[11932,-3,0.25,1e+300,9007199254740992.0,null]");
    }
}
