//! Hand-made captures of every format, byte order and link type; damaged captures; replay compared with hand
//! arithmetic.

mod order;

use super::link::Link;
use super::*;
use crate::scenario::{TrafficKind, TrafficSpec};
use crate::traffic::{AnySource, Source, Superposition, open};
use packetscale_models::units::Time;
use proptest::prelude::*;
use std::io::Cursor;

/// A pcap file, byte by byte: big-endian, microseconds, Ethernet, two packets of 60 and 1514 bytes, 2 captured.
const PCAP_BIG: &[u8] = &[
    0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 1, //
    0, 0, 0, 7, 0, 0, 0, 250, 0, 0, 0, 2, 0, 0, 0, 60, 0xaa, 0xbb, //
    0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 5, 0xea, 0xaa, 0xbb,
];

/// A pcapng file, byte by byte: little-endian, raw IP, no options, one enhanced packet of 40 bytes at 2^32 + 5 us.
const PCAPNG_LITTLE: &[u8] = &[
    0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, //
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 28, 0, 0, 0, //
    1, 0, 0, 0, 20, 0, 0, 0, 101, 0, 0, 0, 64, 0, 0, 0, 20, 0, 0, 0, //
    6, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 40, 0, 0, 0, 0x45, 0, 0, 0, 36, 0, 0, 0,
];

#[derive(Clone, Copy, Debug)]
struct Writer {
    big: bool,
}

