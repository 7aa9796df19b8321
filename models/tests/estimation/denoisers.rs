//! Denoisers on streams computed by hand, and what each promises to preserve.

use packetscale_models::estimation::{Denoiser, Gap, Stream, denoisers};
use packetscale_models::settings::Settings;
use packetscale_models::units::{Bytes, Span};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn denoiser(name: &str) -> Box<dyn Denoiser> {
    let entry = denoisers().iter().find(|entry| entry.name == name).expect("a denoiser");
    (entry.build)(&Settings::new()).expect("its defaults")
}

fn us(list: &[f64]) -> Vec<Span> {
    list.iter().map(|us| Span::from_picos((us * 1e6) as u64)).collect()
}

fn stream(send: &[f64], receive: &[f64]) -> Stream {
    Stream::of(&us(send), &us(receive), Bytes::new(9000))
}

fn receive_us(stream: &Stream) -> Vec<f64> {
    stream.gaps.iter().map(|gap| gap.receive.picos() as f64 / 1e6).collect()
}

#[track_caller]
fn near(found: &[f64], expected: &[f64]) {
    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 2e-3;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(close), "{found:?} is not {expected:?}");
}

#[test]
fn bass_averages_whole_events_and_drops_open_ones() {
    // Dips, two events of four gaps, and a spike that is cut off: 7.2 us sent each.
    let receive = [0.2, 0.2, 28.2, 0.2, 0.2, 0.2, 34.2, 0.2, 0.2, 0.2, 30.0];
    let found = denoiser("bass").denoise(stream(&[7.2; 11], &receive)).expect("a stream");
    near(&receive_us(&found), &[7.2, 7.2, 7.2, 7.2, 8.7, 8.7, 8.7, 8.7]);
    assert!(found.batched);
}

#[test]
fn bass_leaves_a_stream_without_spikes_unchanged() {
    let receive = [7.2, 8.0, 7.0, 9.5, 7.2, 8.1, 7.7, 7.2];
    let found = denoiser("bass").denoise(stream(&[7.2; 8], &receive)).expect("a stream");
    near(&receive_us(&found), &receive);
    assert!(!found.batched);
}

#[test]
fn a_quarter_window_of_eight_gaps_averages_pairs() {
    let found = denoiser("window").denoise(stream(&[1.0; 8], &[2.0, 4.0, 6.0, 8.0, 0.0, 2.0, 2.0, 4.0]));
    near(&receive_us(&found.expect("a stream")), &[2.0, 3.0, 5.0, 7.0, 4.0, 1.0, 2.0, 3.0]);
}

fn acked(gaps: &[(u64, u64, bool)]) -> Stream {
    let gap = |(send, receive, acked): &(u64, u64, bool)| Gap {
        send: Span::from_nanos(*send),
        receive: Span::from_nanos(*receive),
        size: Bytes::new(1500),
        acked: *acked,
    };
    Stream::new(gaps.iter().map(gap).collect())
}

#[test]
fn a_delayed_acknowledgment_is_spread_over_two_packets() {
    let sent = [(10, 0, false), (11, 50, true), (12, 0, false), (14, 30, true), (16, 0, false), (18, 40, true)];
    let found = denoiser("normalise").denoise(acked(&sent)).expect("a stream");
    // The first acknowledgment closes a gap of the previous stream.
    let gaps: Vec<(u64, u64)> = found.gaps.iter().map(|gap| (gap.send.nanos(), gap.receive.nanos())).collect();
    assert_eq!(gaps, [(13, 15), (13, 15), (17, 20), (17, 20)]);
    assert!(found.gaps.iter().all(|gap| gap.acked));
}

#[test]
fn packets_after_the_last_acknowledgment_are_left_out() {
    let sent = [(10, 20, true), (11, 12, true), (12, 13, true), (14, 0, false)];
    let found = denoiser("normalise").denoise(acked(&sent)).expect("a stream");
    let gaps: Vec<u64> = found.gaps.iter().map(|gap| gap.receive.nanos()).collect();
    assert_eq!(gaps, [12, 13]);
}

#[test]
fn leaves_a_fully_acknowledged_stream_unchanged() {
    let stream = acked(&[(10, 20, true), (11, 12, true), (12, 13, true)]);
    assert_eq!(denoiser("normalise").denoise(stream.clone()), Ok(stream));
}

#[test]
fn the_wavelet_passes_a_steady_slope_unchanged() {
    // Two vanishing moments: 64 delays that grow by 1 us each, 8 coefficients that grow by 8.
    let found = denoiser("wavelet").denoise(stream(&[7.2; 63], &[8.2; 63])).expect("a stream");
    near(&receive_us(&found), &[8.0 * 8.2; 7]);
    assert!(found.gaps.iter().all(|gap| gap.send == Span::from_nanos(8 * 7200) && gap.size == Bytes::new(8 * 9000)));
}

