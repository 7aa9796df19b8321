//! Tries whether this machine can create the plan's paths honestly. Before the first run, one real TCP connection fills
//! each different path, without delay or loss, but with the delay line where the plan needs one. A path is honest when
//! the bottleneck carries the requested rate in the second half of the trial. More than `MOST` of it shows a token
//! bucket that lets too much through. Less than `LEAST` shows that timers, processors or the delay line are the
//! bottleneck; a run would take them for the network.

use crate::lab::delay_line::DelayLine;
use crate::lab::error::LabError;
use crate::lab::path::Means;
use crate::lab::rates::{self, Carried};
use crate::lab::{Draws, judged, measure};
use experiment::scenario::{Buffer, Experiment, Scenario};
use harness::realtime::lateness::Lateness;
use packetscale_models::units::{Bytes, Packets, Rate, Span, Time};
use std::collections::BTreeMap;
use std::path::Path;

const LEAST: f64 = 0.97;
const MOST: f64 = 1.01;

/// Length of a trial, and its first part, which is not judged.
const TRIAL: Span = Span::from_millis(800);
const SETTLING: Span = Span::from_millis(400);

/// Trials before a path is refused: other programs may have held the processors.
const TRIALS: usize = 3;

/// The least buffer of a trial. With a smaller one, the trial would judge the controller that fills it.
const LEAST_BUFFER: Packets = Packets::new(100);

/// Difficulty of a path for this machine: rate, packet size, delay line.
type Kind = (Rate, Bytes, bool);

/// Tests every different path of the plan. Returns the findings, one sentence each.
///
/// # Errors
/// The first path that this machine cannot create, and the rate that it reached.
pub(crate) fn calibrate(plan: &[Experiment]) -> Result<Vec<String>, LabError> {
    let kinds: BTreeMap<Kind, &Experiment> = plan.iter().rev().map(|run| (kind(run), run)).collect();
    let mut found = vec![timers()?];
    for ((rate, packet, delayed), run) in kinds {
        let trial = trial(run, packet);
        let with = if delayed { " and the delay line" } else { "" };
        let carried = |share: f64| {
            let filled = format!("filled by one TCP connection with packets of {packet}");
            format!("{filled}, the token bucket{with} carried {:.1} % of {rate}", share * 100.0)
        };
        let once = || match share(&trial, delayed) {
            Ok(share) if (LEAST..=MOST).contains(&share) => Ok(carried(share)),
            Ok(share) => Err(format!("{} ({:.0} to {:.0} % would do)", carried(share), LEAST * 100.0, MOST * 100.0)),
            Err(error) => Err(error.to_string()),
        };
        let tried = (1..TRIALS).fold(once(), |last, _| last.or_else(|_| once()));
        found.push(tried.map_err(|why| {
            let advice = "lower path.rate, use larger packets, or stop other programs";
            let timers = &found[0];
            LabError(format!("path.rate: this machine cannot create {rate}: {why}; {timers}; {advice}"))
        })?);
    }
    Ok(found)
}

fn kind(run: &Experiment) -> Kind {
    let packet = run.flows.iter().map(|flow| flow.packet).max().unwrap_or(Bytes::new(1_514));
    (highest(run), packet, DelayLine::is_needed(run))
}

/// The highest rate that a run's bottleneck has; of opportunities, their mean rate.
fn highest(run: &Experiment) -> Rate {
    let rates = rates::of(run).into_iter().filter_map(|(_, carried)| match carried {
        Carried::AtRate(rate) if rate > Rate::ZERO => Some(rate),
        _ => None,
    });
    rates.max().unwrap_or(run.links[run.bottleneck].rate)
}

/// Returns an experiment with one flow on the path of `run`, without delay and loss.
fn trial(run: &Experiment, packet: Bytes) -> Experiment {
    let link = &run.links[run.bottleneck];
    let least = Bytes::new(LEAST_BUFFER.get() * packet.get());
    let buffer = match link.buffer {
        Buffer::Bytes(bytes) => bytes.max(least),
        Buffer::Packets(packets) => Bytes::new(packets.max(LEAST_BUFFER).get().saturating_mul(packet.get())),
        Buffer::Unlimited => least,
    };
    one_flow(highest(run), packet, buffer)
}

/// Returns an experiment with one flow on an empty path, for [`TRIAL`].
pub(crate) fn one_flow(rate: Rate, packet: Bytes, buffer: Bytes) -> Experiment {
    let scenario = format!(
        r#"
        run = {{ duration = "{} ns", warmup = "{} ns" }}
        path = {{ rate = "{} bit/s", delay = "0 s", buffer = "{} B" }}
        receiver = {{ delayed_ack = 1 }}
        record = {{ detail = false, streams = 0 }}
        flow = [{{ controller = "newreno", packet = "{} B" }}]
        "#,
        TRIAL.nanos(),
        SETTLING.nanos(),
        rate.bps(),
        buffer.get(),
        packet.get()
    );
    let scenario = Scenario::parse(&scenario, Path::new("calibration"), &[]).expect("a scenario of our own");
    scenario.plan().remove(0)
}

fn share(trial: &Experiment, delayed: bool) -> Result<f64, LabError> {
    let draws = Draws { starts: vec![Time::ZERO], ..Draws::default() };
    let raw = measure(trial, draws, Means::DelayLine, delayed)?;
    let books = judged(trial, &raw)?;
    let (from, to) = (SETTLING.nanos(), TRIAL.nanos());
    let departed = books.packets.iter().filter(|packet| packet.departure_ns().is_some_and(|at| at > from && at <= to));
    let bits = departed.map(|packet| f64::from(packet.size) * 8.0).sum::<f64>();
    Ok(bits / ((to - from) as f64 * 1e-9) / trial.links[0].rate.bps() as f64)
}

/// Returns how late this machine wakes a thread that sleeps for a millisecond, in words.
fn timers() -> Result<String, LabError> {
    let lateness = Lateness::measure().map_err(LabError::doing("a thread cannot have a real-time priority"))?;
    let us = |percent| lateness.percentile_ns(percent) as f64 * 1e-3;
    Ok(format!("a timer of 1 ms is late by {:.0} us at the median, {:.0} us at the 99th percentile", us(50), us(99)))
}
