//! Stamps and the option on paths that lose, tag, or carry other traffic too.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use libbpf_rs::{TC_EGRESS, TC_INGRESS};

use super::capture::Segment;
use super::negotiation::{acks, both, errors, run_of};
use super::net::{Pair, RIGHT};
use super::programs::{Fate, Programs, STAMPS, WANTS, Way};
use super::transfer::{Plan, Seen};
use super::{alone, needs_programs};

/// Returns the SACK blocks of an acknowledgment, in their order.
fn blocks(ack: &Segment) -> Vec<(u32, u32)> {
    let word = |b: &[u8]| u32::from_be_bytes(b.try_into().expect("4 bytes"));
    let sack = ack.option(5).map_or(&[][..], |option| &option[2..]);
    sack.chunks(8).map(|b| (word(&b[..4]), word(&b[4..]))).collect()
}

/// Returns the ranges above `ack` that a receiver holds after these arrivals: what RFC 2018 lets it report.
fn held(arrived: &[(u32, u32)], ack: u32) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> =
        arrived.iter().copied().filter(|&(_, end)| (end.wrapping_sub(ack) as i32) > 0).collect();
    ranges.sort_by_key(|&(start, _)| start.wrapping_sub(ack) as i32);
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if (start.wrapping_sub(last.1) as i32) <= 0 => {
                if (end.wrapping_sub(last.1) as i32) > 0 {
                    last.1 = end;
                }
            }
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Counts of the acknowledgments in one transfer that report losses.
#[derive(Debug, Default)]
struct Reports {
    all: u32,
    /// Those that report every range they can.
    whole: u32,
    /// Those with space for the option that can identify their arrival: it ends at the acknowledgment
    /// number or at the first block's right edge.
    nameable: u32,
    reported: u32,
    /// Those with three blocks and so no space for the option.
    crowded: u32,
}

impl Reports {
    fn count(&mut self, seen: &Seen) {
        let (mut arrived, mut most_held) = (Vec::new(), 0);
        for segment in &seen.right {
            if segment.payload > 0 && !segment.outgoing {
                arrived.push((segment.seq, segment.end()));
            }
            let sack = blocks(segment);
            if !segment.outgoing || !segment.is_pure_ack() {
                continue;
            }
            let held = held(&arrived, segment.ack).len();
            most_held = if held == 0 { 0 } else { most_held.max(held) };
            // Linux remembers four ranges; it never reports the ranges that it forgot.
            if sack.is_empty() || most_held > 4 {
                continue;
            }
            self.all += 1;
            // A duplicate is reported first (RFC 2883), in the place of one of the ranges.
            let duplicate = (sack[0].1.wrapping_sub(segment.ack) as i32) <= 0;
            // With timestamps there is space for three blocks; the option must not displace one.
            self.whole += u32::from(sack.len() == (held + usize::from(duplicate)).min(3));
            let newest = arrived.last().map_or(0, |&(_, end)| end);
            if sack.len() == 3 {
                self.crowded += 1;
            } else if newest == segment.ack || newest == sack[0].1 {
                self.nameable += 1;
                self.reported += u32::from(run_of(segment).is_some());
            }
        }
    }
}

#[test]
fn arrivals_do_not_displace_sack_blocks() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    // A queue of 20 ms, so that several holes are open at the same time.
    let pair = Pair::behind_bottleneck(20, 50_000).expect("namespaces");
    // The receiver acknowledges at once, so that each acknowledgment reports what arrived before it.
    pair.right.sysctl("net/ipv4/tcp_comp_sack_nr", "0").expect("a setting");
    let way = Way::load(Fate { lost: 0b0010_1010, ..Fate::default() });
    way.attach("path_lose", &pair.left, TC_EGRESS);
    let seen = both(&pair, &Plan { bytes: 2_000_000, rate: u32::MAX, ..Plan::default() });
    let mut reports = Reports::default();
    reports.count(&seen);
    let reported = errors(&seen).len();
    eprintln!(
        "{reported} arrivals reported of {}, {:?}",
        seen.right.iter().filter(|s| s.payload > 0).count(),
        way.done()
    );
    eprintln!("{reports:?}");
    assert!(reports.all > 20 && reports.whole == reports.all, "SACK blocks are missing: {reports:?}");
    assert!(reports.nameable > 10 && reports.reported == reports.nameable, "arrivals are missing: {reports:?}");
    assert!(reports.crowded > 5, "three blocks were to be seen: {reports:?}");
}

#[test]
fn reports_arrivals_behind_vlan_tags() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    // One tag, which the device holds or leaves in the packet; two tags, where one is in the packet in any case.
    for (tags, offload) in [(1, "on"), (1, "off"), (2, "on")] {
        let pair = Pair::new().expect("namespaces");
        pair.left.command("ethtool", &format!("-K wire txvlan {offload}")).expect("ethtool");
        let way = Way::load(Fate { tags, ..Fate::default() });
        way.attach("path_tag", &pair.left, TC_EGRESS);
        way.attach("path_untag", &pair.right, TC_INGRESS);
        let seen = both(&pair, &Plan { bytes: 300_000, ..Plan::default() });
        let (reported, packets) = (errors_of_tagged(&seen), seen.left.iter().filter(|s| s.payload > 0).count());
        assert!(
            reported * 100 >= packets * 95,
            "{tags} tags, offload {offload}: {reported} of {packets} packets reported"
        );
    }
}

/// Returns the number of arrivals reported. The receiver's packet socket sees tags, which its parser does not know.
fn errors_of_tagged(seen: &Seen) -> usize {
    acks(&seen.left).iter().filter_map(|a| run_of(a)).map(|run| run.gap_ns.len() + 1).sum()
}

#[test]
fn cross_traffic_arrives_as_sent() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    Programs::load(STAMPS | WANTS).attach_stamp(&pair.right);
    for address in RIGHT {
        let socket = pair.right.inside(|| UdpSocket::bind((address, 0))).expect("an address of ours");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        let target = socket.local_addr().expect("bound");
        let unspecified = if target.is_ipv4() { "0.0.0.0" } else { "::" };
        let sender = pair.left.inside(|| UdpSocket::bind((unspecified, 0))).expect("a socket");
        // The longest must be cut into fragments.
        for length in [0, 1, 17, 600, 1400, 1472, 1473, 9000, 40_000] {
            let datagram: Vec<u8> = (0..length).map(|i: u32| (i * 31 + length) as u8).collect();
            sender.send_to(&datagram, target).expect("sends");
            let mut received = vec![0; 65_536];
            let n = socket.recv(&mut received).expect("arrives");
            assert_eq!(received[..n], datagram, "{address}: a datagram of {length} bytes");
        }
        let listener = pair.right.inside(|| TcpListener::bind((address, 0))).expect("an address of ours");
        let target = listener.local_addr().expect("bound");
        let stream: Vec<u8> = (0..700_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let expected = stream.clone();
        let sender = pair.left.inside(|| TcpStream::connect(target)).expect("connects");
        let sending = thread::spawn(move || (&sender).write_all(&stream).expect("sends"));
        let mut received = Vec::new();
        listener.accept().expect("connected").0.read_to_end(&mut received).expect("arrives");
        sending.join().expect("no panic");
        assert!(received == expected, "{address}: a stream of bytes");
    }
}
