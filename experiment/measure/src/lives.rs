//! When flows are active: what each has to send, and the times between one entry of a flow and the next.

use scenario::{FlowSpec, Size};
use units::{Span, Time};

/// Wait after the last packet before a flow entry is judged.
const ENTRY_SETTLING: Span = Span::from_secs(5);

/// What a flow has to send through the bottleneck, and when it had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    left: Option<u64>,
    pub(crate) over: Time,
}

/// Bytes per flow between one entry of a flow and the next.
#[derive(Clone, Debug)]
pub(crate) struct EntryWindow {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) bytes: Vec<u64>,
}

impl Life {
    pub(crate) fn of(flow: Option<&FlowSpec>) -> Life {
        let left = flow.and_then(|flow| match flow.size {
            Size::Unlimited => None,
            Size::Bytes(bytes) => Some(bytes.get()),
        });
        Life { left, over: flow.and_then(|flow| flow.stop).unwrap_or(Time::MAX) }
    }

    /// Counts what left the bottleneck. Returns whether that was the last of it.
    #[inline]
    pub(crate) fn sends(&mut self, bytes: u64, departs: Time) -> bool {
        let Some(left) = &mut self.left else { return false };
        *left = left.saturating_sub(bytes);
        if *left > 0 || departs >= self.over {
            return false;
        }
        self.over = departs;
        true
    }
}

/// One window per entry of a flow: from five seconds after it until the next entry or the end.
pub(crate) fn entry_windows(starts: &[Time], end: Time) -> Vec<EntryWindow> {
    let mut entries: Vec<Time> = starts.to_vec();
    entries.sort_unstable();
    entries.dedup();
    let mut windows = Vec::new();
    for (i, &entry) in entries.iter().enumerate() {
        let to = entries.get(i + 1).copied().unwrap_or(end).min(end);
        let from = entry.saturating_add(ENTRY_SETTLING);
        if from < to {
            windows.push(EntryWindow { from, to, bytes: vec![0; starts.len()] });
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_judged_from_five_seconds_after_it_until_the_next() {
        let at = |s| Time::ZERO + Span::from_secs(s);
        let windows = entry_windows(&[at(0), at(30), at(33), at(60)], at(90));
        let spans: Vec<(Time, Time)> = windows.iter().map(|w| (w.from, w.to)).collect();
        assert_eq!(spans, [(at(5), at(30)), (at(38), at(60)), (at(65), at(90))]);
    }
}
