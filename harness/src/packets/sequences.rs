//! Sequence numbers sent, acknowledged and lost by each flow of the scenario, in few enough points for a picture.
//!
//! Of each list of points every `n`-th is stored. `n` begins at 1 and doubles whenever the list is full; every second
//! point is then removed. So short runs keep every packet, long ones points that are evenly spread over their packets, and memory
//! does not grow with the run.

use crate::packets::{Event, Observer, Start};
use experiment::results::{Run, SequenceRecord};
use packetscale_models::units::Time;
use std::io;

/// Most points of one list: about as many as a wide screen has pixels. Even, so that halving keeps the spacing.
const MOST: usize = 2000;

/// Every `n`-th of the points that come.
#[derive(Clone, Debug)]
struct Thinned {
    points: Vec<(f64, u64)>,
    every: u64,
    come: u64,
}

impl Thinned {
    fn new() -> Thinned {
        Thinned { points: Vec::new(), every: 1, come: 0 }
    }

    fn push(&mut self, at: Time, value: u64) {
        if self.come.is_multiple_of(self.every) {
            if self.points.len() == MOST {
                let mut odd = true;
                self.points.retain(|_| {
                    odd = !odd;
                    !odd
                });
                self.every *= 2;
            }
            // A full list has an even number of points: the new one is in step with those that are left.
            self.points.push((at.as_secs_f64(), value));
        }
        self.come += 1;
    }
}

/// The lists of one flow.
#[derive(Clone, Debug)]
struct Lists {
    sent: Thinned,
    sent_again: Thinned,
    acknowledged: Thinned,
    lost: Thinned,
    in_flight: Thinned,
}

/// Keeps the sequences of all flows.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    flows: Vec<Lists>,
}

impl Sequences {
    /// The stored points, flow by flow.
    pub fn records(self) -> Vec<SequenceRecord> {
        let record = |(number, lists): (usize, Lists)| SequenceRecord {
            flow: number as u32,
            sent: lists.sent.points,
            sent_again: lists.sent_again.points,
            acknowledged: lists.acknowledged.points,
            lost: lists.lost.points,
            in_flight: lists.in_flight.points,
        };
        self.flows.into_iter().enumerate().map(record).collect()
    }
}

impl Observer for Sequences {
    fn begin(&mut self, start: &Start) -> io::Result<()> {
        let none = Thinned::new;
        let lists = Lists { sent: none(), sent_again: none(), acknowledged: none(), lost: none(), in_flight: none() };
        self.flows = vec![lists; start.flows.len()];
        Ok(())
    }

    fn see(&mut self, at: Time, event: &Event) -> io::Result<()> {
        let Some(lists) = event.flow().and_then(|flow| self.flows.get_mut(flow)) else { return Ok(()) };
        match event {
            Event::Sent { segment, .. } if segment.retransmission => lists.sent_again.push(at, segment.sequence),
            Event::Sent { segment, .. } => lists.sent.push(at, segment.sequence),
            Event::Acknowledged { ack, .. } => lists.acknowledged.push(at, ack.next_expected),
            Event::Lost { sequence, .. } => lists.lost.push(at, *sequence),
            Event::Sender { state, .. } => lists.in_flight.push(at, u64::from(state.in_flight)),
            Event::Served { .. } | Event::Queued { .. } | Event::Dropped { .. } => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &Run) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(come: u64) -> Vec<u64> {
        let mut list = Thinned::new();
        (0..come).for_each(|value| list.push(Time::from_nanos(value), value));
        list.points.iter().map(|point| point.1).collect()
    }

    /// 2000 points fit. Of 2001 the even ones are left, which are 1001; of 4001, which are 2001 even ones, every fourth.
    #[test]
    fn a_full_list_keeps_every_second_point() {
        assert_eq!(stored(2000), (0..2000).collect::<Vec<_>>());
        assert_eq!(stored(2001), (0..=1000).map(|half| half * 2).collect::<Vec<_>>());
        assert_eq!(stored(4001), (0..=1000).map(|quarter| quarter * 4).collect::<Vec<_>>());
    }
}
