//! Denoisers and an estimator, composed by their names: `bass+multi-rate`, `normalise+bass(head=drop)+receive-rate`.
//!
//! Parts are joined by `+` and applied from left to right; the last is the estimator. Settings follow a name in
//! parentheses, `key=value`, separated by commas.

use crate::estimation::contract::{Abstain, Denoiser, Estimate, Estimator};
use crate::estimation::readable;
use crate::estimation::registry::{Entry, denoisers, estimators};
use crate::estimation::stream::Stream;
use crate::settings::{Described, Kind, Parameters, Setting, Settings};
use crate::units::Ratio;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// A way to read streams.
pub struct Method {
    denoisers: Vec<Box<dyn Denoiser>>,
    /// The parts as the method's text names them.
    names: Vec<String>,
    /// Number of denoisers, from the first on, that restore what the receiver did not report.
    restoring: usize,
    estimator: Box<dyn Estimator>,
}

impl Method {
    /// The method that the command uses by default.
    pub const DEFAULT: &'static str = "combined";

    /// Returns the stream after each denoiser in turn, with the denoiser's text.
    ///
    /// # Errors
    /// The reason why a denoiser refuses the stream.
    pub fn stages(&self, stream: &Stream) -> Result<Vec<(&str, Stream)>, Abstain> {
        let mut stages: Vec<(&str, Stream)> = Vec::with_capacity(self.names.len());
        for (name, denoiser) in self.names.iter().zip(&self.denoisers) {
            let before = stages.last().map_or(stream, |(_, stream)| stream).clone();
            stages.push((name, denoiser.denoise(before)?));
        }
        Ok(stages)
    }

    /// Reads one stream.
    ///
    /// # Errors
    /// The reason why the method abstains.
    pub fn estimate(&self, stream: Stream) -> Result<Estimate, Abstain> {
        if stream.lost > 0 {
            return Err(Abstain::Lost { packets: stream.lost });
        }
        let (restoring, denoising) = self.denoisers.split_at(self.restoring);
        let stream = apply(restoring, stream)?;
        readable::check(&stream, &*self.estimator)?;
        self.estimator.estimate(&apply(denoising, stream)?)
    }
}

fn apply(denoisers: &[Box<dyn Denoiser>], stream: Stream) -> Result<Stream, Abstain> {
    denoisers.iter().try_fold(stream, |stream, denoiser| denoiser.denoise(stream))
}

/// The error for a method that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodError {
    /// The part of the text that is wrong.
    pub found: String,
    /// The expected text.
    pub expected: String,
}

impl fmt::Display for MethodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found \"{}\", expected {}", self.found, self.expected)
    }
}

impl core::error::Error for MethodError {}

fn wrong(found: &str, expected: impl Into<String>) -> MethodError {
    MethodError { found: found.to_owned(), expected: expected.into() }
}

impl FromStr for Method {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Method, MethodError> {
        let (before, last) = text.rsplit_once('+').map_or((None, text), |(before, last)| (Some(before), last));
        let estimator = part(last, estimators(), "an estimator, the last part")?;
        let parts = before.into_iter().flat_map(|before| before.split('+'));
        let denoisers: Vec<_> =
            parts.map(|text| part(text, denoisers(), "a denoiser, before the last part")).collect::<Result<_, _>>()?;
        let names =
            before.into_iter().flat_map(|before| before.split('+')).map(|name| name.trim().to_owned()).collect();
        let restoring = denoisers.iter().take_while(|denoiser| denoiser.restores()).count();
        Ok(Method { denoisers, names, restoring, estimator })
    }
}

fn part<T: ?Sized>(text: &str, registry: &[Entry<T>], what: &str) -> Result<Box<T>, MethodError> {
    let text = text.trim();
    let (name, settings) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => {
            let inner = rest.strip_suffix(')').ok_or_else(|| wrong(text, "a closing parenthesis at the end"))?;
            (name.trim(), Some(inner))
        }
    };
    let entry = registry.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = registry.iter().map(|entry| entry.name).collect();
        wrong(name, format!("{what}: one of {}", names.join(", ")))
    })?;
    let mut values = Settings::new();
    for pair in settings.unwrap_or_default().split(',').filter(|pair| !pair.trim().is_empty()) {
        let (key, value) = setting(pair, entry.parameters)?;
        values.insert(key, value);
    }
    (entry.build)(&values).map_err(|error| wrong(text, error.to_string()))
}

fn setting(pair: &str, parameters: Parameters) -> Result<(String, Setting), MethodError> {
    let (key, value) = pair.split_once('=').ok_or_else(|| wrong(pair.trim(), "key=value"))?;
    let (key, value) = (key.trim(), value.trim());
    let parameter = parameters.iter().find(|parameter| parameter.name() == key).ok_or_else(|| {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name()).collect();
        wrong(key, if names.is_empty() { "no settings".to_string() } else { format!("one of {}", names.join(", ")) })
    })?;
    Ok((key.to_owned(), value_of(value, *parameter)?))
}

fn value_of(text: &str, parameter: &dyn Described) -> Result<Setting, MethodError> {
    let like = |what: &str| wrong(text, format!("{what} for {}, like {}", parameter.name(), parameter.default()));
    let quantity =
        |error: crate::units::ParseError| wrong(text, format!("{} for {}", error.expected, parameter.name()));
    Ok(match parameter.kind() {
        Kind::Span => Setting::Span(text.parse().map_err(quantity)?),
        Kind::Rate => Setting::Rate(text.parse().map_err(quantity)?),
        Kind::Packets => Setting::Packets(text.parse().map_err(quantity)?),
        Kind::Bytes => Setting::Bytes(text.parse().map_err(quantity)?),
        Kind::Integer => Setting::Integer(text.parse().map_err(|_| like("a whole number"))?),
        Kind::Switch => Setting::Switch(text.parse().map_err(|_| like("true or false"))?),
        Kind::Ratio => match text.parse::<f64>() {
            Ok(x) if (0.0..=1000.0).contains(&x) => Setting::Ratio(Ratio::from_f64(x)),
            _ => return Err(like("a number from 0 to 1000")),
        },
        Kind::Word(words) if words.contains(&text) => Setting::Word(text.to_owned()),
        Kind::Word(words) => return Err(like(&format!("one of {}", words.join(", ")))),
    })
}
