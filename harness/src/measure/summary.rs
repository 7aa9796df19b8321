//! From what was recorded to the figures. What has nothing to be computed from (no packet, no time, a host that does not
//! know) is `None`.

use crate::measure::arriving::{AllArrived, Ranked};
use crate::measure::curves;
use crate::measure::lives::{EntryWindow, compared_starts};
use crate::measure::recorder::Recorder;
use crate::measure::response::{convergence, drain, step_response};
use crate::measure::seen::{FlowSeen, Marked, Seen};
use crate::measure::tally::Tally;
use experiment::results::{FlowResult, Histogram, LinkResult, Run, Summary, TrafficResult, TransferResult};
use experiment::scenario::{Experiment, Service, Size};
use experiment::traffic::available_steps;
use packetscale_models::units::Time;
use std::collections::BTreeSet;

impl Recorder {
    /// The run, with every figure that can be computed from what was recorded and `seen`.
    pub fn finish(mut self, experiment: &Experiment, seen: Seen) -> Run {
        let windows = self.bottleneck.windows.as_ref().map_or(Vec::new(), |windows| windows.results());
        let mut run = Run {
            controller: experiment.controller.clone(),
            colour: colour(experiment),
            measured: experiment.links[experiment.bottleneck].name.clone(),
            seed: experiment.seed,
            replication: experiment.replication,
            params: experiment.params.clone(),
            summary: self.summary(experiment, &seen),
            flows: seen.flows.iter().enumerate().map(|(flow, seen)| self.flow(experiment, flow, seen)).collect(),
            phases: Vec::new(),
            shares: Vec::new(),
            traffic: self.traffic_figures(experiment),
            completions: self.arriving.tables.iter().flat_map(|table| table.figures()).collect(),
            transfers: self.transfers(experiment),
            windows,
            links: self.link_figures(experiment, &seen),
            series: Vec::new(),
            queue_delay: Histogram::default(),
            streams: Vec::new(),
            sequences: Vec::new(),
        };
        if let Some(windows) = &self.bottleneck.windows {
            windows.summarise(&run.windows, self.has_flows(), &mut run.summary);
        }
        if let Some(detail) = &self.samples.detail {
            curves::draw(detail, &self.bottleneck.capacity, !self.traffic.is_empty(), &mut run);
            self.respond(experiment, &seen, &mut run.summary);
        }
        (run.phases, run.shares) = self.phases(&run.summary);
        run.streams.extend(seen.streams);
        if seen.path_unknown {
            without_path(&mut run);
        }
        run
    }

    /// Whether any flow contributes to the figures of the run.
    fn has_flows(&self) -> bool {
        !self.receivers.flows.is_empty() || !self.arriving.tables.is_empty()
    }

    /// The flows that arrived and ended, with `record.transfers`.
    fn transfers(&self, experiment: &Experiment) -> Vec<TransferResult> {
        let listed = self.arriving.tables.iter().filter(|_| experiment.record.transfers);
        listed.flat_map(|table| table.transfers()).collect()
    }

    fn traffic_figures(&self, experiment: &Experiment) -> Vec<TrafficResult> {
        let sources = self.traffic.iter().zip(&experiment.traffic).enumerate();
        let end = self.period.end;
        sources.map(|(number, (source, spec))| source.figures(spec, end, self.users.of_source(number))).collect()
    }

    fn link_figures(&self, experiment: &Experiment, seen: &Seen) -> Vec<LinkResult> {
        let marked = |link: usize| seen.link_marks.as_ref().and_then(|marks| marks.get(link).copied());
        let accounts = self.links.accounts.iter().zip(&experiment.links).enumerate();
        accounts.map(|(number, (account, link))| account.figures(number, link, marked(number))).collect()
    }

