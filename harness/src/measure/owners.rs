//! Whose packets the flows beyond those of the scenario carry.

use crate::measure::seen::Owner;

/// Who a packet counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A flow of the scenario.
    Flow(usize),
    /// A flow that arrived: the table that it is of.
    Arrived(usize),
    /// A traffic source.
    Traffic(usize),
    /// Nobody.
    Other,
}

impl Whose {
    /// Whether it is of a responsive flow: of the scenario, or one that arrived.
    #[inline]
    pub(crate) fn is_responsive(self) -> bool {
        matches!(self, Whose::Flow(_) | Whose::Arrived(_))
    }
}

/// The flows of a run.
#[derive(Clone, Debug)]
pub(crate) struct Owners {
    /// How many the scenario has.
    flows: usize,
    /// Who each flow beyond those carries packets for.
    carried: Vec<Whose>,
}

impl Owners {
    pub(crate) fn new(flows: usize) -> Owners {
        Owners { flows, carried: Vec::new() }
    }

    /// A flow beyond those of the scenario carries packets for `whose` from now on.
    pub(crate) fn carry(&mut self, flow: usize, whose: Whose) {
        let place = flow - self.flows;
        if place == self.carried.len() {
            self.carried.push(whose);
        }
        self.carried[place] = whose;
    }

    #[inline]
    pub(crate) fn whose(&self, owner: Owner) -> Whose {
        match owner {
            Owner::Flow(flow) if flow < self.flows => Whose::Flow(flow),
            Owner::Flow(flow) => self.carried[flow - self.flows],
            Owner::Traffic(source) => Whose::Traffic(source),
            Owner::Other => Whose::Other,
        }
    }
}
