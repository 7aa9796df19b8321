//! Whole searches over a fluid path, for which everything is known.

use packetscale_models::estimation::{Abstain, Ended, Found, Gap, Method, Sender, Stream, Tool, Tuning, find};
use packetscale_models::units::{Bytes, Rate, Ratio, Span};

const CAPACITY: f64 = 10e9;
const SIZE: Bytes = Bytes::new(9000);

/// A link of 10 Gbit/s with a queue shared with even traffic. A stream of a rate r above the available bandwidth A
/// arrives at r C / (r + C - A).
struct Fluid {
    available: f64,
    /// Number of streams that it may still send.
    left: usize,
    /// Packets lost from each stream.
    lost: u64,
    /// Packets and rate of each stream sent.
    asked: Vec<(u32, Rate)>,
}

impl Fluid {
    fn new(gbps: f64) -> Fluid {
        Fluid { available: gbps * 1e9, left: usize::MAX, lost: 0, asked: Vec::new() }
    }
}

fn gap(rate: f64) -> Span {
    Span::from_picos((SIZE.get() as f64 * 8e12 / rate) as u64)
}

impl Sender for Fluid {
    fn send(&mut self, packets: u32, rate: Rate) -> Option<Stream> {
        self.left = self.left.checked_sub(1)?;
        self.asked.push((packets, rate));
        let rate = rate.bps() as f64;
        let arrives = if rate > self.available { rate * CAPACITY / (rate + CAPACITY - self.available) } else { rate };
        let one = Gap { send: gap(rate), receive: gap(arrives), size: SIZE, acked: true };
        Some(Stream { lost: self.lost, ..Stream::new(vec![one; packets as usize - 1]) })
    }
}

const PATHLOAD: Tool = Tool::Pathload { fleet: 3, packets: 100, agree: Ratio::of(7, 10) };

fn search(tool: Tool, method: &str, path: &mut Fluid) -> Found {
    let method: Method = method.parse().expect("a method");
    find(&tool, &method, (Rate::from_gbps(1), Rate::from_gbps(10)), Rate::from_mbps(100), path)
}

#[test]
fn pathload_interval_contains_the_available_bandwidth() {
    for tenths in (15..=95).step_by(8) {
        let mut path = Fluid::new(f64::from(tenths) / 10.0);
        let found = search(PATHLOAD, "pathload", &mut path);
        assert_eq!((found.ended, found.grey), (Ended::Found, None));
        assert!(found.low.bps() as f64 <= path.available && path.available <= found.high.bps() as f64, "{found:?}");
        // 9 Gbit/s, halved seven times, are 70 Mbit/s.
        assert!(found.high - found.low <= Rate::from_mbps(100) && path.asked.len() == 3 * 7, "{}", path.asked.len());
    }
}

#[test]
fn prc_mt_measures_dispersion_first_and_searches_below() {
    let mut path = Fluid::new(6.0);
    let found = search(Tool::PrcMt(Tuning::default()), "prc-mt", &mut path);
    // 10 Gbit/s against 4 Gbit/s arrive at 10 * 10 / 14.
    let adr = found.adr.expect("it was measured").bps() as f64;
    assert!((adr / (1e11 / 14.0) - 1.0).abs() < 1e-4, "{adr}");
    assert_eq!(path.asked[0], (3000, Rate::from_gbps(10)));
    // A path without noise: two streams of every length agree, and the shortest will do.
    assert!(found.packets <= 68 && path.asked.last().is_some_and(|(packets, _)| *packets == found.packets));
    assert!(found.low.bps() as f64 <= 6e9 && 6e9 <= found.high.bps() as f64, "{found:?}");
    assert!(found.high.bps() as f64 <= adr);
}

#[test]
fn stopped_sender_reports_the_open_interval() {
    let mut path = Fluid { left: 4, ..Fluid::new(2.0) };
    let found = search(PATHLOAD, "pathload", &mut path);
    // One fleet of three at 5.5 Gbit/s was too fast; the second was cut short.
    assert_eq!(found.ended, Ended::Stopped);
    assert_eq!((found.low, found.high), (Rate::from_gbps(1), Rate::from_mbps(5500)));
    let found = search(Tool::PrcMt(Tuning::default()), "prc-mt", &mut Fluid { left: 2, ..Fluid::new(2.0) });
    assert_eq!((found.ended, found.packets), (Ended::Stopped, 0));
}

#[test]
fn streams_that_lose_a_tenth_were_too_fast() {
    let found = search(PATHLOAD, "pathload", &mut Fluid { lost: 11, ..Fluid::new(9.0) });
    assert!(found.ended == Ended::Found && found.high <= Rate::from_mbps(1100), "{found:?}");
    let found = search(PATHLOAD, "pathload", &mut Fluid { lost: 10, ..Fluid::new(9.0) });
    assert_eq!(found.ended, Ended::Unread(Abstain::Lost { packets: 10 }));
}
