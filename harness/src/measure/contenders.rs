//! Waiting times at the measured link by controller, where several controllers meet.

use crate::measure::owners::Account;
use crate::measure::waits::{Waits, histogram_ns, quantiles};
use experiment::scenario::Experiment;
use hdrhistogram::Histogram;
use packetscale_models::units::Span;

/// The controllers of a run, and the controller of each flow.
#[derive(Clone, Debug)]
pub(crate) struct Contenders {
    /// Labels, in the order of the scenario: flows that last, then tables of those that arrive.
    pub(crate) labels: Vec<String>,
    /// The number of the label of each flow, and of each table of flows that arrive.
    pub(crate) of_flow: Vec<usize>,
    pub(crate) of_table: Vec<usize>,
    waits_ns: Vec<Histogram<u64>>,
}

impl Contenders {
    /// `None` where fewer than two meet.
    pub(crate) fn of(experiment: &Experiment) -> Option<Box<Contenders>> {
        let mut labels: Vec<String> = Vec::new();
        let mut number = |label: &String| {
            labels.iter().position(|known| known == label).unwrap_or_else(|| {
                labels.push(label.clone());
                labels.len() - 1
            })
        };
        let of_flow = experiment.flows.iter().map(|flow| number(&flow.controller.label)).collect();
        let of_table = experiment.arrivals.iter().map(|table| number(&table.flow.controller.label)).collect();
        let waits_ns = labels.iter().map(|_| histogram_ns()).collect();
        (labels.len() > 1).then(|| Box::new(Contenders { labels, of_flow, of_table, waits_ns }))
    }

    /// A packet waited for this time.
    pub(crate) fn waited(&mut self, account: Account, wait: Span) {
        let controller = match account {
            Account::Flow(flow) => self.of_flow[flow],
            Account::Arrived(table) => self.of_table[table],
            Account::Traffic(_) | Account::Other => return,
        };
        self.waits_ns[controller].saturating_record(wait.nanos());
    }

    /// The waiting times of each controller's packets, in the order of the labels.
    pub(crate) fn waits(&self) -> Vec<Waits> {
        self.waits_ns.iter().map(quantiles).collect()
    }

    /// The same, and forgets them.
    pub(crate) fn take(&mut self) -> Vec<Waits> {
        let waits = self.waits();
        self.waits_ns.iter_mut().for_each(Histogram::reset);
        waits
    }
}
