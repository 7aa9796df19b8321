//! Values that settings fix instead of drawing them.

use packetscale_models::units::{Rate, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The settings, and which of them were read.
pub struct Fixed {
    values: BTreeMap<String, String>,
    used: Mutex<BTreeSet<String>>,
}

impl Fixed {
    pub fn new(values: BTreeMap<String, String>) -> Fixed {
        Fixed { values, used: Mutex::default() }
    }

    fn used(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value of `key`, and marks `key` as known.
    fn get(&self, key: &str) -> Option<&String> {
        self.used().insert(key.to_string());
        self.values.get(key)
    }

    /// # Errors
    /// There is none.
    pub fn file(&self, key: &str) -> Result<PathBuf, Box<dyn Error>> {
        self.get(key).map(PathBuf::from).ok_or_else(|| format!("{key}: found nothing, expected a file").into())
    }

    pub fn number(&self, key: &str, otherwise: u64) -> Result<u64, Box<dyn Error>> {
        self.get(key).map_or(Ok(otherwise), |text| text.parse().map_err(|_| wrong(key, text, "a whole number")))
    }

    pub fn real(&self, key: &str, otherwise: f64) -> Result<f64, Box<dyn Error>> {
        self.get(key).map_or(Ok(otherwise), |text| text.parse().map_err(|_| wrong(key, text, "a number")))
    }

    pub fn rate(&self, key: &str, otherwise: f64) -> Result<f64, Box<dyn Error>> {
        let parse = |text: &String| text.parse::<Rate>().map_err(|error| format!("{key}: {error}").into());
        self.get(key).map_or(Ok(otherwise), |text| parse(text).map(|rate| rate.bps() as f64))
    }

    pub fn span(&self, key: &str, otherwise: f64) -> Result<f64, Box<dyn Error>> {
        let parse = |text: &String| text.parse::<Span>().map_err(|error| format!("{key}: {error}").into());
        self.get(key).map_or(Ok(otherwise), |text| parse(text).map(|span| span.as_secs_f64()))
    }

    pub fn word(&self, key: &str, words: &[&'static str], otherwise: usize) -> Result<&'static str, Box<dyn Error>> {
        match self.get(key) {
            None => Ok(words[otherwise]),
            Some(text) => {
                let known = words.iter().find(|word| *word == text).copied();
                known.ok_or_else(|| wrong(key, text, &format!("one of {}", words.join(", "))))
            }
        }
    }

    /// # Errors
    /// An unknown key.
    pub fn all_used(&self) -> Result<(), Box<dyn Error>> {
        let used = self.used();
        match self.values.keys().find(|key| !used.contains(*key)) {
            Some(key) => Err(format!("\"{key}\" is not one of {used:?}").into()),
            None => Ok(()),
        }
    }
}

fn wrong(key: &str, found: &str, expected: &str) -> Box<dyn Error> {
    format!("{key}: found \"{found}\", expected {expected}").into()
}