    fn summary(&self, experiment: &Experiment, seen: &Seen) -> Summary {
        let time = seconds_after(self.period.warm, self.period.end);
        let capacity = self.bottleneck.capacity.mean_bps(self.period.warm, self.period.end);
        let throughput = ratio(self.bottleneck.flow_bytes as f64 * 8.0, time).filter(|_| self.has_flows());
        let left = ratio(self.bottleneck.offered_bytes as f64 * 8.0, time).map(|offered| capacity - offered);
        let arrived = seen.arrivals.iter().map(|table| table.sent);
        let sent: u64 = seen.flows.iter().map(|flow| flow.sent).chain(arrived).sum();
        let of_sent = |packets: f64| ratio(packets, sent as f64);
        let count = |of: fn(&Tally) -> u64| self.tallies().map(of).sum::<u64>() as f64;
        let lost_warm = count(|t| t.lost_warm);
        let utilisation = ratio(self.bottleneck.all_bytes as f64 * 8.0, time * capacity);
        let waiting_s = ratio(self.bottleneck.wait_sum_ps as f64 * 1e-12, self.bottleneck.waited as f64);
        let (flows, traffic) = &self.bottleneck.startup;
        let converged = self.base_rtt.and_then(|rtt| convergence(flows, traffic, &self.bottleneck.capacity, rtt));
        let converged = converged.filter(|s| !self.fills_before_the_last(*s));
        let all = AllArrived::of(&self.arriving.tables);
        let took = all.as_ref().map(|all| &all.took);
        let own = took.is_none().then(|| self.completions(experiment, seen)).flatten();
        let took = took.or(own.as_ref());
        Summary {
            throughput_bps: throughput,
            utilisation,
            available_share: throughput.zip(left).and_then(|(throughput, left)| ratio(throughput, left)),
            loss_ratio: of_sent(count(|t| t.dropped + t.lost)),
            drop_ratio: of_sent(count(|t| t.dropped)),
            steady_loss_ratio: ratio(lost_warm, lost_warm + self.receivers.packets_warm as f64),
            queue_delay_mean_s: waiting_s,
            queue_mean_packets: self.bottleneck.present.mean().filter(|_| seen.transmissions),
            mark_ratio: marked(seen, |marked| marked.congestion).and_then(of_sent),
            burst_mark_ratio: marked(seen, |marked| marked.burstiness).and_then(of_sent),
            burstiness_eta: seen.burstiness_eta,
            queue_over_bound: queue_over_bound(experiment, utilisation, waiting_s),
            rtt_mean_s: rtt_mean_s(seen),
            fairness_jain: self.fairness(),
            fairness_jain_after_entry: self.fairness_after_entries(),
            convergence_s: converged,
            convergence_rtts: converged.zip(self.base_rtt).map(|(s, rtt)| s / rtt.as_secs_f64()),
            flows_arrived: all.as_ref().map(|all| all.arrived),
            flows_completed: all.as_ref().map(|all| all.completed),
            completion_time_mean_s: took.and_then(Ranked::mean),
            completion_time_p50_s: took.and_then(|took| took.percentile(50)),
            completion_time_p99_s: took.and_then(|took| took.percentile(99)),
            slowdown_mean: all.as_ref().and_then(|all| all.slowdown.mean()),
            slowdown_p50: all.as_ref().and_then(|all| all.slowdown.percentile(50)),
            slowdown_p99: all.as_ref().and_then(|all| all.slowdown.percentile(99)),
            packets_delivered: self.receivers.packets,
            packet_hops: seen.hops,
            events: seen.events,
            cpu_s: seen.cpu_s,
            ..Summary::default()
        }
    }

    /// Whether earlier flows filled the link before the last one started: all was reached within the first round trip.
    fn fills_before_the_last(&self, converged_s: f64) -> bool {
        let Some(rtt) = self.base_rtt else { return false };
        let last = self.receivers.last_start();
        let earlier = compared_starts(&self.receivers.starts, &self.receivers.lives).any(|start| start + rtt <= last);
        earlier && converged_s <= rtt.as_secs_f64()
    }

