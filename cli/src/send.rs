//! `packetscale live send`: a file, or standard input, to `packetscale live receive`.

use crate::args::live::Send;
use crate::outcome::Failure;
use crate::output::{hexadecimal, say};
use crate::peer::destination;
use experiment::results::numbers;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use live::send::{Item, SendError, Sent, controller, send as deliver};
use packetscale_models::congestion::Setup;
use packetscale_models::units::Bytes;
use serde_json::json;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

/// Standard input.
const STANDARD_INPUT: &str = "-";

pub fn send(arguments: &Send) -> Result<(), Failure> {
    if !arguments.clear {
        let message = "--clear: not given; transfers are not encrypted. Give it where anyone on the path may read them, or where HOST is \
                       the end of a tunnel (WireGuard, ssh -w)";
        return Err(Failure::Input(message.to_string()));
    }
    let to = destination(&arguments.host, arguments.key.as_deref())?;
    let make = |setup: &Setup| controller(&arguments.controller, setup);
    let (file, shown) = (&arguments.file, arguments.file.display());
    let is_input = file.as_os_str() == STANDARD_INPUT;
    let unreadable = |error: &dyn std::fmt::Display| Failure::Input(format!("{shown}: cannot be read: {error}"));
    let length = match is_input {
        true => None,
        false => Some(readable(file).map_err(|error| unreadable(&error))?),
    };
    let name = name(arguments, is_input)?;
    let mut open = || -> io::Result<Box<dyn Read + std::marker::Send>> {
        if is_input { Ok(Box::new(io::stdin())) } else { Ok(Box::new(File::open(file)?)) }
    };
    let item = Item { name: &name, open: &mut open, again: !is_input, packet: arguments.packet, controller: &make };
    let bar = bar(length, arguments.json);
    let sent = deliver(&to, item, &mut |arrived| bar.set_position(arrived));
    bar.finish_and_clear();
    let sent = sent.map_err(|error| match error {
        SendError::Unreadable(error) => unreadable(&error),
        SendError::Controller(error) => Failure::Input(format!("--controller: {error}")),
        other => Failure::Machine(format!("{shown} to {}: {other}", arguments.host)),
    })?;
    say(&if arguments.json { object(&name, &sent) } else { text(&name, &arguments.controller, &sent) })
}

/// The length of an ordinary file; of others (a pipe, a device) it is not known, and said to be 0.
fn readable(file: &Path) -> io::Result<u64> {
    let found = File::open(file)?.metadata()?;
    if found.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(found.len()) }
}

fn name(arguments: &Send, is_input: bool) -> Result<String, Failure> {
    let own = arguments.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let given = arguments.name.clone().or_else(|| if is_input { Some("stdin".to_string()) } else { own });
    let short = given.filter(|name| !name.is_empty() && name.len() <= live::wire::MOST_NAME);
    short.ok_or_else(|| Failure::Input("--name: expected a name of 1 to 255 bytes for the receiver".to_string()))
}

fn bar(length: Option<u64>, json: bool) -> ProgressBar {
    let shown = io::stderr().is_terminal() && !json;
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(length, target);
    let template = match length {
        Some(_) => "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta} left",
        None => "{bytes} {spinner} {bytes_per_sec}, {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// Bit/s of data.
fn rate_bps(sent: &Sent) -> f64 {
    (sent.bytes - sent.before) as f64 * 8.0 / sent.took.as_secs_f64().max(1e-9)
}

fn text(name: &str, controller: &str, sent: &Sent) -> String {
    let before = match sent.before {
        0 => String::new(),
        before => format!(", {} of them in earlier sessions", Bytes::new(before)),
    };
    let (packets, again) = sent.packets;
    let rate_mbps = rate_bps(sent) * 1e-6;
    let control = sent.fell_back.map_or(String::new(), |packets| {
        format!("control {controller} fell back to cubic after {packets} packets: this machine creates gaps too late\n")
    });
    format!(
        "{name}  {}{before}\nrate    {:.*} Mbit/s, {packets} packets, {again} retransmissions\n{control}BLAKE3  {}\n",
        Bytes::new(sent.bytes),
        numbers::decimals(rate_mbps, 2),
        rate_mbps,
        hexadecimal(&sent.hash)
    )
}

fn object(name: &str, sent: &Sent) -> String {
    let (packets, again) = sent.packets;
    let object = json!({
        "schema": 1,
        "name": name,
        "bytes": sent.bytes,
        "bytes_before": sent.before,
        "blake3": hexadecimal(&sent.hash),
        "rate_bps": rate_bps(sent),
        "packets": packets,
        "packets_again": again,
        "fell_back_after_packets": sent.fell_back,
        "took_s": sent.took.as_secs_f64(),
    });
    format!("{object}\n")
}
