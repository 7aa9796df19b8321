//! `packetscale theory burstiness`.

use super::{Answer, megabits, millis, refused};
use crate::Failure;
use clap::{Args, ValueEnum};
use serde::Serialize;
use theory::burstiness::{Filter, OnOff, Outcome, Smoothing, at_rtt, rate_bps, small_burst_utilisation, worst_phase};
use units::{Rate, Span};

#[derive(Args)]
pub struct Burstiness {
    /// Capacity of the bottleneck
    #[arg(long, value_name = "RATE")]
    capacity: Rate,
    /// Cross traffic averaged over bursts and silences
    #[arg(long, value_name = "RATE")]
    average: Rate,
    /// Length of a burst
    #[arg(long, value_name = "TIME")]
    on: Span,
    /// Silence between bursts
    #[arg(long, value_name = "TIME")]
    off: Span,
    /// Time constant of increases, tau
    #[arg(long, value_name = "TIME")]
    increase: Span,
    /// Time constant of decreases, eta
    #[arg(long, value_name = "TIME")]
    decrease: Span,
    /// Round-trip time without queue [default: the one with the longest queue]
    #[arg(long, value_name = "TIME")]
    rtt: Option<Span>,
    /// How a gap to the available bandwidth is closed
    #[arg(long, default_value = "linear")]
    filter: Shape,
    /// With --json: the sending rate at the bottleneck over two periods, as `rate_curve`, from a burst that starts then
    #[arg(long, value_name = "TIME")]
    curve: Option<Span>,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    /// The paper's analysis
    Linear,
    /// The fluid limit of the filter it prints
    Exponential,
}

#[derive(Serialize)]
struct Figures {
    case: &'static str,
    queue_delay_s: f64,
    queue_max_bits: f64,
    standing_queue_bits: f64,
    throughput_bps: f64,
    utilisation: f64,
    rate_high_bps: f64,
    rate_low_bps: f64,
    rtt_worst_s: f64,
    rtt_worst_to_s: f64,
    small_burst_utilisation: f64,
    stable: bool,
    /// Pairs of a time in seconds and a rate in bit/s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rate_curve: Vec<(f64, f64)>,
}

pub fn answer(question: &Burstiness) -> Result<Answer, Failure> {
    let Burstiness { capacity, average, on, off, increase, decrease, .. } = *question;
    let filter = match question.filter {
        Shape::Linear => Filter::Linear,
        Shape::Exponential => Filter::Exponential,
    };
    let traffic = OnOff { capacity, average, on, off };
    let smoothing = Smoothing { filter, increase, decrease };
    let outcome = match question.rtt {
        Some(rtt) => at_rtt(&traffic, &smoothing, rtt),
        None => worst_phase(&traffic, &smoothing),
    }
    .map_err(refused)?;
    let limit = small_burst_utilisation(&traffic).map_err(refused)?;
    let warning = (!outcome.stable).then_some(if outcome.standing_queue_bits > 0.0 {
        "this RTT overloads the link: a queue stands that has shifted the phase"
    } else {
        "some other phase overloads the link: a queue that stands there can be longer than this one"
    });
    let lag_s = question.rtt.map_or(outcome.rtt_worst_s, Span::as_secs_f64);
    let curve = question.curve.map_or(Ok(Vec::new()), |start| curve(&traffic, &smoothing, &outcome, lag_s, start));
    let curve = curve.map_err(refused)?;
    let answer = Answer::new(&figures(&outcome, limit, curve), lines(&outcome, limit))?;
    Ok(Answer { warning, ..answer })
}

/// Two periods of the sending rate from a burst that reaches the link at `start`.
fn curve(
    traffic: &OnOff,
    smoothing: &Smoothing,
    outcome: &Outcome,
    lag_s: f64,
    start: Span,
) -> Result<Vec<(f64, f64)>, theory::Error> {
    const POINTS: u32 = 600;
    let capacity_bps = traffic.capacity.bps() as f64;
    let standing_s = outcome.standing_queue_bits / capacity_bps;
    let (delay_s, two_periods_s) = (outcome.queue_delay_s - standing_s, 2.0 * (traffic.on + traffic.off).as_secs_f64());
    let point = |i| {
        let since_s = two_periods_s * f64::from(i) / f64::from(POINTS);
        let rate = rate_bps(traffic, smoothing, delay_s, since_s - lag_s - standing_s)?;
        Ok((start.as_secs_f64() + since_s, rate))
    };
    (0..=POINTS).map(point).collect()
}

fn figures(o: &Outcome, limit: f64, rate_curve: Vec<(f64, f64)>) -> Figures {
    Figures {
        case: o.case.name(),
        queue_delay_s: o.queue_delay_s,
        queue_max_bits: o.queue_max_bits,
        standing_queue_bits: o.standing_queue_bits,
        throughput_bps: o.throughput_bps,
        utilisation: o.utilisation,
        rate_high_bps: o.rate_high_bps,
        rate_low_bps: o.rate_low_bps,
        rtt_worst_s: o.rtt_worst_s,
        rtt_worst_to_s: o.rtt_worst_to_s,
        small_burst_utilisation: limit,
        stable: o.stable,
        rate_curve,
    }
}

fn lines(o: &Outcome, limit: f64) -> Vec<(&'static str, String)> {
    vec![
        ("case", o.case.name().to_string()),
        ("utilisation", format!("{:.4}", o.utilisation)),
        ("throughput", megabits(o.throughput_bps)),
        ("queue delay", millis(o.queue_delay_s)),
        ("longest queue", format!("{:.0} kB", o.queue_max_bits / 8e3)),
        ("of it standing", format!("{:.0} kB", o.standing_queue_bits / 8e3)),
        ("highest rate", megabits(o.rate_high_bps)),
        ("lowest rate", megabits(o.rate_low_bps)),
        ("worst RTT", format!("{} to {}", millis(o.rtt_worst_s), millis(o.rtt_worst_to_s))),
        ("for very short bursts", format!("utilisation {limit:.4}")),
        ("empties at every phase", if o.stable { "yes" } else { "no" }.to_string()),
    ]
}
