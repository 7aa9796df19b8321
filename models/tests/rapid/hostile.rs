//! Stamps and acknowledgments that lie: nothing panics, and the rate stays sane.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Stamp {
    True,
    Zero,
    Frozen,
    Backwards,
    Random(u64),
    Missing,
    Lost,
    Silent,
}

fn stamp() -> impl Strategy<Value = Stamp> {
    prop_oneof![
        4 => Just(Stamp::True),
        1 => Just(Stamp::Zero),
        1 => Just(Stamp::Frozen),
        1 => Just(Stamp::Backwards),
        1 => any::<u64>().prop_map(|x| Stamp::Random(x % (u64::MAX / 1000))),
        1 => Just(Stamp::Missing),
        1 => Just(Stamp::Lost),
        1 => Just(Stamp::Silent),
    ]
}

/// Sends and answers; the rate must stay between the floor and the ceiling of the law.
fn survive(params: &impl LawParams, rtt_ns: u64, stamps: &[Stamp], jumps: &[u64]) -> Result<(), TestCaseError> {
    let mut law = Law::new(params, Time::ZERO, Span::from_nanos(rtt_ns), 9);
    let mut now = Time::ZERO;
    for (i, stamp) in stamps.iter().cycle().take(3000).enumerate() {
        let number = i as u64;
        let departure = law.departure();
        let late = jumps[i % jumps.len()];
        now = now.max(Time::from_nanos(departure.nanos().min(u64::MAX / 4000)) + Span::from_nanos(late));
        let size = if i % 7 == 0 { Bytes::new(1 + late % 9000) } else { params.packet() };
        law.on_sent(now, number, size, i % 11 == 0);
        let heard = now + Span::from_nanos(rtt_ns.min(1 << 40));
        let arrival = match *stamp {
            Stamp::True => heard,
            Stamp::Zero => Time::ZERO,
            Stamp::Frozen => Time::from_nanos(123_456_789),
            Stamp::Backwards => Time::from_nanos((u64::MAX / 1000).saturating_sub(number * 1000)),
            Stamp::Random(ns) => Time::from_nanos(ns),
            Stamp::Missing => {
                law.on_acked_without_stamp(heard, number);
                continue;
            }
            Stamp::Lost => {
                law.on_lost(heard, number);
                law.on_recovery();
                continue;
            }
            Stamp::Silent => continue,
        };
        law.on_rtt(Span::from_nanos(late));
        law.on_arrival(heard, number, arrival);
        let bytes_per_second = law.rate().bps() / 8;
        prop_assert!((1000..=100_000_000_000).contains(&bytes_per_second), "{bytes_per_second} B/s");
        prop_assert!(law.window() >= 4);
        prop_assert!(law.departure().nanos() + 100_000_000_000 > now.nanos());
    }
    let _ = (law.probe(), law.take_trace());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn lying_receivers_cannot_break_the_default_law(
        rtt_ns in prop_oneof![Just(0u64), Just(u64::MAX / 1000), 1_000u64..200_000_000],
        packet in 1u64..20_000,
        stamps in prop::collection::vec(stamp(), 1..200),
        jumps in prop::collection::vec(prop_oneof![Just(0u64), 0u64..1_000_000, Just(10_000_000_000)], 1..20),
    ) {
        survive(&Params::new(Bytes::new(packet)), rtt_ns, &stamps, &jumps)?;
    }

    #[test]
    fn lying_receivers_cannot_break_the_thesis_law(
        rtt_ns in prop_oneof![Just(0u64), Just(u64::MAX / 1000), 1_000u64..200_000_000],
        packet in 1u64..20_000,
        levels in 0u32..20,
        packets_per_level in 0u32..300,
        smoothing in 0u32..1000,
        stamps in prop::collection::vec(stamp(), 1..200),
        jumps in prop::collection::vec(prop_oneof![Just(0u64), 0u64..1_000_000, Just(10_000_000_000)], 1..20),
    ) {
        let params = ThesisParams { levels, packets_per_level, smoothing, ..ThesisParams::new(Bytes::new(packet)) };
        survive(&params, rtt_ns, &stamps, &jumps)?;
    }
}

#[test]
fn frozen_stamps_do_not_raise_the_rate_without_end() {
    // A receiver with a stopped clock makes every delay fall: each stream appears uncongested.
    let params = Params::new(Bytes::new(1500));
    let mut law = Law::new(&params, Time::ZERO, Span::from_millis(10), 1);
    for number in 0..200_000u64 {
        let now = law.departure();
        law.on_sent(now, number, params.packet, false);
        law.on_arrival(now + Span::from_millis(10), number, Time::from_nanos(5));
    }
    assert!(law.rate().bps() <= 800_000_000_000);
}
