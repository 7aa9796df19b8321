//! One DCTCP flow over a switch that marks by a step of its queue, compared with the closed form of its oscillation
//! (M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3).
//!
//! With `C` the capacity in packets, `K` the step and `N` synchronised flows, `W* = (C RTT + K) / N`:
//!
//! ```text
//! alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2          equation 6
//! D = (W* + 1) alpha / 2                                     equation 7: the window's swing
//! Qmax = K + N                                               equation 10
//! ```
//!
//! The closed form assumes a constant alpha and a small gain (equation 15: below 1.386 / sqrt(2 (C RTT + K)), 0.049 for
//! 400 packets). With RFC 8257's gain of 1/16, alpha has decayed by the time of the next mark, and the swing is
//! smaller: 12 packets, not 14. The gain is 1/256 here.

mod path;

use experiment::results::Run;
use experiment::scenario::{Buffer, Experiment, FlowSpec, QueueSpec};
use packetscale_models::settings::{Setting, Settings};
use packetscale_models::units::{Packets, Rate, Ratio, Span};
use path::{dumbbell, flow, link, run};

/// A packet takes 12 us at 1 Gbit/s.
const PACKET: u64 = 1500;
const PACKET_S: f64 = 12e-6;
/// In this time alpha falls from 1 to 0.04: 800 round trips of 12 ms.
const WARMUP_S: u64 = 16;

/// A queue that marks every packet that finds `at` packets queued.
fn step(at: u64) -> QueueSpec {
    let packets = Setting::Packets(Packets::new(at));
    let settings: [(&str, Setting); 5] = [
        ("weight", Setting::Ratio(Ratio::ONE)),
        ("min", packets.clone()),
        ("max", packets),
        ("gentle", Setting::Switch(false)),
        ("mark_above", Setting::Switch(true)),
    ];
    let settings: Settings = settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    QueueSpec { kind: "red".to_string(), settings }
}

fn one_flow(controller: &str, rtt: Span, k: u64) -> Run {
    let mut wire = link(Rate::from_gbps(1), rtt / 2, Buffer::Packets(Packets::new(4000)));
    wire.queue = step(k);
    let mut experiment =
        Experiment { warmup: Span::from_secs(WARMUP_S), ..dumbbell(wire, Span::from_secs(WARMUP_S + 4)) };
    let mut one = FlowSpec { ecn: true, ..flow(controller, PACKET, rtt) };
    if controller == "dctcp" {
        one.controller.settings.insert("gain".to_string(), Setting::Ratio(Ratio::of(1, 256)));
    }
    experiment.flows = vec![one.into()];
    experiment.record.detail = true;
    experiment.record.step = Span::from_micros(200);
    run(&experiment)
}

/// Largest and smallest window after the warm-up.
fn swing(run: &Run) -> (f64, f64) {
    let curve = run.series.iter().find(|series| series.metric == "window").expect("a curve of windows");
    let after =
        curve.values[(WARMUP_S as f64 / curve.step_s) as usize..].iter().flatten().map(|value| f64::from(*value));
    after.fold((0.0, f64::MAX), |(most, least), value| (most.max(value), least.min(value)))
}

/// The positive root of equation 6, by bisection: the left side grows up to alpha = 8/3.
fn alpha(w: f64) -> f64 {
    let right = (2.0 * w + 1.0) / ((w + 1.0) * (w + 1.0));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if middle * middle * (1.0 - middle / 4.0) < right { low = middle } else { high = middle }
    }
    low
}

/// Round trips of 83, 333 and 1000 packets. Windows are whole, which accounts for two packets of the swing, one at each
/// end.
#[test]
fn one_flows_window_swings_as_in_the_closed_form() {
    for (rtt_ms, k) in [(1, 40), (4, 65), (12, 200)] {
        let w = rtt_ms as f64 * 1e-3 / PACKET_S + k as f64;
        let expected = (w + 1.0) * alpha(w) / 2.0;
        let run = one_flow("dctcp", Span::from_millis(rtt_ms), k);
        let (most, least) = swing(&run);
        println!(
            "{rtt_ms} ms, K = {k}: swing {}, closed form {expected:.1}; top {most}, closed form {:.1}",
            most - least,
            w + 1.0
        );
        assert!(
            (most - least - expected).abs() <= 2.0,
            "{rtt_ms} ms, K = {k}: {most} to {least}, expected {expected:.1}"
        );
        assert!((most - (w + 1.0)).abs() <= 2.0, "{rtt_ms} ms, K = {k}: top {most}, expected {:.1}", w + 1.0);
        assert_eq!(run.flows[0].dropped_packets, 0);
    }
}

/// The queue reaches K + N, within two packets for whole windows and the packet in service. It is never empty: K is
/// above C RTT / 7 (section 3.4).
#[test]
fn the_queue_stays_at_the_step_on_a_full_link() {
    for (rtt_ms, k) in [(1, 40), (4, 65)] {
        let run = one_flow("dctcp", Span::from_millis(rtt_ms), k);
        let longest = run.summary.queue_delay_p99_s.unwrap() / PACKET_S;
        assert!((longest - (k + 1) as f64).abs() <= 3.0, "{rtt_ms} ms, K = {k}: {longest} packets");
        assert!(run.summary.utilisation.unwrap() > 0.9999, "{rtt_ms} ms: {}", run.summary.utilisation.unwrap());
    }
}

/// The same path with Reno, which halves: the closed form distinguishes the two.
#[test]
fn the_swing_of_reno_is_another() {
    let (rtt_ms, k) = (4, 65);
    let w = rtt_ms as f64 * 1e-3 / PACKET_S + k as f64;
    let (most, least) = swing(&one_flow("newreno", Span::from_millis(rtt_ms), k));
    assert!(most - least > 5.0 * (w + 1.0) * alpha(w) / 2.0, "{most} to {least}");
}
