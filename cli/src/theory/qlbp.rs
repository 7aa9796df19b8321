//! `packetscale theory qlbp`.

use super::{Answer, megabits, millis, refused};
use crate::Failure;
use clap::{Args, ValueEnum};
use serde::Serialize;
use theory::qlbp::{OnOff, Pacer, Reading};
use units::{Bytes, Packets, Rate, Span};

#[derive(Args)]
pub struct Qlbp {
    /// Rate of the pacer with an empty queue
    #[arg(long, value_name = "RATE", default_value = "0 bit/s")]
    mu_min: Rate,
    /// Rate of the pacer at q-max
    #[arg(long, value_name = "RATE")]
    mu_max: Rate,
    /// Queue beyond which nothing is paced
    #[arg(long, value_name = "PACKETS")]
    q_max: Packets,
    /// Size of a packet
    #[arg(long, value_name = "SIZE", default_value = "1000 B")]
    packet: Bytes,
    /// What q-max counts
    #[arg(long, default_value = "waiting")]
    counts: Counts,
    /// Constant rate whose delay and step response are asked [default: mu-max]
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,
    /// Peak rate of a Markov on-off source to be smoothed [default: mu-max]
    #[arg(long, value_name = "RATE")]
    peak: Option<Rate>,
    /// Its mean silence
    #[arg(long, value_name = "TIME", default_value = "500 ms")]
    idle: Span,
    /// Its mean burst
    #[arg(long, value_name = "TIME", default_value = "500 ms")]
    burst: Span,
    /// Window in which packets are counted
    #[arg(long, value_name = "TIME", default_value = "50 ms")]
    window: Span,
    /// Pacers in tandem
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100))]
    pacers: u32,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Counts {
    /// Waiting packets: the paper's equation (1)
    Waiting,
    /// Waiting packets and the one in service: the paper's Table II
    WithInService,
}

#[derive(Serialize)]
struct Figures {
    response_per_s: f64,
    rate_bps: u64,
    steady_queue_packets: f64,
    steady_delay_s: f64,
    steady_delay_of_packets_s: f64,
    bound_s: f64,
    bound_holds: &'static str,
    emptying_s: f64,
    step_response: Vec<Point>,
    autocovariance: Vec<Lag>,
    variation: Vec<f64>,
}

/// After a step of the input.
#[derive(Serialize)]
struct Point {
    time_s: f64,
    rate_bps: f64,
}

/// In (bit/s)^2, before and after one pacer.
#[derive(Serialize)]
struct Lag {
    lag_s: f64,
    input: f64,
    paced: f64,
}

const BOUND_HOLDS: &str = "in steady state, constant rate up to mu_max; an emptying queue waits up to emptying_s";

pub fn answer(question: &Qlbp) -> Result<Answer, Failure> {
    let reading = match question.counts {
        Counts::Waiting => Reading::Waiting,
        Counts::WithInService => Reading::WithInService,
    };
    let Qlbp { mu_min, mu_max, q_max, packet, .. } = *question;
    let pacer = Pacer { mu_min, mu_max, q_max, packet, reading };
    let source = OnOff { peak: question.peak.unwrap_or(mu_max), idle: question.idle, burst: question.burst };
    pacer.check().and_then(|()| source.check()).map_err(refused)?;
    if question.window == Span::ZERO {
        return Err(Failure::Input("window: found 0 ps, expected a time above 0".to_string()));
    }
    let answer = figures(question, &pacer, &source);
    Answer::new(&answer, lines(&answer, question.window))
}

fn figures(question: &Qlbp, pacer: &Pacer, source: &OnOff) -> Figures {
    let rate = question.rate.unwrap_or(pacer.mu_max);
    let alpha = pacer.response_per_s();
    // Ten points over five time constants show all of an exponential.
    let times = || (0..=10).map(|i| Span::from_secs_f64(0.5 * f64::from(i) / alpha));
    Figures {
        response_per_s: alpha,
        rate_bps: rate.bps(),
        steady_queue_packets: pacer.steady_queue_packets(rate),
        steady_delay_s: pacer.steady_delay_s(rate),
        steady_delay_of_packets_s: pacer.steady_delay_of_packets_s(rate),
        bound_s: pacer.bound_s(),
        bound_holds: BOUND_HOLDS,
        emptying_s: pacer.emptying_s(),
        step_response: times()
            .map(|t| Point { time_s: t.as_secs_f64(), rate_bps: pacer.step_response_bps(rate, t) })
            .collect(),
        autocovariance: times()
            .map(|t| Lag {
                lag_s: t.as_secs_f64(),
                input: source.autocovariance(t),
                paced: source.paced_autocovariance(alpha, t),
            })
            .collect(),
        variation: (0..=question.pacers).map(|n| source.variation(alpha, n, question.window)).collect(),
    }
}

fn lines(a: &Figures, window: Span) -> Vec<(&'static str, String)> {
    let after = a.step_response.get(2).map_or(0.0, |point| point.rate_bps);
    let variation: Vec<String> = a.variation.iter().map(|cv| format!("{cv:.4}")).collect();
    vec![
        ("time constant", millis(1.0 / a.response_per_s)),
        ("steady delay, fluid", format!("{} at {}", millis(a.steady_delay_s), megabits(a.rate_bps as f64))),
        ("steady delay, packets", millis(a.steady_delay_of_packets_s)),
        ("bound in steady state", millis(a.bound_s)),
        ("last of a full queue", millis(a.emptying_s)),
        ("rate one time constant after a step", megabits(after)),
        ("variation after 0, 1, ... pacers", format!("{} in windows of {window}", variation.join(", "))),
    ]
}
