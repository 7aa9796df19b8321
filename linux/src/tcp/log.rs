//! The ring of events: the mirror of `bpf/events.h`.

use crate::tcp::config::Settings;
use crate::tcp::report::{Fall, LOG_FALLS, LOG_LAW, LOG_STREAMS};
use crate::tcp::wire::{Plain, bytes_of, value_of};
use crate::tcp::{Error, pins};
use libbpf_rs::RingBufferBuilder;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Which events to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Each stream when it is read, packet by packet.
    Streams,
    /// Each call of the law.
    Law,
}

/// `struct packet_event`: one packet of a stream that has been read.
#[repr(C)]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PacketEvent {
    pub kind: u32,
    pub slot: u32,
    pub stream: u32,
    pub packet: u32,
    pub of: u32,
    pub size: u16,
    /// 2: arrived at a known time; 3: arrived, time unknown; 4: lost.
    pub state: u16,
    pub sent_ns: u64,
    pub arrival_ns: u64,
    /// The rate that its level probes, bytes per second.
    pub rate: u64,
    /// The available bandwidth read from the stream, bytes per second; 0: the stream gave no estimate.
    pub available: u64,
    /// 0: a probe stream; other values belong to start-up.
    pub stream_kind: u32,
    pub reserved: u32,
}

// SAFETY: words, two halves, and double words; no padding.
unsafe impl Plain for PacketEvent {}

/// `struct law_event`: a call of the law, and the law's state after it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct LawEvent {
    pub kind: u32,
    pub call: u32,
    pub slot: u32,
    pub packet: u32,
    pub now_ns: u64,
    pub number: u64,
    pub argument: u64,
    pub rate: u64,
    pub next_ns: u64,
    pub available: u64,
    pub streams: u64,
}

// SAFETY: words and double words; no padding.
unsafe impl Plain for LawEvent {}

/// Returns the bytes of a call as the ring held them.
pub fn raw_event(event: &LawEvent) -> &[u8] {
    bytes_of(event)
}

/// An event from the ring.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A packet of a stream.
    Packet(PacketEvent),
    /// A call of the law.
    Law(LawEvent),
}

fn event(bytes: &[u8]) -> Option<Event> {
    match value_of::<u32>(bytes)? {
        1 => value_of(bytes).map(Event::Law),
        2 => value_of(bytes).map(Event::Packet),
        _ => None,
    }
}

/// The programs' logging switch. Dropping this turns it off.
struct Listening {
    settings: Settings,
    wanted: u32,
}

impl Listening {
    /// Sets the switches `on` and clears `off`, leaving those of other readers unchanged.
    fn switch(&self, on: u32, off: u32) -> Result<(), Error> {
        let _lock = pins::lock()?;
        self.settings.change(|config| config.log = config.log & !off | on)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.switch(0, self.wanted);
    }
}

/// Passes each event to `take` until `go_on` returns false. Calls `go_on` at least ten times a second.
///
/// # Errors
/// Nothing is loaded under `name`, or the ring cannot be read.
pub fn follow(
    name: &str,
    wanted: Wanted,
    mut take: impl FnMut(Event),
    go_on: impl FnMut() -> bool,
) -> Result<(), Error> {
    let wanted = match wanted {
        Wanted::Streams => LOG_STREAMS,
        Wanted::Law => LOG_LAW,
    };
    let take = |bytes: &[u8]| event(bytes).into_iter().for_each(&mut take);
    // An earlier listener, if it was killed, has left its own switched on.
    listen(name, "events", (wanted, LOG_STREAMS | LOG_LAW), take, go_on)
}

/// Passes each connection that CUBIC takes over from now on to `take`, until `go_on` returns false. Calls `go_on` at least
/// ten times a second.
///
/// # Errors
/// Nothing is loaded under `name`, or the ring cannot be read.
pub fn follow_falls(name: &str, mut take: impl FnMut(Fall), go_on: impl FnMut() -> bool) -> Result<(), Error> {
    let take = |bytes: &[u8]| value_of(bytes).into_iter().for_each(&mut take);
    listen(name, "falls", (LOG_FALLS, LOG_FALLS), take, go_on)
}

/// Reads a ring until `go_on` returns false, with `on` of its switches, `all`, set.
fn listen(
    name: &str,
    ring: &str,
    (on, all): (u32, u32),
    mut take: impl FnMut(&[u8]),
    mut go_on: impl FnMut() -> bool,
) -> Result<(), Error> {
    let failed = |error| Error::machine("reading the log", error);
    let ring = pins::open(name, ring)?;
    let listening = Listening { settings: Settings::of(name)?, wanted: all };
    let mut builder = RingBufferBuilder::new();
    let whole = |bytes: &[u8]| {
        take(bytes);
        0
    };
    builder.add(&ring, whole).map_err(failed)?;
    let reader = builder.build().map_err(failed)?;
    listening.switch(on, all)?;
    while go_on() {
        match reader.poll(Duration::from_millis(100)) {
            Err(error) if error.kind() != libbpf_rs::ErrorKind::Interrupted => return Err(failed(error)),
            _ => {}
        }
    }
    Ok(())
}
