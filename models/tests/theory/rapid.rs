//! The default law as a fluid, against figures by hand and plain steps in time.

use packetscale_models::theory::Error;
use packetscale_models::theory::rapid::{Cycle, Flows, Mode, refilled};
use packetscale_models::units::{Bytes, Rate, Ratio, Span};

fn flows(flows: u32) -> Flows {
    let (margin, packet) = (Ratio::of(3, 100), Bytes::new(1500));
    Flows { flows, margin, rate: Rate::from_gbps(1), rtt: Span::from_millis(30), packet }
}

fn near(found: f64, expected: f64, by: f64) {
    assert!((found - expected).abs() <= by, "{found}, expected {expected}");
}

/// By hand: n 0.97 / (0.03 + n 0.97), and a gain of the share plus 0.15, at most 0.7.
#[test]
fn equilibrium_matches_the_closed_form() {
    for (n, utilisation, gain, loop_gain) in
        [(1, 0.97, 0.7, 0.7), (2, 0.98477, 0.64239, 1.26553), (10, 0.99692, 0.24969, 2.42951)]
    {
        let rest = flows(n).rest();
        near(rest.utilisation, utilisation, 1e-4);
        near(rest.gain, gain, 1e-4);
        near(rest.loop_gain, loop_gain, 1e-4);
    }
}

/// By hand: four levels over a range of 1.3 end at 1.1456; less 1 / 0.97 that is 0.1147, and 3 % of it a share of 0.26.
#[test]
fn equilibrium_slope_is_undetectable_from_four_flows_on() {
    near(flows(1).rest().slope, 0.1147 * 0.97, 1e-4);
    let seen: Vec<bool> = (1..=6).map(|n| flows(n).rest().seen).collect();
    assert_eq!(seen, [true, true, true, false, false, false]);
}

#[test]
fn each_mode_is_a_root_of_the_characteristic_equation() {
    let root = |mode: Mode, g: f64| {
        let (a, w) = (mode.growth, mode.period.map_or(0.0, |period| std::f64::consts::TAU / period));
        let right = 4.0 * (1.0 - g) * (-a).exp();
        near(a + 4.0, right * w.cos(), 1e-6);
        near(w, -right * w.sin(), 1e-6);
    };
    for n in [1, 2, 3, 5, 8, 9, 30, 100] {
        let flows = flows(n);
        root(flows.sum(), flows.rest().loop_gain);
        root(flows.differences(), flows.rest().gain * 0.03);
    }
    near(flows(1).sum().growth, -0.94, 0.01);
}

#[test]
fn eight_flows_are_stable_and_nine_are_not() {
    assert!(flows(8).sum().growth < 0.0 && flows(9).sum().growth > 0.0);
    near(flows(8).sum().period.expect("it swings"), 2.45, 0.1);
    near(flows(1).sum().settles().expect("it rests"), 4.2, 0.05);
    assert_eq!(flows(9).sum().settles(), None);
}

/// The equation of the sum, stepped as written: after 40 round trips a change has grown as the root predicts.
#[test]
fn measured_growth_matches_the_characteristic_root() {
    for n in [1, 2, 5, 8, 9] {
        let (g, mode) = (flows(n).rest().loop_gain, flows(n).sum());
        let steps = 2000;
        let mut x = vec![1.0; steps + 1];
        for i in steps..80 * steps {
            x.push(x[i] + 4.0 / steps as f64 * ((1.0 - g) * x[i - steps] - x[i]));
        }
        let size = |from: usize| x[from * steps..(from + 8) * steps].iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
        let (from, to) = if n < 5 { (2, 10) } else { (20, 60) };
        near((size(to) / size(from)).ln() / (to - from) as f64, mode.growth, 0.01 + 0.02 * mode.growth.abs());
    }
}

/// By hand, for one flow: x = 0.03 + 0.07 / (0.7 0.93) = 0.13753, over x + 0.97.
#[test]
fn long_queue_drains_an_eighth_of_a_second_per_second() {
    near(flows(1).drain(), 0.12417, 1e-4);
    let (long, longer) = (flows(1).drained_s(Span::from_millis(60)), flows(1).drained_s(Span::from_millis(70)));
    near(longer - long, 0.01 / 0.12417, 1e-4);
    assert_eq!(flows(1).drained_s(Span::from_micros(20)), 0.0);
}

/// The last of a queue, in steps of its equation.
#[test]
fn short_queue_drains_by_its_equation() {
    for n in [1, 4] {
        let (t, share, gain) = (0.03, flows(n).rest().share, flows(n).rest().gain);
        let (mut queue, mut took) = (0.003 - 24e-6 / share, 0.0);
        while queue > 0.0 {
            let d = (queue / 1.5 / t).min(0.07);
            let x = 0.03 + d / (gain * (1.0 - d));
            queue -= 1e-6 * x / (x + 0.97 * f64::from(n));
            took += 1e-6;
        }
        near(flows(n).drained_s(Span::from_millis(3)), t + took, 1e-4);
    }
}

#[test]
fn one_and_two_flows_settle_and_more_cycle() {
    for n in [1, 2] {
        let cycle = flows(n).cycle();
        near(cycle.mean, flows(n).rest().utilisation, 1e-3);
        assert_eq!(cycle.period, None);
    }
    for n in [4, 8, 12] {
        let Cycle { mean, deviation, queue, period } = flows(n).cycle();
        assert!((0.95..1.0).contains(&mean) && deviation > 0.02 && queue > 0.01, "{n}: {mean} {deviation} {queue}");
        assert!(period.is_some_and(|period| period > 3.0), "{n}: {period:?}");
    }
}

#[test]
fn a_sine_has_its_period() {
    let sine: Vec<f64> = (0..1000).map(|i| 0.9 + 0.1 * (std::f64::consts::TAU * f64::from(i) / 50.0).sin()).collect();
    let read = Cycle::read(&sine, 0.0, 10.0);
    near(read.period.expect("it swings"), 5.0, 1e-9);
    near(read.deviation, 0.1 / 2f64.sqrt(), 1e-6);
}

/// By hand: half of the rest, then half of the remainder.
#[test]
fn ack_clocked_traffic_refills_a_dip() {
    assert_eq!([0, 1, 2].map(|k| refilled(0.5, k).expect("a share")), [0.0, 0.5, 0.75]);
    assert_eq!(refilled(1.0, 1), Ok(1.0));
    assert!(matches!(refilled(1.5, 1), Err(Error::Input { key: "elastic", .. })));
}

#[test]
fn refuses_inputs_outside_the_theory() {
    let key = |flows: Flows| match flows.check() {
        Err(Error::Input { key, .. }) => key,
        other => panic!("{other:?}"),
    };
    assert_eq!(key(flows(0)), "flows");
    assert_eq!(key(flows(2000)), "flows");
    assert_eq!(key(Flows { margin: Ratio::ZERO, ..flows(1) }), "margin");
    assert!(flows(1).check().is_ok());
}
