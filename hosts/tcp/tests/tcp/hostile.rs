//! Receivers that lie about arrivals.

use super::connection::transfer;
use super::namespaces::{Bottleneck, Path};
use super::{Loaded, able, alone};
use packetscale_tcp::{self as tcp, Options};
use std::time::Duration;

const LIES: [&str; 6] = ["zero", "frozen", "random", "backwards", "fast", "slow"];

#[test]
fn no_lie_about_arrivals_makes_a_sender_exceed_what_is_acknowledged_or_stall() {
    if !able() {
        return;
    }
    let _alone = alone();
    let path = Path::new("lies", &Bottleneck { mbit: 50, limit: 50_000 });
    for (number, lie) in (1..).zip(LIES) {
        let rapid = Loaded::new("lies", Options { flows: 2, lie: number, ..Options::default() });
        path.inside("b", || tcp::note_arrivals(&rapid.name, "in").expect("tc"));
        let looks = transfer(&path, &rapid.name, Duration::from_millis(2500));
        // Half a second is more than ten round trips of a full buffer (8 ms); start-up is over by then.
        let marks: Vec<_> =
            (1..=4).filter_map(|half| looks.iter().find(|look| look.at >= Duration::from_millis(500 * half))).collect();
        for pair in marks.windows(2) {
            let (sent, acked) = (pair[1].bytes_sent - pair[0].bytes_sent, pair[1].bytes_acked - pair[0].bytes_acked);
            let in_flight = 100_000;
            assert!(acked > 50_000, "{lie}: stalls, {acked} bytes in half a second");
            assert!(4 * sent <= 5 * acked + in_flight, "{lie}: {sent} bytes sent, {acked} acknowledged");
        }
    }
}
