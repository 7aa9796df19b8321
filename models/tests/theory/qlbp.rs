//! The pacer's theory compared with Table II, with packets paced one by one, and with a filtered random source.

use packetscale_models::theory::qlbp::{OnOff, Pacer, Reading};
use packetscale_models::units::{Bytes, Packets, Rate, Span};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;

/// The pacer of Table II.
fn table_two(reading: Reading) -> Pacer {
    Pacer {
        mu_min: Rate::from_mbps(2),
        mu_max: Rate::from_mbps(10),
        q_max: Packets::new(10),
        packet: Bytes::new(1000),
        reading,
    }
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs())
}

#[test]
fn reproduces_table_2_if_the_packet_in_service_counts() {
    let printed_ms = [(1, 0.0), (2, 0.0), (4, 4.0), (6, 5.33), (8, 6.0), (10, 6.4)];
    let pacer = table_two(Reading::WithInService);
    for (mbps, printed) in printed_ms {
        let delay = pacer.steady_delay_of_packets_s(Rate::from_mbps(mbps)) * 1e3;
        assert!((delay - printed).abs() < 0.005, "{mbps} Mbit/s: {delay}, printed {printed}");
    }
    // The literal equation: one packet time more at the two highest rates.
    let literal = table_two(Reading::Waiting);
    assert!(close(literal.steady_delay_of_packets_s(Rate::from_mbps(8)), 7e-3, 1e-9));
    assert!(close(literal.steady_delay_of_packets_s(Rate::from_mbps(10)), 7.2e-3, 1e-9));
}

/// Algorithm 1 packet by packet. Returns how long the last of many packets at a constant rate waits, in seconds.
fn paced_delay_s(pacer: &Pacer, rate_bps: f64) -> f64 {
    let bits = pacer.packet.get() as f64 * 8.0;
    let (least, most) = (pacer.mu_min.bps() as f64, pacer.mu_max.bps() as f64);
    let q_max = pacer.q_max.get() as f64;
    let gap = |length: usize| bits / (least + (most - least) * (length as f64).min(q_max) / q_max);
    let mut queue = VecDeque::new();
    let (mut last, mut delay) = (-1.0, 0.0);
    for n in 0..3000 {
        let now = f64::from(n) * bits / rate_bps;
        while !queue.is_empty() && last + gap(queue.len()) <= now {
            last += gap(queue.len());
            delay = last - queue.pop_front().unwrap();
        }
        queue.push_back(now);
        if last + gap(queue.len()) <= now {
            last = now;
            delay = now - queue.pop_front().unwrap();
        }
    }
    delay
}

#[test]
fn paced_packets_wait_the_computed_time() {
    let pacer = table_two(Reading::Waiting);
    for mbps in [2.5, 3.1, 4.0, 4.7, 5.5, 6.3, 7.0, 8.0, 9.1, 9.9] {
        let formula = pacer.steady_delay_of_packets_s(Rate::from_bps((mbps * 1e6) as u64));
        let paced = paced_delay_s(&pacer, mbps * 1e6);
        assert!(close(formula, paced, 1e-3), "{mbps} Mbit/s: {formula} {paced}");
    }
}

/// The example in the paper's Remark: 100 packets of 1500 B, 300 Mbit/s: 4 ms.
#[test]
fn an_emptying_queue_exceeds_the_papers_bound() {
    let pacer = Pacer {
        mu_min: Rate::from_mbps(1),
        mu_max: Rate::from_mbps(300),
        q_max: Packets::new(100),
        packet: Bytes::new(1500),
        reading: Reading::Waiting,
    };
    assert!(close(pacer.bound_s(), 4e-3, 1e-12));
    for mbps in 1..=300 {
        assert!(pacer.steady_delay_s(Rate::from_mbps(mbps)) <= pacer.bound_s() * (1.0 + 1e-12));
    }
    // It is near ln(mu_max / mu_min) / alpha; the sum starts with one packet, the integral with none.
    assert!(pacer.emptying_s() > 4.0 * pacer.bound_s());
    assert!(pacer.emptying_s() < 300f64.ln() / pacer.response_per_s());
}

#[test]
fn the_step_response_solves_the_fluid_equation() {
    let pacer = table_two(Reading::Waiting);
    let (rate, step) = (7e6, 1e-6);
    let mut queue_bits = 0.0;
    for n in 0..60_000u32 {
        let out = 2e6 + 8e6 * queue_bits / 80_000.0;
        if n % 10_000 == 0 {
            let formula = pacer.step_response_bps(Rate::from_bps(7_000_000), Span::from_micros(u64::from(n)));
            assert!(close(out, formula, 1e-3), "{n}: {out} {formula}");
        }
        queue_bits += (rate - out) * step;
    }
    assert_eq!(pacer.step_response_bps(Rate::from_mbps(1), Span::from_millis(5)), 1e6);
}

