//! Methods: how they are written, what they refuse to read, and what holds for every method.

use packetscale_models::estimation::{Abstain, Gap, Method, MethodError, Stream, denoisers, estimators};
use packetscale_models::units::{Bytes, Rate, Span};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn method(text: &str) -> Method {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> String {
    text.parse::<Method>().err().map(|error: MethodError| error.to_string()).expect("a refusal")
}

/// Four levels of 16 packets, 10 to 7 us; the receive gaps equal the send gaps.
fn plain() -> Stream {
    let send: Vec<Span> = (0..64).map(|i| Span::from_micros(10 - i / 16)).collect();
    Stream::of(&send, &send, Bytes::new(9000))
}

#[test]
fn every_entry_accepts_its_printed_defaults() {
    let written = |name: &str, parameters: packetscale_models::settings::Parameters| {
        let settings: Vec<String> = parameters.iter().map(|p| format!("{}={}", p.name(), p.default())).collect();
        format!("{name}({})", settings.join(", "))
    };
    for entry in estimators() {
        method(&written(entry.name, entry.parameters));
    }
    for entry in denoisers() {
        method(&format!("{} + multi-rate", written(entry.name, entry.parameters)));
    }
    method(Method::DEFAULT);
}

#[test]
fn errors_name_the_mistake_and_a_valid_form() {
    let names = "one of multi-rate, combined, posterior, receive-rate, pathload, imr-average, imr-wavelet, prc-mt, learnt, \
                 learnt-verdict";
    assert_eq!(refusal("bass"), format!("found \"bass\", expected an estimator, the last part: {names}"));
    assert_eq!(refusal(""), format!("found \"\", expected an estimator, the last part: {names}"));
    assert!(
        refusal("multi-rate+receive-rate").starts_with("found \"multi-rate\", expected a denoiser, before the last")
    );
    assert_eq!(refusal("bass(size=3)+multi-rate"), "found \"size\", expected one of up, down, head");
    assert_eq!(refusal("normalise(a=1)+multi-rate"), "found \"a\", expected no settings");
    assert_eq!(refusal("multi-rate(run=4"), "found \"multi-rate(run=4\", expected a closing parenthesis at the end");
    assert_eq!(refusal("multi-rate(run)"), "found \"run\", expected key=value");
    assert_eq!(refusal("multi-rate(run=x)"), "found \"x\", expected a whole number for run, like 4");
    assert_eq!(refusal("multi-rate(epsilon=100)"), "found \"100\", expected a time like \"30 ms\" for epsilon");
    let out_of_range = "found \"multi-rate(run=0)\", expected \"run\" must be a whole number from 1 to 128";
    assert_eq!(refusal("multi-rate(run=0)"), out_of_range);
    assert!(refusal("bass(head=maybe)+multi-rate").contains("one of drop, keep"));
}

#[test]
fn uncongested_streams_are_open_above_and_fully_congested_below() {
    let found = method("multi-rate").estimate(plain()).expect("an estimate");
    assert_eq!((found.high, found.value.bps() / 1_000_000), (None, 72_000 / 7));
    let mut slow = plain();
    slow.gaps.iter_mut().for_each(|gap| gap.receive = gap.send + Span::from_micros(1));
    let found = method("multi-rate").estimate(slow).expect("an estimate");
    assert_eq!((found.low, found.value.bps() / 1_000_000), (Rate::ZERO, 7200));
}

#[test]
fn reads_the_geometric_mean_between_two_levels() {
    let mut congested = plain();
    congested.gaps[32..].iter_mut().for_each(|gap| gap.receive = Span::from_nanos(9500));
    let found = |text| method(text).estimate(congested.clone()).expect("an estimate");
    // 72 kbit over 9 and 8 us: 8 and 9 Gbit/s.
    let between = found("multi-rate");
    assert!(between.value.bps().abs_diff(8_485_281_374) < 10_000_000, "{between:?}");
    assert!(between.low.bps().abs_diff(8_000_000_000) < 10_000_000, "{between:?}");
    assert!(between.high.is_some_and(|high| high.bps().abs_diff(9_000_000_000) < 10_000_000), "{between:?}");
    assert!(found("multi-rate(reading=below)").value.bps().abs_diff(8_000_000_000) < 10_000_000);
}

#[test]
fn a_run_has_the_configured_length() {
    // The first three gaps of the last level are congested: with L = 3 the gaps up to there vote for the level below.
    let mut three = plain();
    three.gaps[48..51].iter_mut().for_each(|gap| gap.receive = Span::from_nanos(9500));
    for (run, expected) in [(3, (51.0 * 9.0 + 13.0 * 72.0 / 7.0) / 64.0), (4, 72.0 / 7.0)] {
        let method = method(&format!("multi-rate(run={run}, reading=below)"));
        let found = method.estimate(three.clone()).expect("an estimate").value.bps() as f64 / 1e9;
        assert!((found / expected - 1.0).abs() < 1e-3, "{run}: {found}, not {expected}");
    }
}

#[test]
fn refuses_unreadable_streams_with_the_reason() {
    let refused = |text: &str, change: fn(&mut Stream)| {
        let mut stream = plain();
        change(&mut stream);
        method(text).estimate(stream).expect_err("a refusal").to_string()
    };
    assert_eq!(refused("multi-rate", |s| s.lost = 3), "packets lost: 3");
    assert_eq!(refused("multi-rate", |s| s.gaps[9].acked = false), "unacknowledged packets: normalise first");
    assert_eq!(refused("multi-rate", |s| s.gaps.truncate(3)), "too few gaps: 3 of 4");
    assert_eq!(refused("multi-rate", |s| s.gaps.clear()), "too few gaps: 0 of 4");
    let seven: fn(&mut Stream) = |s| s.gaps = s.gaps.iter().step_by(10).copied().collect();
    assert_eq!(refused("multi-rate", seven), "too few gaps: 7 of 8");
    assert_eq!(refused("multi-rate", |s| s.gaps[5].send = Span::ZERO), "a send gap of zero");
    assert_eq!(refused("multi-rate", |s| s.gaps[5].size = Bytes::new(100)), "packets of several sizes");
    assert_eq!(refused("bass+multi-rate", |s| s.gaps[5].size = Bytes::new(100)), "packets of several sizes");
    assert_eq!(refused("multi-rate", |s| s.gaps.reverse()), "rates do not rise");
    assert_eq!(refused("receive-rate", |_| ()), "rates are not constant");
    let batch: fn(&mut Stream) = |s| s.gaps.iter_mut().for_each(|gap| gap.receive = Span::from_nanos(200));
    assert_eq!(refused(Method::DEFAULT, batch), "all in one batch");
    let long: fn(&mut Stream) = |s| {
        s.gaps = (0..600)
            .map(|i| Gap { send: Span::from_nanos(9000 - 5 * i), receive: Span::from_nanos(9000), ..s.gaps[0] })
            .collect();
    };
    assert_eq!(refused("multi-rate", long), "too long: more than 512 gaps");
    let short: fn(&mut Stream) = |s| s.gaps.truncate(16);
    assert_eq!(refused("prc-mt", short), "too few gaps: 16 of 59");
    assert_eq!(refused("average+pathload(points=11)", short), "too few gaps: 10 of 11");
}

#[test]
fn delayed_acknowledgments_are_read_after_normalisation() {
    let mut stream = plain();
    for pair in stream.gaps.chunks_mut(2) {
        pair[1].receive = pair[0].receive + pair[1].receive;
        pair[0] = Gap { receive: Span::ZERO, acked: false, ..pair[0] };
    }
    assert_eq!(method("multi-rate").estimate(stream.clone()), Err(Abstain::Unacknowledged));
    let found = method("normalise+multi-rate").estimate(stream).expect("an estimate");
    assert_eq!((found.high, found.value.bps() / 1_000_000), (None, 72_000 / 7));
}

#[test]
fn a_denoiser_before_pathload_is_imr_pathload() {
    let mut stream = plain();
    for (i, gap) in stream.gaps.iter_mut().enumerate() {
        gap.send = Span::from_micros(10);
        gap.receive = Span::from_nanos(10_500 + 400 * (i as u64 % 3));
    }
    for (composed, named) in [("average+pathload", "imr-average"), ("wavelet+pathload", "imr-wavelet")] {
        let (composed, named) = (method(composed).estimate(stream.clone()), method(named).estimate(stream.clone()));
        let bound = |found: Result<packetscale_models::estimation::Estimate, Abstain>| {
            found.expect("an estimate").high.is_some()
        };
        assert!(bound(composed) && bound(named));
    }
}

const METHODS: [&str; 10] = [
    Method::DEFAULT,
    "multi-rate",
    "bass+multi-rate",
    "multi-pass-bass+multi-rate(reading=below)",
    "receive-rate",
    "bass+receive-rate",
    "pathload",
    "imr-average",
    "imr-wavelet",
    "prc-mt",
];

/// Gaps in microseconds: rising levels, or one level; random receive gaps, with a batch here and there.
fn any_stream(rising: bool) -> impl Strategy<Value = Stream> {
    let receive = prop::collection::vec(prop_oneof![4 => 4u64..20, 1 => 0u64..2, 1 => 20u64..120], 64..=100);
    (receive, 500u64..20_000).prop_map(move |(receive, size)| {
        let send: Vec<Span> =
            (0..receive.len() as u64).map(|i| Span::from_micros(if rising { 16 - i / 16 } else { 10 })).collect();
        let receive: Vec<Span> = receive.into_iter().map(Span::from_micros).collect();
        Stream::of(&send, &receive, Bytes::new(size))
    })
}

fn scaled(stream: &Stream, by: u64) -> Stream {
    let gap = |gap: &Gap| Gap { send: gap.send * by, receive: gap.receive * by, ..*gap };
    Stream::new(stream.gaps.iter().map(gap).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn a_rising_rate_estimate_is_a_rate_inside_its_interval(stream in any_stream(true)) {
        let rates = || stream.gaps.iter().map(Gap::rate);
        let (lowest, highest) = (rates().min().expect("gaps"), rates().max().expect("gaps"));
        for text in METHODS.iter().filter(|text| text.ends_with("multi-rate") || text.contains("reading")) {
            if let Ok(found) = method(text).estimate(stream.clone()) {
                // The law computes in 1/1024 ns.
                let slack = Rate::from_bps(highest.bps() / 1000);
                prop_assert!(lowest <= found.value + slack && found.value <= highest + slack, "{text}: {found:?}");
                prop_assert!(found.low <= found.value && found.high.is_none_or(|high| found.value <= high), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn a_single_rate_reading_is_a_bound_at_that_rate(stream in any_stream(false)) {
        for text in ["receive-rate", "pathload", "imr-average", "imr-wavelet", "prc-mt"] {
            if let Ok(found) = method(text).estimate(stream.clone()) {
                let bound = found.high.unwrap_or(found.low);
                prop_assert_eq!(bound, stream.send_rate(), "{}: {:?}", text, found);
                prop_assert!(found.low <= found.value && found.high.is_none_or(|high| found.value <= high));
            }
        }
    }

    #[test]
    fn scaling_gaps_scales_the_rate(rising in any_stream(true), single in any_stream(false), k in 2u64..500) {
        for text in METHODS {
            let stream = if text.contains("multi-rate") { &rising } else { &single };
            let (plain, slow) = (method(text).estimate(stream.clone()), method(text).estimate(scaled(stream, k)));
            match (plain, slow) {
                (Ok(plain), Ok(slow)) => {
                    let ratio = plain.value.bps() as f64 / (slow.value.bps() as f64 * k as f64);
                    prop_assert!((ratio - 1.0).abs() < 0.002, "{text} at {k}: {plain:?} and {slow:?}");
                }
                (plain, slow) => prop_assert_eq!(plain, slow),
            }
        }
    }

    #[test]
    fn any_gaps_are_read_or_refused(
        gaps in prop::collection::vec((0u64..1 << 50, 0u64..1 << 50, 1u64..1 << 16, any::<bool>()), 0..600),
        lost in 0u64..2,
    ) {
        let gap = |(send, receive, size, acked): (u64, u64, u64, bool)| {
            Gap { send: Span::from_picos(send), receive: Span::from_picos(receive), size: Bytes::new(size), acked }
        };
        let mut stream = Stream::new(gaps.into_iter().map(gap).collect());
        stream.lost = lost;
        for text in METHODS {
            let _ = method(text).estimate(stream.clone());
        }
    }
}
