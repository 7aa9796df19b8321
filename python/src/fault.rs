//! Errors, from Rust's modules to Python's exceptions.

use experiment::scenario::{Place, ScenarioError};
use harness::runner::Refusal;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use std::io;
use std::path::Path;

/// Why something was not done.
pub enum Fault {
    /// The input is wrong: `packetscale.InputError`.
    Input(Input),
    /// This machine cannot do it: `packetscale.MachineError`.
    Machine(String),
    /// A file cannot be read or written: `OSError`.
    File(String),
    /// Ctrl-C.
    Interrupted,
}

/// Wrong input, and where it is written, as far as that is known.
#[derive(Default)]
pub struct Input {
    pub message: String,
    pub file: Option<String>,
    pub line: Option<usize>,
    pub key: Option<String>,
}

/// Wrong input of which only the words are known.
pub fn input(message: impl ToString) -> Fault {
    Fault::Input(Input { message: message.to_string(), ..Input::default() })
}

/// For the errors of writing there.
pub fn unwritable(path: &Path) -> impl Fn(io::Error) -> Fault {
    move |error| Fault::File(format!("{}: cannot be written: {error}", path.display()))
}

impl From<ScenarioError> for Fault {
    fn from(error: ScenarioError) -> Fault {
        let line = match error.place {
            Some(Place::Line(line)) => Some(line),
            _ => None,
        };
        let key = Some(error.key.clone()).filter(|key| !key.is_empty());
        Fault::Input(Input { message: error.to_string(), file: Some(error.file), line, key })
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        match refusal {
            Refusal::Input(message) => input(message),
            Refusal::Unfit(unfit) => {
                Fault::Input(Input { message: unfit.to_string(), key: Some(unfit.key), ..Input::default() })
            }
            Refusal::Machine(message) => Fault::Machine(message),
        }
    }
}

impl From<harness::runner::Error> for Fault {
    fn from(error: harness::runner::Error) -> Fault {
        match error {
            harness::runner::Error::Refused(refusal) => refusal.into(),
            harness::runner::Error::Unwritable { folder, error } => unwritable(&folder)(error),
            occupied @ harness::runner::Error::Occupied { .. } => {
                input(format!("{occupied}; name another folder, or overwrite it with replace=True"))
            }
            shards @ (harness::runner::Error::Apart { .. } | harness::runner::Error::Missing { .. }) => input(shards),
        }
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> PyErr {
        match fault {
            Fault::Input(Input { message, file, line, key }) => raised("InputError", (message, file, line, key)),
            Fault::Machine(message) => raised("MachineError", (message,)),
            Fault::File(message) => PyOSError::new_err(message),
            Fault::Interrupted => PyKeyboardInterrupt::new_err(()),
        }
    }
}

/// An exception of the package. Its classes are written in Python: before 3.12 the stable interface allows no class of
/// ours below one of Python's exceptions.
fn raised(class: &str, arguments: impl for<'py> PyCallArgs<'py>) -> PyErr {
    Python::attach(|py| {
        let made = py.import("packetscale._errors").and_then(|errors| errors.getattr(class)?.call1(arguments));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}
