//! Checks whether the lab can run a scenario. A refusal names the key, the value found, and what the lab supports.

use crate::lab::bottleneck::{Bottleneck, LEAST_BUCKETS};
use crate::lab::disciplines;
use crate::lab::error::{LabError, unfit};
use crate::lab::flows::{available, loaded};
use crate::lab::path::{DCTCP, HEADER, Means, mtu};
use crate::lab::qdiscs::{MOST_DELAYS, delays_back};
use crate::lab::rapid::RAPID;
use crate::lab::rates;
use crate::lab::sockets::{is_missing, kernel_names, stream_with};
use crate::lab::tap::MOST_OUTAGES;
use experiment::scenario::{Coalescing, Experiment, FlowSpec, GapModel, JitterLaw, LinkSpec, RateSource, TrafficKind};
use harness::runner::Unfit;
use packetscale_models::units::{Bytes, Packets, Ratio, Span};
use std::collections::BTreeSet;

/// Most flows: each has a source port.
const MOST_FLOWS: usize = 50_000;

/// One bottleneck in each direction has its own message; more links are a network.
const MOST_LINKS: usize = 2;

/// Smallest frame of a flow: headers, and the smallest segment that Linux makes (its least MSS is 88).
const SMALLEST: Bytes = Bytes::new(HEADER + 40 + 88);

/// The least rate of tc-tbf, in bit/s.
const SLOWEST: u64 = 8_000;

/// Data per opportunity of a trace.
const OPPORTUNITY: Bytes = Bytes::new(1_500);

/// The most jitter of netem: half of it has 31 bits of nanoseconds (`tabledist` of sch_netem.c).
const MOST_JITTER: Span = Span::from_secs(4);

/// Linux's own timeout of a delayed acknowledgment.
const DELAYED_ACK: Span = Span::from_millis(40);

/// Controllers without ECN in scenarios, although the kernel would mark any.
const WITHOUT_MARKS: [&str; 3] = [RAPID, "bbr", "bbr1"];

/// Refuses an experiment that the lab cannot carry out.
pub(crate) fn accept(experiment: &Experiment, means: Means) -> Result<(), Unfit> {
    if experiment.links.len() > MOST_LINKS {
        return unfit("link", format!("{} links", experiment.links.len()), "one bottleneck, [path]");
    }
    if experiment.flows.iter().any(|flow| !flow.back.is_empty()) {
        let expected = "one bottleneck, [path], and a return path that only delays";
        return unfit("path.return", "a link on the return path, where acknowledgments queue", expected);
    }
    if experiment.links.len() > 1 {
        return unfit("link", "2 links", "one bottleneck, [path]");
    }
    let link = &experiment.links[0];
    let packet = Bytes::new(mtu(experiment) + HEADER);
    served(link, packet)?;
    steps(experiment, &Bottleneck { link, packet, means })?;
    disciplines::check(link, packet)?;
    match means {
        Means::DelayLine => by_delay_line(link)?,
        Means::Qdiscs => by_qdiscs(experiment, link)?,
    }
    receiver(experiment)?;
    flows(experiment)?;
    traffic(experiment)?;
    if experiment.gaps != GapModel::Perfect {
        let expected = "\"perfect\": the best that this machine can do";
        return unfit("sender.gaps", "a model of gaps", expected);
    }
    if experiment.record.links {
        return unfit("record.links", true, "false: the bottleneck is the only link, and it is measured");
    }
    Ok(())
}

/// How the link serves: by tc-tbf.
fn served(link: &LinkSpec, packet: Bytes) -> Result<(), Unfit> {
    if link.rate.bps() < SLOWEST {
        return unfit("path.rate", format!("\"{}\"", link.rate), "8 kbit/s and more: tc-tbf's least rate");
    }
    let service = &link.service;
    if service.aggregation.is_some() {
        return unfit("path.aggregation", "service in bursts", "none: the token bucket passes packets one by one");
    }
    let (Some(variation), Some(key)) = (&service.variation, changes(link)) else { return Ok(()) };
    if service.shaper.is_some() {
        return unfit(key, "a changing rate and a shaper", "none: a change would fill the shaper's bucket, too");
    }
    if variation.has_opportunities() && packet > OPPORTUNITY {
        let expected = format!("packets of {OPPORTUNITY} at most: the token bucket holds an opportunity, and no more");
        return unfit(key, format!("opportunities for packets of {packet}"), expected);
    }
    Ok(())
}

