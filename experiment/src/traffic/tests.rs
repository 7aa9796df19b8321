//! Compares drawn traffic with closed forms, and checks the rules that hold for every kind.

use super::*;
use crate::scenario::Shaper;
use proptest::prelude::*;

const KILOBYTE: Bytes = Bytes::new(1_000);

fn spec(kind: TrafficKind) -> TrafficSpec {
    TrafficSpec { kind, packet: KILOBYTE, start: Time::ZERO, stop: Time::MAX, route: vec![0], copies: 1, shaper: None }
}

fn packets(spec: &TrafficSpec, seed: u64, duration: Span) -> Vec<CrossPacket> {
    let mut merged = Superposition::new(open(spec, seed, duration).unwrap());
    std::iter::from_fn(|| merged.next()).collect()
}

fn count(spec: &TrafficSpec, seed: u64, duration: Span) -> f64 {
    packets(spec, seed, duration).len() as f64
}

fn mean_and_variance(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    (mean, samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0))
}

/// Returns a kind with lengths around a millisecond at 100 Mbit/s, where a packet of 1 kB lasts 80 us.
fn bursts(shape: Option<f64>) -> TrafficKind {
    let (on, off, rate) = (Span::from_millis(1), Span::from_millis(3), Rate::from_mbps(100));
    match shape {
        None => TrafficKind::ExponentialOnOff { on, off, rate },
        Some(shape) => TrafficKind::ParetoOnOff { on, off, rate, shape },
    }
}

#[test]
fn a_constant_rate_is_exact_with_fractional_gaps() {
    // 8000 bits at 7 bit/us: a gap of 1142857142.857 ps. Packet n goes at floor(n 8000 / 7 us).
    let cbr = spec(TrafficKind::Cbr { rate: Rate::from_bps(7_000_000) });
    let sent = packets(&cbr, 1, Span::from_secs(10));
    for (n, packet) in sent.iter().enumerate() {
        assert_eq!(packet.at.picos(), n as u64 * 8_000_000_000 / 7);
    }
    assert_eq!(sent.len(), 8_750, "10 s hold 8750 gaps exactly; the packet at 10 s is out");
}

#[test]
fn a_source_sends_from_its_start_until_before_its_stop() {
    let mut cbr = spec(TrafficKind::Cbr { rate: Rate::from_mbps(8) });
    cbr.start = Time::ZERO + Span::from_millis(5);
    cbr.stop = Time::ZERO + Span::from_millis(9);
    let ms: Vec<u64> = packets(&cbr, 1, Span::from_secs(1)).iter().map(|p| p.at.picos() / 1_000_000_000).collect();
    assert_eq!(ms, [5, 6, 7, 8]);
}

#[test]
fn periodic_bursts_carry_fractions_of_packets_over() {
    // A packet per ms, bursts of 2.5 ms, silences of 7.5 ms: packets at 0, 1, 2 of the first burst; the fourth is due
    // half a millisecond beyond it, and comes half a millisecond into the second.
    let on_off = spec(TrafficKind::OnOff {
        on: Span::from_micros(2_500),
        off: Span::from_micros(7_500),
        rate: Rate::from_mbps(8),
    });
    let us: Vec<u64> = packets(&on_off, 1, Span::from_millis(21)).iter().map(|p| p.at.picos() / 1_000_000).collect();
    assert_eq!(us, [0, 1_000, 2_000, 10_500, 11_500, 20_000]);
}

#[test]
fn a_token_bucket_passes_a_bucket_then_its_rate() {
    // Packets arrive every 80 us. Three of 1 kB leave as they come; tokens for one more take 0.8 ms at 10 Mbit/s.
    let mut cbr = spec(TrafficKind::Cbr { rate: Rate::from_mbps(100) });
    cbr.shaper = Some(Shaper { rate: Rate::from_mbps(10), bucket: Bytes::new(3_000) });
    let us: Vec<u64> = packets(&cbr, 1, Span::from_micros(2_500)).iter().map(|p| p.at.picos() / 1_000_000).collect();
    assert_eq!(us, [0, 80, 160, 800, 1_600, 2_400]);
}

