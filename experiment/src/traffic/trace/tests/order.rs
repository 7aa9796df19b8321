//! Captures whose times go back are replayed in order of time, as sorting all packets at once gives it.

use super::*;

/// The packets that are replayed: nanoseconds since the first, and size.
fn replayed(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut named = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut named, bytes).unwrap();
    let (_, order) = examine(named.path(), TraceSource::Pcap).unwrap();
    let mut sorted = Sorted::new(Reader::open(named.path(), TraceSource::Pcap).unwrap(), order);
    let packets = std::iter::from_fn(|| sorted.next().unwrap());
    packets.map(|packet| (packet.since_first.nanos(), packet.size.get())).collect()
}

#[test]
fn packets_are_replayed_in_order_of_time() {
    let file = BOTH[0].pcap(0xa1b2_c3d4, 1, &[(5, 1, 60), (5, 9, 70), (5, 2, 80), (4, 999_999, 90), (5, 10, 100)]);
    assert_eq!(replayed(&file), [(0, 90), (2_000, 60), (3_000, 80), (10_000, 70), (11_000, 100)]);
    let found = flaws(&file);
    assert_eq!((found.back, found.furthest), (2, Span::from_micros(10)));
    let warning = "a.pcap: the times of 2 packets go back, by 10 us at most; packets are sorted";
    assert_eq!(found.warnings(Path::new("a.pcap")), [warning]);
    // A clock that was set back by an hour.
    assert_eq!(
        replayed(&BOTH[1].pcap(0xa1b2_c3d4, 1, &[(3_601, 0, 60), (1, 0, 70)])),
        [(0, 70), (3_600_000_000_000, 60)]
    );
}

#[test]
fn fuzz_replays_are_sorted() {
    let times = prop::collection::vec((0u32..3, 0u32..1_000_000), 2..40);
    let tried = proptest::test_runner::TestRunner::new(conformance::fuzz::config(300)).run(&times, |times| {
        let packets: Vec<_> = (60..).zip(&times).map(|(size, (seconds, us))| (*seconds, *us, size)).collect();
        let mut expected: Vec<(u64, u64)> = packets
            .iter()
            .map(|(s, us, size)| (u64::from(*s) * 1_000_000 + u64::from(*us), u64::from(*size)))
            .collect();
        expected.sort_by_key(|(us, _)| *us);
        let first = expected[0].0;
        if expected.iter().any(|(us, _)| *us != first) {
            let expected: Vec<_> = expected.into_iter().map(|(us, size)| ((us - first) * 1000, size)).collect();
            prop_assert_eq!(replayed(&BOTH[0].pcap(0xa1b2_c3d4, 1, &packets)), expected);
        }
        Ok(())
    });
    tried.unwrap_or_else(|failure| panic!("{failure}"));
}