/// The key by which the rate changes, if it does.
fn changes(link: &LinkSpec) -> Option<&'static str> {
    link.service.variation.as_ref().map(|variation| match variation.source {
        RateSource::Steps { .. } => "path.rate_steps",
        RateSource::Trace { .. } => "path.rate_trace",
    })
}

/// Refuses steps of the rate that carry few packets: each change lets one through.
fn steps(experiment: &Experiment, bottleneck: &Bottleneck<'_>) -> Result<(), Unfit> {
    let Some(key) = changes(bottleneck.link) else { return Ok(()) };
    let Some((lasts, rate, held)) = bottleneck.too_short(&rates::of(experiment)) else { return Ok(()) };
    let least = rate.time_for(held * LEAST_BUCKETS);
    let expected = format!("\"{least}\" or longer at this rate: each change lets {held} through at once");
    unfit(key, format!("a step of \"{lasts}\" at \"{rate}\""), expected)
}

/// Checks for what the delay line can do.
fn by_delay_line(link: &LinkSpec) -> Result<(), Unfit> {
    let wire = &link.impairments;
    if wire.reorder.is_some() {
        return unfit("path.reorder", "reordering", "none: the delay line keeps their order");
    }
    if wire.jitter.is_some() {
        return unfit("path.jitter", "jitter", "none: the delay line has one constant delay");
    }
    if wire.bursts.is_some() {
        return unfit("path.loss", "losses in bursts", "a probability: the delay line loses packets independently");
    }
    if !wire.outages.is_empty() {
        return unfit("path.outages", format!("{} outages", wire.outages.len()), "none: the delay line has none");
    }
    if !wire.delay_steps.is_empty() {
        return unfit("path.delay_steps", "a changing delay", "none: the delay line has one constant delay");
    }
    Ok(())
}

/// Checks for what the kernel's queue disciplines can do.
fn by_qdiscs(experiment: &Experiment, link: &LinkSpec) -> Result<(), Unfit> {
    let outages = link.impairments.outages.len();
    if outages > MOST_OUTAGES {
        return unfit("path.outages", format!("{outages} outages"), format!("{MOST_OUTAGES} at most"));
    }
    if let Some(jitter) = &link.impairments.jitter {
        match &jitter.law {
            JitterLaw::Uniform(most) if *most <= MOST_JITTER => {}
            JitterLaw::Uniform(most) => {
                return unfit("path.jitter.most", most, format!("{MOST_JITTER} at most, as in netem"));
            }
            JitterLaw::Normal { .. } | JitterLaw::File { .. } => {
                let expected = "\"uniform\": netem draws other distributions from tables of 4 standard deviations";
                return unfit("path.jitter.kind", "another distribution", expected);
            }
        }
    }
    let delays = delays_back(experiment).len();
    if delays > MOST_DELAYS {
        let expected = format!("{MOST_DELAYS} at most, one band of tc-prio each");
        return unfit("flow.0.rtt", format!("{delays} different round trips"), expected);
    }
    Ok(())
}

