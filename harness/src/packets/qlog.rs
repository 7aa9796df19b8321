//! qlog: a folder with one file per flow, in JSON text sequences (RFC 7464), so that each event is written as it happens.
//!
//! Source: draft-ietf-quic-qlog-main-schema (files, traces, events) and the events `recovery:*` and `transport:*` of
//! qlog 0.3, which is what qvis draws. A flow is no QUIC connection; what differs:
//!
//!  1. Packet numbers are those of transmissions. TCP acknowledges data; here an acknowledgment names the transmissions
//!     that it newly covers: of each packet the latest one.
//!  2. The offset of a data frame, in bytes on the wire, identifies the packet of the flow that it carries.
//!  3. Lengths are those of packets on the wire, and windows are packets times that length.

use crate::packets::{Event, FlowStart, Observer, SenderState, Start};
use experiment::results::Run;
use packetscale_models::transport::{Ack, Segment};
use packetscale_models::units::{Span, Time};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Precedes each record (RFC 7464).
const RECORD: u8 = 0x1e;

/// A file is written in pieces of this size, and closed between them: a run may have more flows than a process may have
/// open files.
const PIECE: usize = 1 << 16;

/// Writes a folder of logs.
pub struct Qlog {
    folder: PathBuf,
    program: String,
    packets: bool,
    flows: Vec<Log>,
}

/// The log of one flow.
struct Log {
    file: PathBuf,
    piece: Vec<u8>,
    flow: FlowStart,
    /// Values of the last event, by field name.
    known: Map<String, Value>,
    in_recovery: bool,
    /// The latest transmission of each packet that is not acknowledged.
    open: BTreeMap<u64, u64>,
    /// Acknowledgments that have arrived.
    answers: u64,
}

impl Qlog {
    /// Begins the logs in this folder, which exists. `program`: name and version of the writing program.
    pub fn new(folder: &Path, program: &str) -> Qlog {
        Qlog { folder: folder.to_path_buf(), program: program.to_string(), packets: false, flows: Vec::new() }
    }
}

impl Log {
    fn new(file: PathBuf, flow: FlowStart) -> Log {
        Log { file, piece: Vec::new(), flow, known: Map::new(), in_recovery: false, open: BTreeMap::new(), answers: 0 }
    }

    fn record(&mut self, record: &Value) -> io::Result<()> {
        self.piece.push(RECORD);
        serde_json::to_writer(&mut self.piece, record)?;
        self.piece.push(b'\n');
        if self.piece.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).open(&self.file)?.write_all(&self.piece)?;
        self.piece.clear();
        Ok(())
    }

    fn event(&mut self, at: Time, name: &str, data: Value) -> io::Result<()> {
        self.record(&json!({"time": millis(at.since(Time::ZERO)), "name": name, "data": data}))
    }

    fn header(&mut self, number: usize, program: &str) -> io::Result<()> {
        let title = format!("flow {number}: {}", self.flow.controller);
        self.record(&json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            // For programs that read qlog 0.3.
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": title,
            "code_version": program,
            "trace": {
                "title": title,
                "vantage_point": {"name": "sender", "type": "server"},
                "event_schemas": ["urn:ietf:params:qlog:events:quic"],
                "common_fields": {
                    "group_id": number.to_string(),
                    "time_format": "relative_to_epoch",
                    "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
                },
            },
        }))
    }

    // ---- metrics -----------------------------------------------------------------------------------------------

    /// Writes what has changed.
    fn metrics(&mut self, at: Time, state: &SenderState) -> io::Result<()> {
        let mut new = Map::new();
        for (name, value) in fields(state, self.flow.packet.get()) {
            if self.known.get(name) != Some(&value) {
                self.known.insert(name.to_string(), value.clone());
                new.insert(name.to_string(), value);
            }
        }
        if !new.is_empty() {
            self.event(at, "recovery:metrics_updated", Value::Object(new))?;
        }
        if std::mem::replace(&mut self.in_recovery, state.in_recovery) != state.in_recovery {
            let name = |in_recovery| if in_recovery { "recovery" } else { "congestion_avoidance" };
            let (old, new) = (name(!state.in_recovery), name(state.in_recovery));
            self.event(at, "recovery:congestion_state_updated", json!({"old": old, "new": new}))?;
        }
        Ok(())
    }

    // ---- packets -----------------------------------------------------------------------------------------------

    fn sent(&mut self, at: Time, segment: &Segment) -> io::Result<()> {
        self.open.insert(segment.sequence, segment.transmission);
        let length = segment.size.get();
        let offset = segment.sequence * self.flow.packet.get();
        let data = json!({
            "header": {"packet_type": "1RTT", "packet_number": segment.transmission},
            "raw": {"length": length},
            "frames": [{"frame_type": "stream", "stream_id": 0, "offset": offset, "length": length}],
        });
        self.event(at, "transport:packet_sent", data)
    }

    fn acknowledged(&mut self, at: Time, ack: &Ack) -> io::Result<()> {
        let rest = self.open.split_off(&ack.next_expected);
        let mut covered: Vec<u64> = std::mem::replace(&mut self.open, rest).into_values().collect();
        for block in &ack.sack[..usize::from(ack.blocks)] {
            let inside: Vec<u64> = self.open.range(block.start..block.end).map(|(sequence, _)| *sequence).collect();
            covered.extend(inside.iter().filter_map(|sequence| self.open.remove(sequence)));
        }
        covered.sort_unstable();
        let data = json!({
            "header": {"packet_type": "1RTT", "packet_number": self.answers},
            "frames": [{"frame_type": "ack", "acked_ranges": ranges(&covered)}],
        });
        self.answers += 1;
        self.event(at, "transport:packet_received", data)
    }
}