#[test]
fn one_wavelet_stage_is_the_four_tap_filter() {
    // One delay of 8 us at packet 2 of 16: coefficients 0 and 1 see it with taps h2 and h0, times 8: 3 - s and 1 + s.
    let mut receive = [20.0; 15];
    (receive[1], receive[2]) = (28.0, 12.0);
    let entry = denoisers().iter().find(|entry| entry.name == "wavelet").expect("a denoiser");
    let settings = Settings::from([("stages".to_string(), packetscale_models::settings::Setting::Integer(1))]);
    let found = (entry.build)(&settings).expect("a denoiser").denoise(stream(&[20.0; 15], &receive)).expect("a stream");
    let s = 3.0f64.sqrt();
    near(&receive_us(&found), &[40.0 + (1.0 + s) - (3.0 - s), 40.0 - (1.0 + s), 40.0, 40.0, 40.0, 40.0, 40.0]);
}

#[test]
fn ten_windows_are_ten_means() {
    // Delays 0, 1, ..., 19 us: means of pairs, 0.5, 2.5, ...; centres two packets apart.
    let found = denoiser("average").denoise(stream(&[7.0; 19], &[8.0; 19])).expect("a stream");
    near(&receive_us(&found), &[16.0; 9]);
}

fn gaps() -> impl Strategy<Value = Vec<(u64, u64, bool)>> {
    prop::collection::vec((1u64..100_000, 0u64..300_000, any::<bool>()), 8..200)
}

fn random(gaps: &[(u64, u64, bool)]) -> Stream {
    let mut stream = acked(gaps);
    stream.gaps.iter_mut().for_each(|gap| gap.acked = true);
    stream
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..ProptestConfig::default() })]

    #[test]
    fn bass_preserves_sums_of_what_it_does_not_drop(gaps in gaps()) {
        let before = random(&gaps);
        let found = denoiser("bass").denoise(before.clone()).expect("a stream");
        // What is left is a contiguous part; averages are rounded down to 1/1024 ns.
        let left = found.gaps.len();
        let sums = |part: &[Gap]| part.iter().fold((0, 0), |(s, r), g| (s + g.send.picos(), r + g.receive.picos()));
        let (send, receive) = sums(&found.gaps);
        let close = |a: u64, b: u64| a.abs_diff(b) <= 4 * left as u64;
        let kept = before.gaps.windows(left.max(1)).any(|part| {
            let (s, r) = sums(part);
            close(s, send) && close(r, receive)
        });
        prop_assert!(kept && 3 * left >= gaps.len());
    }

    #[test]
    fn normalisation_preserves_sums_between_acknowledgments(gaps in gaps()) {
        let before = acked(&gaps);
        prop_assume!(before.gaps.iter().any(|gap| !gap.acked));
        let found = denoiser("normalise").denoise(before.clone()).expect("a stream");
        let acknowledged: Vec<usize> = (0..gaps.len()).filter(|i| gaps[*i].2).collect();
        let (first, last) = (acknowledged.first().map_or(gaps.len(), |i| i + 1), acknowledged.last().map_or(0, |i| i + 1));
        let between = before.gaps.get(first..last).unwrap_or_default();
        prop_assert_eq!(found.send_time(), between.iter().map(|gap| gap.send).sum());
        prop_assert_eq!(found.receive_time(), between.iter().filter(|gap| gap.acked).map(|gap| gap.receive).sum());
        prop_assert_eq!(found.gaps.len(), between.len());
    }

    #[test]
    fn a_window_stays_within_what_it_slides_over(gaps in gaps()) {
        let before = random(&gaps);
        let found = denoiser("window").denoise(before.clone()).expect("a stream");
        let bounds = |stream: &Stream| {
            let receive = || stream.gaps.iter().map(|gap| gap.receive);
            (receive().min(), receive().max())
        };
        prop_assert_eq!(found.gaps.len(), gaps.len());
        prop_assert!(bounds(&found).0 >= bounds(&before).0 && bounds(&found).1 <= bounds(&before).1);
    }

    #[test]
    fn no_denoiser_panics_or_lengthens_a_stream(gaps in gaps()) {
        for entry in denoisers() {
            if let Ok(found) = denoiser(entry.name).denoise(random(&gaps)) {
                prop_assert!(found.gaps.len() <= gaps.len(), "{}", entry.name);
            }
        }
    }
}