impl Writer {
    fn u16(self, n: u16) -> [u8; 2] {
        if self.big { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    fn u32(self, n: u32) -> [u8; 4] {
        if self.big { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    fn pcap(self, magic: u32, link: u32, packets: &[(u32, u32, u32)]) -> Vec<u8> {
        let mut file = self.u32(magic).to_vec();
        file.extend([self.u16(2), self.u16(4)].concat());
        file.extend([0, 0, 64, link].map(|n| self.u32(n)).concat());
        for &(seconds, fraction, original) in packets {
            let captured = original.min(5);
            file.extend([seconds, fraction, captured, original].map(|n| self.u32(n)).concat());
            file.extend(vec![0x5a; captured as usize]);
        }
        file
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
        let length = self.u32((12 + body.len() + padding.len()) as u32);
        [&self.u32(kind)[..], &length, body, &padding, &length].concat()
    }

    fn section(self) -> Vec<u8> {
        self.block(0x0a0d_0d0a, &[&self.u32(0x1a2b_3c4d)[..], &self.u16(1), &self.u16(0), &[0xff; 8]].concat())
    }

    fn interface(self, link: u16, options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = [&self.u16(link)[..], &[0, 0], &self.u32(64)].concat();
        for (code, value) in options {
            body.extend([self.u16(*code), self.u16(value.len() as u16)].concat());
            body.extend_from_slice(value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body)
    }

    fn enhanced(self, interface: u32, ticks: u64, original: u32) -> Vec<u8> {
        let fields = [interface, (ticks >> 32) as u32, ticks as u32, 3, original].map(|n| self.u32(n));
        self.block(6, &[&fields.concat()[..], &[1, 2, 3]].concat())
    }
}

const BOTH: [Writer; 2] = [Writer { big: true }, Writer { big: false }];

/// Returns all packets as (nanoseconds since the first, size), or the message.
fn read(bytes: &[u8], source: TraceSource) -> Result<Vec<(u64, u64)>, String> {
    let mut reader =
        Reader::new(Path::new("a.trace"), Cursor::new(bytes.to_vec()), source).map_err(|e| e.to_string())?;
    let mut packets = Vec::new();
    while let Some(packet) = reader.next().map_err(|e| e.to_string())? {
        packets.push((packet.at_ps, packet.size.get()));
    }
    packets.sort_by_key(|(at_ps, _)| *at_ps);
    let first = packets.first().map_or(0, |(at_ps, _)| *at_ps);
    let since_first_ns = |at_ps: i128| u64::try_from((at_ps - first) / 1000).unwrap_or(u64::MAX);
    Ok(packets.into_iter().map(|(at_ps, size)| (since_first_ns(at_ps), size)).collect())
}

fn pcap(bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
    read(bytes, TraceSource::Pcap)
}

fn csv(text: &str) -> Result<Vec<(u64, u64)>, String> {
    read(text.as_bytes(), TraceSource::Csv)
}

#[test]
fn reads_pcap_times_and_original_lengths() {
    assert_eq!(pcap(PCAP_BIG).unwrap(), [(0, 60), (999_750_000, 1514)]);
}

#[test]
fn pcapng_is_read_from_hand_made_bytes() {
    assert_eq!(pcap(PCAPNG_LITTLE).unwrap(), [(0, 54)]);
}

#[test]
fn reads_pcap_in_both_byte_orders_and_resolutions() {
    for writer in BOTH {
        let packets = [(10, 999_999, 100), (11, 1, 200)];
        assert_eq!(pcap(&writer.pcap(0xa1b2_c3d4, 1, &packets)).unwrap(), [(0, 100), (2_000, 200)]);
        assert_eq!(pcap(&writer.pcap(0xa1b2_3c4d, 1, &packets)).unwrap(), [(0, 100), (999_000_002, 200)]);
    }
}

#[test]
fn every_link_type_counts_the_ip_packet_and_14_bytes() {
    // The same IP packet of 1000 bytes behind each link's header.
    let links = [(1, 14), (0, 4), (108, 4), (12, 0), (14, 0), (101, 0), (228, 0), (229, 0), (113, 16), (276, 20)];
    for (link, header) in links {
        let file = BOTH[1].pcap(0xa1b2_c3d4, link, &[(0, 0, 1_000 + header)]);
        assert_eq!(pcap(&file).unwrap(), [(0, 1_014)], "link type {link}");
    }
    let unknown = pcap(&BOTH[1].pcap(0xa1b2_c3d4, 127, &[])).unwrap_err();
    assert!(unknown.starts_with("a.trace: packet 1, byte 20: found link type 127; expected Ethernet (1)"), "{unknown}");
}

#[test]
fn pcapng_interfaces_have_separate_resolutions_and_offsets() {
    for writer in BOTH {
        let offset: [u8; 8] = if writer.big { 1i64.to_be_bytes() } else { 1i64.to_le_bytes() };
        let file = [
            writer.section(),
            writer.interface(1, &[(2, b"eth0"), (9, &[9])]),
            writer.interface(101, &[(9, &[0x80 | 10]), (14, &offset), (0, &[])]),
            writer.interface(113, &[]),
            writer.enhanced(0, 1_500_000_000, 100), // 1.5 s in nanoseconds
            writer.block(5, &[7; 24]),              // interface statistics: passed over
            writer.enhanced(1, 1 << 9, 100),        // half a second of 1/1024, and one
            writer.enhanced(2, 1_500_002, 100),     // microseconds, the default
        ];
        assert_eq!(pcap(&file.concat()).unwrap(), [(0, 100), (0, 114), (2_000, 98)]);
    }
}

#[test]
fn pcapng_picoseconds_and_finer_are_read() {
    let writer = BOTH[1];
    let section = |power, ticks| {
        [
            writer.section(),
            writer.interface(1, &[(9, &[power])]),
            writer.enhanced(0, 0, 99),
            writer.enhanced(0, ticks, 99),
        ]
        .concat()
    };
    assert_eq!(pcap(&section(12, 5_000_000)).unwrap()[1].0, 5_000);
    assert_eq!(pcap(&section(15, 5_000_000_000)).unwrap()[1].0, 5_000);
    assert_eq!(pcap(&section(0xff, u64::MAX)).unwrap()[1].0, 0, "2^-127 s");
    assert!(pcap(&section(39, 0)).unwrap_err().contains("if_tsresol"));
}

#[test]
fn pcapng_sections_may_change_the_byte_order() {
    let part =
        |writer: Writer, ticks| [writer.section(), writer.interface(1, &[]), writer.enhanced(0, ticks, 90)].concat();
    let file = [part(BOTH[0], 3), part(BOTH[1], 4)].concat();
    assert_eq!(pcap(&file).unwrap(), [(0, 90), (1_000, 90)]);
    let orphan = [part(BOTH[0], 3), BOTH[1].section(), BOTH[1].enhanced(0, 4, 90)].concat();
    let damage = flaws(&orphan).damage.unwrap();
    assert!(
        damage.contains("packet 2, byte ") && damage.contains("found interface 0; expected one of the section's 0")
    );
}

#[test]
fn reads_obsolete_packet_blocks_and_leaves_out_simple_ones() {
    let writer = BOTH[0];
    let fields = [&writer.u16(0)[..], &writer.u16(9), &[0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 77, 42]].concat();
    let file = [writer.section(), writer.interface(1, &[]), writer.block(2, &fields)].concat();
    assert_eq!(pcap(&file).unwrap(), [(0, 77)]);
    // A simple one between two others.
    let simple = [file.clone(), writer.block(3, &[0, 0, 0, 1, 42]), writer.block(2, &fields)].concat();
    assert_eq!(pcap(&simple).unwrap(), [(0, 77), (0, 77)]);
    let warnings = flaws(&simple).warnings(Path::new("a.trace"));
    let warning = "a.trace: packet 2, byte 84: found a simple packet block, which has no time; expected packets with times \
                   (enhanced packet blocks); packets left out: 1";
    assert_eq!(warnings, [warning]);
}

#[test]
fn refuses_a_capture_cut_in_its_header() {
    for (file, header) in [(PCAP_BIG, 24), (PCAPNG_LITTLE, 28)] {
        for cut in 0..header {
            let message = pcap(&file[..cut]).unwrap_err();
            let place = format!("a.trace: packet 1, byte {cut}: found the end of the file");
            assert!(message.starts_with(&place), "{message}");
        }
    }
}

/// The flaws of a capture that is read to its end.
fn flaws(bytes: &[u8]) -> Flaws {
    let mut reader = Reader::new(Path::new("a.trace"), Cursor::new(bytes.to_vec()), TraceSource::Pcap).unwrap();
    while reader.next().unwrap().is_some() {}
    reader.flaws().clone()
}

#[test]
fn reads_a_truncated_capture_up_to_the_cut() {
    for (file, header, whole) in [(PCAP_BIG, 24, &[42, 60][..]), (PCAPNG_LITTLE, 28, &[84])] {
        for cut in header..=file.len() {
            let packets = whole.iter().filter(|end| **end <= cut).count();
            assert_eq!(pcap(&file[..cut]).unwrap().len(), packets, "{cut}");
            let between = cut == header || cut == 48 && header == 28 || whole.contains(&cut);
            assert_eq!(flaws(&file[..cut]).cut, (!between).then_some((packets as u64, cut as u64)), "{cut}");
        }
    }
    let warnings = flaws(&PCAP_BIG[..50]).warnings(Path::new("a.pcap"));
    assert_eq!(warnings, ["a.pcap: byte 50: the file ends within packet 2; 1 packets are read"]);
}

#[test]
fn seconds_of_a_capture_run_across_2_to_the_32() {
    let file = BOTH[0].pcap(0xa1b2_c3d4, 1, &[(u32::MAX, 500_000, 60), (0, 500_000, 70), (1, 0, 80)]);
    assert_eq!(pcap(&file).unwrap(), [(0, 60), (1_000_000_000, 70), (1_500_000_000, 80)]);
    assert_eq!(flaws(&file), Flaws::default());
}

#[test]
fn refuses_times_beyond_a_clocks_range_in_days() {
    let mut named = tempfile::NamedTempFile::new().unwrap();
    // 200 000 000 s are 2314 days.
    std::io::Write::write_all(&mut named, &BOTH[0].pcap(0xa1b2_c3d4, 1, &[(200_000_000, 0, 60), (0, 0, 60)])).unwrap();
    let message = survey(named.path(), TraceSource::Pcap).unwrap_err().to_string();
    assert!(message.ends_with("found times over 2314 days; expected a trace of 106 days at most"), "{message}");
    let mut capture = Capture::open(named.path()).unwrap();
    assert!(capture.next_packet().is_ok());
    let message = capture.next_packet().unwrap_err().to_string();
    assert!(
        message.ends_with("found a time -200000000 s from the first packet's; expected times within 53 days of it")
    );
}

/// Found by mutation: one interface with if_tsoffset of 2^62 s, and one without.
#[test]
fn refuses_clocks_that_are_too_far_apart() {
    for writer in BOTH {
        let offset = if writer.big { (1i64 << 62).to_be_bytes() } else { (1i64 << 62).to_le_bytes() };
        let interfaces = [writer.section(), writer.interface(1, &[]), writer.interface(1, &[(14, &offset)])].concat();
        let file = [interfaces, writer.enhanced(0, 5, 80), writer.enhanced(1, 7, 80)].concat();
        let mut named = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut named, &file).unwrap();
        let message = survey(named.path(), TraceSource::Pcap).unwrap_err().to_string();
        assert!(
            message.ends_with("found times over 53375995583650 days; expected a trace of 106 days at most"),
            "{message}"
        );
    }
}

#[test]
fn a_text_file_that_runs_backwards_is_refused_with_packet_and_byte() {
    let message = csv("time_ns,size_bytes\n9,60\n8,60\n").unwrap_err();
    assert!(message.contains("packet 2, byte 24: found a time 1 ns before the packet before"), "{message}");
}

#[test]
fn a_capture_is_read_up_to_damage_and_past_packets_that_cannot_be() {
    let writer = BOTH[0];
    // A runt of 10 bytes is left out; after a length of 300 000 bytes nothing is known.
    let file = writer.pcap(0xa1b2_c3d4, 1, &[(0, 0, 60), (0, 1, 10), (0, 2, 80), (0, 3, 300_000), (0, 4, 90)]);
    assert_eq!(pcap(&file).unwrap(), [(0, 60), (2_000, 80)]);
    let warnings = flaws(&file).warnings(Path::new("a.trace"));
    let expected = [
        "a.trace: packet 4, byte 95: found a packet of 300000 bytes, 5 captured; expected at most 262144; the rest of the \
         file is left out",
        "a.trace: packet 2, byte 53: found a packet of 10 bytes; expected more than 14; packets left out: 1",
    ];
    assert_eq!(warnings, expected);
}

/// tshark reads such packets, too; brimdata/super 584 met them in captures of users.
#[test]
fn a_packet_with_more_captured_than_was_on_the_wire_has_its_size_on_the_wire() {
    let mut file = PCAPNG_LITTLE.to_vec();
    file[72] = 2; // of three captured, without a header of Ethernet
    assert_eq!(pcap(&file).unwrap(), [(0, 16)]);
    let lengths = [0, 0, 0, 7, 0, 0, 0, 250, 0, 0, 0, 20, 0, 0, 0, 18];
    let file = [&PCAP_BIG[..24], &lengths, &[0; 20]].concat();
    assert_eq!(pcap(&file).unwrap(), [(0, 18)]);
    assert_eq!(flaws(&file), Flaws::default());
}

#[test]
fn packets_of_an_interface_of_unknown_link_type_are_left_out() {
    let writer = BOTH[1];
    let blocks = [
        writer.section(),
        writer.interface(127, &[]),
        writer.interface(1, &[]),
        writer.enhanced(0, 1, 100),
        writer.enhanced(1, 2, 100),
        writer.enhanced(0, 3, 100),
    ];
    assert_eq!(pcap(&blocks.concat()).unwrap(), [(0, 100)]);
    let found = flaws(&blocks.concat());
    assert!(found.left_out == 2 && found.first_left_out.unwrap().contains("found link type 127"));
}

#[test]
fn tags_are_passed_over_before_the_network_layer() {
    let ethernet = [0; 12];
    let head = |link, captured: &[u8]| Link::of(link, 0).unwrap().inside(captured).to_vec();
    let plain = [&ethernet[..], &[0x08, 0x00, 0x45]].concat();
    let tagged = [&ethernet[..], &[0x81, 0x00, 0, 7, 0x08, 0x00, 0x45]].concat();
    let nested = [&ethernet[..], &[0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2, 0x86, 0xdd, 0x60]].concat();
    assert_eq!([head(1, &plain), head(1, &tagged), head(1, &nested)], [vec![0x45], vec![0x45], vec![0x60]]);
    let cooked = [&[0; 14][..], &[0x81, 0x00, 0, 7, 0x08, 0x00, 0x45]].concat();
    assert_eq!(head(113, &cooked), [0x45]);
    assert_eq!(head(1, &tagged[..16]), [0; 0], "cut in the tag");
    // Two labels of MPLS, the second with the bit of the last; PPPoE of a session, behind a tag.
    let labels = [&ethernet[..], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64, 0x45]].concat();
    let session = [&ethernet[..], &[0x81, 0x00, 0, 7, 0x88, 0x64, 0x11, 0, 0, 1, 0, 42, 0x00, 0x21, 0x45]].concat();
    assert_eq!([head(1, &labels), head(1, &session)], [[0x45], [0x45]]);
    assert_eq!(head(1, &labels[..20]), [0; 0], "cut before the last label");
}

#[test]
fn lengths_and_fractions_that_cannot_be_are_refused() {
    let with = |packet| pcap(&BOTH[0].pcap(0xa1b2_c3d4, 1, &[packet])).unwrap_err();
    assert!(with((0, 1_000_000, 60)).contains("expected a fraction below one"));
    assert!(with((0, 0, 262_145)).contains("at most 262144"));
    let mut second_length = PCAPNG_LITTLE.to_vec();
    *second_length.iter_mut().rev().nth(3).unwrap() = 40;
    assert!(pcap(&second_length).unwrap_err().contains("found a block length of 40; expected 36"));
}

#[test]
fn other_files_are_named_for_what_they_are() {
    assert!(pcap(&[0x1f, 0x8b, 8, 0, 0]).unwrap_err().contains("gzip: unpack it first"));
    assert!(pcap(b"time_ns,size_bytes\n").unwrap_err().contains("expected the magic number of pcap"));
    assert!(csv("0,100\n").unwrap_err().contains("line 1, \"0,100\"; expected the line \"time_ns,size_bytes\""));
    assert!(csv("").unwrap_err().contains("end of the file"));
}

#[test]
fn csv_skips_comments_and_names_the_wrong_line() {
    assert_eq!(csv("time_ns,size_bytes\r\n# why\n\n10, 100\n25,200").unwrap(), [(0, 100), (15, 200)]);
    for wrong in ["10", "10,0", "-1,100", "1.5,100", "10,262145", "10,100,1", "\u{1f},\u{ff}"] {
        let message = csv(&format!("time_ns,size_bytes\n5,60\n{wrong}\n")).unwrap_err();
        assert!(message.starts_with("a.trace: packet 2, byte 24: found line 3"), "{message}");
    }
    let endless = format!("time_ns,size_bytes\n{}", "1".repeat(5_000));
    assert!(csv(&endless).unwrap_err().contains("a line over 1000 bytes"));
}

/// Captures of each form, and text.
fn corpus() -> Vec<Vec<u8>> {
    let mut corpus =
        vec![PCAP_BIG.to_vec(), PCAPNG_LITTLE.to_vec(), b"time_ns,size_bytes\n# why\n10,60\n25,200\n".to_vec()];
    for writer in BOTH {
        let clock = [(2, &b"eth0"[..]), (9, &[0x8a][..]), (14, &[0; 8][..]), (0, &[])];
        let old = [&writer.u16(0)[..], &writer.u16(9), &[0; 12], &writer.u32(77)].concat();
        let blocks = [
            writer.section(),
            writer.interface(1, &clock),
            writer.interface(101, &[(9, &[9])]),
            writer.enhanced(0, 5, 80),
            writer.block(5, &[7; 24]),
            writer.enhanced(1, 7, 1500),
            writer.block(2, &old),
            writer.enhanced(0, 9, 80),
        ];
        corpus.push(blocks.concat());
        for magic in [0xa1b2_c3d4, 0xa1b2_3c4d] {
            corpus.push(writer.pcap(magic, 1, &[(1, 1, 60), (1, 2, 70), (2, 0, 1514), (2, 0, 60)]));
        }
    }
    corpus
}

/// Reads a file to its end. A refusal names the place; no packet comes from less than nothing, and none is early.
fn is_read_or_refused_with_its_place(bytes: &[u8]) -> Result<(), TestCaseError> {
    for source in [TraceSource::Pcap, TraceSource::Csv] {
        match read(bytes, source) {
            Ok(packets) => {
                let least = if source == TraceSource::Csv { 4 } else { 16 };
                prop_assert!(packets.len() * least <= bytes.len(), "{} packets", packets.len());
                prop_assert!(packets.is_sorted_by_key(|(at, _)| *at), "times go back");
                prop_assert!(packets.iter().all(|(_, size)| (1..=262_158).contains(size)), "{packets:?}");
            }
            Err(message) => {
                prop_assert!(message.starts_with("a.trace: packet ") && message.contains("; expected "), "{message}");
            }
        }
    }
    Ok(())
}

#[test]
fn fuzz_captures() {
    conformance::fuzz::mutated(20_000, &corpus(), is_read_or_refused_with_its_place);
}

/// With every packet's headers, in the order in which they are stored.
#[test]
fn fuzz_headers_of_captures() {
    let name = Path::new("a.trace");
    conformance::fuzz::mutated(10_000, &corpus(), |bytes| {
        let Ok(mut reader) = Reader::new(name, Cursor::new(bytes.to_vec()), TraceSource::Pcap) else { return Ok(()) };
        while let Ok(Some(_)) = reader.next() {
            prop_assert!(reader.head().0.len() <= bytes.len());
        }
        Ok(())
    });
}

/// Returns the example trace of the scenarios: nine packets, 8 x 1514 + 66 = 12178 bytes in 1.036336 ms.
fn two_bursts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/traces/two-bursts.csv")
}

fn replay(file: &Path, rate: Option<Rate>, copies: u32) -> TrafficSpec {
    let kind = TrafficKind::Trace { file: file.into(), source: TraceSource::Csv, rate };
    let (start, stop) = (Time::ZERO + Span::from_millis(1), Time::MAX);
    TrafficSpec { kind, packet: Bytes::new(1514), start, stop, route: vec![0], copies, shaper: None }
}

fn drain(sources: Vec<AnySource>) -> Vec<(Time, u64)> {
    let mut merged = Superposition::new(sources);
    let packets = std::iter::from_fn(|| merged.next().map(|packet| (packet.at, packet.size.get()))).collect();
    assert!(merged.sources().iter().all(|source| source.failure().is_none()));
    packets
}

#[test]
fn a_survey_counts_packets_bytes_and_span() {
    let survey = survey(&two_bursts(), TraceSource::Csv).unwrap();
    assert_eq!(
        survey,
        Survey { packets: 9, bytes: Bytes::new(12_178), span: Span::from_nanos(1_036_336), flaws: Flaws::default() }
    );
    assert_eq!(survey.period(), Span::from_nanos(1_036_336 + 129_542));
}

#[test]
fn replay_repeats_end_to_end_with_a_mean_gap_between() {
    let sent = drain(open(&replay(&two_bursts(), None, 1), 1, Span::from_millis(4)).unwrap());
    let (start, period) = (1_000_000, 1_165_878);
    let ns: Vec<u64> = sent.iter().map(|(at, _)| at.nanos()).collect();
    assert_eq!(ns[..5], [start, start + 12_112, start + 24_224, start + 36_336, start + 500_000]);
    assert_eq!((ns[9], ns[18]), (start + period, start + 2 * period));
    assert_eq!(sent[4].1, 66);
}

#[test]
fn replay_at_a_rate_scales_time_for_all_copies() {
    // 97424 bits per repetition; two copies at 97.424 Mbit/s together: each repeats every 2 ms.
    let spec = replay(&two_bursts(), Some(Rate::from_bps(97_424_000)), 2);
    for seed in 0..20 {
        let sent = drain(open(&spec, seed, Span::from_millis(1 + 20)).unwrap());
        // Ten whole periods of either copy, wherever it began.
        assert_eq!(sent.len(), 2 * 10 * 9, "seed {seed}");
        assert_eq!(sent.iter().map(|(_, size)| size).sum::<u64>(), 2 * 10 * 12_178);
    }
}

#[test]
fn copies_begin_at_different_points_drawn_from_the_seed() {
    let spec = replay(&two_bursts(), None, 4);
    let first = |seed| -> Vec<Time> {
        let sources = open(&spec, seed, Span::from_secs(1)).unwrap();
        sources.into_iter().map(|mut source| source.next().unwrap().at).collect()
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
    assert!(first(1).windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn a_trace_that_changes_during_replay_stops_its_source() {
    let file = std::env::temp_dir().join(format!("packetscale-changing-{}.csv", std::process::id()));
    std::fs::write(&file, "time_ns,size_bytes\n0,100\n1000,100\n").unwrap();
    let mut sources = open(&replay(&file, None, 1), 1, Span::from_secs(1)).unwrap();
    std::fs::write(&file, "time_ns,size_bytes\n0,100\n").unwrap();
    let sent = std::iter::from_fn(|| sources[0].next()).count();
    std::fs::remove_file(&file).unwrap();
    assert!(sent <= 4);
    let message = sources[0].failure().unwrap().to_string();
    assert!(message.contains("another trace"), "{message}");
}

#[test]
fn refuses_missing_traces_and_those_of_one_instant() {
    let refused = |text: &str| {
        let file = std::env::temp_dir().join(format!("packetscale-refused-{}.csv", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let message = survey(&file, TraceSource::Csv).unwrap_err().to_string();
        std::fs::remove_file(&file).unwrap();
        message
    };
    assert!(refused("time_ns,size_bytes\n").contains("the end after 0 packets"));
    assert!(refused("time_ns,size_bytes\n5,60\n").contains("the end after 1 packets"));
    assert!(refused("time_ns,size_bytes\n5,60\n5,60\n").contains("two instants"));
    let missing = survey(Path::new("no/such.pcap"), TraceSource::Pcap).unwrap_err().to_string();
    assert!(missing.starts_with("no/such.pcap: cannot be read"), "{missing}");
    let still = open(&replay(&two_bursts(), Some(Rate::ZERO), 1), 1, Span::from_secs(1)).unwrap_err().to_string();
    assert!(still.contains("rate"), "{still}");
}
