//! Traffic that does not respond. For each source, a thread sends UDP packets, each at its instant, and sleeps in
//! between. A thread that wakes late sends the overdue packets at once.

use crate::lab::error::LabError;
use crate::lab::namespace::spawn;
use crate::lab::owner::FIRST_TRAFFIC_PORT;
use crate::lab::path::{HEADER, Path, RECEIVER};
use harness::realtime::clock::sleep_unless;
use harness::realtime::priority::Urgency;
use packetscale_models::units::{Bytes, Time};
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Packets of one source in order of time: when each is offered to the path, and the size of its frame.
pub type Packets = Box<dyn Iterator<Item = (Time, Bytes)> + Send>;

/// Port of the receiver.
const PORT: u16 = 9;

/// IP and UDP headers.
const HEADERS: u64 = 20 + 8;

/// All sources of a run.
pub(crate) struct Cross {
    sources: Vec<JoinHandle<io::Result<()>>>,
    stop: Arc<AtomicBool>,
    /// Receives the packets, so that no ICMP error comes back. Never read.
    _sink: UdpSocket,
}

impl Cross {
    /// Starts a thread for each source; time counts from `zero_ns` of CLOCK_MONOTONIC.
    pub fn start(path: &Path, traffic: Vec<Packets>, mtu: u64, zero_ns: u64) -> Result<Cross, LabError> {
        let sink = path.receiver.inside(|| {
            UdpSocket::bind((RECEIVER, PORT)).map_err(LabError::doing("the receiver cannot take traffic"))
        })?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut sources = Vec::new();
        for (number, packets) in (0u16..).zip(traffic) {
            let stop = Arc::clone(&stop);
            let source = spawn(&path.cross, Urgency::Path, move || {
                let socket = UdpSocket::bind(("0.0.0.0", FIRST_TRAFFIC_PORT + number))?;
                socket.connect((RECEIVER, PORT))?;
                send(&socket, packets, mtu, zero_ns, &stop)
            });
            sources.push(source.map_err(LabError::doing("no thread to run on"))?);
        }
        Ok(Cross { sources, stop, _sink: sink })
    }

    /// Stops all sources.
    pub fn end(mut self) -> Result<(), LabError> {
        self.stop.store(true, Ordering::Relaxed);
        for (number, source) in std::mem::take(&mut self.sources).into_iter().enumerate() {
            let ended = source.join().unwrap_or_else(|_| Err(io::Error::other("its thread failed")));
            ended.map_err(LabError::doing(format!("traffic {number}")))?;
        }
        Ok(())
    }
}

impl Drop for Cross {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn send(socket: &UdpSocket, packets: Packets, mtu: u64, zero_ns: u64, stop: &AtomicBool) -> io::Result<()> {
    let payload = vec![0u8; mtu as usize];
    for (at, size) in packets {
        if !sleep_unless(stop, zero_ns + at.nanos()) {
            return Ok(());
        }
        let length = size.get().min(mtu + HEADER).saturating_sub(HEADER + HEADERS) as usize;
        match socket.send(&payload[..length]) {
            // The sender's own queue is full. The path did not drop the packet, so it does not count as offered.
            Err(error) if error.raw_os_error() == Some(nix::libc::ENOBUFS) => {}
            sent => drop(sent?),
        }
    }
    Ok(())
}
