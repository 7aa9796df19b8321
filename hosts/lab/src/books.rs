//! Turns records of packets into arrivals, departures and drops at the bottleneck, for each flow and source.

use crate::cross::FIRST_PORT as FIRST_TRAFFIC_PORT;
use crate::flows::FIRST_PORT as FIRST_FLOW_PORT;
use crate::tap::{End, Record};
use std::collections::VecDeque;

/// Who sent a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A responsive flow, by number.
    Flow(usize),
    /// A source of traffic, by number.
    Traffic(usize),
    /// The network's own: address resolution and the like.
    Other,
}

/// A packet at the bottleneck. Times are nanoseconds since the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub owner: Owner,
    pub size: u32,
    pub arrival_ns: u64,
    pub fate: Fate,
}

/// What became of a packet.
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
    /// Joins arrivals and departures. Records before `zero_ns` are left out.
    pub fn of(records: &[Record], zero_ns: u64, flows: usize, traffic: usize) -> Books {
        let mut packets: Vec<Packet> = Vec::with_capacity(records.len() / 2);
        // Packets that have arrived but not departed, as stamps and indices in `packets`.
        let mut waiting: VecDeque<(u32, usize)> = VecDeque::new();
        for record in records.iter().filter(|record| record.time_ns >= zero_ns) {
            let time_ns = record.time_ns - zero_ns;
            match record.end {
                End::Arrived => {
                    waiting.push_back((record.stamp, packets.len()));
                    let owner = Owner::of(record.protocol, record.port, flows, traffic);
                    packets.push(Packet { owner, size: record.size, arrival_ns: time_ns, fate: Fate::Queued });
                }
                End::Departed => {
                    let Some(place) = waiting.iter().position(|(stamp, _)| *stamp == record.stamp) else { continue };
                    let Some((_, index)) = waiting.remove(place) else { continue };
                    packets[index].fate = Fate::Departed(time_ns);
                    let arrival_ns = packets[index].arrival_ns;
                    while let Some(&(_, older)) = waiting.front() {
                        if packets[older].arrival_ns + REORDERING_NS > arrival_ns {
                            break;
                        }
                        packets[older].fate = Fate::Dropped;
                        waiting.pop_front();
                    }
                }
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

const TCP: u8 = 6;
const UDP: u8 = 17;

impl Owner {
    /// Returns the owner of packets with this protocol and source port, in a run with these numbers of flows and
    /// sources.
    pub fn of(protocol: u8, port: u16, flows: usize, traffic: usize) -> Owner {
        let (first, count, named): (u16, usize, fn(usize) -> Owner) = match protocol {
            TCP => (FIRST_FLOW_PORT, flows, Owner::Flow),
            UDP => (FIRST_TRAFFIC_PORT, traffic, Owner::Traffic),
            _ => return Owner::Other,
        };
        let number = port.checked_sub(first).map(usize::from).filter(|number| *number < count);
        number.map_or(Owner::Other, named)
    }
}

/// The fields of an IPv4 packet's headers that the lab needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    pub protocol: u8,
    pub source: u16,
    pub destination: u16,
    /// Whether it is a TCP packet with SYN, FIN or RST.
    pub opens_or_closes: bool,
}

impl Headers {
    /// Reads the headers; `None` if the packet is not TCP or UDP over IPv4.
    pub fn parse(packet: &[u8]) -> Option<Headers> {
        let first = packet.first()?;
        let above = packet.get(usize::from(first & 0x0f) * 4..)?;
        let protocol = *packet.get(9)?;
        if first >> 4 != 4 || !matches!(protocol, TCP | UDP) {
            return None;
        }
        let port = |at: usize| Some(u16::from_be_bytes(above.get(at..at + 2)?.try_into().ok()?));
        const FIN_SYN_RST: u8 = 0b111;
        let opens_or_closes = protocol == TCP && above.get(13)? & FIN_SYN_RST != 0;
        Some(Headers { protocol, source: port(0)?, destination: port(2)?, opens_or_closes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn record(end: End, at_ns: u64, stamp: u32) -> Record {
        Record { time_ns: at_ns, stamp, size: 1_514, port: FIRST_FLOW_PORT, protocol: 6, end }
    }

    #[test]
    fn a_packet_that_never_departs_was_dropped_once_a_later_one_has_departed() {
        let records = [
            record(End::Arrived, 10 * MS, 1),
            record(End::Arrived, 11 * MS, 2),
            record(End::Arrived, 15 * MS, 3),
            record(End::Departed, 16 * MS, 1),
            record(End::Departed, 18 * MS, 3),
            record(End::Arrived, 19 * MS, 4),
        ];
        let books = Books::of(&records, 0, 1, 0);
        let fates: Vec<Fate> = books.packets.iter().map(|packet| packet.fate).collect();
        assert_eq!(fates, [Fate::Departed(16 * MS), Fate::Dropped, Fate::Departed(18 * MS), Fate::Queued]);
    }

    #[test]
    fn waits_are_above_the_least_of_the_run() {
        let records = [
            record(End::Arrived, 100, 1),
            record(End::Departed, 105, 1),
            record(End::Arrived, 200, 2),
            record(End::Departed, 245, 2),
        ];
        let books = Books::of(&records, 0, 1, 0);
        let waits: Vec<_> = books.packets.iter().map(|packet| books.wait_ns(packet)).collect();
        assert_eq!((books.least_wait_ns, waits), (5, vec![Some(0), Some(40)]));
    }

    #[test]
    fn packets_that_swap_places_before_the_queue_are_not_taken_for_dropped() {
        let records = [
            record(End::Arrived, 100, 1),
            record(End::Arrived, 101, 2),
            record(End::Departed, 200, 2),
            record(End::Departed, 201, 1),
        ];
        let books = Books::of(&records, 0, 1, 0);
        assert!(books.packets.iter().all(|packet| packet.departure_ns().is_some()));
    }

    #[test]
    fn ports_beyond_the_flows_belong_to_nobody() {
        let mut stranger = record(End::Arrived, 100, 1);
        stranger.port += 1;
        assert_eq!(Books::of(&[stranger], 0, 1, 0).packets[0].owner, Owner::Other);
    }

    #[test]
    fn headers_of_tcp_over_ipv4_are_read_and_others_are_not() {
        let mut packet = vec![0u8; 52];
        (packet[0], packet[9]) = (0x45, TCP);
        packet[20..24].copy_from_slice(&[0x27, 0x10, 0x13, 0x88]);
        packet[33] = 0x10;
        let plain = Headers { protocol: TCP, source: 10_000, destination: 5_000, opens_or_closes: false };
        assert_eq!(Headers::parse(&packet), Some(plain));
        packet[33] = 0x12;
        assert!(Headers::parse(&packet).is_some_and(|headers| headers.opens_or_closes));
        packet[0] = 0x60;
        assert_eq!(Headers::parse(&packet), None);
        for length in 0..34 {
            packet[0] = 0x4f;
            assert_eq!(Headers::parse(&packet[..length]), None);
        }
    }
}
