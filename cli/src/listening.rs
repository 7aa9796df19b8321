//! What the servers `live serve` and `live receive` share: their keys, their start and their end.

use crate::args::live::Listening;
use crate::outcome::Failure;
use crate::peer;
use live::serve::{ServeError, Serving};
use live::wire::Keys;
use std::sync::mpsc;

/// The keys that it requires, if any.
pub fn keys(listening: &Listening) -> Result<Keys, Failure> {
    peer::keys(listening.key.as_deref())
}

/// A server that has begun, or why it has not.
pub fn begun(serving: Result<Serving, ServeError>, command: &str) -> Result<Serving, Failure> {
    serving.map_err(|error| match error {
        closed @ ServeError::Closed(_) => Failure::Input(format!("{command}: {closed}")),
        other => Failure::Machine(format!("{command}: {other}")),
    })
}

/// Receives a message at Ctrl-C or SIGTERM.
pub fn stopped() -> Result<mpsc::Receiver<()>, Failure> {
    let (stop, stopped) = mpsc::channel();
    let tell = move || {
        let _ = stop.send(());
    };
    ctrlc::set_handler(tell).map_err(|error| Failure::Machine(format!("signals cannot be caught: {error}")))?;
    Ok(stopped)
}
