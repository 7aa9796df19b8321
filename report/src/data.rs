//! The data of the curves, as the page's script reads it.
//!
//! A page holds a limited number of values. Every curve is thinned alike. If there are still too many, the runs
//! of later replications and later sweep points are omitted first, with a note on the page.

use crate::arrivals::{Completed, by_size, completed};
use crate::contrast::visible;
use crate::curves::{Curve, ccdf, cdf, short, thin};
use crate::flows::{self, ByFlow, Event, by_flow, events, palette};
use crate::groups::{controllers, flow_colour, ordered_name, points};
use crate::links::{Queue, queues};
use crate::multiples::Multiples;
use crate::network::{Network, crosses, measured};
use crate::packets::{PacketData, Room};
use crate::resolved::Resolved;
use crate::sweep::{Sweep, at_links, by_way, sweep};
use crate::tradeoff::{Tradeoff, tradeoff};
use experiment::results::{FlowResult, Results, Run, Series, StreamRecord, TrafficResult, groups};
use serde::Serialize;
use std::collections::BTreeMap;

/// Limit of values of all curves: about 0.5 MB of text; of the curves of a sweep, of which one point is drawn at a time, 2 MB.
const MOST_VALUES: usize = 80_000;
const MOST_VALUES_OF_A_SWEEP: usize = 360_000;
/// Values of one curve: more than a wide screen has pixels.
const MOST_POINTS: usize = 2000;
/// With fewer points a curve is useless, so runs are omitted instead.
const FEWEST_POINTS: usize = 300;
/// Most flows of a run that are drawn one by one; the total includes all flows.
const MOST_FLOWS: usize = flows::COLOURS;
/// Gaps of all probe streams together: about 0.2 MB of text.
const MOST_GAPS: usize = 5000;

/// Everything that the script draws.
#[derive(Debug, Serialize)]
pub struct Data<'a> {
    controllers: Vec<Controller<'a>>,
    points: Vec<String>,
    capacity_bps: Option<f64>,
    warmup_s: Option<f64>,
    /// Name of the measured link, if there are several.
    measured: Option<&'a str>,
    /// Whether there is traffic in addition to the flows.
    traffic: bool,
    /// Colours of the flows of a run, in order.
    palette: Vec<String>,
    /// Colours of the controllers that meet in mixes.
    flow_colours: BTreeMap<&'a str, String>,
    /// The runs with curves.
    runs: Vec<RunData<'a>>,
    /// How many runs have none.
    left_out: usize,
    pub tradeoff: Option<Tradeoff>,
    /// Throughput against delay of each flow, without a comparison.
    pub by_flow: Option<ByFlow>,
    pub sweep: Option<Sweep>,
    /// All points of a large sweep, in place of both.
    pub multiples: Option<Multiples>,
    /// Throughput of a flow on each route.
    pub by_way: Option<Sweep>,
    /// The queueing delay at each link.
    pub at_links: Option<Sweep>,
    /// Completion times of flows that arrive, and their slowdown over the sizes.
    pub completed: Option<Completed>,
    pub sizes: Option<Sweep>,
}

#[derive(Debug, Serialize)]
struct Controller<'a> {
    name: &'a str,
    colour: String,
}

#[derive(Debug, Serialize)]
struct RunData<'a> {
    controller: &'a str,
    point: usize,
    replication: u32,
    seed: String,
    /// Names of its first flows, and the throughput of each over its lifetime.
    names: Vec<String>,
    throughput_bps: Vec<Option<f64>>,
    /// Start and completion times of these flows, in seconds since the run's start.
    lives: Vec<(f64, Option<f64>)>,
    flow_count: usize,
    /// Those that do not cross the measured link: the total has no part of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<usize>,
    /// When flows join and leave.
    events: Vec<Event>,
    curves: Vec<Curve>,
    ccdf: Vec<(f64, f64)>,
    /// Completion times of files, of each source that counts them.
    files: Vec<Vec<(f64, f64)>>,
    streams: Vec<StreamData>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    packets: Vec<PacketData>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    queues: Vec<Queue>,
}