#[test]
fn a_packet_above_the_bucket_leaves_when_it_is_full() {
    // Half a packet of tokens fills in 0.4 ms; a packet still costs 0.8 ms.
    let mut cbr = spec(TrafficKind::Cbr { rate: Rate::from_mbps(100) });
    cbr.shaper = Some(Shaper { rate: Rate::from_mbps(10), bucket: Bytes::new(500) });
    let us: Vec<u64> = packets(&cbr, 1, Span::from_millis(2)).iter().map(|p| p.at.picos() / 1_000_000).collect();
    assert_eq!(us, [0, 800, 1_600]);
}

proptest! {
    #[test]
    fn no_interval_exceeds_a_bucket_and_its_rate(
        seed in any::<u64>(), mbps in 5u64..60, bucket in 1_000u64..20_000,
    ) {
        let mut bursty = spec(bursts(Some(1.5)));
        let free = packets(&bursty, seed, Span::from_millis(200));
        bursty.shaper = Some(Shaper { rate: Rate::from_mbps(mbps), bucket: Bytes::new(bucket) });
        let shaped = packets(&bursty, seed, Span::from_millis(200));
        prop_assert!(shaped.iter().zip(&free).all(|(after, before)| after.at >= before.at && after.size == before.size));
        for (first, from) in shaped.iter().enumerate() {
            for (more, until) in shaped[first..].iter().enumerate() {
                let earned = Rate::from_mbps(mbps).amount_in(until.at.since(from.at));
                // A byte for each rounding of a time to picoseconds.
                prop_assert!((more as u64 + 1) * 1_000 <= bucket + earned.get() + 1 + more as u64);
            }
        }
    }
}

#[test]
fn copies_of_periodic_bursts_differ_in_phase_only() {
    let (on, off) = (Span::from_millis(1), Span::from_millis(3));
    let mut on_off = spec(TrafficKind::OnOff { on, off, rate: Rate::from_mbps(800) });
    on_off.copies = 8;
    let sources = open(&on_off, 3, Span::from_secs(1)).unwrap();
    let first: Vec<Time> = sources.into_iter().map(|mut source| source.next().unwrap().at).collect();
    assert!(first.iter().any(|at| *at != first[0]));
    // Each copy sends 25000 packets of 80 Mbit/s x 1 s / 4, give or take the burst that the end cuts (100 packets).
    let sent = count(&on_off, 3, Span::from_secs(1));
    assert!((sent - 200_000.0).abs() <= 8.0 * 101.0, "{sent}");
}

#[test]
fn poisson_counts_have_the_mean_and_variance_of_the_law() {
    // 8 Gbit/s of 1 kB: 1000 packets per ms. 2000 samples: standard error of the mean sqrt(1000 / 2000) = 0.71, of
    // the variance 1000 sqrt(2 / 2000) = 32; four of each.
    let poisson = spec(TrafficKind::Poisson { rate: Rate::from_gbps(8) });
    let mut samples = vec![0.0; 2_000];
    for packet in packets(&poisson, 11, Span::from_secs(2)) {
        samples[(packet.at.picos() / 1_000_000_000) as usize] += 1.0;
    }
    let (mean, variance) = mean_and_variance(&samples);
    assert!((mean - 1_000.0).abs() < 2.9, "{mean}");
    assert!((variance - 1_000.0).abs() < 128.0, "{variance}");
}

/// Stationarity: the expected count in any window is window x rate / size x on / (on + off), from the very start.
fn starts_in_the_stationary_state(kind: &TrafficKind, window: Span, seeds: u64) {
    let on_off = spec(kind.clone());
    let counts: Vec<f64> = (0..seeds).map(|seed| count(&on_off, seed, window)).collect();
    let (mean, variance) = mean_and_variance(&counts);
    let expected = window.as_secs_f64() * 100e6 / 8_000.0 / 4.0;
    let error = (variance / seeds as f64).sqrt();
    assert!((mean - expected).abs() < 4.0 * error, "{mean} +- {error}, expected {expected}");
    assert!(4.0 * error < 0.15 * expected, "the test is precise enough: {error} of {expected}");
}

#[test]
fn exponential_bursts_have_their_mean_rate_from_the_start() {
    starts_in_the_stationary_state(&bursts(None), Span::from_micros(400), 20_000);
    starts_in_the_stationary_state(&bursts(None), Span::from_millis(40), 2_000);
}