    /// How long the flows took from their starts, where every one has a size and was done.
    fn completions(&self, experiment: &Experiment, seen: &Seen) -> Option<Ranked> {
        if experiment.flows.is_empty() || experiment.flows.iter().any(|flow| flow.size == Size::Unlimited) {
            return None;
        }
        let took = seen
            .flows
            .iter()
            .zip(&self.receivers.starts)
            .map(|(flow, start)| Some(seconds_after(*start, flow.completed?)));
        took.collect::<Option<Vec<f64>>>().map(|took| Ranked::of(took.into_iter()))
    }

    /// The tallies of all responsive flows.
    fn tallies(&self) -> impl Iterator<Item = &Tally> {
        self.receivers.flows.iter().chain(self.arriving.tables.iter().map(|table| &table.tally))
    }

    /// Of the flows that cross the measured link.
    fn fairness(&self) -> Option<f64> {
        let compared = self.receivers.flows.iter().zip(&self.receivers.lives).filter(|(_, life)| life.compared);
        jain(compared.map(|(tally, _)| tally.shared_bytes as f64))
    }

    fn fairness_after_entries(&self) -> Option<f64> {
        let index = |window: &EntryWindow| {
            let all = self.receivers.starts.iter().zip(&self.receivers.lives).zip(&window.bytes);
            let active =
                all.filter(|((start, life), _)| life.compared && **start < window.from && life.over >= window.to);
            jain(active.map(|(_, bytes)| *bytes as f64))
        };
        self.receivers.entries.iter().filter_map(index).reduce(f64::min)
    }

    fn flow(&self, experiment: &Experiment, flow: usize, seen: &FlowSeen) -> FlowResult {
        let (tally, start) = (&self.receivers.flows[flow], self.receivers.starts[flow]);
        let until = seen.completed.unwrap_or(self.period.end);
        let spec = &experiment.flows[flow];
        let (label, kind) = (&spec.controller.label, &spec.controller.kind);
        FlowResult {
            flow: flow as u32,
            controller: label.clone(),
            kind: seen.remark.as_ref().map_or(kind.clone(), |remark| format!("{kind} ({remark})")),
            route: route(experiment, flow),
            start_s: start.as_secs_f64(),
            stop_s: spec.stop.filter(|stop| *stop <= self.period.end).map(Time::as_secs_f64),
            completion_s: seen.completed.map(Time::as_secs_f64),
            throughput_bps: match until <= self.period.warm {
                true => ratio(tally.early_bytes as f64 * 8.0, seconds_after(start, until)),
                false => ratio(tally.received_bytes as f64 * 8.0, seconds_after(start.max(self.period.warm), until)),
            },
            base_rtt_s: seen.base_rtt.as_secs_f64(),
            rtt_mean_s: seen.round_trips.mean_s(),
            sent_packets: seen.sent,
            retransmitted_packets: seen.retransmitted,
            dropped_packets: tally.dropped,
            lost_packets: tally.lost,
            timeouts: seen.timeouts,
            recoveries: seen.recoveries,
            undone: seen.undone,
            streams: seen.streams.map(|(all, _)| all),
            unusable_streams: seen.streams.map(|(_, unusable)| unusable),
        }
    }

    /// The flows' response to steps of the available capacity. Missing responses have no figure.
    fn respond(&self, experiment: &Experiment, seen: &Seen, summary: &mut Summary) {
        let (Some(rtt), Some(detail)) = (self.base_rtt, &self.samples.detail) else { return };
        let Some(steps) = available_steps(experiment) else { return };
        let done = |rtts: Option<f64>| rtts.filter(|rtts| rtts.is_finite());
        if !experiment.traffic.is_empty() {
            summary.drain_rtts = done(drain(detail, self.period.warm, rtt));
        }
        let own = !seen.flows.is_empty() && seen.flows.iter().all(|flow| flow.has_rate);
        let response = step_response(&detail.total_rate(own), detail.step, &steps, self.period.warm, rtt);
        summary.rise_rtts = done(response.rise);
        summary.fall_rtts = done(response.fall);
        summary.settle_rtts = done(response.settle);
        summary.rise_hold_share = response.hold;
    }
}

