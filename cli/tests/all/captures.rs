//! `packetscale estimate SENDER RECEIVER`: captures that are made byte by byte, so that every gap is known.

use crate::support::Place;
use std::path::Path;
use std::process::Command;

/// A TCP packet of 9000 bytes on the wire: when it passed, its sequence number, its identification, its data.
#[derive(Clone, Copy)]
struct Packet {
    at_ns: u64,
    sequence: u32,
    identification: u16,
    data: u16,
}

/// Length of the Ethernet, IPv4 and TCP headers.
const HEADERS: u16 = 14 + 20 + 20;

/// A capture with times in nanoseconds, of which every packet is cut after its headers, as `tcpdump -s 54` does.
fn pcap(packets: &[Packet]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, u32::from(HEADERS), 1] {
        file.extend(word.to_le_bytes());
    }
    for packet in packets {
        let (seconds, fraction) = (packet.at_ns / 1_000_000_000, packet.at_ns % 1_000_000_000);
        for word in [seconds as u32, fraction as u32, u32::from(HEADERS), u32::from(HEADERS + packet.data)] {
            file.extend(word.to_le_bytes());
        }
        file.extend([0; 12]);
        file.extend(0x0800_u16.to_be_bytes());
        let length = 40 + packet.data;
        file.extend([0x45, 0]);
        file.extend(length.to_be_bytes());
        file.extend(packet.identification.to_be_bytes());
        file.extend([0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        file.extend([0x9c, 0x40, 0x14, 0x51]);
        file.extend(packet.sequence.to_be_bytes());
        file.extend([0, 0, 0, 1, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    }
    file
}

/// 64 packets of 9000 B in four levels, 10 to 7 us apart; from packet 32 on they arrive 9.5 us apart.
fn stream(begin_ns: u64, number: u32) -> (Vec<Packet>, Vec<Packet>) {
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let (mut left_ns, mut came_ns) = (begin_ns, begin_ns + 5_000_000);
    for packet in 0..64u32 {
        let gap_ns = u64::from(10_000 - 1_000 * (packet / 16));
        if packet > 0 {
            left_ns += gap_ns;
            came_ns += if packet < 32 { gap_ns } else { 9_500 };
        }
        let count = number * 64 + packet;
        let (sequence, identification) = (count.wrapping_mul(8946), count as u16);
        sent.push(Packet { at_ns: left_ns, sequence, identification, data: 8946 });
        received.push(Packet { at_ns: came_ns, sequence, identification, data: 8946 });
    }
    (sent, received)
}

/// A folder with both captures.
fn captures(sent: &[Packet], received: &[Packet]) -> Place {
    let place = Place::empty();
    place.write("a.pcap", pcap(sent));
    place.write("b.pcap", pcap(received));
    place
}

fn of_captures(sent: &[Packet], received: &[Packet]) -> String {
    captures(sent, received).done("estimate a.pcap b.pcap --method multi-rate(reading=below)").out
}

/// What the same gaps give as a recording in CSV.
fn of_recording(rows: &str) -> String {
    let place = Place::empty();
    place.write("gaps.csv", format!("stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes\n{rows}"));
    place.done("estimate gaps.csv --method multi-rate(reading=below)").out
}

/// Rows of the stream above, without these packets; the row after one that is missing has both gaps.
fn rows(id: usize, missing: &[u32]) -> String {
    let (sent, received) = stream(0, 0);
    let kept: Vec<usize> = (0..64).filter(|packet| !missing.contains(&(*packet as u32))).collect();
    let gap = |of: &[Packet], pair: &[usize]| of[pair[1]].at_ns - of[pair[0]].at_ns;
    let row = |pair: &[usize]| format!("{id},{},{},{},9000\n", pair[1], gap(&sent, pair), gap(&received, pair));
    format!("{id},{},,,9000\n{}", kept[0], kept.windows(2).map(row).collect::<String>())
}

#[test]
fn two_captures_give_what_their_gaps_give() {
    let (first, second) = (stream(0, 0), stream(50_000_000, 1));
    let (sent, mut received) = ([first.0, second.0].concat(), [first.1, second.1].concat());
    // Another clock: its zero and its offset do not matter.
    received.iter_mut().for_each(|packet| packet.at_ns += 7_000_000_000);
    let found = of_captures(&sent, &received);
    assert_eq!(found, of_recording(&format!("{}{}", rows(0, &[]), rows(1, &[]))));
    assert_eq!(found.lines().count(), 3, "{found}");
}

#[test]
fn lost_and_reordered_packets_count_as_lost_and_acknowledgments_are_skipped() {
    let (mut sent, mut received) = stream(0, 0);
    // Packet 5 is lost; packet 9 comes after packet 10.
    received[9].at_ns = received[10].at_ns + 100;
    received.swap(9, 10);
    received.remove(5);
    // A packet without data, and a retransmission of packet 5 much later: a separate stream, too short to be read.
    sent.push(Packet { at_ns: 900_000_000, sequence: 7, identification: 900, data: 0 });
    let expected = of_recording(&rows(0, &[5, 9]));
    assert_eq!(of_captures(&sent, &received), expected);
    let again = Packet { at_ns: 950_000_000, identification: 901, ..sent[5] };
    sent.push(again);
    received.push(Packet { at_ns: 960_000_000, ..again });
    let with = of_captures(&sent, &received);
    assert!(with.starts_with(&expected) && with.lines().count() == 3, "{with}");
}

#[test]
fn packets_may_be_stored_out_of_order() {
    let (sent, mut received) = stream(0, 0);
    let ordered = of_captures(&sent, &received);
    received.swap(0, 1);
    received.swap(20, 22);
    assert_eq!(of_captures(&sent, &received), ordered);
}

#[test]
fn refuses_captures_of_different_packets() {
    let (sent, _) = stream(0, 0);
    let place = captures(&sent, &stream(0, 40).1);
    let refused = |message: &str| {
        let said = place.refused("estimate a.pcap b.pcap");
        assert!(said.starts_with(message) && said.lines().count() == 1, "{said}");
    };
    refused("a.pcap: found 0 of 64 packets with data that are also in b.pcap; expected most");
    place.write("b.pcap", "not a capture");
    refused("b.pcap: packet 1, byte 0: found ");
}

/// What tcpdump saw of iperf3 on both ends of a virtual link. All packets are in both captures, but for those that were
/// under way when they began or ended.
#[test]
fn real_captures_of_both_ends_are_matched() {
    let place = Place::empty();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/captures/real.sh");
    let captured = Command::new("sh").arg(script).current_dir(place.path()).output().expect("a shell");
    if captured.status.code() == Some(3) {
        return eprintln!("skipped: {}", String::from_utf8_lossy(&captured.stdout).trim());
    }
    assert!(captured.status.success(), "{captured:?}");
    let streams = place.done("estimate sender.pcap receiver.pcap").out;
    // 1 MB in packets of at most 1448 B of data are 691 or more; streams have at most 64.
    assert!(streams.lines().count() > 691 / 64, "{streams}");
}

/// UDP packets of 96 captured bytes: an identification each, and the checksum that the capture has.
fn udp(packets: &[Packet], tags: &[u8], identified: bool, checksum: impl Fn(&Packet) -> u16) -> Vec<u8> {
    const CAPTURED: u32 = 96;
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, CAPTURED, 1] {
        file.extend(word.to_le_bytes());
    }
    for packet in packets {
        let (seconds, fraction) = (packet.at_ns / 1_000_000_000, packet.at_ns % 1_000_000_000);
        let wire = u32::from(HEADERS + packet.data) + tags.len() as u32;
        for word in [seconds as u32, fraction as u32, CAPTURED, wire] {
            file.extend(word.to_le_bytes());
        }
        let begin = file.len();
        file.extend([0; 12]);
        file.extend(tags);
        file.extend([0x08, 0x00, 0x45, 0]);
        file.extend((40 + packet.data).to_be_bytes());
        file.extend(if identified { packet.identification } else { 0 }.to_be_bytes());
        file.extend([0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x9c, 0x40, 0x14, 0x51]);
        file.extend((20 + packet.data).to_be_bytes());
        file.extend(checksum(packet).to_be_bytes());
        file.resize(begin + CAPTURED as usize, 0);
    }
    file
}

/// The checksum of a packet on the wire: another for each; and a partial one, of what all have in common.
fn whole(packet: &Packet) -> u16 {
    packet.identification.wrapping_mul(40_503)
}

fn partial(_: &Packet) -> u16 {
    0x1234
}

#[test]
fn tagged_captures_give_what_plain_ones_do() {
    let (sent, received) = stream(0, 0);
    let expected = of_recording(&rows(0, &[]));
    let (none, q, ad): (&[u8], &[u8], &[u8]) = (&[], &[0x81, 0, 0, 7], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2]);
    for (before, behind) in [(q, q), (q, none), (none, q), (ad, none), (q, ad)] {
        let place = Place::empty();
        place.write("a.pcap", udp(&sent, before, true, whole));
        place.write("b.pcap", udp(&received, behind, true, whole));
        let found = place.done("estimate a.pcap b.pcap --method multi-rate(reading=below)").out;
        assert_eq!(found, expected, "{before:?} {behind:?}");
    }
}

#[test]
fn partial_checksums_of_a_sender_match_by_identification() {
    let (sent, received) = stream(0, 0);
    let place = Place::empty();
    place.write("a.pcap", udp(&sent, &[], true, partial));
    place.write("b.pcap", udp(&received, &[], true, whole));
    let done = place.done("estimate a.pcap b.pcap --method multi-rate(reading=below)");
    assert_eq!(done.out, of_recording(&rows(0, &[])));
    assert!(done.err.contains("warning: 64 UDP packets have other checksums"), "{}", done.err);
}

#[test]
fn packets_that_only_their_checksums_tell_apart_need_them() {
    let (sent, received) = stream(0, 0);
    let place = Place::empty();
    place.write("b.pcap", udp(&received, &[], false, whole));
    place.write("a.pcap", udp(&sent, &[], false, whole));
    let found = place.done("estimate a.pcap b.pcap --method multi-rate(reading=below)").out;
    assert_eq!(found, of_recording(&rows(0, &[])));
    place.write("a.pcap", udp(&sent, &[], false, partial));
    let message = place.refused("estimate a.pcap b.pcap");
    assert!(message.contains("found 0 of 64 packets") && message.contains("tx off"), "{message}");
}

#[test]
fn captures_that_end_within_a_packet_are_read_up_to_it() {
    let (sent, received) = stream(0, 0);
    let place = Place::empty();
    let (mut sent, received) = (pcap(&sent), pcap(&received));
    place.write("b.pcap", &received);
    sent.truncate(sent.len() - 3);
    place.write("a.pcap", &sent);
    let done = place.done("estimate a.pcap b.pcap --method multi-rate(reading=below)");
    assert_eq!(done.out, of_recording(&rows(0, &[63])));
    assert!(done.err.contains("the file ends within packet 64; 63 packets are read"), "{}", done.err);
}
