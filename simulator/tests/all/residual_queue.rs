//! Observation 1 of Lovewell and Kaur (TR11-007, section III): whatever queue a probe stream found, while the link is busy
//! its packets leave `(P + B) / C` apart, `P` the size of the second and `B` what arrived between them (equation 5). The gap
//! grows exactly if the second was sent faster than what the traffic left, `r > C - R` (equation 6).

use super::*;
use experiment::scenario::TraceSource;
use proptest::prelude::*;
use simulator::log;
use std::fmt::Write;

const LINK: Rate = Rate::from_gbps(1);
const NS_PER_BYTE: u64 = 8;
const PROBE_BYTES: u64 = 1000;
/// When the queue is built up, and when the stream and its cross traffic begin.
const BURST_NS: u64 = 1_000_000;
const STREAM_NS: u64 = 1_100_001;

/// A file with these packets: times in nanoseconds, sizes. One at time zero fixes the clock, and a last one, beyond the
/// end of the run, keeps it from starting again.
fn file(folder: &Path, name: &str, packets: &[(u64, u64)]) -> PathBuf {
    let mut text = "time_ns,size_bytes\n0,40\n".to_string();
    packets.iter().for_each(|(at, size)| writeln!(text, "{at},{size}").expect("a string takes all"));
    text.push_str("1000000000,40\n");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a separate folder");
    path
}

/// Departures of the stream, in nanoseconds, behind this many packets of 1500 bytes.
fn departures(stream: &[u64], cross: &[(u64, u64)], residual_packets: u64) -> Vec<u64> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut others = vec![(BURST_NS, 1500); residual_packets as usize];
    others.extend(cross);
    let probes: Vec<(u64, u64)> = stream.iter().map(|at| (*at, PROBE_BYTES)).collect();
    let mut experiment = dumbbell(LINK, Span::from_millis(1), Buffer::Unlimited, Span::from_millis(50));
    let trace = |file| TrafficKind::Trace { file, source: TraceSource::Csv, rate: None };
    experiment.traffic = [file(folder.path(), "stream.csv", &probes), file(folder.path(), "cross.csv", &others)]
        .map(|file| traffic(trace(file), 1500, 1))
        .to_vec();
    let log = log(&experiment, Mode::Fused).expect("a run");
    let own = |served: &&Served| served.owner == u32::MAX && served.arrival.nanos() >= STREAM_NS;
    log.iter().filter(own).map(|served| served.departure.nanos()).collect()
}

/// Arrival times of a stream with random gaps, and packets of cross traffic around it at times that never tie with it.
fn stream_and_cross() -> impl Strategy<Value = (Vec<u64>, Vec<(u64, u64)>)> {
    let gaps = prop::collection::vec(2_500u64..25_000, 8..40);
    let cross = prop::collection::vec((0u64..400_000, 40u64..1500), 0..120);
    (gaps, cross).prop_map(|(gaps, cross)| {
        let arrival = |at: &mut u64, gap: u64| {
            *at += 2 * gap;
            Some(*at)
        };
        let stream: Vec<u64> = gaps.into_iter().scan(STREAM_NS, arrival).collect();
        let mut cross: Vec<(u64, u64)> = cross.into_iter().map(|(at, size)| (STREAM_NS + 1 + 2 * at, size)).collect();
        cross.sort_unstable();
        (stream, cross)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn departure_gaps_do_not_depend_on_the_initial_queue(
        (stream, cross) in stream_and_cross(),
        // 12 us each: the link is busy at least until the last of 40 gaps of at most 50 us.
        short in 200u64..400,
        long in 400u64..1500,
    ) {
        let gaps = |residual: u64| -> Vec<u64> {
            departures(&stream, &cross, residual).windows(2).map(|pair| pair[1] - pair[0]).collect()
        };
        let behind_short = gaps(short);
        prop_assert_eq!(behind_short.len(), stream.len() - 1);
        prop_assert_eq!(&behind_short, &gaps(long));
        for (departure_gap, pair) in behind_short.iter().zip(stream.windows(2)) {
            let between: u64 = cross.iter().filter(|(at, _)| (pair[0]..pair[1]).contains(at)).map(|(_, size)| size).sum();
            prop_assert_eq!(*departure_gap, (PROBE_BYTES + between) * NS_PER_BYTE);
            let arrival_gap = pair[1] - pair[0];
            let (probe_rate, cross_rate) = (PROBE_BYTES as f64 / arrival_gap as f64, between as f64 / arrival_gap as f64);
            // Where the gap stays as it is, the two rates are equal, and rounding would decide.
            if *departure_gap != arrival_gap {
                prop_assert_eq!(*departure_gap > arrival_gap, probe_rate > 1.0 / NS_PER_BYTE as f64 - cross_rate);
            }
        }
    }
}

/// Without a queue the link may fall idle between two packets, and then the gap is not that of equation 5: the property
/// above is about busy periods, and can fail.
#[test]
fn an_idle_link_keeps_gaps_that_a_busy_one_closes() {
    let stream: Vec<u64> = (0..10).map(|i| STREAM_NS + i * 20_000).collect();
    let gap = |residual: u64| {
        let departures = departures(&stream, &[], residual);
        departures[1] - departures[0]
    };
    assert_eq!((gap(0), gap(500)), (20_000, PROBE_BYTES * NS_PER_BYTE));
}