#[derive(Debug, Serialize)]
struct StreamData {
    flow: u32,
    start_s: f64,
    rate_bps: f64,
    estimate_bps: Option<f64>,
    available_bps: Option<f64>,
    gaps: Vec<Gap>,
}

/// Nanoseconds: intended, created, received, denoised, delay; then level rate in bit/s and size in bytes.
type Gap = (f64, f64, Option<f64>, Option<f64>, Option<f64>, f64, u32);

impl Data<'_> {
    /// Drops curves of other metrics, and packets unless requested.
    pub fn keep(&mut self, metrics: &[&str], packets: bool) {
        for run in &mut self.runs {
            run.curves.retain(|curve| metrics.contains(&curve.metric.as_str()));
            if !packets {
                run.packets.clear();
            }
        }
    }
}

/// Collects everything that the script draws.
pub fn data<'a>(results: &'a Results, resolved: &Resolved) -> Data<'a> {
    let points = points(results);
    let numbers: BTreeMap<&BTreeMap<String, String>, usize> = points.iter().zip(0..).map(|(p, at)| (*p, at)).collect();
    let point_of = |run: &Run| numbers.get(&run.params).copied().unwrap_or(0);
    let (per_curve, kept) = allot(results);
    let mut gaps_left = MOST_GAPS;
    let mut room = Room::of(&results.runs);
    let groups = groups(&results.runs);
    let multiples = Multiples::of(results, &groups);
    let large = multiples.is_some();
    let network = Network::of(&results.manifest.scenario);
    let left_out = kept.iter().filter(|kept| !**kept).count();
    let names = |run: &Run| flows::names(run, &network, MOST_FLOWS);
    let runs = results.runs.iter().zip(kept).filter(|(_, kept)| *kept).map(|(run, _)| RunData {
        controller: &run.controller,
        point: point_of(run),
        replication: run.replication,
        seed: run.seed.to_string(),
        names: names(run),
        throughput_bps: run
            .flows
            .iter()
            .take(MOST_FLOWS)
            .map(|flow| flow.throughput_bps.filter(|v| v.is_finite()))
            .collect(),
        lives: run.flows.iter().take(MOST_FLOWS).map(life).collect(),
        flow_count: run.flows.len(),
        elsewhere: (0..run.flows.len()).filter(|flow| !crosses(run, *flow)).collect(),
        events: events(run, &names(run)),
        curves: curves(run, per_curve),
        ccdf: ccdf(&run.queue_delay),
        files: files(run).map(|source| cdf(&source.file_duration)).collect(),
        streams: streams(run, MOST_GAPS / results.runs.len().clamp(1, 8), &mut gaps_left),
        packets: room.packets(run),
        queues: queues(run),
    });
    Data {
        controllers: (controllers(results).into_iter())
            .map(|(name, colour)| Controller { name, colour: visible(&colour) })
            .collect(),
        capacity_bps: resolved.capacity_bps,
        warmup_s: resolved.warmup_s,
        measured: measured(results),
        flow_colours: flow_colours(results),
        traffic: has_traffic(results),
        runs: runs.collect(),
        left_out,
        tradeoff: if large { None } else { tradeoff(results, &groups) },
        by_flow: by_flow(&groups, &results.runs.first().map(names).unwrap_or_default()),
        palette: palette(),
        sweep: if large { None } else { sweep(results) },
        by_way: by_way(results, &network),
        at_links: at_links(results),
        completed: completed(results, &groups),
        sizes: by_size(results, &groups),
        multiples,
        points: points.into_iter().map(|point| ordered_name(results, point)).collect(),
    }
}

fn life(flow: &FlowResult) -> (f64, Option<f64>) {
    (short(flow.start_s), flow.completion_s.filter(|end| end.is_finite()).map(short))
}

