//! The laws of the quantities, compared with exact arithmetic on 128-bit integers.

use packetscale_models::units::{Bytes, Packets, Problem, Rate, Ratio, Serialiser, Span, SpanSum, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::panic::catch_unwind;

const PS_PER_S: u128 = 1_000_000_000_000;
const ONE: u128 = 1 << 32;

/// Small, ordinary and extreme values.
fn any_size() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..10_000, any::<u64>(), (0u32..64).prop_map(|bits| 1 << bits), Just(u64::MAX), Just(u64::MAX / 8)]
}

fn saturated(exact: u128) -> u64 {
    u64::try_from(exact).unwrap_or(u64::MAX)
}

/// Returns a decimal in units of `1 / scale`, cut off: long multiplication over its digits, with nothing rounded on
/// the way. `None` above 64 bits.
fn decimal(whole: u64, fraction: &str, scale: u64) -> Option<u64> {
    let digits = fraction.len() as u32;
    let numerator = u128::from(whole).checked_mul(10u128.pow(digits))? + fraction.parse().unwrap_or(0);
    u64::try_from(numerator.checked_mul(u128::from(scale))? / 10u128.pow(digits)).ok()
}

const TIMES: &[(&str, u64)] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn printed_values_round_trip_exactly(n in any_size()) {
        prop_assert_eq!(Span::from_picos(n).to_string().parse(), Ok(Span::from_picos(n)));
        prop_assert_eq!(Bytes::new(n).to_string().parse(), Ok(Bytes::new(n)));
        prop_assert_eq!(Rate::from_bps(n).to_string().parse(), Ok(Rate::from_bps(n)));
        prop_assert_eq!(Packets::new(n).to_string().parse(), Ok(Packets::new(n)));
    }

    #[test]
    fn reads_a_decimal_with_any_unit_without_rounding(
        whole in 0u64..1_000_000, fraction in "[0-9]{0,15}", unit in 0..TIMES.len(), space in " {0,2}",
    ) {
        let (name, scale) = TIMES[unit];
        let text = if fraction.is_empty() { format!("{whole}{space}{name}") } else { format!("{whole}.{fraction}{space}{name}") };
        let read: Option<u64> = text.parse().ok().map(Span::picos);
        prop_assert_eq!(read, decimal(whole, &fraction, scale), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_right_form(text in "\\PC{0,20}") {
        let refusals = [
            text.parse::<Span>().err(), text.parse::<Rate>().err(), text.parse::<Bytes>().err(),
            text.parse::<Packets>().err(), text.parse::<Ratio>().err(),
        ];
        for refusal in refusals.into_iter().flatten() {
            prop_assert_eq!(&refusal.found, &text);
            prop_assert!(refusal.to_string().contains(refusal.expected));
        }
    }

    #[test]
    fn wire_time_is_exact_division(bytes in 0u64..=u64::MAX / 8, bps in any_size()) {
        let time = Rate::from_bps(bps).time_for(Bytes::new(bytes)).picos();
        let exact = (u128::from(bytes) * 8 * PS_PER_S).checked_div(u128::from(bps)).unwrap_or(u128::MAX);
        prop_assert_eq!(time, saturated(exact));
    }

    #[test]
    fn a_rate_is_that_of_exact_division(bytes in 0u64..=u64::MAX / 8, ps in any_size()) {
        let rate = Rate::of(Bytes::new(bytes), Span::from_picos(ps)).bps();
        let exact = (u128::from(bytes) * 8 * PS_PER_S).checked_div(u128::from(ps)).unwrap_or(0);
        prop_assert_eq!(rate, saturated(exact));
    }

    #[test]
    fn an_amount_in_a_span_is_exact_division(bps in any_size(), ps in any_size()) {
        let amount = Rate::from_bps(bps).amount_in(Span::from_picos(ps)).get();
        prop_assert_eq!(amount, saturated(u128::from(bps) * u128::from(ps) / (8 * PS_PER_S)));
    }

    #[test]
    fn a_ratio_is_the_exact_quotient_on_its_grid(a in any_size(), b in any_size()) {
        let exact = (u128::from(a) * ONE).checked_div(u128::from(b)).unwrap_or(0);
        prop_assert_eq!(Ratio::of(a, b).q32(), saturated(exact));
        prop_assert_eq!(Span::from_picos(a).ratio_to(Span::from_picos(b)), Ratio::of(a, b));
    }

    #[test]
    fn scaling_is_exact_multiplication_cut_and_saturated(n in any_size(), q32 in any_size()) {
        let scaled = Ratio::from_q32(q32).of_u64(n);
        prop_assert_eq!(scaled, saturated(u128::from(n) * u128::from(q32) / ONE));
        prop_assert_eq!(Bytes::new(n).scale(Ratio::from_q32(q32)).get(), scaled);
    }

    #[test]
    fn a_ratio_and_its_complement_make_one(q32 in 0..=1u64 << 32) {
        let ratio = Ratio::from_q32(q32);
        prop_assert_eq!(ratio.q32() + ratio.complement().q32(), Ratio::ONE.q32());
    }

    #[test]
    fn a_ratio_survives_floating_point_up_to_a_million(q32 in 0..1u64 << 52) {
        prop_assert_eq!(Ratio::from_f64(Ratio::from_q32(q32).as_f64()).q32(), q32);
    }

    #[test]
    fn a_serialiser_is_never_a_picosecond_off(
        bps in prop_oneof![1u64..1000, 1_000_000u64..400_000_000_001], sizes in prop::collection::vec(1u64..10_000, 1..200),
    ) {
        let mut wire = Serialiser::new(Rate::from_bps(bps));
        let (mut passed, mut total) = (0u128, 0u128);
        for size in sizes {
            passed += u128::from(wire.next(Bytes::new(size)).picos());
            total += u128::from(size) * 8 * PS_PER_S;
            prop_assert_eq!(passed, total / u128::from(bps));
        }
    }

    #[test]
    fn sums_and_differences_are_exact_or_panic(a in any_size(), b in any_size()) {
        let (x, y) = (Span::from_picos(a), Span::from_picos(b));
        prop_assert_eq!(catch_unwind(|| (x + y).picos()).ok(), a.checked_add(b));
        prop_assert_eq!(catch_unwind(|| (x - y).picos()).ok(), a.checked_sub(b));
        prop_assert_eq!(catch_unwind(|| (x * b).picos()).ok(), a.checked_mul(b));
        prop_assert_eq!(catch_unwind(|| (Time::from_picos(a) + y).picos()).ok(), a.checked_add(b));
        prop_assert_eq!(catch_unwind(|| Time::from_picos(a).since(Time::from_picos(b)).picos()).ok(), a.checked_sub(b));
        prop_assert_eq!(catch_unwind(|| (Bytes::new(a) + Bytes::new(b)).get()).ok(), a.checked_add(b));
        prop_assert_eq!(catch_unwind(|| (Rate::from_bps(a) - Rate::from_bps(b)).bps()).ok(), a.checked_sub(b));
        prop_assert_eq!(catch_unwind(|| Bytes::new(a).bits()).ok(), a.checked_mul(8));
    }

    #[test]
    fn constructors_are_exact_or_panic(n in any_size()) {
        prop_assert_eq!(catch_unwind(|| Span::from_secs(n).picos()).ok(), n.checked_mul(1_000_000_000_000));
        prop_assert_eq!(catch_unwind(|| Span::from_millis(n).picos()).ok(), n.checked_mul(1_000_000_000));
        prop_assert_eq!(catch_unwind(|| Span::from_micros(n).picos()).ok(), n.checked_mul(1_000_000));
        prop_assert_eq!(catch_unwind(|| Span::from_nanos(n).picos()).ok(), n.checked_mul(1_000));
        prop_assert_eq!(catch_unwind(|| Time::from_nanos(n).picos()).ok(), n.checked_mul(1_000));
        prop_assert_eq!(catch_unwind(|| Rate::from_mbps(n).bps()).ok(), n.checked_mul(1_000_000));
        prop_assert_eq!(catch_unwind(|| Rate::from_gbps(n).bps()).ok(), n.checked_mul(1_000_000_000));
    }

    #[test]
    fn saturating_forms_stop_at_the_ends(a in any_size(), b in any_size()) {
        let (x, y) = (Span::from_picos(a), Span::from_picos(b));
        prop_assert_eq!(x.saturating_sub(y).picos(), a.saturating_sub(b));
        prop_assert_eq!(x.saturating_mul(b).picos(), a.saturating_mul(b));
        prop_assert_eq!(Time::from_picos(a).saturating_add(y).picos(), a.saturating_add(b));
        prop_assert_eq!(Time::from_picos(a).saturating_since(Time::from_picos(b)).picos(), a.saturating_sub(b));
    }

    #[test]
    fn data_needs_the_fewest_packets_that_hold_it(bytes in any_size(), size in 1u64..70_000) {
        let packets = u128::from(Bytes::new(bytes).packets_of(Bytes::new(size)).get());
        prop_assert!(packets * u128::from(size) >= u128::from(bytes));
        prop_assert!(packets == 0 || (packets - 1) * u128::from(size) < u128::from(bytes));
    }
}

#[test]
fn a_serialiser_at_10_gbit_is_exact_over_1s() {
    let mut wire = Serialiser::new(Rate::from_gbps(10));
    let time: u64 = (0..1_250_000).map(|_| wire.next(Bytes::new(1000)).picos()).sum();
    assert_eq!(time, 1_000_000_000_000);
}

#[test]
fn wire_times_beyond_a_span_panic() {
    // 8e8 bits at 1 bit/s take 8e8 s; a span holds 1.8e7 s.
    assert!(catch_unwind(|| Serialiser::new(Rate::from_bps(1)).next(Bytes::new(100_000_000))).is_err());
}

#[test]
fn reports_each_kind_of_mistake() {
    let problem = |text: &str| text.parse::<Rate>().map_err(|error| error.problem);
    assert_eq!(problem("10"), Err(Problem::NoUnit));
    assert_eq!(problem("10 m"), Err(Problem::UnknownUnit(None)));
    assert_eq!(problem("10 gbit/s"), Err(Problem::UnknownUnit(Some("Gbit/s"))));
    assert_eq!(problem("10 mbit"), Err(Problem::UnknownUnit(Some("Mbit/s"))));
    assert_eq!(problem("ten Gbit/s"), Err(Problem::NotANumber));
    assert_eq!(problem("1.2.3 Gbit/s"), Err(Problem::NotANumber));
    assert_eq!(problem("10,5 Gbit/s"), Err(Problem::NotANumber));
    assert_eq!(problem("1e3 Gbit/s"), Err(Problem::NotANumber));
    assert_eq!(problem(""), Err(Problem::NotANumber));
    assert_eq!(problem(". bit/s"), Err(Problem::NotANumber));
    assert_eq!(problem("-1 bit/s"), Err(Problem::Negative));
    assert_eq!(problem("18446744073709551616 bit/s"), Err(Problem::TooLarge));
    assert_eq!(problem("18446744073709551615 bit/s"), Ok(Rate::from_bps(u64::MAX)));
}

#[test]
fn a_refusal_shows_the_input_and_a_right_form() {
    let refusal = "10".parse::<Rate>().map_err(|error| error.to_string());
    assert_eq!(refusal, Err("found \"10\" (no unit); expected a rate like \"10 Gbit/s\"".to_string()));
}

#[test]
fn percentages_are_fractions() {
    assert_eq!("100 %".parse(), Ok(Ratio::ONE));
    assert_eq!("25%".parse(), Ok(Ratio::of(1, 4)));
    assert_eq!("0.001 %".parse(), Ok(Ratio::of(1, 100_000)));
}

#[test]
fn not_a_number_and_negative_values_become_zero() {
    assert_eq!(Ratio::from_f64(f64::NAN), Ratio::ZERO);
    assert_eq!(Ratio::from_f64(-1.0), Ratio::ZERO);
    assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
    assert_eq!(Span::from_secs_f64(-0.5), Span::ZERO);
    assert_eq!(Span::from_secs_f64(f64::INFINITY), Span::MAX);
    assert_eq!(Span::from_secs_f64(1.5), Span::from_millis(1500));
}

#[test]
fn summed_round_trips_may_exceed_a_span() {
    // 40 million acknowledgments, each half a second late: 20 million seconds, where a span ends at 18.4 million.
    let mut sum = SpanSum::default();
    (0..40).for_each(|_| sum += Span::from_secs(500_000));
    assert_eq!(sum.as_secs_f64(), 2e7);
}
