//! `packetscale live serve`: the other end of probes, until Ctrl-C or SIGTERM.

use crate::args::live::{Listening, Serve};
use crate::create::taken;
use crate::listening::{begun, keys, stopped};
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use live::serve::{Counters, Limits, serve as begin};
use live::wire::Grant;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

const LIMITS: Limits = Limits::DEFAULT;
/// Whoever collects counters may read them.
const READABLE: u32 = 0o644;

pub fn serve(arguments: &Serve) -> Result<(), Failure> {
    let keys = keys(&arguments.listening)?;
    let duration_ms = (arguments.duration.nanos() / 1_000_000).min(u64::from(u32::MAX)) as u32;
    let (rate_bps, bytes) = (arguments.rate.bps(), arguments.bytes.get());
    let grant = Grant { rate_bps, bytes, duration_ms, ..LIMITS.grant };
    let (clients, per_address) = (arguments.clients, arguments.per_address);
    let limits = Limits { grant, all_bps: arguments.total_rate.bps(), clients, per_address, ..LIMITS };
    let metrics = arguments.metrics.clone();
    if let Some(file) = &metrics {
        if arguments.listening.key.as_deref().is_some_and(|key| is_same(key, file)) {
            let found = format!("--metrics: found {}, the key file; expected another file", file.display());
            return Err(Failure::Input(found));
        }
        if !arguments.replace && is_foreign(file) {
            return Err(taken(file));
        }
        write(file, &Counters::default()).map_err(|error| unwritable(file, &error))?;
    }
    let stopped = stopped()?;
    // A disk that is full for a while must not end the server.
    let tell = move |counters: &Counters| drop(metrics.as_deref().map(|file| write(file, counters)));
    let Listening { address, open, .. } = arguments.listening;
    let serving = begun(begin(address, limits, keys, open, tell), "serve")?;
    say(&format!("listening on {}\n", serving.address))?;
    let _ = stopped.recv();
    serving.end();
    Ok(())
}

/// Whether a file holds something else than counters that an earlier server wrote.
fn is_foreign(file: &Path) -> bool {
    let counters = Counters::default().prometheus();
    let first = counters.lines().next().unwrap_or_default();
    file.is_file() && fs::read(file).is_ok_and(|found| !found.is_empty() && !found.starts_with(first.as_bytes()))
}

/// Whether two names are of one file.
fn is_same(one: &Path, other: &Path) -> bool {
    let number = |file: &Path| fs::metadata(file).map(|found| (found.dev(), found.ino()));
    number(one).is_ok_and(|found| number(other).is_ok_and(|there| there == found))
}

/// A reader sees the whole of one second or of the other. What is no file (a device, a link) is not replaced.
fn write(file: &Path, counters: &Counters) -> io::Result<()> {
    if fs::symlink_metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new().permissions(Permissions::from_mode(READABLE)).tempfile_in(folder)?;
    beside.write_all(counters.prometheus().as_bytes())?;
    beside.persist(file).map(drop).map_err(|error| error.error)
}
