//! What an experiment is, written out to be compared: an [`Experiment`] can be serialised, and two are the same if and
//! only if their texts are.
//!
//! Fields stand in the order of their declaration, and what is set by name in the order of the names. Quantities are
//! whole numbers (picoseconds, bytes, bits per second, ...), so nothing is rounded. A file has no name in the text: it
//! is known by its content, so its digest stands beside the text, in the order of [`Experiment::files`].

use crate::model::{ConnectionSource, Experiment, TrafficKind};
use serde::{Serialize, Serializer};
use settings::{Setting, Settings};
use std::path::Path;

/// In the place of a file's name.
const FILE: &str = "a file";

pub(crate) fn file<S: Serializer>(_: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(FILE)
}

/// What is set, with the unit in each name: `{"tau": {"ps": 50000000000}}`.
pub(crate) fn settings<S: Serializer>(settings: &Settings, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(settings.iter().map(|(name, setting)| (name, Written::from(setting))))
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Written<'a> {
    Ps(units::Span),
    Q32(units::Ratio),
    Bps(units::Rate),
    Packets(units::Packets),
    Bytes(units::Bytes),
    Integer(u64),
    Switch(bool),
    Word(&'a str),
}

impl<'a> From<&'a Setting> for Written<'a> {
    fn from(setting: &'a Setting) -> Written<'a> {
        match setting {
            Setting::Span(span) => Written::Ps(*span),
            Setting::Ratio(ratio) => Written::Q32(*ratio),
            Setting::Rate(rate) => Written::Bps(*rate),
            Setting::Packets(packets) => Written::Packets(*packets),
            Setting::Bytes(bytes) => Written::Bytes(*bytes),
            Setting::Integer(number) => Written::Integer(*number),
            Setting::Switch(on) => Written::Switch(*on),
            Setting::Word(word) => Written::Word(word),
        }
    }
}

impl Experiment {
    /// The files that the run reads, in the order in which the experiment mentions them; a file as often as it is
    /// mentioned.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let offered = self.flows.iter().filter_map(|flow| flow.application.as_ref());
        offered.chain(self.traffic.iter().map(|traffic| &traffic.kind)).filter_map(TrafficKind::file)
    }
}

impl TrafficKind {
    fn file(&self) -> Option<&Path> {
        match self {
            TrafficKind::Trace { file, .. } => Some(file),
            TrafficKind::Connections(connections) => match &connections.source {
                ConnectionSource::Vectors(file) => Some(file),
                ConnectionSource::Drawn(_) => None,
            },
            TrafficKind::Cbr { .. }
            | TrafficKind::OnOff { .. }
            | TrafficKind::ExponentialOnOff { .. }
            | TrafficKind::ParetoOnOff { .. }
            | TrafficKind::Poisson { .. }
            | TrafficKind::Web(_) => None,
        }
    }
}