/// The sources of a run that record file durations.
pub fn files(run: &Run) -> impl Iterator<Item = &TrafficResult> {
    run.traffic.iter().filter(|source| source.file_duration.count.iter().any(|count| *count > 0))
}

/// Whether any run has traffic in addition to the flows.
pub fn has_traffic(results: &Results) -> bool {
    results.runs.iter().any(|run| !run.traffic.is_empty())
}

/// Colours of flows in runs with several controllers: each its controller's.
fn flow_colours(results: &Results) -> BTreeMap<&str, String> {
    let mixes = results.runs.iter().filter(|run| !run.shares.is_empty());
    let flows = mixes.flat_map(|run| &run.flows);
    flows.filter_map(|flow| Some((flow.controller.as_str(), visible(flow_colour(&flow.kind)?)))).collect()
}

/// The number of values per curve, and which runs keep their curves.
fn allot(results: &Results) -> (usize, Vec<bool>) {
    let values = |s: &Series| if matches!(s.metric.as_str(), "queue_delay" | "rtt") { 3 } else { 1 };
    let weight = |run: &Run| 1 + drawn(run).map(values).sum::<usize>();
    let longest = results.runs.iter().flat_map(|r| &r.series).map(|s| s.values.len()).max().unwrap_or(0).max(1);
    let all: usize = results.runs.iter().map(weight).sum();
    let most = if results.runs.iter().any(|run| !run.params.is_empty()) { MOST_VALUES_OF_A_SWEEP } else { MOST_VALUES };
    let fair = most / all.max(1);
    let per_curve = fair.clamp(FEWEST_POINTS, MOST_POINTS);
    let mut order: Vec<usize> = (0..results.runs.len()).collect();
    order.sort_by_key(|&i| results.runs[i].replication);
    let mut kept = vec![false; order.len()];
    let mut left = most + FEWEST_POINTS;
    for i in order {
        let cost = weight(&results.runs[i]) * per_curve.min(longest);
        if cost <= left {
            left -= cost;
            kept[i] = true;
        } else {
            break;
        }
    }
    (per_curve, kept)
}

/// Returns the series that are drawn unchanged.
fn drawn(run: &Run) -> impl Iterator<Item = &Series> {
    run.series.iter().filter(|s| s.flow.is_none_or(|f| (f as usize) < MOST_FLOWS))
}

fn curves(run: &Run, per_curve: usize) -> Vec<Curve> {
    let total = total(run);
    drawn(run).chain(&total).map(|s| thin(s, per_curve)).collect()
}

/// Returns the throughput of all flows together that cross the measured link; `None` for a single one. What flows get on
/// links that they do not share is no total of any link.
fn total(run: &Run) -> Option<Series> {
    let own = |s: &&Series| s.metric == "throughput" && s.flow.is_some_and(|flow| crosses(run, flow as usize));
    let mut flows = run.series.iter().filter(own);
    let mut total = Series { metric: "total".into(), flow: None, ..flows.next()?.clone() };
    let mut several = false;
    for flow in flows {
        let same = (flow.start_s, flow.step_s, flow.values.len());
        if same != (total.start_s, total.step_s, total.values.len()) {
            return None;
        }
        several = true;
        for (sum, value) in total.values.iter_mut().zip(&flow.values) {
            *sum = sum.map_or(*value, |s| Some(s + value.unwrap_or(0.0)));
        }
    }
    several.then_some(total)
}

/// Returns as many streams as fit, spread evenly over those recorded.
fn streams(run: &Run, most_of_run: usize, gaps_left: &mut usize) -> Vec<StreamData> {
    let longest = run.streams.iter().map(|s| s.gaps.len()).max().unwrap_or(0).max(1);
    let room = (most_of_run.min(*gaps_left) / longest).min(run.streams.len());
    let chosen = (0..room).map(|i| &run.streams[i * run.streams.len() / room]);
    *gaps_left -= room * longest;
    chosen.map(stream).collect()
}

