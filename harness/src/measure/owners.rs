//! Assigns packets of flows beyond those of the scenario to accounts.

use crate::measure::seen::Owner;

/// The account that a packet counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    /// A flow of the scenario.
    Flow(usize),
    /// A flow that arrived: the table that it is of.
    Arrived(usize),
    /// A traffic source.
    Traffic(usize),
    /// None.
    Other,
}

impl Account {
    /// Whether it is of a responsive flow: of the scenario, or one that arrived.
    #[inline]
    pub(crate) fn is_responsive(self) -> bool {
        matches!(self, Account::Flow(_) | Account::Arrived(_))
    }
}

/// The flows of a run.
#[derive(Clone, Debug)]
pub(crate) struct Owners {
    /// How many the scenario has.
    flows: usize,
    /// The account of each flow beyond those of the scenario.
    carried: Vec<Account>,
}

impl Owners {
    pub(crate) fn new(flows: usize) -> Owners {
        Owners { flows, carried: Vec::new() }
    }

    /// From now on, packets of a flow beyond those of the scenario count for `account`.
    pub(crate) fn carry(&mut self, flow: usize, account: Account) {
        let place = flow - self.flows;
        if place == self.carried.len() {
            self.carried.push(account);
        }
        self.carried[place] = account;
    }

    #[inline]
    pub(crate) fn account_of(&self, owner: Owner) -> Account {
        match owner {
            Owner::Flow(flow) if flow < self.flows => Account::Flow(flow),
            Owner::Flow(flow) => self.carried[flow - self.flows],
            Owner::Traffic(source) => Account::Traffic(source),
            Owner::Other => Account::Other,
        }
    }
}
