//! Probe streams: judged, looked at.

mod gaps;
mod judging;

use harness::probing::{ProbePacket, ProbeStream};
use packetscale_models::units::{Bytes, Rate};

/// A stream of packets of 9000 B between these rates, all while this one was available.
fn stream(packets: Vec<ProbePacket>, [lowest, mean_rate, highest]: [Rate; 3], available: Rate) -> ProbeStream {
    ProbeStream {
        number: 0,
        train: 0,
        mean_rate,
        lowest,
        highest,
        truth: available,
        train_truth: available,
        packets,
        lost: 0,
        acknowledge: 1,
        size: Bytes::new(9000),
    }
}
