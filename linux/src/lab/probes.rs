//! Records some of Rapid's probe streams, packet by packet, for display.
//!
//! While a reader is attached, the programs report every stream that they read, one event per packet. To limit the cost,
//! reading starts at times spread over the run, and ends each time with the first whole stream.

use crate::lab::books::Books;
use crate::lab::owner::FIRST_FLOW_PORT;
use crate::lab::rapid::{RAPID, is_wanted};
use crate::tcp::{self, Event, PacketEvent, Wanted};
use experiment::results::{StreamGap, StreamRecord};
use experiment::scenario::{Experiment, LinkSpec};
use harness::measure::Owner;
use harness::realtime::clock::{monotonic_ns, sleep_until};
use packetscale_models::units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// `RAPID_PROBE` of `enum rapid_kind`.
const PROBE: u32 = 0;
/// `RAPID_STAMPED` of `enum rapid_record_state`.
const STAMPED: u16 = 2;

/// A stream as the programs reported it, and its flow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HeardStream {
    flow: usize,
    packets: Vec<PacketEvent>,
}

/// Listens from time to time until it is stopped.
pub(crate) struct Probes {
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<Vec<HeardStream>>>,
}

impl Probes {
    /// Starts listening for as many streams as the scenario records, after the warm-up of a run that begins at
    /// `zero_ns`.
    pub fn start(experiment: &Experiment, zero_ns: u64) -> Probes {
        let stop = Arc::new(AtomicBool::new(false));
        let count = u64::from(experiment.record.streams);
        if count == 0 || !experiment.record.detail || !is_wanted(experiment) {
            return Probes { stop, listener: None };
        }
        let (warm, end) = (experiment.warmup.nanos(), experiment.duration.nanos());
        let step = end.saturating_sub(warm) / count;
        let (flows, stopped) = (experiment.flows.len(), Arc::clone(&stop));
        let listen = move || {
            let from = (0..count).map(|i| zero_ns + warm + step * i + step / 2);
            from.filter_map(|from| one(from, from + step / 2, flows, &stopped)).collect()
        };
        Probes { stop, listener: std::thread::Builder::new().spawn(listen).ok() }
    }

    /// Stops, and returns the streams. A run without any lacks only the pictures of streams.
    pub fn end(self) -> Vec<HeardStream> {
        self.stop.store(true, Ordering::Release);
        self.listener.and_then(|listener| listener.join().ok()).unwrap_or_default()
    }
}

/// Returns the first whole probe stream that ends between two times.
fn one(from_ns: u64, until_ns: u64, flows: usize, stop: &AtomicBool) -> Option<HeardStream> {
    sleep_until(from_ns);
    let (packets, whole) = (RefCell::new(Vec::<PacketEvent>::new()), Cell::new(false));
    let take = |event| {
        let Event::Packet(packet) = event else { return };
        let mut packets = packets.borrow_mut();
        if whole.get() || packet.stream_kind != PROBE {
            return;
        }
        if packet.packet == 0 {
            packets.clear();
        }
        if packets.len() == packet.packet as usize {
            packets.push(packet);
            whole.set(packets.len() == packet.of as usize);
        }
    };
    let go_on = || !whole.get() && monotonic_ns() < until_ns && !stop.load(Ordering::Acquire);
    tcp::follow(RAPID, Wanted::Streams, take, go_on).ok()?;
    let packets = packets.into_inner();
    let slot = packets.first().filter(|_| whole.get())?.slot;
    let status = tcp::status(RAPID).ok()?;
    let at = status.slots.iter().position(|taken| *taken == slot)?;
    let flow = usize::from(status.connections[at].address.local().port().checked_sub(FIRST_FLOW_PORT)?);
    (flow < flows).then_some(HeardStream { flow, packets })
}