/// The fields of `recovery:metrics_updated`.
fn fields(state: &SenderState, packet_bytes: u64) -> impl Iterator<Item = (&'static str, Value)> {
    let always = [
        ("min_rtt", json!(millis(state.min_rtt))),
        ("smoothed_rtt", json!(millis(state.smoothed_rtt))),
        ("congestion_window", json!(state.window.saturating_mul(packet_bytes))),
        ("bytes_in_flight", json!(u64::from(state.in_flight) * packet_bytes)),
        ("packets_in_flight", json!(state.in_flight)),
    ];
    let latest = (state.latest_rtt > Span::ZERO).then(|| ("latest_rtt", json!(millis(state.latest_rtt))));
    let threshold = u64::from(state.threshold) * packet_bytes;
    let threshold = (state.threshold < u32::MAX).then(|| ("ssthresh", json!(threshold)));
    let rate = state.rate.map(|rate| ("pacing_rate", json!(rate.bps())));
    always.into_iter().chain(latest).chain(threshold).chain(rate)
}

/// Milliseconds, to the nanosecond.
fn millis(span: Span) -> f64 {
    span.nanos() as f64 / 1e6
}

/// Sorted numbers as ranges, both ends included.
fn ranges(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    ranges
}

impl Observer for Qlog {
    fn begin(&mut self, start: &Start) -> io::Result<()> {
        self.packets = start.packets;
        for (number, flow) in start.flows.iter().enumerate() {
            let mut log = Log::new(self.folder.join(format!("flow-{number}.sqlog")), flow.clone());
            log.header(number, &self.program)?;
            self.flows.push(log);
        }
        Ok(())
    }

    fn see(&mut self, at: Time, event: &Event) -> io::Result<()> {
        let Some(log) = event.flow().and_then(|flow| self.flows.get_mut(flow)) else { return Ok(()) };
        match event {
            Event::Sender { state, .. } => log.metrics(at, state),
            Event::Sent { segment, .. } if self.packets => log.sent(at, segment),
            Event::Acknowledged { ack, .. } if self.packets => log.acknowledged(at, ack),
            _ => Ok(()),
        }
    }

    fn end(&mut self, _: &Run) -> io::Result<()> {
        self.flows.iter_mut().try_for_each(Log::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_packets_merge_into_a_range() {
        assert_eq!(ranges(&[3, 4, 5, 7, 9, 10]), [(3, 5), (7, 7), (9, 10)]);
        assert_eq!(ranges(&[]), []);
    }
}