#[test]
fn pareto_bursts_have_their_mean_rate_from_the_start() {
    // The count in a window is bounded by rate x window, so its sample mean converges whatever the tail is.
    for shape in [1.3, 1.8, 3.0] {
        starts_in_the_stationary_state(&bursts(Some(shape)), Span::from_micros(400), 20_000);
        starts_in_the_stationary_state(&bursts(Some(shape)), Span::from_millis(40), 2_000);
    }
}

#[test]
fn drawn_lengths_have_the_configured_mean() {
    use crate::traffic::on_off::Law;
    let (mean, n) = (Span::from_millis(2), 200_000);
    let mut draws = Draws::new(5, 0);
    let average = |lengths: &mut dyn FnMut() -> Span| {
        (0..n).map(|_| lengths().as_secs_f64()).sum::<f64>() / f64::from(n) / mean.as_secs_f64()
    };
    // Coefficient of variation 1: standard error 1 / sqrt(n) = 0.0022.
    let exponential = average(&mut || Exponential.length(&mut draws, mean));
    assert!((exponential - 1.0).abs() < 0.009, "{exponential}");
    // Shape 4: variance / mean^2 = 1 / (shape (shape - 2)) = 1/8; standard error 0.0008. Least length 1.5 ms.
    let pareto = Pareto::new(4.0);
    let drawn = average(&mut || {
        let length = pareto.length(&mut draws, mean);
        assert!(length >= Span::from_micros(1_500));
        length
    });
    assert!((drawn - 1.0).abs() < 0.0032, "{drawn}");
    // Mean residual E[x^2] / 2 E[x] = (1 + 1/8) / 2 of the mean; its own variance is finite at shape 4.
    let residual = average(&mut || pareto.residual(&mut draws, mean));
    assert!((residual - 0.5625).abs() < 0.01, "{residual}");
}

#[test]
fn drawn_lengths_match_another_implementation_to_the_picosecond() {
    use crate::traffic::on_off::Law;
    // PCG-64 (XSL RR 128/64), SplitMix64 and both inversions in Python, logarithm and power in 50-digit decimals.
    let (mut draws, mean) = (Draws::new(42, 3), Span::from_millis(1));
    let exponential = [(); 2].map(|()| Exponential.length(&mut draws, mean).picos());
    assert_eq!(exponential, [377_553_844, 1_118_474_650]);
    let pareto = [(); 2].map(|()| Pareto::new(1.5).length(&mut draws, mean).picos());
    assert_eq!(pareto, [361_682_844, 360_693_124]);
}

#[test]
fn pareto_tails_fall_by_the_shape() {
    use crate::traffic::on_off::Law;
    // P(length > 10 least) = 10^-1.5 = 0.03162; of 100000 draws, standard error 0.00055.
    let (pareto, mut draws) = (Pareto::new(1.5), Draws::new(9, 0));
    let long = (0..100_000).filter(|_| pareto.length(&mut draws, Span::from_millis(3)) > Span::from_millis(10)).count();
    assert!((long as f64 / 1e5 - 0.031_62).abs() < 0.002_2, "{long}");
}

#[test]
fn refuses_impossible_settings_with_their_key() {
    let rate = Rate::from_mbps(1);
    let (on, off) = (Span::from_millis(1), Span::ZERO);
    let refused = |kind, packet| {
        let spec = TrafficSpec { packet, ..spec(kind) };
        open(&spec, 1, Span::from_secs(1)).unwrap_err().to_string()
    };
    assert!(refused(TrafficKind::Cbr { rate: Rate::ZERO }, KILOBYTE).contains("rate"));
    assert!(refused(TrafficKind::Cbr { rate: Rate::from_bps(u64::MAX) }, Bytes::new(1)).contains("rate"));
    assert!(refused(TrafficKind::Poisson { rate }, Bytes::ZERO).contains("packet"));
    assert!(refused(TrafficKind::OnOff { on: Span::ZERO, off, rate }, KILOBYTE).contains("on is"));
    for shape in [1.0, 0.5, f64::NAN, f64::INFINITY] {
        assert!(refused(TrafficKind::ParetoOnOff { on, off, rate, shape }, KILOBYTE).contains("shape"));
    }
}

