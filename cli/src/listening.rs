//! Where a server listens, and whom it lets in: the options that `serve` and `receive` share.

use crate::Failure;
use live::serve::{ServeError, Serving};
use live::wire::{Keys, PORT};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

#[derive(clap::Args)]
pub struct Listening {
    /// Address and port
    #[arg(long = "listen", value_name = "ADDRESS", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT))]
    pub address: SocketAddr,
    /// Lets in only who has one of these keys. A line each: an id from 1 to 65535, and 32 hexadecimal digits or more
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    key: Option<PathBuf>,
    /// Lets anyone in. Without this or --key only this machine's own addresses may be listened to
    #[arg(long)]
    pub open: bool,
}

impl Listening {
    /// The keys of whom it lets in; none: whoever may come needs none.
    pub fn keys(&self) -> Result<Keys, Failure> {
        keys(self.key.as_deref())
    }
}

/// The keys of a file; without one, none.
pub fn keys(file: Option<&Path>) -> Result<Keys, Failure> {
    let Some(file) = file else { return Ok(Keys::default()) };
    let name = file.display();
    let others = fs::metadata(file).map_or(0, |found| found.permissions().mode() & 0o007);
    if others != 0 {
        return Err(Failure::Input(format!("{name}: others than its owner may use it; expected mode 600 or 640")));
    }
    let text = fs::read_to_string(file).map_err(|error| Failure::Input(format!("{name}: cannot be read: {error}")))?;
    Keys::parse(&text).map_err(|error| Failure::Input(format!("{name}:{error}")))
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
