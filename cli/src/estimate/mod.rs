//! `packetscale estimate`: recorded probe streams in, one line per stream out.
//!
//! One stream is in memory at a time. What is said waits in a file without a name until the recording has been read to
//! its end, so that a mistake in its last line is the only thing that is printed.

mod streams;

use crate::args::estimate::Estimate as Arguments;
use crate::outcome::Failure;
use harness::probing::captures;
use harness::probing::recording::{Recording, Refusal};
use packetscale_models::estimation::{Abstain, Estimate, Method};
use serde::{Serialize, Serializer};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

/// One line of output.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(serialize_with = "number_if_it_is_one")]
    stream_id: &'a str,
    estimate_bps: Option<u64>,
    low_bps: Option<u64>,
    high_bps: Option<u64>,
    abstain: Option<String>,
}

/// An identity that is written like a number is a number in JSON.
fn number_if_it_is_one<S: Serializer>(id: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match id.parse::<u64>() {
        Ok(number) if number.to_string() == id => serializer.serialize_u64(number),
        _ => serializer.serialize_str(id),
    }
}

pub fn estimate(arguments: &Arguments) -> Result<(), Failure> {
    let Some(file) = &arguments.file else {
        let scenario = arguments.from_simulator.as_deref().unwrap_or(Path::new(""));
        return streams::estimate(arguments, scenario);
    };
    let method = match arguments.method.as_slice() {
        [] => Method::DEFAULT,
        [method] => method,
        several => {
            let found = several.len();
            return Err(Failure::Input(format!("--method: found {found} methods, expected one for a recording")));
        }
    };
    let method: Method = method.parse().map_err(|error| Failure::Input(format!("--method: {error}")))?;
    let name = file.display().to_string();
    let input: Box<dyn Read> = match name.as_str() {
        _ if arguments.received.is_some() => Box::new(matched(arguments, file)?),
        "-" => Box::new(io::stdin().lock()),
        _ if captures::is_capture(file) => {
            let expected = "a recording in CSV, or the captures of both hosts: FILE RECEIVED";
            return Err(Failure::Input(format!("{name}: found a capture of one host; expected {expected}")));
        }
        _ => Box::new(File::open(file).map_err(|error| unreadable(&name, &error))?),
    };
    let refused = |refusal| match refusal {
        Refusal::Unreadable(error) => unreadable(&name, &error),
        Refusal::Wrong(message) => Failure::Input(format!("{name}:{message}")),
    };
    let mut spool = BufWriter::new(tempfile::tempfile().map_err(unspoolable)?);
    let mut recording = Recording::open(BufReader::with_capacity(1 << 16, input)).map_err(refused)?;
    let mut form = if arguments.json { Form::Json { begun: false } } else { Form::Csv };
    form.begin(&mut spool).map_err(unspoolable)?;
    while let Some(recorded) = recording.next_stream().map_err(refused)? {
        let id = recorded.id.clone();
        form.line(&mut spool, &line(&id, recorded.estimate(&method))).map_err(unspoolable)?;
    }
    form.end(&mut spool).map_err(unspoolable)?;
    give(spool.into_inner().map_err(|error| unspoolable(error.into_error()))?)
}

/// The recording that two captures give, in a file without a name.
fn matched(arguments: &Arguments, sender: &Path) -> Result<File, Failure> {
    let receiver = arguments.received.as_deref().unwrap_or(sender);
    let mut recording = tempfile::tempfile().map_err(unspoolable)?;
    let mut out = BufWriter::new(&recording);
    let warnings = captures::write(sender, receiver, usize::from(arguments.packets), &mut out)
        .map_err(|error| Failure::Input(error.to_string()))?
        .and_then(|warnings| out.flush().map(|()| warnings))
        .map_err(unspoolable)?;
    for warning in warnings {
        let _ = writeln!(io::stderr(), "warning: {}", experiment::scenario::visible(&warning));
    }
    drop(out);
    recording.rewind().map_err(unspoolable)?;
    Ok(recording)
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::Input(format!("{name}: cannot be read: {error}"))
}

fn unspoolable(error: io::Error) -> Failure {
    Failure::Machine(format!("a temporary file cannot be written: {error}; set TMPDIR to another folder"))
}

fn line(stream_id: &str, estimate: Result<Estimate, Abstain>) -> Line<'_> {
    match estimate {
        Ok(Estimate { value, low, high }) => Line {
            stream_id,
            estimate_bps: Some(value.bps()),
            low_bps: Some(low.bps()),
            high_bps: high.map(|high| high.bps()),
            abstain: None,
        },
        Err(reason) => {
            Line { stream_id, estimate_bps: None, low_bps: None, high_bps: None, abstain: Some(reason.to_string()) }
        }
    }
}

/// CSV with a header, or one JSON object.
enum Form {
    Csv,
    Json { begun: bool },
}

impl Form {
    fn begin(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Form::Csv => out.write_all(b"stream_id,estimate_bps,low_bps,high_bps,abstain\n"),
            Form::Json { .. } => out.write_all(b"{\"streams\":["),
        }
    }

    fn line(&mut self, out: &mut impl Write, line: &Line<'_>) -> io::Result<()> {
        match self {
            Form::Csv => {
                let figure = |figure: Option<u64>| figure.map(|figure| figure.to_string()).unwrap_or_default();
                let figures = [line.estimate_bps, line.low_bps, line.high_bps].map(figure);
                let mut row = csv::WriterBuilder::new().has_headers(false).from_writer(out);
                let [estimate, low, high] = &figures;
                row.write_record([line.stream_id, estimate, low, high, line.abstain.as_deref().unwrap_or_default()])?;
                row.flush()
            }
            Form::Json { begun } => {
                if std::mem::replace(begun, true) {
                    out.write_all(b",")?;
                }
                serde_json::to_writer(out, line).map_err(io::Error::from)
            }
        }
    }

    fn end(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Form::Csv => Ok(()),
            Form::Json { .. } => out.write_all(b"]}\n"),
        }
    }
}

/// The spool on standard output. A reader that has gone away is no mistake.
fn give(mut spool: File) -> Result<(), Failure> {
    spool.rewind().map_err(unspoolable)?;
    let mut out = io::stdout().lock();
    match io::copy(&mut spool, &mut out).and_then(|_| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Machine(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}
