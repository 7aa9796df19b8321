//! The wire format: round trips, datagrams of random and truncated bytes, and the test vectors of its page.

mod shared;

use live::wire::{
    Acknowledgment, Begin, Begun, Body, Came, Cookie, Grant, Header, Keys, MOST_BLOCKS, Marks, Ordered, Packet,
    Purpose, Reason, Report, Source, Stamp, What, seal,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use shared::vectors;
use std::cell::Cell;

const NOW_MS: u64 = 1_790_000_000_000;

fn keys() -> Keys {
    Keys::parse("7 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f").expect("a key")
}

fn grants() -> impl Strategy<Value = Grant> {
    (1200..2000u16, any::<u64>(), any::<u64>(), any::<u32>()).prop_map(|(size, rate_bps, bytes, duration_ms)| Grant {
        size,
        rate_bps,
        bytes,
        duration_ms,
    })
}

fn cookies() -> impl Strategy<Value = Cookie> {
    (any::<u32>(), any::<[u8; 16]>()).prop_map(|(made_s, code)| Cookie { made_s, code })
}

fn reasons() -> impl Strategy<Value = Reason> {
    use Reason::*;
    prop::sample::select(vec![Done, Busy, Limit, Silence, Ends, Wrong, Unwanted])
}

fn whats() -> impl Strategy<Value = What> {
    prop::sample::select(vec![What::Arrivals, What::Departures])
}

fn reports() -> impl Strategy<Value = Report> {
    let stamps = prop::collection::vec((0..3u64, any::<u64>()), 0..60);
    let marks = prop::option::of((any::<u32>(), any::<u32>()));
    let source = prop::sample::select(Source::ALL.to_vec());
    (whats(), source, any::<(u16, bool)>(), marks, any::<u64>(), 0..u64::MAX >> 1, stamps).prop_map(
        |(what, source, (steps, pending), marks, total, first, gaps)| {
            let mut next = first;
            let mut stamps = Vec::new();
            for (skipped, ns) in gaps {
                stamps.push(Stamp { sequence: next + skipped, ns });
                next += skipped + 1;
            }
            let marks = marks.map(|(ce, ect1)| Marks { ce, ect1 });
            Report { what, source, steps, marks, pending, total, first, count: (next - first) as u32 + 2, stamps }
        },
    )
}

fn orders() -> impl Strategy<Value = Body> {
    (any::<(u64, u32, u64, u64)>(), any::<(u16, u16, u32)>()).prop_map(
        |((first, count, lowest_bps, highest_bps), (levels, size, arrived))| Body::Order {
            stream: Ordered { first, count, lowest_bps, highest_bps, levels, size },
            arrived,
        },
    )
}

fn begins() -> impl Strategy<Value = Begin> {
    let file = ("[a-z ü/.]{0,80}", any::<bool>()).prop_map(|(name, restart)| Purpose::File { name, restart });
    let purpose = prop_oneof![Just(Purpose::Measure), file];
    (any::<(u16, u16, u32, u32, bool)>(), purpose).prop_map(
        |((size, delayed_ack, delayed_ack_us, window, stamps), purpose)| Begin {
            size,
            delayed_ack,
            delayed_ack_us,
            window,
            stamps,
            purpose,
        },
    )
}

fn acknowledgments() -> impl Strategy<Value = Acknowledgment> {
    let fixed = (0..u64::MAX >> 1, any::<u64>(), any::<u32>(), any::<bool>(), prop::option::of(any::<u64>()));
    let blocks = prop::collection::vec((1..1000u64, 1..1000u64), 0..4);
    let came = prop::collection::vec(prop_oneof![Just(None), any::<(u64, u64, u64)>().prop_map(Some)], 0..60);
    let source = prop::sample::select(Source::ALL.to_vec());
    (fixed, source, any::<u16>(), blocks, came).prop_map(
        |((next, echo, window, duplicate, marked), source, steps, blocks, came)| {
            let blocks =
                blocks.into_iter().map(|(skipped, length)| (next + skipped, next + skipped + length)).collect();
            let mut last = Came { sequence: next, transmission: echo, ns: 1 << 40 };
            // Runs, and jumps to anywhere.
            let came = came.into_iter().map(|jump| {
                let Came { sequence, transmission, ns } = last;
                let follows = (sequence.wrapping_add(1), transmission.wrapping_add(1), ns.wrapping_add(1200));
                let (sequence, transmission, ns) = jump.unwrap_or(follows);
                last = Came { sequence, transmission, ns };
                last
            });
            let came = came.collect();
            Acknowledgment { next, echo, window, duplicate, marked, source, steps, blocks, came }
        },
    )
}

fn bodies() -> impl Strategy<Value = Body> {
    prop_oneof![
        (grants(), cookies()).prop_map(|(request, cookie)| Body::Hello { request, cookie }),
        cookies().prop_map(Body::Challenge),
        (grants(), any::<u32>(), any::<u32>()).prop_map(|(grant, silence_ms, memory)| Body::Accept {
            grant,
            silence_ms,
            memory
        }),
        (reasons(), any::<u32>(), "[a-z ü]{0,50}").prop_map(|(code, retry_ms, text)| Body::Refuse {
            code,
            retry_ms,
            text
        }),
        any::<u64>().prop_map(|sequence| Body::Data { sequence }),
        (whats(), any::<u64>(), any::<u32>()).prop_map(|(what, first, count)| Body::Ask { what, first, count }),
        reports().prop_map(Body::Report),
        orders(),
        Just(Body::Ping),
        Just(Body::Pong),
        reasons().prop_map(Body::Close),
        begins().prop_map(Body::Begin),
        any::<(u32, u64, [u8; 32])>().prop_map(|(window, offset, hash)| Body::Begun(Begun { window, offset, hash })),
        any::<(u64, u64)>().prop_map(|(sequence, transmission)| Body::Segment { sequence, transmission }),
        acknowledgments().prop_map(Body::Ack),
        any::<(u64, [u8; 32])>().prop_map(|(bytes, hash)| Body::Finish { bytes, hash }),
        Just(Body::Finished),
    ]
}

fn packets() -> impl Strategy<Value = Packet> {
    let header = (prop::sample::select(vec![0u16, 7]), any::<u64>(), any::<u32>())
        .prop_map(|(key, session, number)| Header { key, session, number });
    (header, bodies()).prop_map(|(header, body)| Packet { header, body })
}

/// A packet as sent: a segment has data and a tag.
fn whole(packet: &Packet) -> Vec<u8> {
    let mut datagram = packet.write(&keys(), NOW_MS);
    if let Body::Segment { transmission, .. } = packet.body {
        datagram.extend((0..transmission % 50).map(|byte| byte as u8));
        datagram.extend(keys().tag(packet.header.key, &datagram).into_iter().flatten());
    }
    datagram
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn packets_round_trip(packet in packets()) {
        let datagram = whole(&packet);
        let read = Packet::read(&datagram);
        prop_assert_eq!(read.as_ref(), Some(&packet));
        let data = matches!(packet.body, Body::Data { .. });
        prop_assert_eq!(packet.is_genuine(&datagram, &keys(), NOW_MS), data || packet.header.key == 7);
        prop_assert_eq!(packet.is_genuine(&datagram, &Keys::default(), NOW_MS), data || packet.header.key == 0);
        if let Body::Hello { request, .. } = packet.body {
            prop_assert_eq!(datagram.len(), usize::from(request.size));
        }
    }

    /// Only padding may be cut off without being noticed.
    #[test]
    fn truncated_packet_is_invalid(packet in packets(), part in 0.0..1.0f64) {
        let datagram = whole(&packet);
        let cut = &datagram[..(datagram.len() as f64 * part) as usize];
        match (Packet::read(cut), &packet.body) {
            (Some(read), Body::Hello { .. }) if packet.header.key == 0 => prop_assert_eq!(read, packet),
            (Some(read), _) => prop_assert!(!read.is_genuine(cut, &keys(), NOW_MS) || ends_anywhere(&read)),
            (None, _) => {}
        }
    }

    #[test]
    fn truncated_report_fits_and_covers_its_count(report in reports(), room in 60..400usize) {
        let mut cut = report.clone();
        let covered = cut.cut_to(room);
        let header = Header { key: 0, session: 1, number: 1 };
        let datagram = Packet { header, body: Body::Report(cut.clone()) }.write(&Keys::default(), 0);
        prop_assert!(datagram.len() <= 20 + room);
        let end = report.first + u64::from(covered);
        let expected: Vec<Stamp> = report.stamps.iter().copied().filter(|stamp| stamp.sequence < end).collect();
        prop_assert_eq!(&cut.stamps, &expected);
        prop_assert_eq!(Packet::read(&datagram).map(|packet| packet.body), Some(Body::Report(cut)));
    }
}

/// Unsealed data may be truncated anywhere; so may an unsealed list of times.
fn ends_anywhere(packet: &Packet) -> bool {
    let ends = matches!(packet.body, Body::Report(_) | Body::Ack(_) | Body::Segment { .. });
    matches!(packet.body, Body::Data { .. }) || ends && packet.header.key == 0
}

/// A hostile datagram reads as a packet no longer than itself, which can be written and read again.
fn is_read_again(datagram: &[u8]) -> Result<bool, TestCaseError> {
    let Some(packet) = Packet::read(datagram) else { return Ok(false) };
    if let Body::Report(report) = &packet.body {
        prop_assert!(report.stamps.len() <= datagram.len());
    }
    if let Body::Ack(ack) = &packet.body {
        prop_assert!(ack.came.len() + ack.blocks.len() <= datagram.len());
    }
    let _ = packet.is_genuine(datagram, &keys(), NOW_MS);
    // Of more blocks than are written here the first are.
    let all = !matches!(&packet.body, Body::Ack(ack) if ack.blocks.len() > MOST_BLOCKS);
    if packet.header.key == 0 {
        let again = Packet::read(&packet.write(&Keys::default(), 0));
        prop_assert!(if all { again == Some(packet) } else { again.is_some() }, "{again:?}");
    }
    Ok(true)
}

#[test]
fn fuzz_datagrams() {
    let (tried, read) = (Cell::new(0u32), Cell::new(0u32));
    let genuine: Vec<Vec<u8>> = vectors().into_iter().map(|(_, datagram)| datagram).collect();
    conformance::fuzz::mutated(50_000, &genuine, |datagram| {
        tried.set(tried.get() + 1);
        read.set(read.get() + u32::from(is_read_again(datagram)?));
        Ok(())
    });
    let (tried, read) = (tried.get(), read.get());
    assert!(read > tried / 20, "only {read} of {tried} were read: the test looks at nothing");
}

/// A genuine header with any kind, and random bytes behind it.
#[test]
fn fuzz_bodies() {
    let genuine: Vec<Vec<u8>> = vectors().into_iter().map(|(_, datagram)| datagram[..20].to_vec()).collect();
    let inputs = (prop::sample::select(genuine), 0..20u8, prop::collection::vec(any::<u8>(), 0..120));
    let tried = TestRunner::new(conformance::fuzz::config(20_000)).run(&inputs, |(mut datagram, kind, body)| {
        datagram[5] = kind;
        datagram.extend(body);
        is_read_again(&datagram).map(|_| ())
    });
    tried.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn documented_vectors_match_packets() {
    let plain = Header { key: 0, session: 0x0102_0304_0506_0708, number: 9 };
    let stamp = |sequence, ns| Stamp { sequence, ns };
    let report = Report {
        what: What::Arrivals,
        source: Source::Kernel,
        steps: 0,
        marks: None,
        pending: false,
        total: 4,
        first: 64,
        count: 6,
        stamps: vec![stamp(64, 1_000_000), stamp(65, 1_000_120), stamp(67, 1_008_000), stamp(68, 1_007_999)],
    };
    let came = |sequence, transmission, ns| Came { sequence, transmission, ns };
    let stream =
        Ordered { first: 64, count: 64, lowest_bps: 16_000_000, highest_bps: 24_000_000, levels: 4, size: 1472 };
    let expected = [
        Packet { header: plain, body: Body::Challenge(Cookie { made_s: 60, code: *b"0123456789abcdef" }) },
        Packet { header: plain, body: Body::Ask { what: What::Arrivals, first: 64, count: 6 } },
        Packet { header: plain, body: Body::Report(report) },
        Packet { header: plain, body: Body::Order { stream, arrived: 63 } },
        Packet { header: Header { key: 7, ..plain }, body: Body::Close(Reason::Done) },
        Packet {
            header: plain,
            body: Body::Begin(Begin {
                size: 1436,
                delayed_ack: 2,
                delayed_ack_us: 40_000,
                window: 11_142,
                stamps: true,
                purpose: Purpose::File { name: "a.txt".to_string(), restart: false },
            }),
        },
        Packet {
            header: plain,
            body: Body::Ack(Acknowledgment {
                next: 64,
                echo: 70,
                window: 11_142,
                duplicate: false,
                marked: Some(3),
                source: Source::Kernel,
                steps: 0,
                blocks: vec![(66, 68)],
                came: vec![came(63, 68, 1_000_000), came(66, 69, 1_000_120), came(67, 70, 1_000_240)],
            }),
        },
        Packet { header: Header { key: 7, ..plain }, body: Body::Segment { sequence: 5, transmission: 7 } },
    ];
    let (vectors, all, none) = (vectors(), keys(), Keys::default());
    assert_eq!(vectors.len(), expected.len());
    for (packet, (name, datagram)) in expected.iter().zip(&vectors) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut written = packet.write(&keys(), NOW_MS);
        if let Body::Segment { .. } = packet.body {
            written.extend(b"data");
            written.extend(keys().tag(7, &written).expect("a key"));
        }
        assert_eq!(hex(&written), hex(datagram), "{name}");
        assert!(packet.is_genuine(datagram, if packet.header.key == 0 { &none } else { &all }, NOW_MS), "{name}");
        assert_eq!(Packet::read(datagram).as_ref(), Some(packet), "{name}");
    }
    let close = &vectors[4].1;
    assert_eq!(close.len(), 20 + 1 + seal::TRAILER);
}
