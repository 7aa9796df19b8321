//! Answers of the theories, as people read them.

use experiment::results::numbers;
use packetscale_models::units::Span;
use studies::analysis::{burstiness, multiplexing, qlbp, rapid, tdqm};

/// A name and a value.
pub type Line = (&'static str, String);

pub fn burstiness(a: &burstiness::Answer) -> Vec<Line> {
    vec![
        ("case", a.case.to_string()),
        ("utilisation", format!("{:.4}", a.utilisation)),
        ("throughput", megabits(a.throughput_bps)),
        ("queue delay", millis(a.queue_delay_s)),
        ("longest queue", format!("{:.0} kB", a.queue_max_bits / 8e3)),
        ("standing queue", format!("{:.0} kB", a.standing_queue_bits / 8e3)),
        ("highest rate", megabits(a.rate_high_bps)),
        ("lowest rate", megabits(a.rate_low_bps)),
        ("worst RTT", format!("{} to {}", millis(a.rtt_worst_s), millis(a.rtt_worst_to_s))),
        ("for very short bursts", format!("utilisation {:.4}", a.small_burst_utilisation)),
        ("empties at every phase", if a.stable { "yes" } else { "no" }.to_string()),
    ]
}

/// What to know about an answer that does not hold at every phase.
pub fn overload(a: &burstiness::Answer) -> Option<&'static str> {
    (!a.stable).then_some(if a.standing_queue_bits > 0.0 {
        "this RTT overloads the link: a standing queue has shifted the phase"
    } else {
        "some other phase overloads the link: its standing queue can be longer than this one"
    })
}

pub fn multiplexing(a: &multiplexing::Answer) -> Vec<Line> {
    let packets = |value: Option<f64>| {
        let none = || "none: not defined below one packet or without a finite variance".to_string();
        value.map_or_else(none, |count| format!("{count:.2} packets"))
    };
    let bounds = |min: Option<f64>, max: Option<f64>| {
        let reason = if a.utilisation < 1.0 {
            "none: only for a full link"
        } else {
            "none: not defined for phases or without a finite variance"
        };
        min.zip(max).map_or_else(|| reason.to_string(), |(min, max)| format!("{min:.2} to {max:.2} packets"))
    };
    vec![
        ("utilisation", format!("{:.4}", a.utilisation)),
        ("buffer", a.buffer_packets.to_string()),
        ("queue, mean", sampled(a.mean_packets, a.mean_packets_se, " packets")),
        ("queue, 99th percentile", sampled(a.top1_packets, a.top1_packets_se, " packets")),
        ("queue, 95th percentile", sampled(a.top5_packets, a.top5_packets_se, " packets")),
        ("share without a queue", sampled(a.no_queue_fraction, a.no_queue_fraction_se, "")),
        ("loss", sampled(a.loss_ratio, a.loss_ratio_se, "")),
        ("bounds, 99th percentile", bounds(a.bound_min_packets, a.bound_max_packets)),
        ("bounds, 95th percentile", bounds(a.bound_min_top5_packets, a.bound_max_top5_packets)),
        ("scaling law, mean", packets(a.law_mean_packets)),
        ("scaling law, 99th", packets(a.law_top1_packets)),
        ("scaling law, 95th", packets(a.law_top5_packets)),
    ]
}

fn sampled(value: f64, standard_error: Option<f64>, unit: &str) -> String {
    match standard_error {
        Some(error) => format!("{value:.4} +- {error:.4}{unit}"),
        None => format!("{value:.4}{unit}"),
    }
}

pub fn qlbp(a: &qlbp::Answer, window: Span) -> Vec<Line> {
    let after = a.step_response.get(2).map_or(0.0, |point| point.rate_bps);
    let variation: Vec<String> = a.variation.iter().map(|cv| format!("{cv:.4}")).collect();
    vec![
        ("time constant", millis(1.0 / a.response_per_s)),
        ("steady delay, fluid", format!("{} at {}", millis(a.steady_delay_s), megabits(a.rate_bps as f64))),
        ("steady delay, packets", millis(a.steady_delay_of_packets_s)),
        ("delay bound, steady", millis(a.bound_s)),
        ("drain time, full queue", millis(a.emptying_s)),
        ("rate, one time constant after a step", megabits(after)),
        ("variation after 0, 1, ... pacers", format!("{} in windows of {window}", variation.join(", "))),
    ]
}

pub fn rapid(a: &rapid::Answer) -> Vec<Line> {
    let none = || "none".to_string();
    let rtts = |value: Option<f64>| value.map_or_else(none, |rtts| format!("{rtts:.2} round trips"));
    let refilled: Vec<String> = a.refilled.iter().map(|part| format!("{part:.3}")).collect();
    let seen = if a.rest_seen { "above the law's threshold" } else { "below the law's threshold: rates cycle" };
    let swing = format!("{}, period {}", if a.stable { "yes" } else { "no" }, rtts(a.period_rtts));
    vec![
        ("equilibrium, per flow", megabits(a.rate_bps)),
        ("equilibrium, utilisation", format!("{:.4}", a.utilisation)),
        ("gain per flow, loop gain", format!("{:.4}, {:.4}", a.gain, a.loop_gain)),
        ("stable", swing),
        ("growth, disturbance", format!("{:.4} per round trip", a.growth_per_rtt)),
        ("settling time to 5 %", rtts(a.settles_rtts)),
        ("growth, rate differences", format!("{:.4} per round trip", a.differences_growth_per_rtt)),
        ("slope at equilibrium", format!("{:.4}, {seen}", a.rest_slope)),
        ("long run, utilisation", format!("{:.4}, deviation {:.4}", a.cycle.utilisation, a.cycle.deviation)),
        ("long run, queue", millis(a.cycle.queue_delay_s)),
        ("long run, period", rtts(a.cycle.period_rtts)),
        ("drain rate, long queue", format!("{:.4} s/s", a.drain)),
        ("drain time, given queue", millis(a.drained_s)),
        ("dip refilled after 0, 1, ...", refilled.join(", ")),
    ]
}

pub fn tdqm(a: &tdqm::Answer) -> Vec<Line> {
    let accumulated = a.eta_accumulated.map_or("none: too few busy periods".to_string(), |eta| format!("{eta:.4}"));
    let mut lines = vec![
        ("load", format!("{}", a.load)),
        ("eta, mean over busy periods", format!("{:.4}", a.eta_per_period)),
        ("eta, mean over packets", format!("{:.4}", a.eta_per_packet)),
        ("eta, accumulated", accumulated),
    ];
    lines.extend(a.lengths.iter().map(|length| {
        let tdqm::Length { packets, probability, eta, .. } = length;
        ("eta of a busy period", format!("{eta:.4} with {packets} packets, probability {probability:.4}"))
    }));
    lines
}

fn millis(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

fn megabits(bps: f64) -> String {
    let mbps = bps * 1e-6;
    format!("{mbps:.*} Mbit/s", numbers::decimals(mbps, 3))
}
