//! `packetscale live receive`: takes files into a directory, until Ctrl-C or SIGTERM.

use crate::args::live::{Listening, Receive};
use crate::listening::{begun, keys, stopped};
use crate::outcome::Failure;
use crate::output::{hexadecimal, say};
use live::serve::{Limits, receive as begin};
use live::store::{Directory, Received};
use live::wire::Grant;
use packetscale_models::units::Bytes;

pub fn receive(arguments: &Receive) -> Result<(), Failure> {
    let keys = keys(&arguments.listening)?;
    let duration_ms = (arguments.duration.nanos() / 1_000_000).min(u64::from(u32::MAX)) as u32;
    let each_bps = arguments.rate.bps() / u64::from(arguments.clients);
    let grant = Grant { rate_bps: each_bps, bytes: arguments.bytes.get(), duration_ms, ..Limits::DEFAULT.grant };
    // One address leaves half of the places to others.
    let (clients, per_address) = (arguments.clients, arguments.clients.div_ceil(2));
    let limits = Limits { grant, all_bps: arguments.rate.bps(), clients, per_address, ..Limits::DEFAULT };
    // Who reads this may have gone: the files are there all the same.
    let tell = |Received { name, bytes, hash }: &Received| {
        let _ = say(&format!("{name}  {}  BLAKE3 {}\n", Bytes::new(*bytes), hexadecimal(hash)));
    };
    let store = Directory::new(&arguments.folder, arguments.output.replace, tell)
        .map_err(|error| Failure::Input(format!("{}: {error}", arguments.folder.display())))?;
    let stopped = stopped()?;
    let Listening { address, open, .. } = arguments.listening;
    let serving = begun(begin(address, limits, keys, open, Box::new(store), |_| {}), "receive")?;
    say(&format!("listening on {}\n", serving.address))?;
    let _ = stopped.recv();
    serving.end();
    Ok(())
}
