//! A capture of the scenario's flows where they are sent: their packets as they leave, their acknowledgments as they
//! arrive.

use crate::packets::connection::{Captured, Connection, since_1970_ns};
use crate::packets::headers::LONGEST;
use crate::packets::pcapng::Pcapng;
use crate::packets::{Event, Observer, Start};
use experiment::results::Run;
use packetscale_models::units::Time;
use std::io::{self, Write};

/// The comment in a capture's header.
const COMMENT: &str = "A simulation: headers are synthesised from each flow's events. Time zero of the run is 2000-01-01 \
00:00 UTC. Captured at the senders. Handshakes are synthesised and take no time. Data are not stored and count as zeros in \
checksums.";

/// The name of the only interface.
const INTERFACE: &str = "senders";

/// A packet of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Handshake {
    Syn,
    SynAck,
    Ack,
}

/// Writes a capture, in order of time.
pub struct Capture<W: Write> {
    file: Pcapng<W>,
    connections: Vec<Connection>,
    /// Packets of handshakes that are not written yet, with the connection's number; the next last.
    handshakes: Vec<(u64, Handshake, usize)>,
    bytes: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture. `program`: name and version of the writing program.
    ///
    /// # Errors
    /// An error of writing.
    pub fn new(out: W, program: &str) -> io::Result<Capture<W>> {
        let file = Pcapng::begin(out, program, COMMENT, INTERFACE, LONGEST)?;
        Ok(Capture { file, connections: Vec::new(), handshakes: Vec::new(), bytes: Vec::new() })
    }

    /// Writes the packets of handshakes up to this time.
    fn shake_hands(&mut self, until_ns: u64) -> io::Result<()> {
        while let Some((_, packet, flow)) = self.handshakes.pop_if(|(at_ns, ..)| *at_ns <= until_ns) {
            let Some(connection) = self.connections.get_mut(flow) else { continue };
            let captured = match packet {
                Handshake::Syn => connection.syn(),
                Handshake::SynAck => connection.granted(),
                Handshake::Ack => connection.confirms(),
            };
            write(&mut self.file, &mut self.bytes, &captured)?;
        }
        Ok(())
    }
}

fn write<W: Write>(file: &mut Pcapng<W>, bytes: &mut Vec<u8>, captured: &Captured<'_>) -> io::Result<()> {
    captured.headers.write(bytes);
    file.packet(captured.at_ns, bytes, captured.headers.length())
}

impl<W: Write> Observer for Capture<W> {
    fn begin(&mut self, start: &Start) -> io::Result<()> {
        let flows = start.flows.iter().enumerate();
        self.connections = flows.map(|(number, flow)| Connection::new(number, flow.clone())).collect();
        let packets = |(flow, connection): (usize, &Connection)| {
            let times = connection.handshake_ns();
            times
                .into_iter()
                .zip([Handshake::Syn, Handshake::SynAck, Handshake::Ack])
                .map(move |(at_ns, packet)| (at_ns, packet, flow))
        };
        self.handshakes = self.connections.iter().enumerate().flat_map(packets).collect();
        self.handshakes.sort_unstable_by(|one, other| other.cmp(one));
        Ok(())
    }

    fn see(&mut self, at: Time, event: &Event) -> io::Result<()> {
        let (Event::Sent { flow, .. } | Event::Acknowledged { flow, .. }) = event else { return Ok(()) };
        self.shake_hands(since_1970_ns(at))?;
        let Some(connection) = self.connections.get_mut(*flow) else { return Ok(()) };
        match event {
            Event::Sent { segment, .. } => write(&mut self.file, &mut self.bytes, &connection.sends(at, segment)),
            Event::Acknowledged { ack, .. } => {
                write(&mut self.file, &mut self.bytes, &connection.acknowledged(at, ack))
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, _: &Run) -> io::Result<()> {
        self.file.flush()
    }
}
