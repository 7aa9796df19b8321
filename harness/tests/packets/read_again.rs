//! What a capture has, as the reader of captures finds it.

use experiment::results::Run;
use harness::packets::{Capture, Event, FlowStart, Observer, Start};
use packetscale_models::transport::{Ack, SackBlock, Segment};
use packetscale_models::units::{Bytes, Ecn, Marks, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::io::Write;

/// Bytes on the wire in addition to IP's packet.
const ETHERNET: u64 = 14;
/// Headers of IP and TCP, with timestamps.
const HEADERS: u64 = 20 + 20 + 12;

fn flow(start: Time, packet: u64) -> FlowStart {
    FlowStart {
        controller: "cubic".to_string(),
        start,
        packet: Bytes::new(packet),
        rtt: Span::from_millis(10),
        receive_window: u64::MAX,
        ecn: Ecn::Ect0,
    }
}

/// An event of a flow, and what its packet's size on the wire is.
#[derive(Clone, Copy, Debug)]
struct Seen {
    gap_ns: u64,
    flow: usize,
    sequence: u64,
    /// Blocks of an acknowledgment; `None`: a segment.
    blocks: Option<u8>,
}

fn seen() -> impl Strategy<Value = Seen> {
    (0..1_000_000u64, 0..2usize, 0..1u64 << 40, prop::option::of(0..4u8))
        .prop_map(|(gap_ns, flow, sequence, blocks)| Seen { gap_ns, flow, sequence, blocks })
}

impl Seen {
    fn event(&self, flows: &[FlowStart], transmission: u64) -> Event {
        let Seen { flow, sequence, .. } = *self;
        let Some(blocks) = self.blocks else {
            let size = flows[flow].packet;
            let (retransmission, ecn, marks) = (false, Ecn::Ect0, Marks::NONE);
            return Event::Sent { flow, segment: Segment { sequence, transmission, size, retransmission, ecn, marks } };
        };
        let mut ack = Ack::plain(sequence, transmission, 100);
        ack.blocks = blocks.min(ack.sack.len() as u8);
        for (number, block) in ack.sack.iter_mut().enumerate() {
            let start = sequence + 2 * number as u64 + 1;
            *block = SackBlock { start, end: start + 1 };
        }
        Event::Acknowledged { flow, ack }
    }

    fn size(&self, flows: &[FlowStart]) -> u64 {
        ETHERNET
            + match self.blocks {
                None => flows[self.flow].packet.get(),
                Some(0) => HEADERS,
                // Two that fill, kind and length, and the blocks, of which three have a place.
                Some(blocks) => HEADERS + 4 + 8 * u64::from(blocks.min(3)),
            }
    }
}

/// Times since the first packet, and sizes, as the reader finds them.
fn read(file: &[u8]) -> Vec<(Span, u64)> {
    let mut named = tempfile::NamedTempFile::new().expect("a temporary file");
    named.write_all(file).expect("written");
    let mut capture = experiment::traffic::Capture::open(named.path()).expect("a capture");
    let mut found = Vec::new();
    let mut first = None;
    while let Some(packet) = capture.next_packet().expect("whole") {
        found.push((packet.at - *first.get_or_insert(packet.at), packet.size.get()));
    }
    assert_eq!(capture.flaws().cut, None);
    found
}

#[test]
fn fuzz_captures_are_read_as_they_were_written() {
    let inputs = prop::collection::vec(seen(), 1..60);
    let tried = TestRunner::new(conformance::fuzz::config(200)).run(&inputs, |events| {
        let begin = Time::ZERO + Span::from_millis(1);
        let flows = vec![flow(begin, 1500), flow(begin, 9000)];
        let mut file = Vec::new();
        let mut capture = Capture::new(&mut file, "test")?;
        let (end, step, links) = (begin + Span::from_secs(9), Span::from_millis(1), Vec::new());
        capture.begin(&Start { end, step, packets: true, flows: flows.clone(), links, measured: 0 })?;
        let mut since = Span::ZERO;
        // Behind the two handshakes of three packets, of which the first is at zero, and 2 ns before the flows.
        let mut expected = Vec::new();
        for (number, event) in events.iter().enumerate() {
            since += Span::from_nanos(event.gap_ns);
            capture.see(begin + since, &event.event(&flows, number as u64))?;
            expected.push((since + Span::from_nanos(2), event.size(&flows)));
        }
        capture.end(&Run::default())?;
        drop(capture);
        let found = read(&file);
        prop_assert_eq!(found.len(), 6 + events.len());
        prop_assert_eq!(&found[6..], &expected[..]);
        Ok(())
    });
    tried.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn times_of_a_capture_never_fall_while_connections_open() {
    let at = |ns: u64| Time::ZERO + Span::from_nanos(1_000_000 + ns);
    let flows: Vec<FlowStart> = [0, 0, 1].map(|ns| flow(at(ns), 1500)).into();
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file, "test").expect("written");
    let start = Start {
        end: at(9),
        step: Span::from_millis(1),
        packets: true,
        flows: flows.clone(),
        links: Vec::new(),
        measured: 0,
    };
    capture.begin(&start).expect("written");
    let sent = |flow| Seen { gap_ns: 0, flow, sequence: 0, blocks: None }.event(&flows, 0);
    for (ns, flow) in [(0, 0), (0, 1), (1, 2)] {
        capture.see(at(ns), &sent(flow)).expect("written");
    }
    capture.end(&Run::default()).expect("written");
    drop(capture);
    let times: Vec<u64> = read(&file).iter().map(|(since_first, _)| since_first.nanos()).collect();
    // The first two open at 0, 1 and 2 ns, the third at 1, 2 and 3 ns; data at 2, 2 and 3 ns.
    assert_eq!(times, [0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]);
}
