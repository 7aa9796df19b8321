//! The server at the other end of a path: its address and its keys.

use crate::outcome::Failure;
use live::host::Destination;
use live::probe::answering;
use live::wire::{Keys, PORT};
use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A server and its keys.
pub fn destination(host: &str, key: Option<&Path>) -> Result<Destination, Failure> {
    let keys = keys(key)?;
    Ok(Destination { address: address(host, &keys)?, keys })
}

/// The address of a host at which a server answers, or its first; without a port, the usual one.
pub fn address(host: &str, keys: &Keys) -> Result<SocketAddr, Failure> {
    let found = host.to_socket_addrs().or_else(|_| (host.trim_matches(['[', ']']), PORT).to_socket_addrs());
    let all: Vec<SocketAddr> = found.map(Iterator::collect).unwrap_or_default();
    let unknown = || Failure::Input(format!("HOST: found \"{host}\", expected a name or an address that is known"));
    answering(&all, keys).or(all.first().copied()).ok_or_else(unknown)
}

/// The keys of a file; without one, none.
pub fn keys(file: Option<&Path>) -> Result<Keys, Failure> {
    let Some(file) = file else { return Ok(Keys::default()) };
    let name = file.display();
    let others = fs::metadata(file).map_or(0, |found| found.permissions().mode() & 0o007);
    if others != 0 {
        return Err(Failure::Input(format!("{name}: found access for other users; expected mode 600 or 640")));
    }
    let text = fs::read_to_string(file).map_err(|error| Failure::Input(format!("{name}: cannot be read: {error}")))?;
    Keys::parse(&text).map_err(|error| Failure::Input(format!("{name}:{error}")))
}
