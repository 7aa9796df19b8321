//! Random choices before a run begins: when flows start, and the packets of traffic.

use crate::scenario::{Experiment, FlowSpec, RateSource, Scenario, Start, TraceSource, TrafficKind};
use crate::traffic::chance::{Purpose, seed};
use crate::traffic::{AnySource, CrossPacket, Superposition, TrafficError, open, replay, survey};
use packetscale_models::units::{Span, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;

/// Returns when the `index`-th flow starts, in a run with the seed `run`.
pub fn start(flow: &FlowSpec, index: usize, run: u64) -> Time {
    match flow.start {
        Start::At(time) => time,
        Start::Uniform(from, to) => {
            let mut random = Pcg64Mcg::seed_from_u64(seed(run, Purpose::Start, index));
            Time::from_picos(random.random_range(from.picos()..=to.picos()))
        }
    }
}

/// Returns when each flow of an experiment starts.
pub fn starts(experiment: &Experiment) -> Vec<Time> {
    experiment.flows.iter().enumerate().map(|(index, flow)| start(flow, index, experiment.seed)).collect()
}

/// Returns the copies of the `index`-th traffic source of an experiment, superposed.
///
/// Browsing users that do not react to the path (`responsive = false`) send as on an otherwise empty path. Only a
/// host in virtual time can find that: `alone` makes that run and returns the packets of each copy.
///
/// # Errors
/// A source that cannot be opened, or an error of `alone`.
pub fn packets<E: From<TrafficError>>(
    experiment: &Experiment,
    index: usize,
    alone: impl FnOnce(&Experiment, usize) -> Result<Vec<Vec<CrossPacket>>, E>,
) -> Result<Superposition<AnySource>, E> {
    let spec = &experiment.traffic[index];
    let sources = match &spec.kind {
        TrafficKind::Web(web) if !web.responsive => replay(spec, alone(experiment, index)?, experiment.duration),
        _ => open(spec, seed(experiment.seed, Purpose::Traffic, index), experiment.duration)?,
    };
    Ok(Superposition::new(sources))
}

/// Returns each traffic source of an experiment, as [`packets`] opens it.
///
/// # Errors
/// As [`packets`].
pub fn cross_traffic<E: From<TrafficError>>(
    experiment: &Experiment,
    alone: impl Fn(&Experiment, usize) -> Result<Vec<Vec<CrossPacket>>, E>,
) -> Result<Vec<Superposition<AnySource>>, E> {
    (0..experiment.traffic.len()).map(|index| packets(experiment, index, &alone)).collect()
}

/// Returns what a plan's author should know before it runs: flaws of the captures that it replays, and periods that its curves
/// cannot show, by the keys of the scenario's file. A capture that cannot be read gives no warning: its run refuses it.
pub fn warnings(scenario: &Scenario, plan: &[Experiment]) -> Vec<String> {
    let captures = plan.iter().flat_map(|experiment| &experiment.traffic).filter_map(|spec| match &spec.kind {
        TrafficKind::Trace { file, source: TraceSource::Pcap, .. } => Some(file),
        _ => None,
    });
    let once: BTreeSet<_> = captures.collect();
    let flaws = once.into_iter().filter_map(|file| Some((file, survey(file, TraceSource::Pcap).ok()?.flaws)));
    let mut hidden_bursts: Vec<(String, String)> = Vec::new();
    for (key, said) in plan.iter().flat_map(hidden) {
        if !hidden_bursts.iter().any(|(_, known)| *known == said) {
            hidden_bursts.push((key, said));
        }
    }
    let hidden_bursts = hidden_bursts.into_iter().map(|(key, said)| format!("{}: {said}", scenario.written(&key)));
    flaws.flat_map(|(file, flaws)| flaws.warnings(file)).chain(hidden_bursts).collect()
}

/// With fewer points to a period, curves show a period that is not there.
const POINTS_OF_A_PERIOD: u64 = 4;

/// The periods of bursts and of rates that are too short for the steps of the curves: key and warning. Equal warnings
/// are given once, at the first key.
fn hidden(experiment: &Experiment) -> Vec<(String, String)> {
    let step = experiment.record.step;
    let said = |key: String, period: Span, (what, longer): (&str, &str)| {
        let longest = Span::from_picos(period.picos() / POINTS_OF_A_PERIOD);
        (step > longest).then(|| {
            let words = format!(
                "{what} every {period}, which curves with record.step = \"{step}\" cannot show; expected a step of \
                 {longest} at most, or {longer}"
            );
            (key, words)
        })
    };
    const BURSTS: (&str, &str) = ("bursts come", "longer bursts");
    let traffic = experiment.traffic.iter().enumerate();
    let traffic = traffic.filter_map(|(index, spec)| said(format!("traffic.{index}"), period(&spec.kind)?, BURSTS));
    let flows = experiment.flows.iter().enumerate();
    let flows = flows
        .filter_map(|(index, flow)| said(format!("flow.{index}.application"), period(&flow.offered()?.kind)?, BURSTS));
    let rates = experiment.links.iter().enumerate().filter_map(|(index, link)| {
        let RateSource::Steps { repeat, .. } = link.service.variation.as_ref()?.source else { return None };
        let own = if index == 0 { "path".to_string() } else { format!("link.{index}") };
        said(format!("{own}.rate_repeat"), repeat?, ("the rate begins again", "a longer period"))
    });
    if experiment.record.detail { traffic.chain(flows).chain(rates).collect() } else { Vec::new() }
}

/// The time from burst to burst, on average.
fn period(kind: &TrafficKind) -> Option<Span> {
    match kind {
        TrafficKind::OnOff { on, off, .. }
        | TrafficKind::ExponentialOnOff { on, off, .. }
        | TrafficKind::ParetoOnOff { on, off, .. } => Some(*on + *off),
        _ => None,
    }
}
