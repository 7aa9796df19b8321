//! Writes probe streams as CSV, in the columns that `packetscale estimate` reads.
//!
//! Each packet that arrived has one row. Send gaps count from the previous row, receive gaps from the last packet with
//! a stamp. A packet without an arrival time has `acked` 0 and no receive gap; a lost packet has no row. The first
//! packet of a stream has no gaps.

use super::interrupted;
use crate::outcome::Failure;
use linux::tcp::{Event, PacketEvent, Wanted, follow};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const STAMPED: u16 = 2;
const UNSTAMPED: u16 = 3;

/// Logs until Ctrl-C, or for the time `long`. The file gets its name only when it is complete.
pub fn log(name: &str, output: &Path, long: Option<Duration>) -> Result<(), Failure> {
    let wrong = |error: io::Error| Failure::Input(format!("{}: {error}", output.display()));
    let partial = partial(output);
    let mut file = BufWriter::new(File::create(&partial).map_err(wrong)?);
    let stop = interrupted()?;
    let began = Instant::now();
    let mut written = writeln!(file, "stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes,acked");
    let mut rows = Rows::default();
    let take = |event| {
        if let (Event::Packet(packet), Ok(())) = (event, &written) {
            written = rows.write(&packet, &mut file);
        }
    };
    let go_on = || !stop.load(Ordering::Relaxed) && long.is_none_or(|long| began.elapsed() < long);
    follow(name, Wanted::Streams, take, go_on).inspect_err(|_| drop(fs::remove_file(&partial)))?;
    written.and_then(|()| file.flush()).and_then(|()| fs::rename(&partial, output)).map_err(wrong)
}

fn partial(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_os_string();
    name.push(".partial");
    PathBuf::from(name)
}

/// The packets from which the next row's gaps count.
#[derive(Default)]
struct Rows {
    stream: Option<(u32, u32)>,
    sent_ns: u64,
    arrival_ns: Option<u64>,
}

impl Rows {
    fn write(&mut self, packet: &PacketEvent, out: &mut impl Write) -> io::Result<()> {
        if packet.state != STAMPED && packet.state != UNSTAMPED {
            return Ok(());
        }
        let stream = (packet.slot, packet.stream);
        let first = self.stream != Some(stream);
        let stamped = packet.state == STAMPED;
        if first && !stamped {
            // Without the first arrival there is no first receive gap: the stream begins with the next packet.
            return Ok(());
        }
        if first {
            (self.stream, self.sent_ns, self.arrival_ns) = (Some(stream), packet.sent_ns, None);
        }
        write!(out, "{}-{},{},", packet.slot, packet.stream, packet.packet)?;
        if !first {
            write!(out, "{}", packet.sent_ns.saturating_sub(self.sent_ns))?;
        }
        write!(out, ",")?;
        if let Some(before) = self.arrival_ns.filter(|_| stamped) {
            write!(out, "{}", packet.arrival_ns.saturating_sub(before))?;
        }
        self.sent_ns = packet.sent_ns;
        if stamped {
            self.arrival_ns = Some(packet.arrival_ns);
        }
        writeln!(out, ",{},{}", packet.size, u8::from(stamped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u32, sent_ns: u64, arrival_ns: u64, state: u16) -> PacketEvent {
        PacketEvent {
            kind: 2,
            slot: 1,
            stream: 7,
            packet: number,
            of: 5,
            size: 1500,
            state,
            sent_ns,
            arrival_ns,
            rate: 0,
            available: 0,
            stream_kind: 0,
            reserved: 0,
        }
    }

    #[test]
    fn gaps_skip_lost_and_unstamped_packets() {
        let mut rows = Rows::default();
        let mut out = Vec::new();
        for packet in [
            packet(0, 100, 1100, 2),
            packet(1, 110, 1115, 2),
            packet(2, 120, 0, 3),
            packet(3, 130, 0, 4),
            packet(4, 140, 1155, 2),
        ] {
            rows.write(&packet, &mut out).expect("memory");
        }
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "1-7,0,,,1500,1\n1-7,1,10,15,1500,1\n1-7,2,10,,1500,0\n1-7,4,20,40,1500,1\n");
    }
}