fn stream(record: &StreamRecord) -> StreamData {
    let nanoseconds = |s: f64| (s * 1e10).round() / 10.0;
    let finite = |v: Option<f64>| v.filter(|v| v.is_finite());
    let optional = |s: Option<f64>| finite(s).map(nanoseconds);
    StreamData {
        flow: record.flow,
        start_s: short(record.start_s),
        rate_bps: short(record.rate_bps),
        estimate_bps: finite(record.estimate_bps).map(short),
        available_bps: finite(record.available_bps).map(short),
        gaps: record
            .gaps
            .iter()
            .map(|g| {
                let (intended, created) = (nanoseconds(g.intended_s), nanoseconds(g.created_s));
                let (received, denoised) = (optional(g.received_s), optional(g.denoised_s));
                (intended, created, received, denoised, optional(g.delay_s), g.rate_bps.round(), g.size_bytes)
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn short_demo_keeps_all_runs() {
        let (per_curve, kept) = allot(&example::demo());
        assert!(kept.iter().all(|k| *k));
        assert!((FEWEST_POINTS..=MOST_POINTS).contains(&per_curve));
    }

    #[test]
    fn large_sweep_keeps_first_replications() {
        let mut results = example::demo();
        let runs = results.runs.clone();
        for i in 0..200 {
            results.runs.extend(runs.iter().cloned().map(|mut run| {
                run.params.insert("path.buffer".into(), format!("{i} packets"));
                run
            }));
        }
        let (per_curve, kept) = allot(&results);
        assert_eq!(per_curve, FEWEST_POINTS);
        assert!(kept[0] && !kept.iter().all(|k| *k));
        let last_kept = results.runs.iter().zip(&kept).filter(|(_, k)| **k).map(|(r, _)| r.replication).max();
        assert_eq!(last_kept, Some(0));
        let written = serde_json::to_string(&data(&results, &Resolved::default())).unwrap();
        assert!(written.len() < 6_000_000, "{}", written.len());
    }

    #[test]
    fn thousand_flows_are_thinned_but_total_is_exact() {
        let mut results = example::single();
        let run = &mut results.runs[0];
        let one = Series { values: vec![Some(1.0), None], step_s: 1.0, ..Series::default() };
        run.series =
            (0..1000).map(|flow| Series { metric: "throughput".into(), flow: Some(flow), ..one.clone() }).collect();
        assert_eq!(total(run).unwrap().values, [Some(1000.0), None]);
        assert_eq!(drawn(run).count(), 12);
        assert_eq!(allot(&results).1, [true]);
    }

    /// Two flows share the measured link, a third has its own.
    #[test]
    fn the_total_is_of_one_link() {
        let mut results = example::single();
        let run = &mut results.runs[0];
        let one = Series { values: vec![Some(1.0)], step_s: 1.0, ..Series::default() };
        run.series =
            (0..3).map(|flow| Series { metric: "throughput".into(), flow: Some(flow), ..one.clone() }).collect();
        run.measured = "a".to_string();
        let flow = |route: &str| experiment::results::FlowResult {
            route: route.to_string(),
            ..experiment::results::FlowResult::default()
        };
        run.flows = ["a, b", "b", "a"].map(flow).to_vec();
        assert_eq!(total(run).unwrap().values, [Some(2.0)]);
        run.flows[0].route = "b".to_string();
        assert_eq!(total(run), None);
    }

    #[test]
    fn thins_excess_streams_evenly() {
        let mut results = example::demo();
        let record = results.runs[0].streams[0].clone();
        let at = |i: usize| StreamRecord { start_s: i as f64, ..record.clone() };
        results.runs[0].streams = (0..5000).map(at).collect();
        let mut left = MOST_GAPS;
        let chosen = streams(&results.runs[0], MOST_GAPS, &mut left);
        assert!(chosen.iter().map(|s| s.gaps.len()).sum::<usize>() <= MOST_GAPS);
        assert!(chosen.last().unwrap().start_s > 4500.0);
    }
}