fn receiver(experiment: &Experiment) -> Result<(), Unfit> {
    let receiver = &experiment.receiver;
    if receiver.coalescing != Coalescing::NONE {
        let found = format!("\"{}\"", receiver.coalescing.time);
        return unfit("receiver.coalescing", found, "none: virtual devices have no interrupts");
    }
    if receiver.delayed_ack > 2 {
        return unfit("receiver.delayed_ack", receiver.delayed_ack, "1 (the route's quickack) or 2 (Linux's default)");
    }
    if receiver.delayed_ack == 2 && receiver.delayed_ack_timeout != DELAYED_ACK {
        let found = format!("\"{}\"", receiver.delayed_ack_timeout);
        return unfit("receiver.delayed_ack_timeout", found, format!("\"{DELAYED_ACK}\", Linux's own"));
    }
    if receiver.window != Packets::MAX {
        return unfit("receiver.window", receiver.window, "\"unlimited\": Linux sizes its buffers itself");
    }
    if !receiver.stamps {
        return unfit("receiver.stamps", false, "true: Rapid's receiver always stamps");
    }
    if receiver.stamp_granularity != Span::from_nanos(1) {
        let found = format!("\"{}\"", receiver.stamp_granularity);
        return unfit("receiver.stamp_granularity", found, "\"1 ns\", the clock of the receiver's program");
    }
    if receiver.clock != Ratio::ONE {
        let found = format!("\"{} %\"", (1000.0 * receiver.clock.as_f64()).round() / 10.0);
        return unfit("receiver.clock", found, "\"100 %\": both ends read the same clock");
    }
    if receiver.stamp_delay > Span::ZERO {
        let found = format!("\"{}\"", receiver.stamp_delay);
        return unfit("receiver.stamp_delay", found, "\"0 s\": timestamps cannot be delayed");
    }
    if receiver.ack_loss > Ratio::ZERO {
        return unfit("receiver.ack_loss", receiver.ack_loss.as_f64(), "0: the return path is lossless");
    }
    if receiver.ack_bunching > Span::ZERO {
        let found = format!("\"{}\"", receiver.ack_bunching);
        return unfit("receiver.ack_bunching", found, "\"0 s\": the way back passes packets one by one");
    }
    Ok(())
}

/// Traffic is replayed as drawn: responsive users need simulated senders.
fn traffic(experiment: &Experiment) -> Result<(), Unfit> {
    for (number, source) in experiment.traffic.iter().enumerate() {
        match &source.kind {
            TrafficKind::Web(web) if web.responsive => {
                let expected = "false: users send as if they were alone on the path";
                return unfit(format!("traffic.{number}.responsive"), true, expected);
            }
            TrafficKind::Connections(_) => {
                let expected = "traffic whose packets do not respond";
                return unfit(format!("traffic.{number}.kind"), "connections that respond", expected);
            }
            _ => {}
        }
    }
    Ok(())
}

fn flows(experiment: &Experiment) -> Result<(), Unfit> {
    if let Some(arrivals) = experiment.arrivals.first() {
        let expected = "none: flows do not arrive on this host";
        return unfit(format!("flow.{}.arrivals", arrivals.table), "flows that arrive", expected);
    }
    let Some(first) = experiment.flows.first() else { return Ok(()) };
    if experiment.flows.len() > MOST_FLOWS {
        let found = format!("{} flows", experiment.flows.len());
        return unfit("flow.0.count", found, format!("{MOST_FLOWS} at most, one port each"));
    }
    let asked = experiment.flows.iter().find(|flow| flow.controller.kind != DCTCP).is_some_and(|flow| flow.ecn);
    experiment.flows.iter().enumerate().try_for_each(|(number, spec)| flow(number, spec, first, asked))
}

/// Checks a flow. Shared settings are compared with the first flow's; `asked`: whether the host enables ECN.
fn flow(number: usize, flow: &FlowSpec, first: &FlowSpec, asked: bool) -> Result<(), Unfit> {
    let key = |name: &str| format!("flow.{number}.{name}");
    if let Some(access) = flow.access {
        let expected = "no rate: cards are as fast as the machine";
        return unfit(key("access"), format!("\"{access}\""), expected);
    }
    if flow.pacing_percent > 0 {
        let found = format!("\"{} %\"", flow.pacing_percent);
        return unfit(key("pacing"), found, "\"0 %\": the kernel's controllers decide their pacing");
    }
    if flow.packet < SMALLEST {
        return unfit(key("packet"), format!("\"{}\"", flow.packet), format!("{} B and more", SMALLEST.get()));
    }
    if flow.controller.file.is_some() {
        let found = format!("\"{}\", a controller of a file", flow.controller.kind);
        return unfit(
            key("controller"),
            found,
            "the kernel's controllers: the simulator and real paths run shared objects",
        );
    }
    if flow.controller.own.is_some() {
        let found = format!("\"{}\", a controller of this program", flow.controller.kind);
        return unfit(key("controller"), found, "the kernel's controllers: only the simulator runs others");
    }
    if let Some(setting) = flow.controller.settings.keys().next() {
        let found = format!("the setting \"{setting}\" of \"{}\"", flow.controller.kind);
        return unfit(key("controller"), found, "the kernel's controllers, without settings");
    }
    if first.initial_window != flow.initial_window {
        return unfit(key("initial_window"), flow.initial_window, format!("{}, as flow 0", first.initial_window));
    }
    if first.min_rto != flow.min_rto {
        return unfit(key("min_rto"), format!("\"{}\"", flow.min_rto), format!("\"{}\", as flow 0", first.min_rto));
    }
    marks(flow, asked).map_or(Ok(()), |expected| unfit(key("ecn"), flow.ecn, expected))
}

