//! Judges after a run whether its path was the requested one, by the packets that crossed it. Where other programs hold
//! the processors, packets wait for the machine, and the run would measure the machine as if it were the network.

use crate::lab::books::{Books, Packet};
use crate::lab::error::LabError;
use crate::lab::path;
use experiment::scenario::LinkSpec;
use packetscale_models::units::{Capacity, Time};

/// Share of the packets that may wait longer than a full buffer takes. A larger share would show in the 95th
/// percentile.
const MOST_STALLED: f64 = 0.05;

/// Waiting times may exceed a full buffer's by this: the crossing to the next host.
const CROSSING_NS: u64 = 1_000_000;

/// Least share of its rate that the bottleneck must carry while packets wait.
const LEAST_CARRIED: f64 = 0.90;

/// Refuses a run in which packets waited for the machine.
///
/// # Errors
/// Too many packets waited longer than `full_buffer_ns`, the longest wait in this link's buffer; or the link carried too
/// little of its rate while packets waited. The message has the figure.
pub(crate) fn check(books: &Books, link: &LinkSpec, full_buffer_ns: u64) -> Result<(), LabError> {
    let stalled = stalled(books, full_buffer_ns.saturating_add(CROSSING_NS));
    if stalled > MOST_STALLED {
        let (percent, ms) = (stalled * 100.0, full_buffer_ns as f64 * 1e-6);
        let what = format!("{percent:.0} % of the packets waited longer than the {ms:.1} ms that a full buffer takes");
        return Err(LabError(format!("this machine was too busy: {what}")));
    }
    match carried(books, link) {
        Some(carried) if carried < LEAST_CARRIED => {
            let rate = path::service_rate(link);
            let what = format!("while packets waited, the bottleneck carried {:.0} % of {rate}", carried * 100.0);
            Err(LabError(format!("this machine was too busy: {what}")))
        }
        _ => Ok(()),
    }
}

fn stalled(books: &Books, limit_ns: u64) -> f64 {
    let waits = || books.packets.iter().filter_map(|packet| books.wait_ns(packet));
    waits().filter(|wait| *wait > limit_ns).count() as f64 / waits().count().max(1) as f64
}

/// Utilisation of the link over the gaps between two departures where the second packet arrived before the first left; `None`
/// if no packet ever waited for another.
fn carried(books: &Books, link: &LinkSpec) -> Option<f64> {
    let mut served: Vec<(u64, &Packet)> =
        books.packets.iter().filter_map(|packet| Some((packet.departure_ns()?, packet))).collect();
    served.sort_by_key(|(departure_ns, _)| *departure_ns);
    let constant = Capacity::constant(path::service_rate(link))?;
    let varying = link.service.variation.as_ref().map(|variation| &*variation.capacity);
    let mut account = varying.unwrap_or(&constant).account();
    let mut until = |ns: u64| account.until(Time::from_nanos(ns)).get();
    let (mut carried, mut possible) = (0, 0);
    for pair in served.windows(2) {
        let ((before_ns, _), (after_ns, packet)) = (pair[0], pair[1]);
        if packet.arrival_ns + books.least_wait_ns < before_ns {
            carried += u64::from(packet.size);
            let before = until(before_ns);
            possible += until(after_ns) - before;
        }
    }
    (possible > 0).then(|| carried as f64 / possible as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::books::Fate;
    use crate::lab::calibrate::one_flow;
    use harness::measure::Owner;
    use packetscale_models::units::{Bytes, Rate};

    const MS: u64 = 1_000_000;

    /// Packets of 1000 B at 8 Mbit/s: one per millisecond.
    fn books(arrivals_and_departures: impl Iterator<Item = (u64, u64)>) -> Books {
        let packet = |(arrival_ns, departure_ns)| {
            let fate = Fate::Departed(departure_ns);
            Packet { owner: Owner::Flow(0), size: 1_000, arrival_ns, fate, marked: false }
        };
        Books { packets: arrivals_and_departures.map(packet).collect(), least_wait_ns: 0 }
    }

    fn judged(books: &Books) -> Result<(), String> {
        let link = one_flow(Rate::from_mbps(8), Bytes::new(1_000), Bytes::new(8_000)).links.remove(0);
        check(books, &link, 8 * MS).map_err(|error| error.to_string())
    }

    #[test]
    fn refuses_run_with_waits_beyond_full_buffer() {
        let waiting = |stalled: u64| {
            books((0..100).map(move |n| (100 * MS * n, 100 * MS * n + if n < stalled { 10 * MS } else { 0 })))
        };
        assert_eq!(judged(&waiting(5)), Ok(()));
        let message = judged(&waiting(6)).unwrap_err();
        assert!(message.contains("6 % of the packets waited longer than the 8.0 ms"), "{message}");
    }

    #[test]
    fn refuses_run_with_idle_bottleneck_and_backlog() {
        // All packets come in pairs; the second leaves `gap_us` after the first.
        let pairs = |gap_us: u64| {
            let pair =
                move |n: u64| [(100 * MS * n, 100 * MS * n + 1), (100 * MS * n, 100 * MS * n + 1 + gap_us * 1_000)];
            books((0..50).flat_map(pair))
        };
        assert_eq!(judged(&pairs(1_100)), Ok(()));
        let message = judged(&pairs(1_250)).unwrap_err();
        assert!(message.contains("while packets waited, the bottleneck carried 80 % of 8 Mbit/s"), "{message}");
    }

    #[test]
    fn idle_link_is_not_checked() {
        assert_eq!(judged(&books((0..10).map(|n| (100 * MS * n, 100 * MS * n)))), Ok(()));
    }
}
