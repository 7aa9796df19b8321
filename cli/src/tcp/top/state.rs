//! What `tcp top` has seen, and what its user has chosen.

use linux::tcp::{Activity, Address, Counters, Fallen, Report, Status};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Updates that a history holds.
pub const HISTORY: usize = 120;

/// What a user may press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Quit,
    Sort,
    Up,
    Down,
    Open,
    Close,
}

/// By what the connections are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Rate,
    RoundTrip,
    Lost,
    Remote,
}

impl Order {
    pub fn word(self) -> &'static str {
        match self {
            Order::Rate => "rate",
            Order::RoundTrip => "rtt",
            Order::Lost => "lost",
            Order::Remote => "remote",
        }
    }

    fn next(self) -> Order {
        match self {
            Order::Rate => Order::RoundTrip,
            Order::RoundTrip => Order::Lost,
            Order::Lost => Order::Remote,
            Order::Remote => Order::Rate,
        }
    }
}

/// A connection: its address, and when it began or CUBIC took over.
pub type Id = (Address, u64);

/// Who steers it.
pub enum Steered {
    Rapid(Box<Report>),
    Cubic(Fallen),
}

/// A connection, as it was at the last update.
pub struct Line {
    pub address: Address,
    pub steered: Steered,
}

impl Line {
    pub fn id(&self) -> Id {
        let since = match &self.steered {
            Steered::Rapid(report) => report.began_ns,
            Steered::Cubic(fallen) => fallen.at_ns,
        };
        (self.address, since)
    }

    /// The law's rate, bytes per second, where it steers something.
    pub fn rate(&self) -> Option<u64> {
        match &self.steered {
            Steered::Rapid(report) if matches!(report.activity(), Activity::StartsUp | Activity::Sends) => {
                Some(report.rate)
            }
            _ => None,
        }
    }

    pub fn srtt_ns(&self) -> u64 {
        match &self.steered {
            Steered::Rapid(report) => report.srtt_ns,
            Steered::Cubic(fallen) => fallen.srtt_ns,
        }
    }

    pub fn lost(&self) -> u64 {
        match &self.steered {
            Steered::Rapid(report) => report.lost,
            Steered::Cubic(_) => 0,
        }
    }
}

/// Everything that is shown.
pub struct Top {
    name: String,
    pub flows: u32,
    pub counters: Counters,
    /// Whether the kernel lists the connections that CUBIC has taken over.
    pub listed: bool,
    pub now_ns: u64,
    pub order: Order,
    /// In the order shown.
    pub lines: Vec<Line>,
    chosen: Option<Id>,
    /// Whether the connection that is chosen is shown alone.
    pub open: bool,
    /// Rates of each connection, and their sum, at the latest updates, bytes per second.
    histories: BTreeMap<Id, Vec<u64>>,
    pub sum: Vec<u64>,
}

fn remember(history: &mut Vec<u64>, value: u64) {
    if history.len() == HISTORY {
        history.remove(0);
    }
    history.push(value);
}

impl Top {
    pub fn new(name: &str) -> Top {
        Top {
            name: name.to_string(),
            flows: 0,
            counters: Counters::default(),
            listed: true,
            now_ns: 0,
            order: Order::Rate,
            lines: Vec::new(),
            chosen: None,
            open: false,
            histories: BTreeMap::new(),
            sum: Vec::new(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes a new state of all connections.
    pub fn take(&mut self, status: &Status) {
        let rapid = status.connections.iter().map(|report| (report.address, Steered::Rapid(Box::new(*report))));
        let cubic = status.fallen.iter().filter(|(address, _)| status.open.contains(address));
        let cubic = cubic.map(|(address, fallen)| (*address, Steered::Cubic(*fallen)));
        self.lines = rapid.chain(cubic).map(|(address, steered)| Line { address, steered }).collect();
        (self.flows, self.counters, self.now_ns) = (status.flows, status.counters, status.now_ns);
        self.listed = status.unlisted.is_none();
        let there: BTreeMap<Id, u64> = self.lines.iter().map(|line| (line.id(), line.rate().unwrap_or(0))).collect();
        self.histories.retain(|id, _| there.contains_key(id));
        for (id, rate) in &there {
            remember(self.histories.entry(*id).or_default(), *rate);
        }
        remember(&mut self.sum, there.values().sum());
        self.sort();
        self.open &= self.chosen().is_some();
    }

    fn sort(&mut self) {
        match self.order {
            Order::Rate => self.lines.sort_by_key(|line| (Reverse(line.rate()), line.id())),
            Order::RoundTrip => self.lines.sort_by_key(|line| (Reverse(line.srtt_ns()), line.id())),
            Order::Lost => self.lines.sort_by_key(|line| (Reverse(line.lost()), line.id())),
            Order::Remote => self.lines.sort_by_key(|line| (line.address.remote(), line.id())),
        }
    }

    /// Does what a key asks for. Returns false at the end.
    pub fn press(&mut self, key: Key) -> bool {
        match key {
            Key::Quit => return false,
            Key::Sort => {
                self.order = self.order.next();
                self.sort();
            }
            Key::Up => self.choose(|at| at.saturating_sub(1)),
            Key::Down => self.choose(|at| at + 1),
            Key::Open => {
                if self.chosen().is_none() {
                    self.choose(|at| at);
                }
                self.open = !self.open && self.chosen().is_some();
            }
            Key::Close => self.open = false,
        }
        true
    }

    /// Without a choice the first key chooses the first line.
    fn choose(&mut self, to: impl Fn(usize) -> usize) {
        let at = self.chosen().map_or(0, to).min(self.lines.len().saturating_sub(1));
        self.chosen = self.lines.get(at).map(Line::id);
    }

    /// The place of the connection that is chosen, while it is there.
    pub fn chosen(&self) -> Option<usize> {
        self.lines.iter().position(|line| Some(line.id()) == self.chosen)
    }

    /// Its rates at the latest updates, oldest first, bytes per second.
    pub fn history(&self, line: &Line) -> &[u64] {
        self.histories.get(&line.id()).map_or(&[], Vec::as_slice)
    }
}
