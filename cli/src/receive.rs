//! `packetscale receive`: takes files into a directory, until Ctrl-C or SIGTERM.

use crate::listening::{Listening, begun, stopped};
use crate::{Failure, hexadecimal, say};
use live::serve::{Limits, receive as begin};
use live::store::{Directory, Received};
use live::wire::Grant;
use packetscale_models::units::{Bytes, Rate, Span};
use std::path::PathBuf;

const RATE: Rate = Rate::from_gbps(10);
const BYTES: Bytes = Bytes::new(1_000_000_000_000);
const DURATION: Span = Span::from_secs(86_400);
const CLIENTS: u32 = 4;

#[derive(clap::Args)]
pub struct Receive {
    /// Where files go. A file that is under way is called .NAME.part there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    listening: Listening,
    /// Replaces files that are there
    #[arg(long)]
    force: bool,
    /// Highest rate of all clients together
    #[arg(long, value_name = "RATE", default_value_t = RATE)]
    rate: Rate,
    /// Most bytes of one client's session
    #[arg(long, value_name = "BYTES", default_value_t = BYTES)]
    bytes: Bytes,
    /// Longest session
    #[arg(long, value_name = "TIME", default_value_t = DURATION)]
    duration: Span,
    /// Most clients at a time; each may take 17 MB of memory, and is promised its share of the rate
    #[arg(long, value_name = "N", default_value_t = CLIENTS, value_parser = clap::value_parser!(u32).range(1..=1024))]
    clients: u32,
}

pub fn receive(arguments: &Receive) -> Result<(), Failure> {
    let keys = arguments.listening.keys()?;
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
    let store = Directory::new(&arguments.folder, arguments.force, tell)
        .map_err(|error| Failure::Input(format!("{}: {error}", arguments.folder.display())))?;
    let stopped = stopped()?;
    let Listening { address, open, .. } = arguments.listening;
    let serving = begun(begin(address, limits, keys, open, Box::new(store), |_| {}), "receive")?;
    say(&format!("listening on {}\n", serving.address))?;
    let _ = stopped.recv();
    serving.end();
    Ok(())
}
