//! Real paths' transfers beside the simulator, on a link that is computed for both: the same senders, receivers and controllers
//! must do the same, whatever carries them.
//!
//! The bound, set before the first run: throughput, loss and the mean wait within a tenth, or losses within a thousandth of what
//! is sent and waits within a packet's time where they are that small.
#![cfg(target_os = "linux")]

#[path = "../../live/tests/link/mod.rs"]
mod link;

use experiment::scenario::{Experiment, Scenario};
use harness::runner::Host;
use link::{HEADERS, Link, Measured, Shape};
use live::serve::Limits;
use live::transfer::{Outgoing, drive};
use live::wire::{Begin, Grant, Keys, Purpose, SEGMENT_HEAD};
use packetscale_models::congestion::{Setup, find};
use packetscale_models::settings::Settings;
use packetscale_models::transport::{SenderParams, Transfer};
use packetscale_models::units::{Bytes, Rate, Span, Time};

const PACKET: Bytes = Bytes::new(1500);
const RTT: Span = Span::from_millis(20);
const BUFFER: u64 = 60;
const SHAPE: Shape = Shape { rate: Rate::from_mbps(20), rtt: RTT, buffer: BUFFER, packet: PACKET, one_in: 0 };
const SCENARIO: &str = r#"
run = { duration = "20 s", warmup = "5 s" }
path = { rate = "20 Mbit/s", delay = "10 ms", buffer = "60 packets" }
"#;

/// Throughput in Mbit/s, loss, mean wait in seconds.
type Figures = (f64, f64, f64);

fn simulated(experiment: &Experiment) -> Figures {
    let summary = simulator::Simulator.run(experiment).expect("a run").summary;
    let of = |figure: Option<f64>| figure.expect("a figure");
    (of(summary.throughput_bps) * 1e-6, of(summary.loss_ratio), of(summary.queue_delay_mean_s))
}

fn carried(experiment: &Experiment) -> Figures {
    let wish = Grant { size: 1472, rate_bps: 1_000_000_000, bytes: 1 << 40, duration_ms: 100_000 };
    let mut link = Link::new(SHAPE, Limits { grant: wish, ..Limits::DEFAULT });
    let grant = link.open(wish);
    let flow = &experiment.flows[0];
    let begin = Begin {
        size: (PACKET.get() as usize - HEADERS - SEGMENT_HEAD) as u16,
        delayed_ack: experiment.receiver.delayed_ack as u16,
        delayed_ack_us: (experiment.receiver.delayed_ack_timeout.nanos() / 1000) as u32,
        window: u32::MAX,
        stamps: true,
        purpose: Purpose::Measure,
    };
    let begun = link.begin(3, begin).expect("begun");
    let setup = Setup { now: Time::ZERO, packet: PACKET, handshake_rtt: RTT, initial_window: 10, seed: 1 };
    let controller = (find(&flow.controller.kind).expect("registered").build)(&setup, &Settings::new());
    let params = SenderParams {
        packet: PACKET,
        transfer: Transfer::Unlimited,
        initial_window: flow.initial_window,
        handshake_rtt: RTT,
        handshake_window: u64::from(begun.window),
        min_rto: flow.min_rto,
        pacing_percent: flow.pacing_percent,
        tick: Span::ZERO,
        slow_start_after_idle: flow.slow_start_after_idle,
        ecn: flow.ecn,
    };
    let outgoing = Outgoing::new(params, controller.expect("no settings"), Time::ZERO, true, true);
    let mut flows = Measured { flows: vec![(3, outgoing)], until: Time::ZERO + experiment.duration };
    let keys = Keys::default();
    let session = link.session(&keys, grant, Span::from_secs(10));
    drive(&mut link, session, &mut flows).expect("driven");
    let outgoing = &mut flows.flows[0].1;
    let counters = *outgoing.sender().counters();
    let deliveries = outgoing.take_records().0;
    let least_ns = deliveries.iter().map(|one| one.came_ns - one.left.nanos()).min().expect("some arrived");
    let wait_ns = |one: &live::transfer::Delivery| one.came_ns - one.left.nanos() - least_ns;
    let (warm, end) = (Time::ZERO + experiment.warmup, Time::ZERO + experiment.duration);
    let late: Vec<_> = deliveries
        .iter()
        .filter(|one| {
            let at = one.left + Span::from_nanos(wait_ns(one));
            at > warm && at <= end
        })
        .collect();
    let bits: f64 = late.iter().map(|one| one.size.get() as f64 * 8.0).sum();
    let waits: f64 = late.iter().map(|one| wait_ns(one) as f64 * 1e-9).sum();
    let seconds = end.since(warm).as_secs_f64();
    (bits / seconds * 1e-6, counters.lost as f64 / counters.sent as f64, waits / late.len() as f64)
}

fn is_near(found: f64, expected: f64, at_least: f64) -> bool {
    (found - expected).abs() <= (0.1 * expected).max(at_least)
}

#[test]
fn flow_over_carrier_matches_simulator() {
    for controller in ["newreno", "cubic", "bbr", "rapid"] {
        let text = format!("{SCENARIO}flow = [{{ controller = \"{controller}\" }}]\n");
        let scenario = Scenario::parse(&text, std::path::Path::new("link"), &[]).expect("a scenario");
        let experiment = scenario.plan().remove(0);
        let (found, expected) = (carried(&experiment), simulated(&experiment));
        eprintln!("{controller}: {found:?}, simulated {expected:?}");
        assert!(is_near(found.0, expected.0, 0.0), "{controller}: {found:?}, simulated {expected:?}");
        assert!(is_near(found.1, expected.1, 0.001), "{controller}: {found:?}, simulated {expected:?}");
        let packet_s = SHAPE.rate.time_for(PACKET).as_secs_f64();
        assert!(is_near(found.2, expected.2, packet_s), "{controller}: {found:?}, simulated {expected:?}");
    }
}
