//! The server's side of transfers: begins flows, takes their segments, acknowledges, saves files.

use super::{Now, Reaction, Server, Session, answered};
use crate::store::{Opening, Part, Store};
use crate::transfer::{Halt, Incoming, MOST_FLOWS, Seen};
use crate::wire::{Acknowledgment, Begin, Body, HASH, Header, Purpose, Reason, segment_overhead};
use packetscale_models::units::{Span, Time};
use std::net::SocketAddr;

/// An accepted file: its destination, the length so far, and its hash.
type Taken = Option<(Box<dyn Part>, u64, [u8; HASH])>;

impl Now {
    /// Converts to the transport's marks.
    pub(super) fn time(&self) -> Time {
        Time::ZERO + Span::from_millis(self.ms)
    }
}

impl Server {
    /// The same server, accepting files.
    pub fn keeping(mut self, store: Box<dyn Store>) -> Server {
        self.store = Some(store);
        self
    }

    /// A client requests a flow, perhaps repeatedly.
    pub(super) fn begins(&mut self, header: Header, begin: &Begin, now: Now) -> Option<Reaction> {
        let session = self.sessions.get(&header.session)?;
        if let Some(flow) = session.flows.get(&header.number) {
            return Some(answered(self.written(header, Body::Begun(flow.begun()), now)));
        }
        // A delayed or duplicate request: the client has begun another flow since, or this one has failed.
        if session.last_begin.is_some_and(|last| header.number <= last) {
            return None;
        }
        let size = usize::from(begin.size);
        let fits = size > 0 && size + segment_overhead(session.key) <= usize::from(session.grant.size);
        if !fits || begin.window == 0 || session.flows.len() >= MOST_FLOWS {
            return Some(self.ended(header, Reason::Wrong, now));
        }
        if let Purpose::File { name, restart } = &begin.purpose {
            let session = self.sessions.get_mut(&header.session)?;
            if !session.may_request((name, *restart), now.ms) {
                return None;
            }
            // A session has one file: a new one replaces the one before.
            session.flows.retain(|_, flow| !flow.is_file());
        }
        let part = match self.opened(header, begin) {
            Ok(Some(part)) => part,
            Ok(None) => return Some(Reaction::default()),
            Err((code, retry_ms, text)) => {
                self.sessions.get_mut(&header.session)?.request = None;
                return Some(answered(self.written(header, Body::Refuse { code, retry_ms, text }, now)));
            }
        };
        let flow = Incoming::new(begin, part);
        let begun = flow.begun();
        let session = self.sessions.get_mut(&header.session)?;
        session.flows.insert(header.number, flow);
        (session.last_begin, session.request) = (Some(header.number), None);
        Some(answered(self.written(header, Body::Begun(begun), now)))
    }

    /// The destination of a flow's data, if it is a file. `Ok(None)`: not yet known.
    fn opened(&mut self, header: Header, begin: &Begin) -> Result<Option<Taken>, (Reason, u32, String)> {
        let Purpose::File { name, restart } = &begin.purpose else { return Ok(Some(None)) };
        let Some(store) = &mut self.store else {
            let text = "this server takes no files; packetscale live receive does".to_string();
            return Err((Reason::Unwanted, 0, text));
        };
        match store.open(header.session, name, *restart) {
            Opening::Later => Ok(None),
            Opening::Open(part, offset, hash) => Ok(Some(Some((part, offset, hash)))),
            Opening::Refused(code, retry_ms, text) => Err((code, retry_ms, text)),
        }
    }

    /// Handles a segment of a flow, within the session's grant.
    pub(super) fn segment(&mut self, header: Header, seen: &Seen<'_>, now: Now) -> Option<Reaction> {
        let session = self.sessions.get_mut(&header.session)?;
        let Some(flow) = session.flows.get_mut(&header.number) else { return self.unknown(header, now) };
        match flow.segment(now.time(), seen) {
            Ok(Some(ack)) => Some(answered(self.acknowledged(header, ack, now))),
            Ok(None) => {
                self.due = self.due.min(flow.next_wakeup());
                Some(Reaction::default())
            }
            Err(halt) => Some(self.halted(header, halt, now)),
        }
    }

    fn acknowledged(&self, header: Header, ack: Acknowledgment, now: Now) -> Vec<u8> {
        let session = self.sessions.get(&header.session);
        let (key, before) = session.map_or((0, now.steps), |session| (session.key, session.steps_before));
        let mut ack = Acknowledgment { steps: now.steps.wrapping_sub(before), ..ack };
        ack.cut_to(session.map_or(0, Session::payload_limit));
        self.written(Header { key, ..header }, Body::Ack(ack), now)
    }

    /// A client reports that all of a file has arrived.
    pub(super) fn finishes(&mut self, header: Header, bytes: u64, hash: &[u8; HASH], now: Now) -> Option<Reaction> {
        let session = self.sessions.get_mut(&header.session)?;
        let Some(flow) = session.flows.get_mut(&header.number) else { return self.unknown(header, now) };
        match flow.finish(bytes, hash) {
            Ok(true) => Some(answered(self.written(header, Body::Finished, now))),
            Ok(false) => Some(Reaction::default()),
            Err(halt) => Some(self.halted(header, halt, now)),
        }
    }

    /// A flow fails: report the reason, or end the session of a client that violates its limits.
    fn halted(&mut self, header: Header, halt: Halt, now: Now) -> Reaction {
        let Halt::File(text) = halt else { return self.ended(header, Reason::Wrong, now) };
        if let Some(session) = self.sessions.get_mut(&header.session) {
            session.flows.remove(&header.number);
            session.failed = Some((header.number, text));
        }
        self.unknown(header, now).unwrap_or_default()
    }

    /// Reply for an unknown flow, repeated for every request since a reply may be lost.
    fn unknown(&self, header: Header, now: Now) -> Option<Reaction> {
        let session = self.sessions.get(&header.session)?;
        let failed = session.failed.as_ref().filter(|(flow, _)| *flow == header.number);
        let text = failed.map_or_else(|| "there is no such flow".to_string(), |(_, why)| why.clone());
        let body = Body::Refuse { code: Reason::Unwanted, retry_ms: 0, text };
        Some(answered(self.written(Header { key: session.key, ..header }, body, now)))
    }

    /// Earliest time at which [`Server::acknowledge`] has something to do.
    pub fn next_acknowledgment(&self) -> Time {
        self.due
    }

    /// The delayed acknowledgments that are due.
    pub fn acknowledge(&mut self, now: Now) -> Vec<(SocketAddr, Vec<u8>)> {
        if now.time() < self.due {
            return Vec::new();
        }
        let mut due = Vec::new();
        self.due = Time::MAX;
        for (id, session) in &mut self.sessions {
            for (number, flow) in &mut session.flows {
                let ack = flow.on_wakeup(now.time());
                due.extend(ack.map(|ack| (session.client, Header { key: 0, session: *id, number: *number }, ack)));
                self.due = self.due.min(flow.next_wakeup());
            }
        }
        due.into_iter().map(|(to, header, ack)| (to, self.acknowledged(header, ack, now))).collect()
    }
}