#[test]
fn planned_rate_gives_the_steps_of_bursts_until_the_stop() {
    let (on, off, rate) = (Span::from_millis(2), Span::from_millis(3), Rate::from_mbps(9));
    let mut on_off = spec(TrafficKind::OnOff { on, off, rate });
    on_off.start = Time::ZERO + Span::from_millis(1);
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    let expected = [(0, Rate::ZERO), (1, rate), (3, Rate::ZERO), (6, rate), (7, Rate::ZERO)];
    assert_eq!(planned_rate(&on_off, Span::from_millis(7)).unwrap(), expected.map(|(at, step)| (ms(at), step)));
    on_off.copies = 2;
    assert_eq!(planned_rate(&on_off, Span::from_millis(7)), None);
}

#[test]
fn planned_rate_of_constant_traffic_adds_its_copies() {
    let mut cbr = spec(TrafficKind::Cbr { rate: Rate::from_mbps(10) });
    cbr.copies = 3;
    let end = Time::ZERO + Span::from_secs(1);
    let steps = [(Time::ZERO, Rate::from_mbps(30)), (end, Rate::ZERO)];
    assert_eq!(planned_rate(&cbr, Span::from_secs(1)).unwrap(), steps);
    let poisson = spec(TrafficKind::Poisson { rate: Rate::from_mbps(10) });
    assert_eq!(planned_rate(&poisson, Span::from_secs(1)), None);
}

fn any_kind() -> impl Strategy<Value = TrafficKind> {
    let rate = (1u64..=20_000).prop_map(Rate::from_mbps);
    let lengths =
        (1u64..3_000_000, 0u64..3_000_000).prop_map(|(on, off)| (Span::from_nanos(on), Span::from_nanos(off)));
    prop_oneof![
        rate.clone().prop_map(|rate| TrafficKind::Cbr { rate }),
        rate.clone().prop_map(|rate| TrafficKind::Poisson { rate }),
        (rate.clone(), lengths.clone()).prop_map(|(rate, (on, off))| TrafficKind::OnOff { on, off, rate }),
        (rate.clone(), lengths.clone()).prop_map(|(rate, (on, off))| TrafficKind::ExponentialOnOff { on, off, rate }),
        (rate, lengths, 1.001f64..4.0).prop_map(|(rate, (on, off), shape)| TrafficKind::ParetoOnOff {
            on,
            off,
            rate,
            shape
        }),
    ]
}

proptest! {
    #[test]
    fn every_source_is_ordered_bounded_and_repeatable(
        kind in any_kind(), seed: u64, copies in 1u32..4, start_us in 0u64..1_500, stop_us in 0u64..3_000,
    ) {
        let (start, stop) = (Time::ZERO + Span::from_micros(start_us), Time::ZERO + Span::from_micros(stop_us));
        let spec = TrafficSpec { start, stop, copies, ..spec(kind) };
        let sent = packets(&spec, seed, Span::from_millis(2));
        prop_assert!(sent.is_sorted_by_key(|packet| packet.at));
        prop_assert!(sent.iter().all(|p| p.at >= start && p.at < stop && p.at.picos() < 2_000_000_000));
        prop_assert_eq!(sent, packets(&spec, seed, Span::from_millis(2)));
    }
}

/// Returns the recorded trace as scenarios use it, at the load of Yin's bursty cross traffic (BCT).
fn recorded() -> TrafficSpec {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/traces/web-namespaces.pcap");
    let rate = Some(Rate::from_mbps(2_510));
    TrafficSpec { copies: 9, ..spec(TrafficKind::Trace { file, source: crate::scenario::TraceSource::Pcap, rate }) }
}

#[test]
fn the_recorded_trace_matches_another_reader() {
    // Counted with Python's struct module.
    let TrafficKind::Trace { file, source, .. } = recorded().kind else { unreachable!() };
    let found = survey(&file, source).unwrap();
    let span = Span::from_nanos(2_922_429_342);
    assert_eq!(found, Survey { packets: 45_000, bytes: Bytes::new(67_418_906), span, flaws: Default::default() });
}

