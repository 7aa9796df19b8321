//! Even traffic and a receiver that sees every packet: the input is exact, so the reading must be exact too.

use crate::path;

use packetscale_models::estimation::{Abstain, Estimate, Method, Search, Stream, Verdict};
use packetscale_models::units::Rate;
use path::{Cross, Path, Receiver, Score};

#[track_caller]
fn perfect(score: &Score, what: &str) {
    assert!(score.refused == 0 && score.within(0.1) == 1.0, "{what}: {score}");
    assert!(score.median().abs() < 0.02, "{what}: {score}");
}

const SPEEDS: [(f64, u64); 6] = [(1e8, 1500), (1e9, 1500), (1e10, 9000), (1e10, 1500), (1e11, 9000), (4e11, 9000)];

#[test]
fn in_fluid_traffic_errors_are_below_10_percent_at_any_speed() {
    for method in ["bass+multi-rate", "multi-pass-bass+multi-rate", Method::DEFAULT] {
        for (capacity, bytes) in SPEEDS {
            let score = Score::of(method, capacity, (16, bytes), Receiver::PerPacket, |bps, _| Cross::Fluid(bps));
            perfect(&score, &format!("{method} at {capacity} with {bytes} B"));
        }
    }
}

#[test]
fn constant_gap_packets_are_read_as_well_as_a_fluid() {
    for (capacity, bytes) in SPEEDS {
        for part in [1.0, 0.5, 1.0 / 6.0, 1.0 / 18.0] {
            let cross = |bps, phase| Cross::Packets { bps, bytes: bytes as f64 * part, phase };
            let score = Score::of(Method::DEFAULT, capacity, (16, bytes), Receiver::PerPacket, cross);
            perfect(&score, &format!("cross packets {part} of {bytes} B at {capacity}"));
        }
    }
}

/// Returns the errors of the printed reading, with epsilon 100 ns at 7.2 us. A rate up to 100/7200 of the capacity
/// above the available bandwidth does not count as congestion.
fn printed(method: &str, each: usize) -> Score {
    Score::of(method, 1e10, (each, 9000), Receiver::PerPacket, |bps, _| Cross::Fluid(bps))
}

#[test]
fn the_printed_reading_is_up_to_one_level_low() {
    let score = printed("multi-rate(reading=below)", 16);
    let step = 1.5f64.powf(1.0 / 3.0);
    // The lowest available bandwidth is 0.49 of the capacity; there, send gaps are up to 1.4 times the mean.
    let blind = 100.0 / 7200.0 / 0.49 * 1.4;
    let (least, most) = (score.errors[0], score.errors[score.errors.len() - 1]);
    assert!(least > 1.0 / step - 1.001 && most < blind, "{score}");
    assert!(score.median() < -0.03, "{score}");
}

#[test]
fn a_chirp_needs_no_reading_between_levels() {
    let chirp = path::rising(6e9, 0.5, 64, 1, 9000);
    let method: Method = "multi-rate(reading=below, epsilon=10 ns)".parse().expect("a method");
    for available in [5.0e9, 5.5e9, 6e9, 6.5e9, 7e9] {
        let found = method.estimate(carried(available, &chirp)).expect("an estimate").value.bps() as f64;
        assert!((found / available - 1.0).abs() < 0.01, "{available}: {found}");
    }
}

/// Carries a stream over 10 Gbit/s with a fluid that leaves this bandwidth.
fn carried(available: f64, gaps_s: &[f64]) -> Stream {
    let cross = Cross::Fluid(1e10 - available);
    Path { capacity_bps: 1e10, cross, receiver: Receiver::PerPacket }.carry(gaps_s, 9000)
}

/// Returns the estimate from a stream of one rate on a path with 4 of 10 Gbit/s available.
fn single(text: &str, bps: f64) -> Estimate {
    let stream = carried(4e9, &[72_000.0 / bps; 100]);
    let method: Method = text.parse().expect("a method");
    method.estimate(stream).unwrap_or_else(|reason| panic!("{bps}: {reason}"))
}

#[test]
fn single_rate_methods_know_which_side_a_rate_is_on() {
    let methods =
        ["receive-rate", "bass+receive-rate", "pathload", "imr-average", "imr-wavelet", "prc-mt", "window+pathload"];
    for text in methods {
        for bps in [1e9, 2e9, 3e9, 3.8e9, 3.98e9] {
            let found = single(text, bps);
            assert_eq!(found.high, None, "{text} at {bps}");
            assert!((found.low.bps() as f64 / bps - 1.0).abs() < 1e-4, "{text} at {bps}: {found:?}");
        }
        for bps in [4.4e9, 6e9, 9e9, 1.2e10] {
            let found = single(text, bps);
            let high = found.high.unwrap_or_else(|| panic!("{text} at {bps}: no bound")).bps() as f64;
            assert!((high / bps - 1.0).abs() < 1e-4, "{text} at {bps}: {found:?}");
        }
    }
}

#[test]
fn a_too_fast_streams_receive_rate_is_its_fifo_share() {
    // r_out = C r_in / (r_in + cross): 10 x 8 / (8 + 6) Gbit/s.
    let found = single("receive-rate", 8e9).value.bps() as f64;
    // The first packets find an empty queue, and the packet itself: 1 of 100.
    assert!((found / (10e9 * 8.0 / 14.0) - 1.0).abs() < 0.01, "{found}");
}

/// Pathload on a path of 10 Gbit/s: fleets of streams of one rate, each read by `text`, until the search has ended.
fn searched(text: &str, available: f64) -> Estimate {
    let method: Method = text.parse().expect("a method");
    let mut search = Search::new(Rate::from_gbps(1), Rate::from_gbps(12), Rate::from_mbps(100));
    while let Some(rate) = search.next_rate() {
        let verdict = match method.estimate(carried(available, &[72_000.0 / rate.bps() as f64; 100])) {
            Ok(found) if found.high.is_some() => Verdict::Above,
            Ok(_) => Verdict::NotAbove,
            Err(Abstain::Ambiguous) => Verdict::Ambiguous,
            Err(reason) => panic!("{rate:?}: {reason}"),
        };
        search.report(rate, verdict);
    }
    search.estimate()
}

#[test]
fn pathloads_search_ends_around_the_available_bandwidth() {
    for available in [2e9, 4e9, 6.3e9, 9.9e9] {
        for text in ["pathload", "imr-average", "prc-mt"] {
            let found = searched(text, available);
            let (low, high) = (found.low.bps() as f64, found.high.expect("a bound").bps() as f64);
            // A stream barely above congests by less than its own rounding to picoseconds can show: 0.01 %.
            assert!(low <= available * 1.0001 && available <= high, "{text} at {available}: {found:?}");
            assert!(high - low <= 1e8, "{text} at {available}: {found:?}");
        }
    }
}
