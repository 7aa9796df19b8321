//! Checks whether the lab can carry out a scenario. A refusal names the key.

use crate::error::LabError;
use crate::flows::{available, is_missing, kernel_name, stream_with};
use crate::path::{HEADER, Means};
use crate::qdiscs::{KNOWN, MOST_DELAYS, delays_back};
use crate::tap::MOST_OUTAGES;
use scenario::{Experiment, GapModel, Impairments, Service};
use std::collections::BTreeSet;
use units::{Bytes, Packets, Ratio, Span};

/// Most flows: each has a source port.
const MOST_FLOWS: usize = 50_000;

/// Smallest frame of a flow: headers, and the smallest segment that Linux makes (its least MSS is 88).
const SMALLEST: Bytes = Bytes::new(HEADER + 40 + 88);

/// Refuses an experiment that the lab cannot carry out.
pub(crate) fn accept(experiment: &Experiment, means: Means) -> Result<(), LabError> {
    hosts(experiment)?;
    flows(experiment)?;
    if experiment.flows.iter().any(|flow| !flow.back.is_empty()) {
        return no("path.return", "a bottleneck on the way back", "a way back that only delays");
    }
    if experiment.links.len() > 1 {
        return no("link", format!("{} links", experiment.links.len()), "one bottleneck, [path]");
    }
    let link = &experiment.links[0];
    if means == Means::Qdiscs {
        by_qdiscs(experiment)?;
    } else if link.queue.kind != "fifo" {
        return no("path.queue", format!("\"{}\"", link.queue.kind), "\"fifo\"");
    }
    if means == Means::DelayLine && link.impairments != Impairments::default() {
        return no("path", "reordering, outages or steps of the delay", "a constant delay and a constant loss");
    }
    if experiment.record.links {
        return no("record.links", "true", "false: the bottleneck is the only link, and it is measured");
    }
    if link.service != Service::default() {
        return no("path", "a changing rate, service in bursts, a shaper or a policer", "a constant rate");
    }
    if link.rate.bps() < 8_000 {
        return no("path.rate", link.rate, "8 kbit/s and more: tc-tbf's least rate");
    }
    Ok(())
}

/// What the kernel's queue disciplines can do.
fn by_qdiscs(experiment: &Experiment) -> Result<(), LabError> {
    let link = &experiment.links[0];
    let kind = link.queue.kind.as_str();
    if kind != "fifo" && !KNOWN.contains(&kind) {
        return no("path.queue", format!("\"{kind}\""), &format!("\"fifo\", {}", KNOWN.join(", ")));
    }
    if let Some(setting) = link.queue.settings.keys().next() {
        return no("path.queue", format!("the setting \"{setting}\""), "the kernel's disciplines, without settings");
    }
    if !link.impairments.delay_steps.is_empty() {
        return no("path", "steps of the delay", "a constant delay: netem lets packets overtake where it falls");
    }
    if link.impairments.outages.len() > MOST_OUTAGES {
        return no("path", format!("{} outages", link.impairments.outages.len()), &format!("{MOST_OUTAGES}"));
    }
    let delays = delays_back(experiment).len();
    if delays > MOST_DELAYS {
        return no("flow.rtt", format!("{delays} different ones"), &format!("{MOST_DELAYS}, one band of tc-prio each"));
    }
    Ok(())
}

fn no(key: &str, found: impl std::fmt::Display, can: &str) -> Result<(), LabError> {
    Err(LabError(format!("{key}: found {found}; with --on kernel only {can}")))
}

fn hosts(experiment: &Experiment) -> Result<(), LabError> {
    let receiver = &experiment.receiver;
    if receiver.coalescing.time > Span::ZERO {
        return no(
            "receiver.coalescing",
            format!("\"{}\"", receiver.coalescing.time),
            "none: virtual devices have no interrupts",
        );
    }
    if receiver.delayed_ack > 2 {
        return no("receiver.delayed_ack", receiver.delayed_ack, "1 (the route's quickack) or 2 (Linux's default)");
    }
    if receiver.delayed_ack == 2 && receiver.delayed_ack_timeout != Span::from_millis(40) {
        let found = format!("\"{}\"", receiver.delayed_ack_timeout);
        return no("receiver.delayed_ack_timeout", found, "\"40 ms\", Linux's own");
    }
    if receiver.window != Packets::MAX {
        return no("receiver.window", receiver.window, "\"unlimited\": Linux sizes its buffers itself");
    }
    if !receiver.stamps || receiver.stamp_granularity != Span::from_nanos(1) {
        return no("receiver.stamps", "stamps that the receiver's programs do not give", "the defaults");
    }
    if receiver.ack_loss > Ratio::ZERO || receiver.ack_bunching > Span::ZERO {
        return no("receiver", "acknowledgments lost or bunched on purpose", "a return path that does neither");
    }
    if experiment.gaps != GapModel::Perfect {
        return no("sender.gaps", "a model of gaps", "\"perfect\", which here means: as well as this machine can");
    }
    Ok(())
}

fn flows(experiment: &Experiment) -> Result<(), LabError> {
    if experiment.flows.len() > MOST_FLOWS {
        return no("flow", format!("{} flows", experiment.flows.len()), "50 000, one port each");
    }
    if let Some(arrivals) = experiment.arrivals.first() {
        return no(
            &format!("flow.{}.arrivals", arrivals.table),
            "flows that arrive",
            "flows that are there from their start on",
        );
    }
    let first = experiment.flows.first();
    for (number, flow) in experiment.flows.iter().enumerate() {
        let key = |name: &str| format!("flow.{number}.{name}");
        if flow.stop.is_some() {
            return no(&key("stop"), "a time", "flows that last, or have a size");
        }
        if flow.access.is_some() {
            return no(&key("access"), "a rate", "cards without a rate: they are as fast as the machine");
        }
        if flow.pacing_percent > 0 {
            return no("sender.pacing", "a percentage", "\"0 %\": the kernel's controllers decide their pacing");
        }
        if flow.packet < SMALLEST {
            return no(&key("packet"), flow.packet, &format!("{} B and more", SMALLEST.get()));
        }
        if let Some(setting) = flow.controller.settings.keys().next() {
            let found = format!("the setting \"{setting}\" of \"{}\"", flow.controller.kind);
            return no("controller", found, "the kernel's controllers, without settings");
        }
        if first.is_some_and(|first| first.initial_window != flow.initial_window || first.min_rto != flow.min_rto) {
            return no("sender", "flows that differ in initial window or min_rto", "the same for all flows");
        }
    }
    Ok(())
}

/// Refuses controllers that the kernel does not have.
pub(crate) fn controllers(plan: &[Experiment]) -> Result<(), LabError> {
    let names: BTreeSet<&str> =
        plan.iter().flat_map(|run| &run.flows).map(|flow| kernel_name(&flow.controller.kind)).collect();
    for name in names {
        match stream_with(name) {
            Err(error) if is_missing(&error) => {
                let hint = if name == "rapid" { "; \"packetscale tcp load\" brings it" } else { "" };
                let has = available();
                return Err(LabError(format!("this kernel has no congestion control \"{name}\"; it has {has}{hint}")));
            }
            tried => drop(tried.map_err(LabError::doing(format!("congestion control \"{name}\"")))?),
        }
    }
    Ok(())
}
