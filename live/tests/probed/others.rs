//! Packets of other traffic: constant, in bursts, or as recorded.

use super::path::{ETHERNET, HEADERS, MOST_PAYLOAD, Shape};
use packetscale_models::units::Random;

/// How other traffic comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// A packet at equal gaps.
    Constant,
    /// Alternately twice the rate and zero, each for an exponential time.
    OnOff,
    /// As web servers sent it (`scenarios/traces/README.md`), slowed down to the rate.
    Web,
}

/// The mean of the times with and without packets.
const ON_OFF_NS: f64 = 20e6;
/// 45 000 packets of web servers: pcap of nanoseconds, little-endian, 64 bytes of each packet.
const RECORDED: &[u8] = include_bytes!("../../../scenarios/traces/web-namespaces.pcap");
const FILE_HEAD: usize = 24;
const RECORD: usize = 16 + 64;

/// A record: when, in nanoseconds, and bytes with Ethernet.
fn recorded(at: usize) -> (f64, f64) {
    let record = &RECORDED[FILE_HEAD + at * RECORD..];
    let number = |offset: usize| u32::from_le_bytes(record[offset..offset + 4].try_into().expect("four bytes"));
    assert_eq!(number(8), 64, "64 bytes are kept of each packet");
    (f64::from(number(0)) * 1e9 + f64::from(number(4)), f64::from(number(12)))
}

/// Draws packets.
pub struct Source {
    bytes: f64,
    random: Random,
    /// Remaining time with packets.
    on_ns: f64,
    at: usize,
    records: usize,
    /// The recording's mean rate.
    bps: f64,
}

impl Source {
    pub fn new(shape: Shape) -> Source {
        let records = (RECORDED.len() - FILE_HEAD) / RECORD;
        let total: f64 = (0..records - 1).map(|at| recorded(at).1).sum();
        let bps = total * 8e9 / (recorded(records - 1).0 - recorded(0).0);
        let mut random = Random::new(shape.seed);
        let at = (random.uniform() * (records - 1) as f64) as usize;
        Source { bytes: shape.bytes as f64 + ETHERNET, random, on_ns: 0.0, at, records, bps }
    }

    /// Bytes of the next payload, and the gap behind it in nanoseconds. `bps` is the mean rate, with Ethernet.
    pub fn next(&mut self, traffic: Traffic, bps: f64) -> (usize, f64) {
        let payload = |bytes: f64| (bytes - ETHERNET - HEADERS as f64).clamp(0.0, MOST_PAYLOAD as f64) as usize;
        match traffic {
            Traffic::Constant => (payload(self.bytes), self.bytes * 8e9 / bps),
            Traffic::OnOff => {
                let gap_ns = self.bytes * 8e9 / (2.0 * bps);
                self.on_ns -= gap_ns;
                let pause = if self.on_ns > 0.0 { 0.0 } else { self.exponential() };
                if self.on_ns <= 0.0 {
                    self.on_ns = self.exponential();
                }
                (payload(self.bytes), gap_ns + pause)
            }
            Traffic::Web => {
                self.at = (self.at + 1) % (self.records - 1);
                let ((now, bytes), (then, _)) = (recorded(self.at), recorded(self.at + 1));
                (payload(bytes), (then - now) * self.bps / bps)
            }
        }
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.random.uniform()).ln() * ON_OFF_NS
    }
}
