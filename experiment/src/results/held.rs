//! What the fields of the table of figures hold.

use crate::results::distribution::Histogram;
use crate::results::series::Series;

/// What a column holds. Every column but text may have holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// A count, 64 bits.
    Integer,
    /// A figure, double precision.
    Float,
}

/// What a field holds: the column that it fits in, and its number.
pub(crate) trait Held {
    const KIND: Option<Kind>;

    /// `None`: it holds no number.
    fn number(&self) -> Option<f64> {
        None
    }
}

macro_rules! held {
    ($($type:ty: $kind:expr),*) => {$(impl Held for $type { const KIND: Option<Kind> = $kind; })*};
}

macro_rules! numbers {
    ($($type:ty: $kind:ident),*) => {$(impl Held for $type {
        const KIND: Option<Kind> = Some(Kind::$kind);

        fn number(&self) -> Option<f64> {
            Some(*self as f64)
        }
    })*};
}

numbers!(u32: Integer, u64: Integer, f32: Float, f64: Float);
held!(String: Some(Kind::Text), Histogram: None, Series: None, Vec<f64>: None, Vec<(f64, u64)>: None);

impl<T: Held> Held for Option<T> {
    const KIND: Option<Kind> = T::KIND;

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}
