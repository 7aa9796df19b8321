//! What can be wrong with an object, and its texts, which may be.

use std::ffi::{CStr, c_char};

/// Longest text.
const MOST_TEXT_BYTES: usize = 256;

/// What is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {found}; expected {expected}")]
pub struct Flaw {
    /// What was found.
    pub found: String,
    /// What is expected.
    pub expected: String,
}

impl Flaw {
    pub(crate) fn new(found: impl Into<String>, expected: impl Into<String>) -> Flaw {
        Flaw { found: found.into(), expected: expected.into() }
    }
}

/// A constant of the object.
pub(crate) fn text(place: *const c_char, what: &str) -> Result<&'static str, Flaw> {
    let expected = || format!("up to {MOST_TEXT_BYTES} bytes of UTF-8 in one line");
    if place.is_null() {
        return Err(Flaw::new(format!("nothing as {what}"), expected()));
    }
    // Safety: the object says that a text is there, and stays loaded.
    let bytes = unsafe { CStr::from_ptr(place) };
    let text = bytes.to_str().ok().filter(|text| text.len() <= MOST_TEXT_BYTES && !text.contains(char::is_control));
    text.ok_or_else(|| Flaw::new(format!("no such text as {what}"), expected()))
}
