//! The part of a run's time that a figure of a curve is read over.

use serde::Deserialize;
use toml::Value;

/// From a time on and before another, in seconds: `[FROM, TO]` in a figure's file.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct During {
    from_s: f64,
    to_s: f64,
}

impl During {
    /// Whether it contains a time.
    pub fn contains(self, at_s: f64) -> bool {
        (self.from_s..self.to_s).contains(&at_s)
    }
}

/// Refuses all but two numbers that a time can pass between.
impl TryFrom<Value> for During {
    type Error = String;

    fn try_from(written: Value) -> Result<During, String> {
        let number = |value: &Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
        let numbers = written.as_array().and_then(|values| values.iter().map(number).collect::<Option<Vec<f64>>>());
        match numbers.as_deref() {
            Some(&[from_s, to_s]) if from_s >= 0.0 && from_s < to_s => Ok(During { from_s, to_s }),
            _ => Err(format!("during_s: found {written}, expected [FROM, TO] in seconds, from 0 on and FROM below TO")),
        }
    }
}
