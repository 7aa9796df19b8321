//! Questions to the theories, and recordings of probe streams.

use crate::fault::{Fault, Input};
use crate::values;
use crate::waiting::{After, wait};
use harness::probing::recording::{Recording, Refusal};
use packetscale_models::estimation::Method;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::PathBuf;
use studies::analysis::{NoAnswer, Question};

/// Asks the theory of this name. See `packetscale.theory`.
#[pyfunction]
pub fn theory<'py>(py: Python<'py>, name: &str, parameters: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let parameters =
        values::table(parameters)?.into_iter().map(|(key, value)| (key.replace('_', "-"), value)).collect();
    let question = Question::read(name, &parameters).map_err(wrong)?;
    let answer = wait(py, None, After::AWhile, move |_| question.answer().map_err(refused))?;
    values::read(py, &answer.to_string())
}

/// A message that begins with the key where there is one.
fn wrong(message: String) -> Fault {
    let key = message.split_once(": ").map(|(key, _)| key.replace('-', "_"));
    Fault::Input(Input { key, message, ..Input::default() })
}

fn refused(why: NoAnswer) -> Fault {
    let key = match &why {
        NoAnswer::Parameter { key, .. } => Some(key.replace('-', "_")),
        NoAnswer::Theory(_) => None,
    };
    Fault::Input(Input { message: why.to_string(), key, ..Input::default() })
}

/// A method's estimate from one stream: identity, estimate, low and high bound in bit/s, and the reason for none.
type Reading = (String, Option<u64>, Option<u64>, Option<u64>, Option<String>);

/// Estimates from each stream of a recording: the file `name`, or a text that is called so. See `packetscale.estimate`.
#[pyfunction]
#[pyo3(signature = (name, text, method))]
pub fn estimates(
    py: Python<'_>,
    name: PathBuf,
    text: Option<String>,
    method: Option<String>,
) -> PyResult<Vec<Reading>> {
    wait(py, None, After::AWhile, move |_| {
        let shown = name.display().to_string();
        let method: Method = method.as_deref().unwrap_or(Method::DEFAULT).parse().map_err(|error| {
            Fault::Input(Input {
                message: format!("method: {error}"),
                key: Some("method".to_string()),
                ..Input::default()
            })
        })?;
        let recording: Box<dyn Read> = match text {
            Some(text) => Box::new(Cursor::new(text)),
            None => {
                let unreadable = |error| Fault::File(format!("{shown}: cannot be read: {error}"));
                Box::new(BufReader::new(File::open(&name).map_err(unreadable)?))
            }
        };
        all(recording, &method).map_err(|refusal| unread(&shown, refusal))
    })
}

fn all(recording: Box<dyn Read>, method: &Method) -> Result<Vec<Reading>, Refusal> {
    let (mut recording, mut read) = (Recording::open(recording)?, Vec::new());
    while let Some(recorded) = recording.next_stream()? {
        let id = recorded.id.clone();
        read.push(match recorded.estimate(method) {
            Ok(found) => {
                let high = found.high.map(|high| high.bps());
                (id, Some(found.value.bps()), Some(found.low.bps()), high, None)
            }
            Err(why) => (id, None, None, None, Some(why.to_string())),
        });
    }
    Ok(read)
}

/// Adds the file to a refusal, which begins with line and column: `3: pkt: found ...`.
fn unread(file: &str, refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Unreadable(error) => Fault::File(format!("{file}: cannot be read: {error}")),
        Refusal::Wrong(message) => {
            let mut parts = message.split(": ");
            let line = parts.next().and_then(|line| line.parse().ok());
            let key = parts.next().map(str::to_string);
            Fault::Input(Input { message: format!("{file}:{message}"), file: Some(file.to_string()), line, key })
        }
    }
}
