//! The types of settings, and descriptions of their ranges.

use crate::settings::{Kind, Setting};
use crate::units::{Bytes, Packets, Rate, Ratio, Span};
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::RangeInclusive;

/// A type of values that a scenario can set.
pub trait Value: Copy + PartialOrd + core::fmt::Debug + Sync + 'static {
    /// Its name in a message.
    const NOUN: &'static str;
    /// Its kind.
    const KIND: Kind;
    /// The smallest value.
    const LEAST: Self;
    /// The next: of a quantity, the smallest above zero.
    const NEXT: Self;
    /// Whether steps between values do not matter, so that a range from [`Value::NEXT`] on is called "above 0".
    const CONTINUOUS: bool;
    /// The largest below one, of fractions.
    const BELOW_ONE: Option<Self> = None;
    /// The largest value.
    const MOST: Self;

    /// The value of a setting of this kind; `None`: the setting is of another kind, or does not fit the type.
    fn of(setting: &Setting) -> Option<Self>;

    /// As a scenario writes it, without quotes.
    fn text(self) -> String;
}

/// Fractions above 0 and below 1.
pub const PROPER: RangeInclusive<Ratio> = Ratio::NEXT..=BELOW_ONE;

/// The largest fraction below the whole.
const BELOW_ONE: Ratio = Ratio::from_q32(Ratio::ONE.q32() - 1);

/// Every quantity above zero.
pub const fn above_zero<T: Value>() -> RangeInclusive<T> {
    T::NEXT..=T::MOST
}

/// Every value.
pub const fn any<T: Value>() -> RangeInclusive<T> {
    T::LEAST..=T::MOST
}

macro_rules! quantity {
    ($($type:ident, $noun:literal, $make:ident;)*) => {
        $(impl Value for $type {
            const NOUN: &'static str = $noun;
            const KIND: Kind = Kind::$type;
            const LEAST: $type = $type::ZERO;
            const NEXT: $type = $type::$make(1);
            const CONTINUOUS: bool = true;
            const MOST: $type = $type::$make(u64::MAX);

            fn of(setting: &Setting) -> Option<$type> {
                match setting {
                    Setting::$type(value) => Some(*value),
                    _ => None,
                }
            }

            fn text(self) -> String {
                self.to_string()
            }
        })*
    };
}

quantity! {
    Span, "a time", from_picos;
    Rate, "a rate", from_bps;
    Packets, "a number of packets", new;
    Bytes, "an amount of data", new;
}

impl Value for Ratio {
    const NOUN: &'static str = "a number";
    const KIND: Kind = Kind::Ratio;
    const LEAST: Ratio = Ratio::ZERO;
    const NEXT: Ratio = Ratio::from_q32(1);
    const CONTINUOUS: bool = true;
    const BELOW_ONE: Option<Ratio> = Some(BELOW_ONE);
    const MOST: Ratio = Ratio::from_q32(u64::MAX);

    fn of(setting: &Setting) -> Option<Ratio> {
        match setting {
            Setting::Ratio(ratio) => Some(*ratio),
            _ => None,
        }
    }

    /// The shortest decimal that a ratio rounds to, or is cut from.
    fn text(self) -> String {
        let x = self.as_f64();
        let is_it = |text: &String| text.parse().is_ok_and(|decimal: f64| (decimal - x).abs() < 1.0 / 4_294_967_296.0);
        (0..12).map(|digits| format!("{x:.digits$}")).find(is_it).unwrap_or_else(|| x.to_string())
    }
}

impl Value for u32 {
    const NOUN: &'static str = "a whole number";
    const KIND: Kind = Kind::Integer;
    const LEAST: u32 = 0;
    const NEXT: u32 = 1;
    const CONTINUOUS: bool = false;
    const MOST: u32 = u32::MAX;

    fn of(setting: &Setting) -> Option<u32> {
        match setting {
            Setting::Integer(n) => u32::try_from(*n).ok(),
            _ => None,
        }
    }

    fn text(self) -> String {
        self.to_string()
    }
}

impl Value for bool {
    const NOUN: &'static str = "true or false";
    const KIND: Kind = Kind::Switch;
    const LEAST: bool = false;
    const NEXT: bool = true;
    const CONTINUOUS: bool = false;
    const MOST: bool = true;

    fn of(setting: &Setting) -> Option<bool> {
        match setting {
            Setting::Switch(on) => Some(*on),
            _ => None,
        }
    }

    fn text(self) -> String {
        self.to_string()
    }
}

/// A range in words: `from 2 to 16`, `above 0`, `above 0 and below 1`; empty where every value fits.
pub(crate) fn range_text<T: Value>(range: &RangeInclusive<T>) -> String {
    let (least, most) = (*range.start(), *range.end());
    let open = T::CONTINUOUS && least == T::NEXT;
    match (open, most == T::MOST) {
        (false, true) if least == T::LEAST => String::new(),
        (false, true) => format!("from {}", least.text()),
        (true, true) => "above 0".to_string(),
        (true, false) if T::BELOW_ONE == Some(most) => "above 0 and below 1".to_string(),
        (true, false) => format!("above 0, up to {}", most.text()),
        (false, false) => format!("from {} to {}", least.text(), most.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_ranges_in_words() {
        assert_eq!(range_text(&(2..=16_u32)), "from 2 to 16");
        assert_eq!(range_text(&(1..=u32::MAX)), "from 1");
        assert_eq!(range_text(&any::<Span>()), "");
        assert_eq!(range_text(&above_zero::<Span>()), "above 0");
        assert_eq!(range_text(&(Span::from_millis(200)..=Span::MAX)), "from 200 ms");
        assert_eq!(range_text(&PROPER), "above 0 and below 1");
        assert_eq!(range_text(&(Ratio::NEXT..=Ratio::ONE)), "above 0, up to 1");
        assert_eq!(range_text(&(Ratio::ZERO..=Ratio::of(1, 2))), "from 0 to 0.5");
    }

    /// 3/100 is cut to a multiple of 2^-32, 819/1024 is one.
    #[test]
    fn fractions_print_without_rounding_digits() {
        for (ratio, text) in [
            (Ratio::of(3, 100), "0.03"),
            (Ratio::from_f64(0.03), "0.03"),
            (Ratio::of(819, 1024), "0.7998046875"),
            (Ratio::ONE, "1"),
            (Ratio::ZERO, "0"),
        ] {
            assert_eq!(ratio.text(), text);
        }
    }
}