/// Removes figures that need the rate or the queue of an unknown link.
fn without_path(run: &mut Run) {
    run.summary = Summary {
        utilisation: None,
        available_share: None,
        drop_ratio: None,
        queue_over_bound: None,
        convergence_s: None,
        convergence_rtts: None,
        rise_rtts: None,
        fall_rtts: None,
        settle_rtts: None,
        drain_rtts: None,
        rise_hold_share: None,
        ..std::mem::take(&mut run.summary)
    };
    run.series.retain(|series| !["available", "offered"].contains(&series.metric.as_str()));
    run.links.clear();
    run.phases.iter_mut().for_each(|phase| phase.available_share = None);
}

/// The colour of the flows' controllers, blended in equal parts where they differ. Grey without flows.
fn colour(experiment: &Experiment) -> String {
    let all =
        experiment.flows.iter().map(|flow| &**flow).chain(experiment.arrivals.iter().map(|arrivals| &arrivals.flow));
    let kinds: BTreeSet<&str> = all.map(|flow| flow.controller.kind.as_str()).collect();
    let hex =
        kinds.iter().filter_map(|kind| packetscale_models::congestion::find(kind)).map(|entry| &entry.colour[1..]);
    let colours: Vec<u32> = hex.filter_map(|hex| u32::from_str_radix(hex, 16).ok()).collect();
    let Ok(count @ 1..) = u32::try_from(colours.len()) else { return "#808080".to_string() };
    let blended = |shift: u32| colours.iter().map(|colour| colour >> shift & 0xff).sum::<u32>() / count;
    format!("#{:02X}{:02X}{:02X}", blended(16), blended(8), blended(0))
}

/// The names of the links that the data of a flow cross; empty on a path of one link.
fn route(experiment: &Experiment, flow: usize) -> String {
    let names = experiment.flows[flow].route.iter().map(|link| experiment.links[*link].name.as_str());
    if experiment.links.len() < 2 { String::new() } else { names.collect::<Vec<_>>().join(", ") }
}

pub(super) fn seconds_after(from: Time, end: Time) -> f64 {
    end.saturating_since(from).as_secs_f64()
}

/// `None` for an empty whole.
pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Packets that arrived marked; `None` where the host does not know of every flow.
fn marked(seen: &Seen, of: fn(Marked) -> u64) -> Option<f64> {
    let arrived = seen.arrivals.iter().map(|table| Some(of(table.marked)));
    let lasting = seen.flows.iter().map(|flow| flow.marked.map(of));
    lasting.chain(arrived).sum::<Option<u64>>().map(|packets| packets as f64)
}

/// The mean over flows of their mean round-trip times.
fn rtt_mean_s(seen: &Seen) -> Option<f64> {
    let lasting = seen.flows.iter().filter_map(|flow| flow.round_trips.mean_s()).map(|rtt_s| (rtt_s, 1));
    let arrived = seen.arrivals.iter().map(|table| (table.rtt_means_s, table.rtt_flows));
    let (sum, count) =
        lasting.chain(arrived).fold((0.0, 0), |(sum, count), (rtt_s, flows)| (sum + rtt_s, count + flows));
    ratio(sum, count as f64)
}

/// Jain's index: (sum x)^2 / (n sum x^2). `None` if all shares are zero, or with fewer than two.
pub(super) fn jain(shares: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let n = shares.clone().count() as f64;
    let sum: f64 = shares.clone().sum();
    let squares: f64 = shares.map(|x| x * x).sum();
    (squares > 0.0 && n > 1.0).then(|| sum * sum / (n * squares))
}

