//! Turns records of packets into arrivals, departures and drops at the bottleneck, for each flow and source.

use crate::lab::delay_line::Loss;
use crate::lab::owner::owner_of;
use crate::lab::tap::{End, Record};
use harness::measure::Owner;
use std::collections::VecDeque;

/// A packet at the bottleneck. Times are nanoseconds since the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub owner: Owner,
    pub size: u32,
    pub arrival_ns: u64,
    pub fate: Fate,
    /// Whether it left marked.
    pub marked: bool,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It left at this time.
    Departed(u64),
    /// The queue refused it.
    Dropped,
    /// It was still in the queue when the records ended.
    Queued,
}

/// Every packet in order of arrival.
pub(crate) struct Books {
    pub packets: Vec<Packet>,
    /// The least time from arrival to departure: the time to pass the bottleneck without a queue. Waiting times exclude
    /// it.
    pub least_wait_ns: u64,
}

/// Two packets that reach the queue at once, on two processors, may enter it in another order than recorded. A packet
/// that is older than a departed packet by this much will not depart any more.
const REORDERING_NS: u64 = 1_000_000;

impl Books {
    /// Joins arrivals and departures. Records before `zero_ns` are left out. In a `fair` queue packets of one owner
    /// overtake those of others, and only a later packet of the same owner shows that one was dropped.
    pub fn of(records: &[Record], zero_ns: u64, flows: usize, traffic: usize, fair: bool) -> Books {
        let mut packets: Vec<Packet> = Vec::with_capacity(records.len() / 2);
        // Packets that have arrived but not departed, as stamps and indices in `packets`.
        let mut queues: Vec<VecDeque<(u32, usize)>> = vec![VecDeque::new(); if fair { flows + traffic + 1 } else { 1 }];
        for record in records.iter().filter(|record| record.time_ns >= zero_ns) {
            let time_ns = record.time_ns - zero_ns;
            let owner = owner_of(record.protocol, record.port, flows, traffic);
            let queue = match owner {
                _ if !fair => 0,
                Owner::Flow(flow) => flow,
                Owner::Traffic(source) => flows + source,
                Owner::Other => flows + traffic,
            };
            let waiting = &mut queues[queue];
            match record.end {
                End::Arrived => {
                    waiting.push_back((record.stamp, packets.len()));
                    let (size, fate) = (record.size, Fate::Queued);
                    packets.push(Packet { owner, size, arrival_ns: time_ns, fate, marked: false });
                }
                End::Departed => depart(record, time_ns, waiting, &mut packets),
                End::Lost => {}
            }
        }
        let least_wait_ns = packets.iter().filter_map(Packet::whole_wait_ns).min().unwrap_or(0);
        Books { packets, least_wait_ns }
    }

    /// Returns the time that a packet spent in the queue; `None` if it did not leave.
    pub fn wait_ns(&self, packet: &Packet) -> Option<u64> {
        packet.whole_wait_ns().map(|wait| wait - self.least_wait_ns)
    }
}

/// Takes a packet out of its queue. Older packets of the queue were dropped.
fn depart(record: &Record, time_ns: u64, waiting: &mut VecDeque<(u32, usize)>, packets: &mut [Packet]) {
    let Some(place) = waiting.iter().position(|(waiting, _)| *waiting == record.stamp) else { return };
    let Some((_, index)) = waiting.remove(place) else { return };
    (packets[index].fate, packets[index].marked) = (Fate::Departed(time_ns), record.marked);
    let arrival_ns = packets[index].arrival_ns;
    while let Some(&(_, older)) = waiting.front() {
        if packets[older].arrival_ns + REORDERING_NS > arrival_ns {
            break;
        }
        packets[older].fate = Fate::Dropped;
        waiting.pop_front();
    }
}

/// Returns the packets that the wire behind the bottleneck lost.
pub(crate) fn losses(records: &[Record], zero_ns: u64, flows: usize, traffic: usize) -> Vec<Loss> {
    let lost = records.iter().filter(|record| record.end == End::Lost && record.time_ns >= zero_ns);
    let loss = |record: &Record| {
        let owner = owner_of(record.protocol, record.port, flows, traffic);
        Loss { at_ns: record.time_ns - zero_ns, owner }
    };
    lost.map(loss).collect()
}

impl Packet {
    fn whole_wait_ns(&self) -> Option<u64> {
        match self.fate {
            Fate::Departed(at) => Some(at.saturating_sub(self.arrival_ns)),
            _ => None,
        }
    }