/// Returns a stream as the results describe it. The available bandwidth comes from the books of the bottleneck, a link.
pub(crate) fn record(probe: &HeardStream, books: &Books, link: &LinkSpec, zero_ns: u64) -> StreamRecord {
    let packets = &probe.packets;
    let since = |ns: u64| ns.saturating_sub(zero_ns);
    let (first_ns, last_ns) = (packets.first().map_or(0, |p| p.sent_ns), packets.last().map_or(0, |p| p.sent_ns));
    let lasted_s = (last_ns.saturating_sub(first_ns).max(1)) as f64 / 1e9;
    let per_second = |bytes: u64| bytes as f64 * 8.0 / lasted_s;
    let own: u64 = packets.iter().skip(1).map(|p| u64::from(p.size)).sum();
    let during = since(first_ns)..since(last_ns);
    let beside =
        |owner: Owner| matches!(owner, Owner::Traffic(_)) || matches!(owner, Owner::Flow(n) if n != probe.flow);
    let others = books.packets.iter().filter(|p| beside(p.owner) && during.contains(&p.arrival_ns));
    let taken = Bytes::new(others.map(|p| u64::from(p.size)).sum());
    let (from, to) = (Time::from_nanos(during.start), Time::from_nanos(during.end));
    let rate = link.capacity().map_or(link.within_buckets(link.rate), |capacity| capacity.mean(from, to));
    let left = harness::measure::available(rate, taken, Span::from_nanos(last_ns.saturating_sub(first_ns).max(1)));
    let available = packets.last().map_or(0, |p| p.available);
    StreamRecord {
        flow: probe.flow as u32,
        start_s: since(first_ns) as f64 / 1e9,
        rate_bps: per_second(own),
        estimate_bps: (available > 0).then_some(available as f64 * 8.0),
        available_bps: Some(left.bps() as f64),
        gaps: gaps(packets),
    }
}

fn gaps(packets: &[PacketEvent]) -> Vec<StreamGap> {
    let delay = |p: &PacketEvent| (p.state == STAMPED).then(|| p.arrival_ns.wrapping_sub(p.sent_ns) as i64);
    let least = packets.iter().filter_map(delay).min().unwrap_or(0);
    let seconds = |ns: u64| ns as f64 / 1e9;
    let one = |(before, packet): (&PacketEvent, &PacketEvent)| StreamGap {
        intended_s: f64::from(before.size) / before.rate.max(1) as f64,
        created_s: seconds(packet.sent_ns.saturating_sub(before.sent_ns)),
        received_s: (before.state == STAMPED && packet.state == STAMPED)
            .then(|| seconds(packet.arrival_ns.saturating_sub(before.arrival_ns))),
        denoised_s: None,
        delay_s: delay(packet).map(|ns| ns.saturating_sub(least) as f64 / 1e9),
        rate_bps: packet.rate as f64 * 8.0,
        size_bytes: u32::from(packet.size),
    };
    packets.iter().zip(&packets[1.min(packets.len())..]).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::books::{Fate, Packet};
    use crate::lab::calibrate::one_flow;
    use packetscale_models::units::Rate;

    fn event(packet: u32, sent_ns: u64, arrival_ns: u64, state: u16) -> PacketEvent {
        PacketEvent {
            kind: 2,
            slot: 1,
            stream: 7,
            packet,
            of: 3,
            size: 1500,
            state,
            sent_ns,
            arrival_ns,
            rate: 12_500_000,
            available: 10_000_000,
            stream_kind: PROBE,
            reserved: 0,
        }
    }

    #[test]
    fn record_has_gaps_and_available_bandwidth() {
        let probe = HeardStream {
            flow: 0,
            packets: vec![
                event(0, 1_000_000, 5_000_000, STAMPED),
                event(1, 1_130_000, 5_140_000, STAMPED),
                event(2, 1_240_000, 0, 3),
            ],
        };
        let packet = |owner, arrival_ns| Packet { owner, size: 1500, arrival_ns, fate: Fate::Queued, marked: false };
        // The run began at 0.9 ms. A packet of traffic and one of another flow arrived during the stream, and one after it.
        let books = Books {
            packets: vec![
                packet(Owner::Flow(0), 100_000),
                packet(Owner::Traffic(0), 200_000),
                packet(Owner::Flow(1), 210_000),
                packet(Owner::Traffic(0), 340_000),
            ],
            least_wait_ns: 0,
        };
        let link = one_flow(Rate::from_mbps(200), Bytes::new(1_500), Bytes::new(100_000)).links.remove(0);
        let shown = record(&probe, &books, &link, 900_000);
        // 3000 bytes in 240 us, and 3000 bytes of others, 100 Mbit/s: half of 200 Mbit/s is available.
        assert_eq!((shown.start_s, shown.rate_bps, shown.estimate_bps), (1e-4, 100e6, Some(80e6)));
        assert!((shown.available_bps.expect("known") - 100e6).abs() < 1.0, "{:?}", shown.available_bps);
        let gaps: Vec<_> = shown.gaps.iter().map(|g| (g.intended_s, g.created_s, g.received_s, g.delay_s)).collect();
        assert_eq!(gaps, [(1.2e-4, 1.3e-4, Some(1.4e-4), Some(1e-5)), (1.2e-4, 1.1e-4, None, None)]);
    }
}
