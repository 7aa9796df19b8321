//! Curves.

use serde::{Deserialize, Serialize};

/// A curve over time, equally spaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What it is: a name of the table of curves.
    pub metric: String,
    /// Flow number, when it belongs to a flow.
    pub flow: Option<u32>,
    /// Unit of the values: `bit/s`, `s`, `packet`, `1`.
    pub unit: String,
    /// Time of the first value: the middle of its interval.
    pub start_s: f64,
    /// Distance between values.
    pub step_s: f64,
    /// The values; `null` where there is none.
    pub values: Vec<Option<f32>>,
}

impl Series {
    /// Whether it has no point.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