    /// Returns when it left; `None` if it did not.
    pub fn departure_ns(&self) -> Option<u64> {
        match self.fate {
            Fate::Departed(at) => Some(at),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::owner::FIRST_FLOW_PORT;

    const MS: u64 = 1_000_000;

    fn record(end: End, at_ns: u64, stamp: u32) -> Record {
        Record { time_ns: at_ns, stamp, size: 1_514, port: FIRST_FLOW_PORT, protocol: 6, end, marked: false }
    }

    #[test]
    fn overtaken_packet_counts_as_dropped() {
        let records = [
            record(End::Arrived, 10 * MS, 1),
            record(End::Arrived, 11 * MS, 2),
            record(End::Arrived, 15 * MS, 3),
            record(End::Departed, 16 * MS, 1),
            record(End::Departed, 18 * MS, 3),
            record(End::Arrived, 19 * MS, 4),
        ];
        let books = Books::of(&records, 0, 1, 0, false);
        let fates: Vec<Fate> = books.packets.iter().map(|packet| packet.fate).collect();
        assert_eq!(fates, [Fate::Departed(16 * MS), Fate::Dropped, Fate::Departed(18 * MS), Fate::Queued]);
    }

    #[test]
    fn departed_mark_is_recorded() {
        let marked = |end, at_ns, stamp| Record { marked: true, ..record(end, at_ns, stamp) };
        let records = [
            record(End::Arrived, 10 * MS, 1),
            record(End::Arrived, 11 * MS, 2),
            marked(End::Departed, 12 * MS, 1),
            record(End::Departed, 13 * MS, 2),
        ];
        let found: Vec<bool> = Books::of(&records, 0, 1, 0, false).packets.iter().map(|packet| packet.marked).collect();
        assert_eq!(found, [true, false]);
    }

    #[test]
    fn waits_are_relative_to_minimum() {
        let records = [
            record(End::Arrived, 100, 1),
            record(End::Departed, 105, 1),
            record(End::Arrived, 200, 2),
            record(End::Departed, 245, 2),
        ];
        let books = Books::of(&records, 0, 1, 0, false);
        let waits: Vec<_> = books.packets.iter().map(|packet| books.wait_ns(packet)).collect();
        assert_eq!((books.least_wait_ns, waits), (5, vec![Some(0), Some(40)]));
    }

    #[test]
    fn reordering_before_queue_is_not_drop() {
        let records = [
            record(End::Arrived, 100, 1),
            record(End::Arrived, 101, 2),
            record(End::Departed, 200, 2),
            record(End::Departed, 201, 1),
        ];
        let books = Books::of(&records, 0, 1, 0, false);
        assert!(books.packets.iter().all(|packet| packet.departure_ns().is_some()));
    }

    #[test]
    fn fair_queue_drop_needs_same_owner() {
        let other = |end, at_ns, stamp| Record { port: FIRST_FLOW_PORT + 1, ..record(end, at_ns, stamp) };
        let records = [
            record(End::Arrived, 10 * MS, 1),
            other(End::Arrived, 15 * MS, 2),
            other(End::Departed, 16 * MS, 2),
            record(End::Departed, 30 * MS, 1),
        ];
        let fates =
            |fair| Books::of(&records, 0, 2, 0, fair).packets.iter().map(|packet| packet.fate).collect::<Vec<_>>();
        assert_eq!(fates(true), [Fate::Departed(30 * MS), Fate::Departed(16 * MS)]);
        assert_eq!(fates(false), [Fate::Dropped, Fate::Departed(16 * MS)]);
    }

    #[test]
    fn wire_losses_depart_and_are_lost() {
        let records =
            [record(End::Arrived, 10 * MS, 1), record(End::Departed, 11 * MS, 1), record(End::Lost, 11 * MS, 1)];
        assert_eq!(Books::of(&records, 0, 1, 0, false).packets[0].fate, Fate::Departed(11 * MS));
        assert_eq!(losses(&records, MS, 1, 0), [Loss { at_ns: 10 * MS, owner: Owner::Flow(0) }]);
    }

    #[test]
    fn unknown_ports_have_no_owner() {
        let mut stranger = record(End::Arrived, 100, 1);
        stranger.port += 1;
        assert_eq!(Books::of(&[stranger], 0, 1, 0, false).packets[0].owner, Owner::Other);
    }
}
