//! Per-link accounts (`record.links`).

use crate::measure::bins::Bins;
use crate::measure::capacity::LinkCapacity;
use crate::measure::curves::mean_wait;
use crate::measure::period::Period;
use crate::measure::presence::Presence;
use crate::measure::waits::histogram_ns;
use experiment::results::LinkResult;
use experiment::scenario::{Experiment, LinkSpec};
use hdrhistogram::Histogram;
use packetscale_models::units::{Bytes, Span, Time};

/// The accounts of all links; empty without `record.links`.
#[derive(Clone, Debug)]
pub struct Links {
    pub(crate) accounts: Vec<LinkAccount>,
}

impl Links {
    pub(crate) fn of(experiment: &Experiment) -> Links {
        let (record, Period { warm, end }) = (&experiment.record, Period::of(experiment));
        let account = LinkAccount::new(warm, end, record.detail.then_some(record.step));
        Links { accounts: vec![account; if record.links { experiment.links.len() } else { 0 }] }
    }

    /// Whether every link is measured: what links do is wanted.
    pub fn enabled(&self) -> bool {
        !self.accounts.is_empty()
    }

    /// A link, the measured one or another, serves a packet.
    pub fn served(&mut self, link: usize, size: Bytes, arrival: Time, begins: Time, departs: Time) {
        if let Some(account) = self.accounts.get_mut(link) {
            account.served(size, arrival, begins, departs);
        }
    }

    /// A link drops a packet.
    pub fn dropped(&mut self, link: usize) {
        if let Some(account) = self.accounts.get_mut(link) {
            account.dropped += 1;
        }
    }

    /// A link's wire loses a packet that leaves it then.
    pub fn lost(&mut self, link: usize, at: Time) {
        if let Some(account) = self.accounts.get_mut(link) {
            account.lost += u64::from(at <= account.end);
        }
    }

    pub(crate) fn present(&mut self, link: usize) -> Option<&mut Presence> {
        self.accounts.get_mut(link).map(|account| &mut account.present)
    }
}

/// The account of one link.
#[derive(Clone, Debug)]
pub(crate) struct LinkAccount {
    warm: Time,
    end: Time,
    bytes: u64,
    wait_ns: Histogram<u64>,
    present: Presence,
    wait_ps: u128,
    dropped: u64,
    lost: u64,
    curve: Option<WaitCurve>,
}

/// Sum and count of waiting times in each interval of a curve.
#[derive(Clone, Debug)]
struct WaitCurve {
    sum_ns: Bins,
    packets: Bins,
}

impl LinkAccount {
    /// Figures count after `warm`, up to `end`; `step`: distance between the points of a curve; `None`: no curve.
    fn new(warm: Time, end: Time, step: Option<Span>) -> LinkAccount {
        let bins = |step: Span| Bins::new(Time::ZERO, step, end.picos().div_ceil(step.picos()) as usize);
        LinkAccount {
            warm,
            end,
            bytes: 0,
            wait_ns: histogram_ns(),
            present: Presence::new(warm, end),
            wait_ps: 0,
            dropped: 0,
            lost: 0,
            curve: step.map(|step| WaitCurve { sum_ns: bins(step), packets: bins(step) }),
        }
    }

    fn served(&mut self, size: Bytes, arrival: Time, begins: Time, departs: Time) {
        self.present.stays(arrival, departs);
        if departs > self.end {
            return;
        }
        let wait = begins.since(arrival);
        if let Some(curve) = &mut self.curve {
            curve.sum_ns.add(departs, wait.nanos());
            curve.packets.add(departs, 1);
        }
        if departs <= self.warm {
            return;
        }
        self.bytes += size.get();
        self.wait_ns.saturating_record(wait.nanos());
        self.wait_ps += u128::from(wait.picos());
    }

    /// `marked`: packets that the link marked, where the host reports them.
    pub(crate) fn figures(&self, number: usize, link: &LinkSpec, marked: Option<u64>) -> LinkResult {
        let time: Span = self.end.saturating_since(self.warm);
        let (time_s, packets) = (time.as_secs_f64(), self.wait_ns.len());
        let capacity_bps = LinkCapacity::of(link).mean_bps(self.warm, self.end);
        let throughput_bps = (time_s > 0.0).then(|| self.bytes as f64 * 8.0 / time_s);
        let quantile = |q: f64| (packets > 0).then(|| self.wait_ns.value_at_quantile(q) as f64 * 1e-9);
        LinkResult {
            link: number as u32,
            name: link.name.clone(),
            throughput_bps,
            capacity_bps,
            utilisation: throughput_bps.filter(|_| capacity_bps > 0.0).map(|bps| bps / capacity_bps),
            queue_delay_mean_s: (packets > 0).then(|| self.wait_ps as f64 * 1e-12 / packets as f64),
            queue_delay_p50_s: quantile(0.50),
            queue_delay_p95_s: quantile(0.95),
            queue_delay_p99_s: quantile(0.99),
            queue_mean_packets: self.present.mean(),
            packets,
            dropped_packets: self.dropped,
            lost_packets: self.lost,
            marked_packets: marked,
            queue_delay: self.curve.as_ref().map(|curve| mean_wait(&curve.sum_ns, &curve.packets)).unwrap_or_default(),
        }
    }
}