fn source() -> OnOff {
    OnOff { peak: Rate::from_mbps(10), idle: Span::from_millis(300), burst: Span::from_millis(100) }
}

/// Counts in windows have variance `2 / W^2 * integral of (W - s) C(s)`: the autocovariance and the spectrum must agree.
#[test]
fn spectrum_and_theorem_2_agree_after_one_pacer() {
    let (source, window) = (source(), 0.05);
    for alpha in [2.0, 13.333_333, 13.4, 200.0] {
        let points = 20_000;
        let step = window / f64::from(points);
        let area: f64 = (0..points)
            .map(|i| {
                let s = (f64::from(i) + 0.5) * step;
                (window - s) * source.paced_autocovariance(alpha, Span::from_secs_f64(s)) * step
            })
            .sum();
        let expected = (2.0 * area).sqrt() / window / source.mean_bps();
        let found = source.variation(alpha, 1, Span::from_secs_f64(window));
        assert!(close(expected, found, 1e-5), "{alpha}: {expected} {found}");
    }
}

/// Equation (6) as printed, away from its removable singularity and at it.
#[test]
fn the_paced_autocovariance_is_equation_six() {
    let source = source();
    let (h, r1, r2) = (1e7, 1.0 / 0.3, 1.0 / 0.1);
    let r = r1 + r2;
    for alpha in [1.0, 50.0] {
        for lag in [0.0f64, 0.02, 0.5] {
            let a = alpha * alpha * h * h * r1 * r2 / (r * r * (alpha + r) * (alpha - r));
            let b = -alpha * h * h * r1 * r2 / (r * (alpha + r) * (alpha - r));
            let printed = a * (-r * lag).exp() + b * (-alpha * lag).exp();
            assert!(close(source.paced_autocovariance(alpha, Span::from_secs_f64(lag)), printed, 1e-9));
        }
    }
    let lag = 0.1;
    let printed = h * h * r1 * r2 / (2.0 * r * r) * (1.0 + r * lag) * (-r * lag).exp();
    assert!(close(source.paced_autocovariance(r, Span::from_secs_f64(lag)), printed, 1e-9));
}

/// Sends a random source through filters in time steps, and checks the variation of its counts after each.
#[test]
fn three_pacers_smooth_a_random_source_as_predicted() {
    let (source, alpha, step) = (source(), 8.0, 1e-3);
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let (mut on, mut rates) = (false, [0.0f64; 4]);
    let mut counts = [const { Vec::new() }; 4];
    let mut sums = [0.0; 4];
    for n in 1..=4_000_000u32 {
        let uniform = (random.next_u64() >> 11) as f64 / 2f64.powi(53);
        if uniform < step / if on { 0.1 } else { 0.3 } {
            on = !on;
        }
        rates[0] = if on { 1e7 } else { 0.0 };
        for pacer in 1..4 {
            rates[pacer] += alpha * step * (rates[pacer - 1] - rates[pacer]);
        }
        (0..4).for_each(|i| sums[i] += rates[i] * step);
        if n % 50 == 0 {
            (0..4).for_each(|i| counts[i].push(std::mem::take(&mut sums[i])));
        }
    }
    for (pacers, seen) in (0..).zip(&counts) {
        let mean = seen.iter().sum::<f64>() / seen.len() as f64;
        let variance = seen.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / seen.len() as f64;
        let predicted = source.variation(alpha, pacers, Span::from_millis(50));
        // 4000 s hold about 10000 independent bursts: 1 to 2 percent.
        assert!(close(variance.sqrt() / mean, predicted, 0.04), "{pacers}: {} {predicted}", variance.sqrt() / mean);
    }
}

#[test]
fn inputs_outside_the_domain_are_refused_by_name() {
    let good = table_two(Reading::Waiting);
    for (bad, key) in [
        (Pacer { mu_min: Rate::from_mbps(11), ..good }, "mu_min"),
        (Pacer { q_max: Packets::ZERO, ..good }, "q_max"),
        (Pacer { packet: Bytes::ZERO, ..good }, "packet"),
    ] {
        let message = bad.check().unwrap_err().to_string();
        assert!(message.starts_with(key), "{message}");
    }
}
