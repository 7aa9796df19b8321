//! Standard output.

use crate::outcome::Failure;
use std::io::Write;

/// Prints on standard output. A reader that has gone away (`packetscale list queues | head -1`) is no mistake.
pub fn say(text: &str) -> Result<(), Failure> {
    heard(text).map(|_| ())
}

/// The same, and returns whether there is still a reader.
pub fn heard(text: &str) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Machine(format!("standard output cannot be written: {error}"))),
    }
}

/// Bytes as digits.
#[cfg(target_os = "linux")]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
