//! Gaps of streams along the path, by hand: one stream of two rates, six packets of 9000 B, received by a card that delivers
//! two or three at a time.

use harness::probing::{ProbePacket, ProbeStream, Reader, SweepPoint, scores};
use packetscale_models::units::{Rate, Span, Time};
use serde_json::Value;

/// Scheduled, sent, passed (behind the bottleneck) and received gaps, in microseconds.
const ASKED: [u64; 5] = [20, 20, 10, 10, 10];
const MADE: [u64; 5] = [21, 20, 10, 9, 10];
const PASSED: [u64; 5] = [20, 22, 12, 12, 14];
const SEEN: [u64; 5] = [0, 42, 0, 0, 40];

fn stream() -> ProbeStream {
    let at = |gaps: &[u64; 5], number: usize| Time::ZERO + Span::from_micros(100 + gaps[..number].iter().sum::<u64>());
    let packet = |number: usize| ProbePacket {
        number: number as u32,
        asked: Span::from_micros(if number == 0 { 0 } else { ASKED[number - 1] }),
        sent: at(&ASKED, number),
        left: at(&MADE, number),
        passed: at(&PASSED, number),
        seen: at(&SEEN, number),
    };
    let rates = [3600, 5000, 7200].map(Rate::from_mbps);
    crate::stream((0..6).map(packet).collect(), rates, Rate::from_gbps(5))
}

fn score(method: &str, streams: Vec<ProbeStream>) -> Value {
    let point = SweepPoint { params: [].into(), levels: 2, runs: vec![streams] };
    let reader = Reader::named(method).expect("a method");
    scores(&[point], &[reader]).remove(0).1
}

fn figure(score: &Value, name: &str) -> f64 {
    let found = name.split('.').fold(score, |value, part| match part.parse::<usize>() {
        Ok(place) => &value[place],
        Err(_) => &value[part],
    });
    found.as_f64().unwrap_or_else(|| panic!("{name}: {score}"))
}

#[track_caller]
fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "found {found}, wanted {wanted}");
}

#[test]
fn reports_gaps_as_made_and_by_level() {
    let score = score("multi-rate(run=1)", vec![stream()]);
    // Errors of 1, 0, 0, -1 and 0 us.
    near(figure(&score, "gap_error_mean_us"), 0.0);
    near(figure(&score, "gap_error_sd_us"), 0.4f64.sqrt());
    near(figure(&score, "gap_error_largest_us"), 1.0);
    near(figure(&score, "gap_least_us"), 9.0);
    near(figure(&score, "gap_most_us"), 21.0);
    near(figure(&score, "level_bps.0"), 3.6e9);
    near(figure(&score, "level_bps.1"), 7.2e9);
    near(figure(&score, "level_growth.0"), 42.0 / 40.0);
    near(figure(&score, "level_growth.1"), 40.0 / 30.0);
}

#[test]
fn spikes_batches_and_first_means_come_from_received_gaps() {
    let score = score("multi-rate(run=1)", vec![stream()]);
    // A spike is longer than the gap before it by 25/9 of 14 us, the mean gap: 38.9 us.
    near(figure(&score, "spikes"), 2.0);
    near(figure(&score, "spike_us"), 41.0);
    // Batches of 2, 3 and 1 packets, of which the first and the last may be cut.
    near(figure(&score, "batch_packets"), 3.0);
    near(figure(&score, "batch_deviation"), 0.0);
    // Means of the first 1, 2 and 4 gaps: 0, 21 and 10.5 us. Behind the bottleneck the mean is 16.
    near(figure(&score, "window_off.0"), 1.0);
    near(figure(&score, "window_off.1"), 5.0 / 16.0);
    near(figure(&score, "window_off.2"), 5.5 / 16.0);
}

/// Twenty gaps of 10 us; the receiver sees them as 40, 0, 40, 0, ... Two windows are short enough, and the second ends before
/// a spike.
#[test]
fn separates_means_that_end_with_an_event() {
    let at = |number: u64, gap: u64| Time::ZERO + Span::from_micros(gap * number);
    let packet = |number: u64| {
        let sent = at(number, 10);
        let asked = Span::from_micros(if number == 0 { 0 } else { 10 });
        let seen = at(number / 2 + number % 2, 40);
        ProbePacket { number: number as u32, asked, sent, left: sent, passed: sent, seen }
    };
    let packets: Vec<ProbePacket> = (0..21).map(packet).collect();
    let score = score("multi-rate(run=1)", vec![ProbeStream { packets, ..stream() }]);
    // Means of 40 and 20 us, where 10 are true.
    near(figure(&score, "short_window_off"), (3.0 + 1.0) / 2.0);
    near(figure(&score, "event_off"), 1.0);
}

#[test]
fn compares_denoised_gaps_with_those_behind_the_bottleneck() {
    let raw = score("multi-rate(run=1)", vec![stream()]);
    // 20 + 20 + 12 + 12 + 26 us over five gaps of 14.
    near(figure(&raw, "seen_off"), 90.0 / 5.0 / 14.0);
    near(figure(&raw, "denoised_off"), 90.0 / 5.0 / 14.0);
    // Delays of 0, -20, 2, -8, -18 and 12 us.
    near(figure(&raw, "denoised_falls"), 0.6);
    // A window over the whole stream: every gap the mean of those within two of it.
    let smooth = score("window(part=1)+multi-rate(run=1)", vec![stream()]);
    assert!(figure(&smooth, "denoised_off") < 0.5 * figure(&smooth, "seen_off"));
    assert_eq!(raw["stream"]["seen"][1], serde_json::json!([2.0, 42.0]));
    assert_eq!(raw["stream"]["delays"][2], serde_json::json!([2.0, 2.0]));
}

#[test]
fn a_stream_with_a_lost_packet_shows_no_gaps() {
    let score = score("multi-rate(run=1)", vec![ProbeStream { lost: 1, ..stream() }]);
    assert!(score["spikes"].is_null() && score["stream"].is_null(), "{score}");
}

/// Four streams of one run, of which those from the third on may be shown: the third lost a packet. The fourth is whole, and
/// the receiver sees it 5 us later from its third packet on.
#[test]
fn shows_the_first_complete_stream() {
    let mut late = stream();
    late.packets.iter_mut().skip(2).for_each(|packet| packet.seen += Span::from_micros(5));
    let score = score("multi-rate(run=1)", vec![stream(), stream(), ProbeStream { lost: 1, ..stream() }, late]);
    assert_eq!(score["stream"]["seen"][1], serde_json::json!([2.0, 47.0]));
}
