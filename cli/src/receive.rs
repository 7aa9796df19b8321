//! `packetscale receive`: takes files into a directory, until Ctrl-C or SIGTERM.

use crate::{Failure, say, serve};
use ::live::serve::{Limits, receive as begin};
use ::live::store::Directory;
use ::live::wire::{Grant, Keys, PORT};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use units::{Bytes, Rate, Span};

const RATE: Rate = Rate::from_gbps(10);
const BYTES: Bytes = Bytes::new(1_000_000_000_000);
const DURATION: Span = Span::from_secs(86_400);
const CLIENTS: u32 = 4;

#[derive(clap::Args)]
pub struct Receive {
    /// Where files go. A file that is under way is called .NAME.part there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Address and port
    #[arg(long, value_name = "ADDRESS", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT))]
    listen: SocketAddr,
    /// Lets in only who has one of these keys. A line each: an id from 1 to 65535, and 32 hexadecimal digits or more
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    key: Option<PathBuf>,
    /// Lets anyone in. Without this or --key only this machine's own addresses may be listened to
    #[arg(long)]
    open: bool,
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
    /// Most clients at a time; each may take 24 MB of memory, and is promised its share of the rate
    #[arg(long, value_name = "N", default_value_t = CLIENTS, value_parser = clap::value_parser!(u32).range(1..=1024))]
    clients: u32,
}

pub fn receive(arguments: &Receive) -> Result<(), Failure> {
    let keys = arguments.key.as_deref().map_or(Ok(Keys::default()), serve::keys)?;
    let duration_ms = (arguments.duration.nanos() / 1_000_000).min(u64::from(u32::MAX)) as u32;
    let each_bps = arguments.rate.bps() / u64::from(arguments.clients);
    let grant = Grant { rate_bps: each_bps, bytes: arguments.bytes.get(), duration_ms, ..Limits::DEFAULT.grant };
    // One address leaves half of the places to others.
    let (clients, per_address) = (arguments.clients, arguments.clients.div_ceil(2));
    let limits = Limits { grant, all_bps: arguments.rate.bps(), clients, per_address, ..Limits::DEFAULT };
    let store = Directory::new(&arguments.folder, arguments.force)
        .map_err(|error| Failure::Input(format!("{}: {error}", arguments.folder.display())))?;
    let stopped = serve::stopped()?;
    let serving = begin(arguments.listen, limits, keys, arguments.open, Box::new(store), |_| {})
        .map_err(|error| Failure::Machine(format!("receive: {error}")))?;
    say(&format!("listening on {}\n", serving.address))?;
    let _ = stopped.recv();
    serving.end();
    Ok(())
}
