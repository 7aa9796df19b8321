//! The rate of traffic without randomness, as a step function: the complement of an ideal controller's share.

use crate::scenario::{Experiment, LinkSpec, TrafficKind, TrafficSpec};
use packetscale_models::units::{Rate, Span, Time};

/// Returns the instants at which the rate of all copies together changes, and the rate from each on; the first is the
/// run's start. `None` where chance decides: drawn lengths, Poisson arrivals, traces, several copies of periodic
/// bursts (each begins at a random point). `None` also behind a shaper.
pub fn planned_rate(spec: &TrafficSpec, duration: Span) -> Option<Vec<(Time, Rate)>> {
    if spec.shaper.is_some() {
        return None;
    }
    let end = spec.stop.min(Time::ZERO.saturating_add(duration));
    let bursts = match spec.kind {
        TrafficKind::Cbr { rate } => {
            let total = Rate::from_bps(rate.bps().saturating_mul(u64::from(spec.copies)));
            vec![(spec.start, end, total)]
        }
        TrafficKind::OnOff { on, off, rate } if spec.copies == 1 => periodic(spec.start, end, on, off, rate),
        _ => return None,
    };
    let mut steps = vec![(Time::ZERO, Rate::ZERO)];
    for (from, until, rate) in bursts.into_iter().filter(|(from, until, _)| from < until) {
        step(&mut steps, from, rate);
        step(&mut steps, until, Rate::ZERO);
    }
    Some(steps)
}

/// The available capacity of the bottleneck from each time on, when every traffic source follows a plan, and the rate of
/// the link too: it is constant or follows rates, not delivery opportunities or grants.
pub fn available_steps(experiment: &Experiment) -> Option<Vec<(Time, Rate)>> {
    let capacity = planned_capacity(&experiment.links[experiment.bottleneck], experiment.duration)?;
    let plans: Option<Vec<_>> = experiment.traffic.iter().map(|spec| planned_rate(spec, experiment.duration)).collect();
    let plans = plans?;
    let mut times: Vec<Time> = plans.iter().chain([&capacity]).flatten().map(|(at, _)| *at).collect();
    times.sort_unstable();
    times.dedup();
    let level = |plan: &[(Time, Rate)], at: Time| {
        let begun = plan.partition_point(|(from, _)| *from <= at);
        plan[..begun].last().map_or(Rate::ZERO, |(_, rate)| *rate)
    };
    let used = |at: Time| plans.iter().fold(Rate::ZERO, |sum, plan| sum + level(plan, at));
    Some(times.into_iter().map(|at| (at, level(&capacity, at).saturating_sub(used(at)))).collect())
}

fn planned_capacity(link: &LinkSpec, duration: Span) -> Option<Vec<(Time, Rate)>> {
    let rates = match &link.service.variation {
        Some(variation) if variation.capacity.is_smooth() => variation.capacity.rates(Time::ZERO + duration),
        Some(_) => return None,
        None => vec![(Time::ZERO, link.rate)],
    };
    Some(rates.into_iter().map(|(at, rate)| (at, link.within_buckets(rate))).collect())
}

fn periodic(start: Time, end: Time, on: Span, off: Span, rate: Rate) -> Vec<(Time, Time, Rate)> {
    if on == Span::ZERO {
        return Vec::new();
    }
    if off == Span::ZERO {
        return vec![(start, end, rate)];
    }
    let mut bursts = Vec::new();
    let mut from = start;
    while from < end {
        let until = from.saturating_add(on);
        bursts.push((from, until.min(end), rate));
        from = until.saturating_add(off);
    }
    bursts
}

/// Adds a step. A step at the same instant as the last one replaces it.
fn step(steps: &mut Vec<(Time, Rate)>, at: Time, rate: Rate) {
    match steps.last_mut() {
        Some(last) if last.0 == at => last.1 = rate,
        _ => steps.push((at, rate)),
    }
}
