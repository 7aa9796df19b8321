//! Counters of the server, in Prometheus's text format, version 0.0.4.

use std::fmt::Write;

/// Totals since the server started, and current values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Current sessions.
    pub sessions: u64,
    /// Bit/s granted to them.
    pub promised_bps: u64,
    /// Sessions opened.
    pub begun: u64,
    /// Addresses that were challenged.
    pub challenged: u64,
    /// Hellos refused: no rate or no session was left.
    pub refused: u64,
    /// Hellos refused: too many sessions of their address.
    pub crowded: u64,
    /// Datagrams dropped without a reply.
    pub dropped: u64,
    /// Sessions ended by exceeding a limit.
    pub limited: u64,
    /// Sessions that timed out: no packet arrived, or no data were acknowledged.
    pub silent: u64,
    /// Sessions ended by their clients.
    pub closed: u64,
    /// Sessions ended by an invalid order.
    pub wrong: u64,
    /// Streams ordered.
    pub streams: u64,
    /// Of these, streams without known departures.
    pub not_sent: u64,
    /// Packets that arrived with the mark "congestion experienced".
    pub marked: u64,
    /// Payload bytes that arrived in sessions.
    pub received_bytes: u64,
    /// Payload bytes of streams that were sent.
    pub sent_bytes: u64,
}

impl Counters {
    /// As text.
    pub fn prometheus(&self) -> String {
        let rows = [
            ("sessions", "gauge", "Open sessions.", self.sessions),
            ("promised_bps", "gauge", "Rate granted to sessions.", self.promised_bps),
            ("sessions_begun_total", "counter", "Sessions accepted.", self.begun),
            ("challenges_total", "counter", "Addresses that were challenged.", self.challenged),
            ("refused_total", "counter", "Clients refused: no rate or slot left.", self.refused),
            ("crowded_total", "counter", "Clients refused: too many sessions from their address.", self.crowded),
            ("dropped_total", "counter", "Datagrams dropped without an answer.", self.dropped),
            ("limited_total", "counter", "Sessions ended because they passed a limit.", self.limited),
            ("silent_total", "counter", "Sessions that timed out.", self.silent),
            ("closed_total", "counter", "Sessions that their clients ended.", self.closed),
            ("wrong_total", "counter", "Sessions ended by an invalid order.", self.wrong),
            ("streams_total", "counter", "Streams ordered by clients.", self.streams),
            ("streams_not_sent_total", "counter", "Streams without known departure times.", self.not_sent),
            ("marked_total", "counter", "Packets that arrived marked by a queue (CE).", self.marked),
            ("received_bytes_total", "counter", "Payload bytes that arrived in sessions.", self.received_bytes),
            ("sent_bytes_total", "counter", "Payload bytes of streams that were sent.", self.sent_bytes),
        ];
        let mut text = String::new();
        for (name, kind, help, value) in rows {
            let name = format!("packetscale_serve_{name}");
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        text
    }
}
