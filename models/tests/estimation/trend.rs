//! Pathload's tests computed by hand, its search on a path that replies exactly, and the length that PRC-MT finds.

use packetscale_models::estimation::{
    Abstain, LengthError, Search, Thresholds, Trend, Tuning, Verdict, of_fleet, trend, tune_length,
};
use packetscale_models::units::{Rate, Ratio, Span};

/// Finer than any delay here.
const CLOCK: Span = Span::from_picos(1);

fn verdict(delays: &[i64]) -> Verdict {
    trend(delays, CLOCK).verdict(&Thresholds::PUBLISHED)
}

#[test]
fn the_metrics_of_five_delays_by_hand() {
    // Steps 2, 3, -1, 4: three of four go up; the net change is 8, the sum of all changes 10.
    let expected = Trend { pct: Ratio::of(3, 4), pdt: Ratio::of(8, 10) };
    assert_eq!(trend(&[0, 2, 5, 4, 8], CLOCK), expected);
    assert_eq!(verdict(&[0, 2, 5, 4, 8]), Verdict::Above);
}

#[test]
fn delays_that_stay_or_fall_show_no_trend() {
    assert_eq!(verdict(&[7; 10]), Verdict::NotAbove);
    assert_eq!(verdict(&[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]), Verdict::NotAbove);
    assert_eq!(verdict(&[0, 1, 0, 1, 0, 1, 0, 1, 0]), Verdict::NotAbove);
}

#[test]
fn tests_that_disagree_are_ambiguous() {
    // Two steps of three go up (PCT 0.67), but the net change is 1 and the sum of all changes 9 (PDT 0.11).
    assert_eq!(verdict(&[0, 2, 5, 1]), Verdict::Ambiguous);
    // One leap up: PCT 0.11, PDT 1.
    assert_eq!(verdict(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 9]), Verdict::Ambiguous);
    // Both between their thresholds: PCT 0.6, PDT 0.5.
    assert_eq!(verdict(&[0, 2, 4, 6, 5, 4]), Verdict::Ambiguous);
}

#[test]
fn thresholds_are_not_reached_by_equality() {
    // 33 of 50 steps go up: S_PCT is 0.66, and not above it.
    let delays: Vec<i64> = (0..=50i64).map(|k| k.min(33)).collect();
    assert_eq!(trend(&delays, CLOCK).pct, Ratio::of(66, 100));
    assert_eq!(verdict(&delays), Verdict::Ambiguous);
}

fn mbps(mbps: u64) -> Rate {
    Rate::from_mbps(mbps)
}

/// Searches on a path with this available bandwidth, where verdicts within `grey` are ambiguous. Returns what it found
/// and how many fleets it sent.
fn search(available: Rate, grey: (Rate, Rate)) -> (Search, u32) {
    let mut search = Search::new(Rate::ZERO, mbps(10_000), mbps(100));
    let mut fleets = 0;
    while let Some(rate) = search.next_rate() {
        let verdict = match rate {
            _ if grey.0 < rate && rate < grey.1 => Verdict::Ambiguous,
            _ if rate > available => Verdict::Above,
            _ => Verdict::NotAbove,
        };
        search.report(rate, verdict);
        fleets += 1;
        assert!(fleets < 100, "{search:?} does not end");
    }
    (search, fleets)
}

#[test]
fn the_search_bisects_to_the_available_bandwidth() {
    for available in [1, 50, 99, 2500, 4321, 5000, 7777, 9999, 10_000] {
        let (search, fleets) = search(mbps(available), (Rate::ZERO, Rate::ZERO));
        let found = search.estimate();
        let high = found.high.expect("a bound");
        assert!(found.low <= mbps(available) && mbps(available) <= high, "{found:?}");
        assert!(high - found.low <= mbps(100), "{found:?}");
        // 10000 / 100 is below 2^7.
        assert_eq!(fleets, 7);
    }
}

#[test]
fn the_search_encloses_a_grey_region_from_both_sides() {
    for grey in [(3000, 4000), (4900, 5100), (100, 9900)] {
        let (search, _) = search(mbps((grey.0 + grey.1) / 2), (mbps(grey.0), mbps(grey.1)));
        let found = search.estimate();
        let high = found.high.expect("a bound");
        // Each side is within the resolution of the last grey fleet, which is inside.
        assert!(found.low <= mbps(grey.0) && found.low >= mbps(grey.0.saturating_sub(100)), "{grey:?}: {found:?}");
        assert!(high >= mbps(grey.1) && high <= mbps(grey.1 + 100), "{grey:?}: {found:?}");
    }
}

#[test]
fn a_fleet_needs_seven_of_ten_readable_streams() {
    let fleet = |above: usize, not_above: usize, ambiguous: usize, refused: usize| {
        let verdicts = [
            vec![Ok(Verdict::Above); above],
            vec![Ok(Verdict::NotAbove); not_above],
            vec![Ok(Verdict::Ambiguous); ambiguous],
            vec![Err(Abstain::OneBatch); refused],
        ];
        of_fleet(verdicts.concat(), Ratio::of(7, 10))
    };
    assert_eq!(fleet(7, 3, 0, 0), Ok(Verdict::Above));
    assert_eq!(fleet(1, 7, 2, 5), Ok(Verdict::NotAbove));
    assert_eq!(fleet(6, 2, 2, 0), Ok(Verdict::Ambiguous));
    assert_eq!(fleet(0, 0, 0, 4), Err(Abstain::OneBatch));
}

/// A path with receive rates that differ between two streams by `noise` / N of the rate.
fn tuned(noise: f64) -> Result<u32, LengthError> {
    let mut sign = 1.0;
    tune_length(mbps(8000), &Tuning::default(), |packets, rate| {
        sign = -sign;
        Rate::from_bps((rate.bps() as f64 * (0.9 + sign * noise / 2.0 / f64::from(packets))) as u64)
    })
}

#[test]
fn finds_the_length_where_receive_rates_agree() {
    // They differ by noise / N, below 2 % from N = 50 noise on.
    for noise in [2.0, 6.4, 20.0, 50.0] {
        let found = f64::from(tuned(noise).expect("a length"));
        let exact = 50.0 * noise;
        assert!(found >= exact && found <= exact + 8.0, "noise {noise}: {found}, not {exact}");
    }
}

#[test]
fn a_quiet_path_takes_the_shortest_streams() {
    assert!(tuned(0.0).is_ok_and(|packets| packets <= 68));
    assert_eq!(tuned(100.0), Err(LengthError::TooNoisy));
    assert_eq!(tune_length(Rate::ZERO, &Tuning::default(), |_, rate| rate), Err(LengthError::Invalid));
}

#[test]
fn clock_rounding_of_1_ns_is_no_trend() {
    // Gaps of 100.7 ns, arrivals recorded in whole nanoseconds: seven of ten steps go up by 0.3 ns.
    let delays: Vec<i64> = (0..100).map(|k| 100_700 * k / 1000 * 1000 - 100_700 * k).collect();
    assert!(trend(&delays, CLOCK).pct > Ratio::of(66, 100));
    let seen = trend(&delays, Span::from_nanos(1));
    assert_eq!((seen.pct, seen.pdt), (Ratio::ZERO, Ratio::ZERO));
}
