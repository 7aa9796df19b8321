//! What an experiment is, written out to be compared: an [`crate::scenario::Experiment`] can be serialised, and two are the same if and
//! only if their texts are.
//!
//! Fields are in the order of their declaration, and named settings in the order of the names. Quantities are
//! whole numbers (picoseconds, bytes, bits per second, ...), so nothing is rounded. A file has no name in the text: it
//! is identified by its content, so its digest accompanies the text, in the order of [`crate::scenario::Experiment::files`].

use packetscale_models::settings::{Setting, Settings as Set};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// In the place of a file's name.
const FILE: &str = "a file";

pub(crate) mod file {
    use super::{Deserialize, Deserializer, FILE, PathBuf};
    use serde::Serializer;
    use std::path::Path;

    pub(crate) fn serialize<S: Serializer>(_: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(FILE)
    }

    /// The name is not in the text: what is read back names no file.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        String::deserialize(deserializer).map(PathBuf::from)
    }
}

pub(crate) mod perhaps_a_file {
    use super::{Deserialize, Deserializer, FILE, PathBuf};
    use serde::Serializer;

    pub(crate) fn serialize<S: Serializer>(file: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
        match file {
            Some(_) => serializer.serialize_some(FILE),
            None => serializer.serialize_none(),
        }
    }

    /// As above: what is read back names no file.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
        Option::<String>::deserialize(deserializer).map(|name| name.map(PathBuf::from))
    }
}

/// A controller that the program brings: its source. What is read back is what this program has registered by it.
pub(crate) mod perhaps_own {
    use super::{Deserialize, Deserializer};
    use crate::plugins::Own;
    use serde::{Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(own: &Option<Own>, serializer: S) -> Result<S::Ok, S::Error> {
        match own {
            Some(own) => serializer.serialize_some(&*own.source),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Own>, D::Error> {
        let Some(source) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        let missing = || D::Error::custom(format!("no controller of source {source} is registered"));
        crate::plugins::by_source(&source).map(Some).ok_or_else(missing)
    }
}

/// What is set, with the unit in each name: `{"tau": {"ps": 50000000000}}`.
pub(crate) mod settings {
    use super::{BTreeMap, Deserialize, Deserializer, Set, Written};
    use serde::Serializer;

    pub(crate) fn serialize<S: Serializer>(settings: &Set, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(settings.iter().map(|(name, setting)| (name, Written::from(setting))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Set, D::Error> {
        let written = BTreeMap::<String, Written>::deserialize(deserializer)?;
        Ok(written.into_iter().map(|(name, written)| (name, written.into())).collect())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Ps(packetscale_models::units::Span),
    Q32(packetscale_models::units::Ratio),
    Bps(packetscale_models::units::Rate),
    Packets(packetscale_models::units::Packets),
    Bytes(packetscale_models::units::Bytes),
    Integer(u64),
    Switch(bool),
    Word(String),
}

impl From<&Setting> for Written {
    fn from(setting: &Setting) -> Written {
        match setting {
            Setting::Span(span) => Written::Ps(*span),
            Setting::Ratio(ratio) => Written::Q32(*ratio),
            Setting::Rate(rate) => Written::Bps(*rate),
            Setting::Packets(packets) => Written::Packets(*packets),
            Setting::Bytes(bytes) => Written::Bytes(*bytes),
            Setting::Integer(number) => Written::Integer(*number),
            Setting::Switch(on) => Written::Switch(*on),
            Setting::Word(word) => Written::Word(word.clone()),
        }
    }
}

impl From<Written> for Setting {
    fn from(written: Written) -> Setting {
        match written {
            Written::Ps(span) => Setting::Span(span),
            Written::Q32(ratio) => Setting::Ratio(ratio),
            Written::Bps(rate) => Setting::Rate(rate),
            Written::Packets(packets) => Setting::Packets(packets),
            Written::Bytes(bytes) => Setting::Bytes(bytes),
            Written::Integer(number) => Setting::Integer(number),
            Written::Switch(on) => Setting::Switch(on),
            Written::Word(word) => Setting::Word(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Experiment, Scenario};
    use std::path::Path;

    #[test]
    fn an_experiment_without_files_round_trips() {
        let text = r#"
            run = { duration = "3 s", warmup = "1 s" }
            path = { rate = "10 Mbit/s", delay = "5 ms", buffer = "40 packets" }
            flow = [{ controller = { kind = "rapid-thesis", tau = "10 ms" }, start = "1 s", size = "1 MB" }]
            traffic = [{ kind = "poisson", rate = "2 Mbit/s" }]
        "#;
        for experiment in Scenario::parse(text, Path::new("test.toml"), &[]).expect("a scenario").plan() {
            let written = serde_json::to_string(&experiment).expect("written");
            assert_eq!(serde_json::from_str::<Experiment>(&written).expect("read"), experiment);
        }
    }
}