#[test]
fn nine_copies_of_the_trace_are_as_bursty_as_published() {
    // Yin, Table 3.1, BCT: 2.51 Gbit/s, 1.15 to 3.94 Gbit/s per ms, a spread of 2.79. The offsets of the copies alone
    // move the spread by 4 % (standard deviation over seeds), the mean of twenty by 1 %. "About" is 5 %.
    let duration = Span::from_secs(2);
    let mut spreads = Vec::new();
    for seed in 1..=20 {
        let mut meter = Meter::per_millisecond();
        packets(&recorded(), seed, duration).iter().for_each(|packet| meter.record(packet.at, packet.size));
        let figures = meter.burstiness(Time::ZERO + duration).unwrap();
        // 2 s is one period of 1.934 s and a little of the next.
        assert!(figures.mean.bps().abs_diff(2_510_000_000) < 75_000_000, "{figures:?}");
        spreads.push(figures.spread().bps() as f64 / 1e9);
    }
    let (mean, _) = mean_and_variance(&spreads);
    assert!((mean / 2.79 - 1.0).abs() < 0.05, "{mean}: {spreads:?}");
}

/// Four points of 100 ms show a period of 400 ms. Bursts of 50 ms and silences of 150 ms come every 200 ms.
#[test]
fn warns_once_of_bursts_too_short_for_curves() {
    let warnings = |on: &str, record: &str| {
        let text = format!(
            "[run]\nduration = \"1 s\"\nreplications = 2\n[record]\n{record}\n[path]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             [[flow]]\ncontroller = \"cubic\"\napplication = {{ kind = \"on-off\", on = \"{on}\", off = \"150 ms\", rate = \"1 Mbit/s\" }}\n\
             [[traffic]]\nkind = \"on-off\"\non = \"{on}\"\noff = \"150 ms\"\nrate = \"1 Mbit/s\"\n"
        );
        let scenario = crate::scenario::Scenario::parse(&text, std::path::Path::new("x.toml"), &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        crate::traffic::warnings(&scenario, &scenario.plan())
    };
    let said = warnings("50 ms", "step = \"100 ms\"");
    let expected = "bursts come every 200 ms, which curves with record.step = \"100 ms\" cannot show; expected a step of 50 ms \
                    at most, or longer bursts";
    assert_eq!(said, [format!("traffic.0: {expected}")], "once, though an application has them, too");
    assert!(warnings("250 ms", "step = \"100 ms\"").is_empty());
    assert!(warnings("50 ms", "step = \"50 ms\"").is_empty());
    assert!(warnings("50 ms", "step = \"100 ms\"\ndetail = false").is_empty());
}

/// Two tables of flows, the first with three: the application is of the second table, as `--set flow.1...` has it.
#[test]
fn a_warning_numbers_flow_tables_as_set_does() {
    let text = "[run]\nduration = \"1 s\"\n[path]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                [[flow]]\ncontroller = \"cubic\"\ncount = 3\n[[flow]]\ncontroller = \"cubic\"\n\
                application = { kind = \"on-off\", on = \"50 ms\", off = \"150 ms\", rate = \"1 Mbit/s\" }\n";
    let scenario = crate::scenario::Scenario::parse(text, std::path::Path::new("x.toml"), &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let said = crate::traffic::warnings(&scenario, &scenario.plan());
    assert!(said.len() == 1 && said[0].starts_with("flow.1.application: bursts come every"), "{said:?}");
}

#[test]
fn warns_of_a_rate_that_repeats_too_fast_for_curves() {
    let warnings = |repeat: &str| {
        let text = format!(
            "[run]\nduration = \"1 s\"\n[[link]]\nname = \"a\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             [[link]]\nname = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nrate_steps = [[\"50 ms\", \"1 Mbit/s\"]]\n\
             rate_repeat = \"{repeat}\"\n[[flow]]\ncontroller = \"cubic\"\n[record]\nstep = \"25 ms\"\n"
        );
        let scenario = crate::scenario::Scenario::parse(&text, std::path::Path::new("x.toml"), &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        crate::traffic::warnings(&scenario, &scenario.plan())
    };
    let expected = "link.1.rate_repeat: the rate begins again every 80 ms, which curves with record.step = \"25 ms\" \
                    cannot show; expected a step of 20 ms at most, or a longer period";
    assert_eq!(warnings("80 ms"), [expected]);
    assert!(warnings("100 ms").is_empty());
}
