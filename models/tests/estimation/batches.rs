//! A receiver that coalesces interrupts: traffic is even, arrival times are not. Bounds are those of BASS with Algorithm 1
//! under bursty traffic: 82 % within 10 %, 96 % within 15 %, R2 of 0.45.

use crate::path;

use packetscale_models::estimation::{Abstain, Method, Stream};
use packetscale_models::units::{Bytes, Span};
use path::{Cross, Path, Receiver, Score, rising};

/// 10 Gbit/s, 9000 B, N = 64, interrupts after `wait_us` microseconds.
fn score(method: &str, wait_us: f64, cross_bytes: f64) -> Score {
    let cross = |bps, phase| Cross::Packets { bps, bytes: cross_bytes, phase };
    Score::of(method, 1e10, (16, 9000), Receiver::Coalescing(wait_us * 1e-6), cross)
}

#[test]
fn batches_of_up_to_120_us_are_read() {
    for wait_us in [10.0, 30.0, 60.0, 90.0, 120.0] {
        for cross in [1500.0, 9000.0] {
            let score = score(Method::DEFAULT, wait_us, cross);
            let good = score.within(0.1) >= 0.82 && score.within(0.15) >= 0.96 && score.r2 >= 0.45;
            assert!(good && score.refused == 0, "{wait_us} us, cross packets of {cross} B: {score}");
        }
    }
}

#[test]
fn longer_batches_are_read_better_than_a_constant() {
    for wait_us in [150.0, 200.0, 250.0, 300.0, 500.0] {
        let score = score(Method::DEFAULT, wait_us, 1500.0);
        assert!(score.errors.is_empty() || score.r2 > 0.0, "{wait_us} us: {score}");
    }
}

#[test]
fn intervals_hold_the_truth_of_three_streams_in_four() {
    for wait_us in [10.0, 30.0, 60.0, 120.0, 200.0] {
        let score = score(Method::DEFAULT, wait_us, 1500.0);
        assert!(score.covered >= 0.75, "{wait_us} us: {score}");
    }
}

#[test]
fn without_a_denoiser_every_stream_gives_its_highest_rate() {
    // Section 5.3.3 of the dissertation: with the spike-dips pattern, "every p-stream estimates the highest probing rate".
    let score = score("multi-rate", 120.0, 1500.0);
    let truth_at_the_bottom = 1.5 - 1.0;
    assert!(score.errors.iter().all(|error| *error > -0.01), "{score}");
    assert!(score.errors[score.errors.len() - 1] > 0.95 * truth_at_the_bottom, "{score}");
}

#[test]
fn in_bursty_traffic_the_default_beats_both_printed_readings() {
    let printed = ["bass", "multi-pass-bass"]
        .map(|denoiser| format!("{denoiser}+multi-rate(reading=below, batched-epsilon=100 ns)"));
    for wait_us in [0.0, 10.0, 30.0, 60.0, 120.0, 200.0] {
        let receiver = if wait_us == 0.0 { Receiver::PerPacket } else { Receiver::Coalescing(wait_us * 1e-6) };
        let trains = |bps, draw| Cross::Trains { bps, seed: (draw * 1e9) as u64 };
        let score = |method: &str| Score::of(method, 1e10, (16, 9000), receiver, trains);
        let ours = score(Method::DEFAULT);
        for printed in &printed {
            let theirs = score(printed);
            let nearer = ours.r2 > theirs.r2 && ours.within(0.1) > theirs.within(0.1);
            assert!(nearer, "{wait_us} us: {ours}\n{printed}: {theirs}");
        }
    }
}

/// A stream of one rate on a link with 4 of 10 Gbit/s available, interrupts after 120 us.
fn single(bps: f64, packets: usize) -> Stream {
    let path = Path { capacity_bps: 1e10, cross: Cross::Fluid(6e9), receiver: Receiver::Coalescing(120e-6) };
    path.carry(&vec![72_000.0 / bps; packets], 9000)
}

#[test]
fn a_single_rate_in_batches_is_a_bound() {
    for (text, packets, bps, above) in [
        ("bass+receive-rate", 64, &[3e9, 3.5e9][..], Some(false)),
        ("bass+receive-rate", 64, &[4.6e9, 6e9, 9e9], Some(true)),
        ("bass+imr-average", 320, &[9e9], Some(true)),
        ("bass+imr-wavelet", 320, &[9e9], Some(true)),
        // Within a batch delays fall with every packet: the comparison test sees only steps down. It may abstain.
        ("pathload", 320, &[4.6e9, 6e9, 9e9], None),
    ] {
        let method: Method = text.parse().expect("a method");
        for bps in bps {
            let found = method.estimate(single(*bps, packets)).map(|estimate| estimate.high.is_some());
            let right = above.map_or(found != Ok(true), |above| found == Ok(above));
            assert!(right, "{text} at {bps}: {found:?}");
        }
    }
}

#[test]
fn a_stream_in_one_batch_is_refused() {
    let path = Path { capacity_bps: 1e10, cross: Cross::Fluid(6e9), receiver: Receiver::Coalescing(1e-2) };
    let method: Method = Method::DEFAULT.parse().expect("a method");
    let rising = path.carry(&rising(6e9, 0.5, 4, 16, 9000), 9000);
    assert_eq!(method.estimate(rising), Err(Abstain::OneBatch));
}

#[test]
fn two_means_need_two_complete_events() {
    // Spikes at gaps 0, 30: one event is complete.
    let send: Vec<Span> = (0..60).map(|i| Span::from_nanos(9000 - 50 * i)).collect();
    let receive: Vec<Span> = (0..60).map(|i| Span::from_nanos(if i % 30 == 0 { 200_000 } else { 200 })).collect();
    let method: Method = "bass+multi-rate".parse().expect("a method");
    let refused = method.estimate(Stream::of(&send, &receive, Bytes::new(9000)));
    assert_eq!(refused, Err(Abstain::TooFewEvents { found: 1, needed: 2 }));
}
