//! `packetscale theory tdqm`.

use super::{Answer, refused};
use crate::Failure;
use clap::Args;
use serde::Serialize;
use theory::Error;
use theory::tdqm::{eta_accumulated, eta_of_length, eta_per_packet, eta_per_period, length_probability};

#[derive(Args)]
pub struct Tdqm {
    /// Load of Poisson traffic with equal packets, above 0 and below 1
    #[arg(long, value_name = "RHO")]
    load: f64,
    /// Busy time that is accumulated before eta is taken, in packet times
    #[arg(long, value_name = "PACKETS", default_value_t = 1000.0)]
    accumulate: f64,
    /// Lengths of busy periods to list
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    lengths: u32,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Figures {
    load: f64,
    eta_per_period: f64,
    eta_per_packet: f64,
    accumulated_packet_times: f64,
    eta_accumulated: Option<f64>,
    lengths: Vec<Length>,
}

#[derive(Serialize)]
struct Length {
    packets: u32,
    probability: f64,
    eta: f64,
    eta_waiting_only: f64,
    eta_least: f64,
}

pub fn answer(question: &Tdqm) -> Result<Answer, Failure> {
    if !(question.accumulate > 0.0 && question.accumulate.is_finite()) {
        let message = format!("accumulate: found {}, expected packet times above 0", question.accumulate);
        return Err(Failure::Input(message));
    }
    let answer = figures(question).map_err(refused)?;
    let accumulated =
        answer.eta_accumulated.map_or("none here: too few busy periods".to_string(), |eta| format!("{eta:.4}"));
    let mut lines = vec![
        ("load", format!("{}", answer.load)),
        ("eta, mean over busy periods", format!("{:.4}", answer.eta_per_period)),
        ("eta, mean over packets", format!("{:.4}", answer.eta_per_packet)),
        ("eta, accumulated", accumulated),
    ];
    lines.extend(answer.lengths.iter().map(|length| {
        let Length { packets, probability, eta, .. } = length;
        ("eta of a busy period", format!("{eta:.4} with {packets} packets, probability {probability:.4}"))
    }));
    Answer::new(&answer, lines)
}

fn figures(question: &Tdqm) -> Result<Figures, Error> {
    let load = question.load;
    let length = |packets| {
        let (eta, one) = (eta_of_length(packets)?, 1.0 / f64::from(packets));
        let probability = length_probability(packets, load)?;
        Ok(Length { packets, probability, eta, eta_waiting_only: eta - one, eta_least: one })
    };
    Ok(Figures {
        load,
        eta_per_period: eta_per_period(load)?,
        eta_per_packet: eta_per_packet(load)?,
        accumulated_packet_times: question.accumulate,
        eta_accumulated: eta_accumulated(load, question.accumulate)?,
        lengths: (1..=question.lengths).map(length).collect::<Result<_, Error>>()?,
    })
}
