//! Controllers that the program itself brings, by name.
//!
//! A scenario is resolved with what has the name then, and keeps it: a name that is given again changes no scenario that
//! was read before.

use crate::plugins::KIND;
use packetscale_models::congestion::{External, Setup};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes the controllers of flows.
pub trait Maker: Send + Sync {
    /// The controller of one flow. What goes wrong in it is between the maker and the program that registered it: it
    /// unwinds.
    fn make(&self, setup: &Setup) -> Box<dyn External>;
}

/// A controller that the program brings.
#[derive(Clone)]
pub struct Own {
    /// What scenarios call it.
    pub name: &'static str,
    /// What distinguishes it from others of its name: it is in the ids of runs.
    pub source: Arc<str>,
    maker: Arc<dyn Maker>,
}

impl Own {
    /// One that only the experiments have that are given it; its name is for tables.
    pub fn new(name: &'static str, source: &str, maker: Arc<dyn Maker>) -> Own {
        Own { name, source: source.into(), maker }
    }

    /// The controller of one flow.
    pub fn make(&self, setup: &Setup) -> Box<dyn External> {
        self.maker.make(setup)
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        self.name == other.name && self.source == other.source
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.name, self.source)
    }
}

/// A name that no controller can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found \"{found}\"; expected {expected}")]
pub struct NameError {
    /// The name.
    pub found: String,
    /// What is expected.
    pub expected: &'static str,
}

/// In the order in which they were registered.
static OWN: Mutex<Vec<Own>> = Mutex::new(Vec::new());

/// Gives a controller to the scenarios that are read from now on, in the place of another of its name.
///
/// # Errors
/// A name of the registry, or one that is no name.
pub fn register(name: &str, source: &str, maker: Arc<dyn Maker>) -> Result<(), NameError> {
    check(name)?;
    // A push leaves the list whole.
    let mut all = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = all.iter().find(|own| own.name == name).map(|own| own.name);
    // A name lasts as long as the program, as those of the registry do; it is kept once.
    let name = known.unwrap_or_else(|| String::leak(name.to_string()));
    all.retain(|own| own.name != name || *own.source != *source);
    all.push(Own { name, source: source.into(), maker });
    Ok(())
}

pub(crate) fn check(name: &str) -> Result<(), NameError> {
    let refuse = |expected| Err(NameError { found: name.to_string(), expected });
    let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    if name.is_empty() || !name.bytes().all(plain) {
        return refuse("a name of small letters, digits and -");
    }
    if packetscale_models::congestion::find(name).is_some() || name == KIND {
        return refuse("a name that no controller of packetscale has");
    }
    Ok(())
}

/// What was registered last by each name.
pub fn registered() -> Vec<Own> {
    let all = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let last = |at: usize| all[at + 1..].iter().all(|later| later.name != all[at].name);
    (0..all.len()).filter(|at| last(*at)).map(|at| all[at].clone()).collect()
}

/// The one of this source.
pub fn by_source(source: &str) -> Option<Own> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner).iter().find(|own| *own.source == *source).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Never;

    impl Maker for Never {
        fn make(&self, _: &Setup) -> Box<dyn External> {
            unreachable!("no flow is built here")
        }
    }

    #[test]
    fn name_finds_latest_registration_and_source_its_own() {
        let sources = || registered().iter().map(|own| (own.name, own.source.to_string())).collect::<Vec<_>>();
        register("first", "a", Arc::new(Never)).expect("a name");
        register("second", "b", Arc::new(Never)).expect("a name");
        register("first", "c", Arc::new(Never)).expect("a name");
        assert_eq!(sources(), [("second", "b".to_string()), ("first", "c".to_string())]);
        assert_eq!(by_source("a").map(|own| own.name), Some("first"));
        assert_eq!(by_source("d"), None);
        for wrong in ["newreno", "c", "", "Mine", "a b"] {
            assert!(register(wrong, "e", Arc::new(Never)).is_err_and(|error| error.found == wrong));
        }
    }
}
