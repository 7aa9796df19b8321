//! What an object says that a scenario can set, as parameters like those of any algorithm.

use crate::plugins::flaw::{Flaw, text};
use packetscale_controller::abi;
use packetscale_models::settings::{Described, Parameter, SettingError, Settings, Value};
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span};

/// A parameter whose value an object gets as a number.
pub(crate) trait Declared: Described {
    /// What is set, or the default, in the unit of its kind.
    fn number(&self, settings: &Settings) -> Result<u64, SettingError>;
    /// For the list of parameters.
    fn described(&'static self) -> &'static dyn Described;
}

/// A value that is handed over as a number.
trait Number: Value {
    fn of_number(number: u64) -> Option<Self>;
    fn number(self) -> u64;
}

impl<T: Number> Declared for Parameter<T> {
    fn number(&self, settings: &Settings) -> Result<u64, SettingError> {
        self.read(settings).map(T::number)
    }

    fn described(&'static self) -> &'static dyn Described {
        self
    }
}

macro_rules! numbers {
    ($($type:ty: $of:expr, $number:expr;)*) => {
        $(impl Number for $type {
            fn of_number(number: u64) -> Option<$type> {
                $of(number)
            }
            fn number(self) -> u64 {
                $number(self)
            }
        })*
    };
}

numbers! {
    Span: |number| Some(Span::from_picos(number)), Span::picos;
    Ratio: |number| Some(Ratio::from_q32(number)), Ratio::q32;
    Rate: |number| Some(Rate::from_bps(number)), Rate::bps;
    Packets: |number| Some(Packets::new(number)), Packets::get;
    Bytes: |number| Some(Bytes::new(number)), Bytes::get;
    u32: |number| u32::try_from(number).ok(), u64::from;
    bool: |number| [false, true].get(usize::try_from(number).ok()?).copied(), u64::from;
}

/// Keys that a scenario uses itself.
const TAKEN: [&str; 3] = ["kind", "file", "label"];

/// Reads a declaration. It lasts as long as the program.
pub(crate) fn declared(setting: &abi::Setting, number: u32) -> Result<&'static dyn Declared, Flaw> {
    let what = format!("setting {number}");
    let name = text(setting.name, &format!("the name of {what}"))?;
    let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    if name.is_empty() || !name.bytes().all(plain) || TAKEN.contains(&name) {
        let expected = "a name of small letters, digits and _, other than \"kind\", \"file\" and \"label\"";
        return Err(Flaw::new(format!("\"{name}\" as the name of {what}"), expected));
    }
    let doc = text(setting.doc, &format!("the text of setting \"{name}\""))?;
    match setting.kind {
        abi::TIME_PS => parameter::<Span>(setting, name, doc),
        abi::FRACTION_Q32 => parameter::<Ratio>(setting, name, doc),
        abi::RATE_BPS => parameter::<Rate>(setting, name, doc),
        abi::PACKETS => parameter::<Packets>(setting, name, doc),
        abi::BYTES => parameter::<Bytes>(setting, name, doc),
        abi::INTEGER => parameter::<u32>(setting, name, doc),
        abi::SWITCH => parameter::<bool>(setting, name, doc),
        kind => Err(Flaw::new(format!("kind {kind} of setting \"{name}\""), "a kind of the header, from 1 to 7")),
    }
}

fn parameter<T: Number>(
    setting: &abi::Setting,
    name: &'static str,
    doc: &'static str,
) -> Result<&'static dyn Declared, Flaw> {
    let (least, preset, most) = (setting.least, setting.preset, setting.most);
    match (T::of_number(least), T::of_number(preset), T::of_number(most)) {
        (Some(least), Some(preset), Some(most)) if least <= preset && preset <= most => {
            Ok(Box::leak(Box::new(Parameter::new(name, preset, least..=most, doc))))
        }
        _ => Err(Flaw::new(
            format!("least {least}, preset {preset} and most {most} of setting \"{name}\""),
            "values of its kind, in this order",
        )),
    }
}