/// The mean queue found, in packets, over the least possible; `None` where that is not known.
fn queue_over_bound(experiment: &Experiment, utilisation: Option<f64>, waiting_s: Option<f64>) -> Option<f64> {
    let [link] = experiment.links.as_slice() else { return None };
    let packet = experiment.flows.first()?.packet;
    let alike = experiment.flows.iter().all(|flow| flow.packet == packet);
    let plain = link.service == Service::default();
    if experiment.flows.len() < 2 || !alike || !plain || !experiment.traffic.is_empty() {
        return None;
    }
    let flows = u32::try_from(experiment.flows.len()).ok()?;
    let least =
        packetscale_models::theory::multiplexing::laws::least_mean_packets(flows, utilisation?.min(1.0)).ok()?;
    let found = waiting_s? / link.rate.time_for(packet).as_secs_f64();
    Some(found / least).filter(|ratio| ratio.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::seen::{ArrivalsSeen, RoundTrips};
    use packetscale_models::units::Span;

    #[test]
    fn jain_index_is_lowest_when_one_flow_has_everything() {
        assert_eq!(jain([3.0, 3.0].into_iter()), Some(1.0));
        assert_eq!(jain([5.0, 0.0].into_iter()), Some(0.5));
        assert_eq!(jain([0.0, 0.0].into_iter()), None);
        assert_eq!(jain([5.0].into_iter()), None);
    }

    #[test]
    fn empty_input_has_no_mean_or_share() {
        assert_eq!((rtt_mean_s(&Seen::default()), ratio(0.0, 0.0), ratio(0.0, 4.0)), (None, None, Some(0.0)));
        let flow = |ms| FlowSeen {
            round_trips: RoundTrips { sum: Span::from_millis(ms).into(), count: 1 },
            ..FlowSeen::default()
        };
        let mut arrivals = ArrivalsSeen::default();
        [flow(3), FlowSeen::default(), flow(6)].iter().for_each(|flow| arrivals.add(flow));
        let seen = Seen { flows: vec![flow(9)], arrivals: vec![arrivals], ..Seen::default() };
        assert!((rtt_mean_s(&seen).unwrap() - 6e-3).abs() < 1e-15);
    }

    #[test]
    fn an_unknown_path_has_no_figures_that_need_its_rate() {
        let text = r#"
            run = { duration = "2 s", warmup = "1 s" }
            path = { rate = "8 Mbit/s", delay = "5 ms", buffer = "10 kB" }
            flow = [{ controller = "newreno", packet = "1000 B" }]
        "#;
        let scenario =
            experiment::scenario::Scenario::parse(text, std::path::Path::new("example"), &[]).expect("a scenario");
        let experiment = scenario.plan().remove(0);
        let run = |path_unknown| {
            let mut recorder = Recorder::new(&experiment, &[Time::ZERO], Some(Span::from_millis(10)));
            for n in 0..1000 {
                let at = Time::ZERO + Span::from_millis(2 * n);
                recorder.served(
                    crate::measure::Owner::Flow(0),
                    packetscale_models::units::Bytes::new(1000),
                    at,
                    at,
                    at + Span::from_millis(1),
                );
                recorder.delivered(0, packetscale_models::units::Bytes::new(1000), at + Span::from_millis(6));
            }
            let flow = FlowSeen { sent: 1000, ..FlowSeen::default() };
            recorder.finish(&experiment, Seen { flows: vec![flow], path_unknown, ..Seen::default() })
        };
        let (known, unknown) = (run(false), run(true));
        assert_eq!((known.summary.utilisation, unknown.summary.utilisation), (Some(0.5), None));
        assert_eq!((known.summary.available_share.is_some(), unknown.summary.available_share), (true, None));
        assert_eq!((known.summary.drop_ratio, unknown.summary.drop_ratio), (Some(0.0), None));
        assert_eq!((unknown.summary.throughput_bps, unknown.summary.loss_ratio), (Some(4e6), Some(0.0)));
        let has = |run: &Run, metric: &str| run.series.iter().any(|series| series.metric == metric);
        assert!(has(&known, "available") && !has(&unknown, "available") && has(&unknown, "throughput"));
    }

    #[test]
    fn marks_are_unknown_unless_every_flow_reports_them() {
        let knows = FlowSeen { marked: Some(Marked { congestion: 3, burstiness: 1 }), ..FlowSeen::default() };
        let of = |flows| marked(&Seen { flows, ..Seen::default() }, |marked| marked.congestion);
        assert_eq!(of(vec![knows.clone(), knows.clone()]), Some(6.0));
        assert_eq!(of(vec![knows, FlowSeen::default()]), None);
    }
}
