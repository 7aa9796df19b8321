//! When flows are active: what each has to send, and the times between one entry of a flow and the next.

use experiment::scenario::{Experiment, FlowSpec, Size};
use packetscale_models::units::{Span, Time};

/// Wait after the last packet before a flow entry is judged.
const ENTRY_SETTLING: Span = Span::from_secs(5);

/// The data that a flow has to send, and when its receiver had it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    left: Option<u64>,
    pub(crate) over: Time,
    /// Its data cross the measured link. Only such flows are compared with each other: others share no link with them,
    /// or not the one that is measured.
    pub(crate) compared: bool,
}

/// Bytes per flow between one entry of a flow and the next.
#[derive(Clone, Debug)]
pub(crate) struct EntryWindow {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) bytes: Vec<u64>,
}

impl Life {
    /// `measured`: the measured link.
    pub(crate) fn of(flow: Option<&FlowSpec>, measured: usize) -> Life {
        let left = flow.and_then(|flow| match flow.size {
            Size::Unlimited => None,
            Size::Bytes(bytes) => Some(bytes.get()),
        });
        let compared = flow.is_none_or(|flow| flow.route.contains(&measured));
        Life { left, over: flow.and_then(|flow| flow.stop).unwrap_or(Time::MAX), compared }
    }

    /// Whether it sends a fixed amount of data.
    pub(crate) fn ends(&self) -> bool {
        self.left.is_some()
    }

    /// Counts what reached its receiver. Returns whether that was the last of it.
    #[inline]
    pub(crate) fn sends(&mut self, bytes: u64, at: Time) -> bool {
        let Some(left) = &mut self.left else { return false };
        *left = left.saturating_sub(bytes);
        if *left > 0 || at >= self.over {
            return false;
        }
        self.over = at;
        true
    }
}

/// The longest of the times that `of` returns, over flows with data on the measured link. Joint figures of these flows are
/// expressed in round trips of this length: within it all of them can react.
pub fn longest(experiment: &Experiment, of: impl Fn(usize) -> Option<Span>) -> Option<Span> {
    let crosses = |flow: &usize| experiment.flows[*flow].route.contains(&experiment.bottleneck);
    (0..experiment.flows.len()).filter(crosses).filter_map(of).max()
}

/// One window per entry of a flow that is compared: from five seconds after it until the next entry or stop, or the end.
pub(crate) fn entry_windows(starts: &[Time], lives: &[Life], end: Time) -> Vec<EntryWindow> {
    let mut entries: Vec<Time> = compared_starts(starts, lives).collect();
    entries.sort_unstable();
    entries.dedup();
    let stops = || lives.iter().filter(|life| life.compared).map(|life| life.over);
    let mut windows = Vec::new();
    for (i, &entry) in entries.iter().enumerate() {
        let stop = stops().filter(|stop| *stop > entry).min().unwrap_or(end);
        let to = entries.get(i + 1).copied().unwrap_or(end).min(stop).min(end);
        let from = entry.saturating_add(ENTRY_SETTLING);
        if from < to {
            windows.push(EntryWindow { from, to, bytes: vec![0; starts.len()] });
        }
    }
    windows
}

/// When the flows start that are compared.
pub(crate) fn compared_starts(starts: &[Time], lives: &[Life]) -> impl Iterator<Item = Time> {
    starts.iter().zip(lives).filter(|(_, life)| life.compared).map(|(start, _)| *start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges_entry_from_5s_after_it_until_next_start() {
        let at = |s| Time::ZERO + Span::from_secs(s);
        let starts = [at(0), at(30), at(33), at(60), at(70)];
        let mut lives = [Life::of(None, 0); 5];
        // The last runs elsewhere.
        lives[4].compared = false;
        let windows = entry_windows(&starts, &lives, at(90));
        let spans: Vec<(Time, Time)> = windows.iter().map(|w| (w.from, w.to)).collect();
        assert_eq!(spans, [(at(5), at(30)), (at(38), at(60)), (at(65), at(90))]);
    }
}