/// The expected value of `ecn`, if it is wrong.
fn marks(flow: &FlowSpec, asked: bool) -> Option<String> {
    let kind = flow.controller.kind.as_str();
    if kind == DCTCP {
        return (!flow.ecn).then(|| "true: the kernel's dctcp always reads marks".to_string());
    }
    if WITHOUT_MARKS.contains(&kind) && flow.ecn {
        return Some(format!("false: {kind} reads no marks, and the kernel would have its packets marked"));
    }
    (flow.ecn != asked).then(|| format!("{asked} for all: the host enables ECN for all connections, or none"))
}

/// A kernel's means for paths, by its own names.
pub struct PathHas<'a> {
    /// The kernel, as in `Linux 6.12.9`.
    pub kernel: &'a str,
    /// Queue disciplines.
    pub queues: &'a [String],
    /// Whether it polices.
    pub polices: bool,
    /// How to extend them, printed after the list.
    pub more: &'a str,
}

/// A kernel's features, by its own names.
pub struct Has<'a> {
    /// For paths.
    pub path: PathHas<'a>,
    /// Congestion controls.
    pub controllers: &'a [String],
    /// Why Rapid is not among the controllers, if that is known.
    pub no_rapid: Option<&'a str>,
}

fn there(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

/// Refuses a discipline or a policer that a kernel lacks.
pub(crate) fn lacks_path(experiment: &Experiment, has: &PathHas<'_>) -> Result<(), Unfit> {
    let link = &experiment.links[experiment.bottleneck];
    if disciplines::kernel_name(&link.queue).is_some_and(|name| !there(has.queues, name)) {
        let names = disciplines::names(|name| there(has.queues, name)).join(", ");
        let expected = format!("what {} has: {names}{}", has.kernel, has.more);
        return unfit("path.queue", format!("\"{}\"", link.queue.kind), expected);
    }
    if link.service.policer.is_some() && !has.polices {
        return unfit("path.policer", "a policer", format!("none: {} has no act_police{}", has.kernel, has.more));
    }
    Ok(())
}

/// Refuses a controller, a discipline or a policer that a kernel lacks.
///
/// # Errors
/// The key, and the kernel's features.
pub fn lacks(experiment: &Experiment, has: &Has<'_>) -> Result<(), Unfit> {
    lacks_path(experiment, &has.path)?;
    for (number, flow) in experiment.flows.iter().enumerate() {
        let names = kernel_names(&flow.controller.kind);
        if !names.iter().any(|name| there(has.controllers, name)) {
            let name = &flow.controller.kind;
            let why = has.no_rapid.filter(|_| name == RAPID).map_or(String::new(), |why| format!(" (no rapid: {why})"));
            let expected = format!("what {} has: {}{why}", has.path.kernel, available(has.controllers));
            return unfit(format!("flow.{number}.controller"), format!("\"{name}\""), expected);
        }
    }
    Ok(())
}

/// Refuses controllers that this machine's kernel does not have.
pub(crate) fn controllers(plan: &[Experiment]) -> Result<(), LabError> {
    let names: BTreeSet<&str> =
        plan.iter().flat_map(|run| &run.flows).map(|flow| flow.controller.kind.as_str()).collect();
    for name in names {
        match stream_with(name) {
            Err(error) if is_missing(&error) => {
                let hint = if name == RAPID { "; \"packetscale tcp load\" brings it" } else { "" };
                let has = available(&loaded());
                return Err(LabError(format!("this kernel has no controller \"{name}\"; it has {has}{hint}")));
            }
            tried => drop(tried.map_err(LabError::doing(format!("congestion control \"{name}\"")))?),
        }
    }
    Ok(())
}
