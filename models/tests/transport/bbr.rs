//! BBR on a bottleneck: how much of the link it fills, the queue it builds, the losses it tolerates, how it shares.

use super::*;
use packetscale_models::congestion::{Setup, find};
use packetscale_models::settings::Settings;
use packetscale_models::units::Rate;
use std::cell::RefCell;
use std::rc::Rc;

const RTT: Span = Span::from_millis(40);
/// 5000 packets per second, 200 per round trip.
const RATE: Rate = Rate::from_mbps(40);
const BDP: u64 = 200;

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

/// A drop-tail queue before a wire.
struct Bottleneck {
    room: u64,
    free_at: Time,
    /// Longest wait since this was last read.
    longest: Span,
}

impl Bottleneck {
    fn new(room: u64) -> Rc<RefCell<Bottleneck>> {
        Rc::new(RefCell::new(Bottleneck { room, free_at: Time::ZERO, longest: Span::ZERO }))
    }

    /// Returns how long a packet that arrives now takes; `None` when the buffer is full.
    fn pass(&mut self, now: Time) -> Option<Span> {
        let wire = RATE.time_for(PACKET);
        let wait = self.free_at.saturating_since(now);
        if wait >= wire.saturating_mul(self.room) {
            return None;
        }
        self.longest = self.longest.max(wait);
        self.free_at = now + wait + wire;
        Some(wait + wire)
    }
}

/// A flow over nothing yet; acknowledgments are for up to `delayed` packets.
fn bare(version: &str, seed: u64, start: Time, rtt: Span, delayed: u32) -> Path<AnyController> {
    let params = sender_params(Transfer::Unlimited, rtt);
    let setup = Setup { now: start, packet: PACKET, handshake_rtt: rtt, initial_window: params.initial_window, seed };
    let controller = (find(version).expect("registered").build)(&setup, &Settings::new()).expect("defaults");
    let sender = Sender::new(params, controller, start);
    let receiver = Receiver::new(ReceiverParams { delayed_ack: delayed, ..receiver_params() });
    let mut path = Path::new(sender, receiver, rtt);
    path.record = false;
    path.now = start;
    path
}

fn flow(seed: u64, start: Time, bottleneck: &Rc<RefCell<Bottleneck>>, loss: f64) -> Path<AnyController> {
    let mut path = bare("bbr", seed, start, RTT, 1);
    let (bottleneck, mut dice) = (bottleneck.clone(), Dice(seed));
    path.segment_fate = Box::new(move |now, _| {
        if dice.roll() < loss {
            return dropped();
        }
        bottleneck.borrow_mut().pass(now).map_or_else(dropped, |delay| vec![delay])
    });
    path
}

/// Share of the bottleneck's rate delivered between two times.
fn share(path: &mut Path<AnyController>, from: f64, until: f64) -> f64 {
    path.run(at(from));
    let before = path.sender.counters().delivered;
    path.run(at(until));
    let delivered = path.sender.counters().delivered - before;
    delivered as f64 / (RATE.bps() as f64 / PACKET.bits() as f64 * (until - from))
}

#[test]
fn it_fills_idle_lossy_and_shallow_paths() {
    for (why, seed, buffer, loss, least_share, most_lost) in [
        ("an idle path", 1, 4 * BDP, 0.0, 0.95, 1.0),
        ("one percent of random loss", 7, BDP, 0.01, 0.8, 1.0),
        // The buffer overflows in probes, not all the time.
        ("a buffer of a quarter of what the path holds", 1, BDP / 4, 0.0, 0.9, 0.02),
    ] {
        let mut path = flow(seed, Time::ZERO, &Bottleneck::new(buffer), loss);
        let share = share(&mut path, 2.0, 22.0);
        let counters = path.sender.counters();
        let lost = counters.lost as f64 / counters.sent as f64;
        assert!(share > least_share && lost < most_lost, "{why}: share {share}, lost {lost}");
    }
}

/// The window is at most 2.25 times what the path holds, plus a little for bursts. The queue therefore stays below 1.5
/// times what the path holds.
#[test]
fn its_queue_is_bounded_however_large_the_buffer() {
    let bottleneck = Bottleneck::new(100 * BDP);
    let mut path = flow(1, Time::ZERO, &bottleneck, 0.0);
    path.run(at(2.0));
    bottleneck.borrow_mut().longest = Span::ZERO;
    path.run(at(12.0));
    let longest = bottleneck.borrow().longest;
    assert!(longest < RTT * 3 / 2, "{longest:?}");
    assert_eq!(path.sender.counters().lost, 0);
}

/// The window falls to half of what the path holds, 100 packets, for about 200 ms, every five seconds.
#[test]
fn it_drains_the_queue_every_five_seconds() {
    let mut path = flow(1, Time::ZERO, &Bottleneck::new(4 * BDP), 0.0);
    let mut began = Vec::new();
    let mut narrow = false;
    for step in 100..2200 {
        path.run(at(f64::from(step) * 0.01));
        let now_narrow = path.sender.controller().decision().window <= 110;
        if now_narrow && !narrow {
            began.push(f64::from(step) * 0.01);
        }
        narrow = now_narrow;
    }
    assert!((3..=5).contains(&began.len()), "{began:?}");
    for pair in began.windows(2) {
        assert!((5.0..6.0).contains(&(pair[1] - pair[0])), "{began:?}");
    }
}

/// Two flows on one bottleneck, a second apart, advanced in turn by less than a packet; they have 20 s to converge.
#[test]
fn two_flows_share_within_a_factor_of_two() {
    let bottleneck = Bottleneck::new(BDP);
    let mut flows = [flow(1, Time::ZERO, &bottleneck, 0.0), flow(2, at(1.0), &bottleneck, 0.0)];
    let mut before = [0, 0];
    for step in 0..500_000u32 {
        let now = f64::from(step) * 0.0001;
        flows[0].run(at(now));
        if now >= 1.0 {
            flows[1].run(at(now));
        }
        if step == 200_000 {
            before = [0, 1].map(|n: usize| flows[n].sender.counters().delivered);
        }
    }
    let delivered = [0, 1].map(|n: usize| flows[n].sender.counters().delivered - before[n]);
    let ratio = delivered[0] as f64 / delivered[1] as f64;
    assert!((0.5..2.0).contains(&ratio), "{delivered:?}");
}

/// A wire that loses everything for two seconds, with a thousand packets in flight. Their repair is acknowledged in pairs, of
/// which each echoes the first: the second has arrived, too, and gives a delivery rate, without which ProbeRTT would not end.
#[test]
fn both_versions_recover_from_an_outage() {
    for version in ["bbr", "bbr1"] {
        let mut path = bare(version, 1, Time::ZERO, Span::from_millis(264), 2);
        let bottleneck = Bottleneck::new(1320);
        path.segment_fate = Box::new(move |now, _| {
            let lost = (at(20.0)..at(22.0)).contains(&now);
            let delay = (!lost).then(|| bottleneck.borrow_mut().pass(now)).flatten();
            delay.map_or_else(dropped, |delay| vec![delay])
        });
        let share = share(&mut path, 28.0, 40.0);
        assert!(share > 0.85, "{version}: {share:.3}");
    }
}
