//! Values that the command line fixes instead of drawing them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use units::{Rate, Span};

/// Settings from the command line.
pub struct Fixed {
    values: BTreeMap<String, String>,
    used: RefCell<BTreeSet<String>>,
}

impl Fixed {
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Fixed, Box<dyn Error>> {
        let pair = |text: String| match text.split_once('=') {
            Some((key, value)) => Ok((key.to_string(), value.to_string())),
            None => Err(format!("found \"{text}\", expected key=value")),
        };
        let values = arguments.map(pair).collect::<Result<_, _>>()?;
        Ok(Fixed { values, used: RefCell::default() })
    }

    /// Returns the value of `key`, and marks `key` as known.
    fn get(&self, key: &str) -> Option<&String> {
        self.used.borrow_mut().insert(key.to_string());
        self.values.get(key)
    }

    pub fn take(&mut self, key: &str) -> Option<String> {
        self.values.remove(key)
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
    /// A key that nothing reads.
    pub fn all_used(&self) -> Result<(), Box<dyn Error>> {
        let used = self.used.borrow();
        match self.values.keys().find(|key| !used.contains(*key)) {
            Some(key) => Err(format!("\"{key}\" is not one of {used:?}").into()),
            None => Ok(()),
        }
    }
}

fn wrong(key: &str, found: &str, expected: &str) -> Box<dyn Error> {
    format!("{key}: found \"{found}\", expected {expected}").into()
}
