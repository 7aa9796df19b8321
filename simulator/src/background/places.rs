//! Places of flows in the background: opened one by one up to a limit, and reused when the flow there is over.

use experiment::scenario::{Buffer, Experiment, Service};
use packetscale_models::units::{Bytes, Span};

/// How long a place rests at least.
const REST: Span = Span::from_secs(1);

/// The places that were opened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    opened: usize,
    exceeded: bool,
}

impl Places {
    /// Most flows at a time, those that rest included.
    pub(super) const MOST: usize = 1 << 16;

    /// Opens one more; `None` at the limit.
    pub(super) fn open(&mut self) -> Option<()> {
        self.exceeded |= self.opened == Places::MOST;
        (self.opened < Places::MOST).then(|| self.opened += 1)
    }

    /// The most at a time, if more would have been needed.
    pub(super) fn exceeded(&self) -> Option<usize> {
        self.exceeded.then_some(Places::MOST)
    }
}

/// How long a packet of a flow that is over may still be on this route, and the place rests.
pub(super) fn rest(experiment: &Experiment, route: &[usize], rtt: Span) -> Span {
    REST + rtt * 2 + longest_queue(experiment, route)
}

/// How long a packet may wait on a route.
fn longest_queue(experiment: &Experiment, route: &[usize]) -> Span {
    const ENDLESS: Span = Span::from_secs(10);
    let links = route.iter().map(|link| &experiment.links[*link]);
    links
        .map(|link| match link.buffer {
            _ if link.service != Service::default() => ENDLESS,
            Buffer::Bytes(bytes) => link.rate.time_for(bytes),
            Buffer::Packets(packets) => link.rate.time_for(Bytes::new(9_000)).saturating_mul(packets.get()),
            Buffer::Unlimited => ENDLESS,
        })
        .fold(Span::ZERO, |sum, wait| sum + wait.min(ENDLESS))
}
