//! An application that is not always ready to send: when it hands packets to its sender.

use crate::scenario::{Experiment, FlowSpec, GapModel};
use crate::traffic::chance::{Purpose, seed};
use crate::traffic::{AnySource, Source, TrafficError, open};
use packetscale_models::units::{Span, Time};

/// Hands over packets by the clock of a source.
#[derive(Debug)]
pub struct Application {
    /// Counts from the start of its flow.
    source: AnySource,
    /// When its last packet was due by the source.
    due: Time,
    /// When that packet was handed over: before it was due where the host cuts gaps.
    handed: Time,
    /// Gaps are cut to whole multiples of this.
    step: Span,
    next: Time,
}

impl Application {
    /// Returns the application of the `index`-th flow, which starts at `start`; `None`: the flow always has data to
    /// send.
    ///
    /// # Errors
    /// A source that cannot be opened.
    pub fn of_flow(
        experiment: &Experiment,
        flow: &FlowSpec,
        index: usize,
        start: Time,
    ) -> Result<Option<Application>, TrafficError> {
        let Some(offered) = flow.offered() else { return Ok(None) };
        let seed = seed(experiment.seed, Purpose::Application, index);
        let duration = experiment.duration.saturating_mul(lengths_drawn(experiment.gaps));
        let source = open(&offered, seed, duration)?.pop().expect("one copy");
        Ok(Some(Application::new(source, start, experiment.gaps)))
    }

    fn new(source: AnySource, start: Time, gaps: GapModel) -> Application {
        let step = match gaps {
            GapModel::BusyWait(step) => step,
            _ => Span::from_picos(1),
        };
        let mut application = Application { source, due: Time::ZERO, handed: start, step, next: Time::MAX };
        application.advance();
        application
    }

    /// Returns when it offers its next packet; [`Time::MAX`]: never.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Takes the packets that are due by `now`. Returns how many.
    pub fn take(&mut self, now: Time) -> u64 {
        let mut packets = 0;
        while self.next <= now && self.next != Time::MAX {
            packets += 1;
            self.advance();
        }
        packets
    }

    fn advance(&mut self) {
        let Some(packet) = self.source.next() else {
            self.next = Time::MAX;
            return;
        };
        let gap = packet.at.since(self.due);
        self.due = packet.at;
        self.handed = self.handed.saturating_add(gap - gap % self.step);
        self.next = self.handed;
    }
}

/// Returns how many run lengths of traffic to draw: gaps that are cut to multiples of a step lose less than half.
fn lengths_drawn(gaps: GapModel) -> u64 {
    if matches!(gaps, GapModel::BusyWait(_)) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{TrafficKind, TrafficSpec};
    use packetscale_models::units::{Bytes, Rate};

    /// 9000 B at 8.2 Gbit/s: 8.78 us, cut to 8.
    #[test]
    fn a_busy_waiting_application_rounds_its_gaps_down() {
        let kind = TrafficKind::Cbr { rate: Rate::from_mbps(8200) };
        let packet = Bytes::new(9000);
        let (start, stop, route, copies, shaper) = (Time::ZERO, Time::MAX, Vec::new(), 1, None);
        let spec = TrafficSpec { kind, packet, start, stop, route, copies, shaper };
        let handed = |gaps| {
            let source = open(&spec, 1, Span::from_millis(1)).unwrap().pop().unwrap();
            let mut application = Application::new(source, Time::from_nanos(1_000), gaps);
            [(); 4].map(|()| {
                let next = application.next();
                application.take(next);
                next.nanos()
            })
        };
        assert_eq!(handed(GapModel::BusyWait(Span::from_micros(1))), [1_000, 9_000, 17_000, 25_000]);
        assert_eq!(handed(GapModel::Perfect), [1_000, 9_780, 18_560, 27_341]);
    }
}
