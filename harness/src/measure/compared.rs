//! Shares of flows that meet, phase by phase: of all, and by controller.

use crate::measure::contenders::Contenders;
use crate::measure::phases::Phase;
use crate::measure::recorder::Recorder;
use crate::measure::summary::{jain, ratio, seconds_after};
use crate::measure::waits::Waits;
use experiment::results::{ControllerShare, PhaseResult, Summary};
use packetscale_models::units::Time;

/// The counts of one time.
struct Part {
    /// Its number; `None`: all the time after the warm-up of a run without phases.
    phase: Option<u32>,
    from: Time,
    to: Time,
    /// Bytes that each flow received, then each table of flows that arrive.
    bytes: Vec<u64>,
    /// Flows of the scenario that count.
    flows: Vec<usize>,
}

impl Recorder {
    /// The phases of the run, and what each controller got in them, where the flows have several.
    pub(crate) fn phases(&mut self, summary: &Summary) -> (Vec<PhaseResult>, Vec<ControllerShare>) {
        let compared = self.compared();
        let Some(phases) = self.phases.take() else {
            let active: Vec<usize> = compared.iter().copied().filter(|flow| self.lasts(*flow)).collect();
            let whole = self.whole(compared.len() > 1 && !active.is_empty() && !self.changes());
            let waits = self.bottleneck.contenders.as_ref().map_or(Vec::new(), |contenders| contenders.waits());
            let phase = whole.phase.map(|_| PhaseResult {
                throughput_bps: self.throughput_bps(&whole, &active),
                available_share: summary.available_share,
                queue_delay_p50_s: summary.queue_delay_p50_s,
                queue_delay_p99_s: summary.queue_delay_p99_s,
                ..self.phase(&whole, &active)
            });
            return (phase.into_iter().collect(), self.shares(&whole, &waits));
        };
        let (phases, contenders) = phases.finish();
        self.bottleneck.contenders = contenders;
        let (mut results, mut shares) = (Vec::new(), Vec::new());
        for (number, phase) in (0..).zip(&phases) {
            let part = self.part(number, phase);
            let active: Vec<usize> = compared.iter().copied().filter(|flow| part.flows.contains(flow)).collect();
            let throughput_bps = self.throughput_bps(&part, &active);
            let offered_bps = ratio(phase.offered_bytes as f64 * 8.0, seconds_after(part.from, part.to));
            let left = offered_bps.map(|offered| self.bottleneck.capacity.mean_bps(part.from, part.to) - offered);
            results.push(PhaseResult {
                throughput_bps,
                available_share: throughput_bps.zip(left).and_then(|(got, left)| ratio(got, left)),
                queue_delay_p50_s: phase.waits.map(|waits| waits.0),
                queue_delay_p99_s: phase.waits.map(|waits| waits.1),
                ..self.phase(&part, &active)
            });
            shares.extend(self.shares(&part, &phase.waits_of));
        }
        (results, shares)
    }

    /// Flows that cross the measured link.
    fn compared(&self) -> Vec<usize> {
        let lives = self.receivers.lives.iter().enumerate();
        lives.filter(|(_, life)| life.compared).map(|(flow, _)| flow).collect()
    }

    /// Whether such flows start, stop or end after the warm-up.
    fn changes(&self) -> bool {
        let within = |at: Time| at > self.period.warm && at < self.period.end;
        let flows = self.receivers.starts.iter().zip(&self.receivers.lives);
        flows.filter(|(_, life)| life.compared).any(|(start, life)| within(*start) || within(life.over))
    }

    /// Whether a flow is active all the time after the warm-up.
    fn lasts(&self, flow: usize) -> bool {
        self.receivers.starts[flow] <= self.period.warm && self.receivers.lives[flow].over >= self.period.end
    }

    /// All the time after the warm-up. `is_phase`: the same flows are active in all of it, and only these count.
    fn whole(&self, is_phase: bool) -> Part {
        let lasting = self.receivers.flows.iter().map(|tally| tally.received_bytes);
        let arrived = self.arriving.tables.iter().map(|table| table.tally.received_bytes);
        Part {
            phase: is_phase.then_some(0),
            from: self.period.warm,
            to: self.period.end,
            bytes: lasting.chain(arrived).collect(),
            flows: (0..self.receivers.flows.len()).filter(|flow| !is_phase || self.lasts(*flow)).collect(),
        }
    }

    fn part(&self, number: u32, phase: &Phase) -> Part {
        let flows = self.receivers.starts.iter().zip(&self.receivers.lives).enumerate();
        let active = flows.filter(|(_, (start, life))| phase.has(**start, life)).map(|(flow, _)| flow);
        Part {
            phase: Some(number),
            from: phase.from,
            to: phase.to,
            bytes: phase.bytes.clone(),
            flows: active.collect(),
        }
    }

    fn phase(&self, part: &Part, active: &[usize]) -> PhaseResult {
        PhaseResult {
            phase: part.phase.unwrap_or_default(),
            from_s: part.from.as_secs_f64(),
            to_s: part.to.as_secs_f64(),
            flows: active.len() as u64,
            fairness_jain: jain(active.iter().map(|flow| part.bytes[*flow] as f64)),
            ..PhaseResult::default()
        }
    }

    fn throughput_bps(&self, part: &Part, active: &[usize]) -> Option<f64> {
        let bytes: u64 = active.iter().map(|flow| part.bytes[*flow]).sum();
        ratio(bytes as f64 * 8.0, seconds_after(part.from, part.to))
    }

    /// The share of each controller, where the flows have several; one row for each that is present.
    fn shares(&self, part: &Part, waits: &[Waits]) -> Vec<ControllerShare> {
        let Some(contenders) = &self.bottleneck.contenders else { return Vec::new() };
        let all: u64 = self.members(part, contenders, None).map(|(_, flow_bytes)| flow_bytes).sum();
        let share = |(label, name): (usize, &String)| {
            let (count, bytes) = self
                .members(part, contenders, Some(label))
                .fold((0, 0), |(count, sum), (flows, bytes)| (count + flows, sum + bytes));
            let waits = waits.get(label).copied().flatten();
            (count > 0).then(|| ControllerShare {
                phase: part.phase,
                controller: name.clone(),
                flows: count,
                throughput_bps: ratio(bytes as f64 * 8.0, seconds_after(part.from, part.to)),
                share: ratio(bytes as f64, all as f64),
                queue_delay_p50_s: waits.map(|waits| waits.0),
                queue_delay_p99_s: waits.map(|waits| waits.1),
            })
        };
        contenders.labels.iter().enumerate().filter_map(share).collect()
    }

    /// Flows that count, and tables of flows that arrive, of one controller or of all: how many flows, and their bytes.
    fn members<'a>(
        &'a self,
        part: &'a Part,
        contenders: &'a Contenders,
        label: Option<usize>,
    ) -> impl Iterator<Item = (u64, u64)> + 'a {
        let of = move |number: usize| label.is_none_or(|label| label == number);
        let lasting = part.flows.iter().filter(move |flow| of(contenders.of_flow[**flow]));
        let lasting = lasting.map(|flow| (1, part.bytes[*flow]));
        let arrived = &part.bytes[self.receivers.flows.len()..];
        let arrived = self.arriving.tables.iter().zip(arrived).zip(&contenders.of_table);
        lasting.chain(arrived.filter(move |(_, number)| of(**number)).map(|((table, bytes), _)| (table.all, *bytes)))
    }
}
