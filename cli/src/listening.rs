//! Where a server listens, and whom it lets in: the options that `serve` and `receive` share.

use crate::args::live::Listening;
use crate::outcome::Failure;
use crate::peer;
use live::serve::{ServeError, Serving};
use live::wire::Keys;
use std::sync::mpsc;

/// The keys of whom it lets in; none: whoever may come needs none.
pub fn keys(listening: &Listening) -> Result<Keys, Failure> {
    peer::keys(listening.key.as_deref())
}

/// A server that has begun, or why it has not: who gives neither a key nor --open has given too little.
pub fn begun(serving: Result<Serving, ServeError>, command: &str) -> Result<Serving, Failure> {
    serving.map_err(|error| match error {
        closed @ ServeError::Closed(_) => Failure::Input(format!("{command}: {closed}")),
        other => Failure::Machine(format!("{command}: {other}")),
    })
}

/// Hears of Ctrl-C and SIGTERM.
pub fn stopped() -> Result<mpsc::Receiver<()>, Failure> {
    let (stop, stopped) = mpsc::channel();
    let tell = move || {
        let _ = stop.send(());
    };
    ctrlc::set_handler(tell).map_err(|error| Failure::Machine(format!("signals cannot be caught: {error}")))?;
    Ok(stopped)
}
