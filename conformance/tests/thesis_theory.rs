//! Preset `thesis` with ideal estimation compared with the differential equation of its rate filter, under periodic
//! on-off traffic, at both validation settings of Lovewell and Kaur (TR11-007, sections V and VI).
//!
//! The oracle is the fluid model, stepped in time. A signal (the capacity that the traffic leaves) departs from the
//! link at t and acts on the rate that arrives there at t + RTT + Q(t)/C. The rate follows it with time constant tau
//! upwards and eta downwards. The oracle shares no code with the law, which works packet by packet, stream by stream,
//! in integers.

use experiment::scenario::Scenario;
use std::path::Path;

struct Setting {
    on_s: f64,
    off_s: f64,
    /// Mean rate of the traffic, as a share of the capacity.
    load: f64,
    increase_s: f64,
    decrease_s: f64,
    rtt_s: f64,
}

/// Utilisation of the link in the fluid model, after 15 s.
fn fluid(s: &Setting) -> f64 {
    const STEP: f64 = 1e-4;
    let period = s.on_s + s.off_s;
    let burst = s.load * period / s.on_s;
    let steps = (60.0 / STEP) as usize;
    let mut signals = vec![None; steps + (2.0 / STEP) as usize];
    let (mut queue, mut rate, mut signal) = (0.0_f64, 0.1_f64, 0.0_f64);
    let (mut carried, mut counted) = (0.0, 0.0);
    for i in 0..steps {
        let t = i as f64 * STEP;
        let traffic = if t % period < s.on_s { burst } else { 0.0 };
        let arrives = i + ((s.rtt_s + queue) / STEP) as usize;
        if let Some(slot) = signals.get_mut(arrives) {
            *slot = Some(1.0 - traffic);
        }
        signal = signals[i].unwrap_or(signal);
        rate += (signal - rate) * STEP / if signal > rate { s.increase_s } else { s.decrease_s };
        let offered = rate + traffic;
        if t > 15.0 {
            carried += (offered + queue / STEP).min(1.0);
            counted += 1.0;
        }
        queue = (queue + (offered - 1.0) * STEP).max(0.0);
    }
    carried / counted
}

fn simulated(s: &Setting) -> f64 {
    let ms = |seconds: f64| format!("{} us", (seconds * 1e6).round());
    let text = format!(
        r#"
[run]
duration = "60 s"
warmup = "15 s"

[path]
rate = "1 Gbit/s"
delay = "{delay}"
buffer = "unlimited"

[[flow]]
packet = "1000 B"

[flow.controller]
kind = "rapid-thesis"
estimator = "ideal"
tau = "{increase}"
eta_time = "{decrease}"
gamma = 1
margin = 0.0

[[traffic]]
kind = "on-off"
on = "{on}"
off = "{off}"
rate = "{rate} bit/s"
packet = "1000 B"
"#,
        delay = ms(s.rtt_s / 2.0),
        increase = ms(s.increase_s),
        decrease = ms(s.decrease_s),
        on = ms(s.on_s),
        off = ms(s.off_s),
        rate = (s.load * 1e9 * (s.on_s + s.off_s) / s.on_s).round(),
    );
    let scenario = Scenario::parse(&text, Path::new("on-off.toml"), &[]).expect("a scenario");
    simulator::run(&scenario.plan()[0]).expect("a run").summary.utilisation.unwrap()
}

#[test]
fn bursts_cost_the_throughput_predicted_by_the_filter() {
    let large = Setting { on_s: 0.100, off_s: 0.350, load: 0.111, increase_s: 0.150, decrease_s: 0.075, rtt_s: 0.125 };
    let small = Setting { on_s: 0.100, off_s: 0.200, load: 0.111, increase_s: 0.200, decrease_s: 0.175, rtt_s: 0.100 };
    for (setting, published) in [(large, "large-scale bursts, Figure 6"), (small, "small-scale bursts, Figure 8")] {
        let (expected, found) = (fluid(&setting), simulated(&setting));
        assert!((expected - found).abs() < 0.02, "{published}: fluid {expected:.4}, packets {found:.4}");
    }
}
