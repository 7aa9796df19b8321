//! Measures the cost of a packet in sender, receiver and controller: the best of a few runs.
//!
//! `cargo run --release -p packetscale-models --example per_packet`

use std::collections::VecDeque;
use std::time::Instant;

use packetscale_models::congestion::{
    AckSample, AnyController, Controller, Decision, Extras, Loss, LossResponse, Setup, Timeout, find,
};
use packetscale_models::settings::Settings;
use packetscale_models::transport::{Ack, Receiver, ReceiverParams, Segment, Sender, SenderParams, Transfer};
use packetscale_models::units::{Bytes, Span, Time};

const PACKETS: u64 = 2_000_000;
const RUNS: u32 = 7;
const RTT: Span = Span::from_millis(20);

/// The path and the receiver.
#[derive(Clone, Copy)]
struct Conditions {
    /// Most packets in flight.
    window: u64,
    delayed_ack: u32,
    stamps: bool,
    /// Every `lost_of`-th transmission is lost; 0: none.
    lost_of: u64,
}

/// A window that never changes, to measure what losses cost the transport alone.
struct Fixed(u32);

impl Controller for Fixed {
    fn on_ack(&mut self, _ack: &AckSample<'_>) {}
    fn on_loss(&mut self, _loss: &Loss<'_>) {}
    fn on_timeout(&mut self, _timeout: &Timeout) {}
    fn decision(&self) -> Decision {
        Decision { window: self.0, departure: Time::ZERO }
    }
    fn loss_response(&self) -> LossResponse {
        LossResponse::OwnWindow
    }
}

impl Extras for Fixed {}

fn main() {
    println!("sender         {:4} bytes with any controller", size_of::<Sender<AnyController>>());
    println!("receiver       {:4} bytes", size_of::<Receiver>());
    println!("acknowledgment {:4} bytes\n", size_of::<Ack>());
    println!("controller  window  acks  stamps  lost   ns per packet");
    for name in ["newreno", "cubic"] {
        for (window, delayed_ack, stamps) in
            [(20, 1, false), (20, 2, false), (100, 2, false), (10_000, 2, false), (100, 2, true)]
        {
            report(name, Conditions { window, delayed_ack, stamps, lost_of: 0 }, || registered(name));
        }
    }
    for (window, lost_of) in [(100, 100), (1000, 100), (10_000, 100), (10_000, 10)] {
        let conditions = Conditions { window: 2 * window, delayed_ack: 2, stamps: false, lost_of };
        report("fixed", conditions, || Fixed(window as u32));
    }
}

fn registered(name: &str) -> AnyController {
    let setup = Setup { now: Time::ZERO, packet: Bytes::new(1000), handshake_rtt: RTT, initial_window: 10, seed: 1 };
    (find(name).expect("registered").build)(&setup, &Settings::new()).expect("defaults are valid")
}

fn report<C: Extras>(name: &str, conditions: Conditions, controller: impl Fn() -> C) {
    let cost = (0..RUNS).map(|_| measure(controller(), conditions)).fold(f64::INFINITY, f64::min);
    let Conditions { window, delayed_ack, stamps, lost_of } = conditions;
    println!("{name:10}  {window:6}  1:{delayed_ack}   {stamps:6}  1:{lost_of:<4}  {cost:.1}");
}

/// Nanoseconds per packet delivered in order.
fn measure<C: Extras>(controller: C, conditions: Conditions) -> f64 {
    let Conditions { window, delayed_ack, stamps, lost_of } = conditions;
    let params = SenderParams {
        packet: Bytes::new(1000),
        transfer: Transfer::Unlimited,
        initial_window: 10,
        handshake_rtt: RTT,
        handshake_window: window,
        min_rto: Span::from_millis(200),
        pacing_percent: 0,
        tick: Span::ZERO,
        slow_start_after_idle: true,
        ecn: false,
    };
    let receiver = ReceiverParams { delayed_ack, delayed_ack_timeout: Span::from_millis(40), window, stamps };
    let mut sender = Sender::new(params, controller, Time::ZERO);
    let mut receiver = Receiver::new(receiver);
    let mut wire: VecDeque<Segment> = VecDeque::with_capacity(2 * window as usize);
    let (mut now, mut late_wakeups) = (Time::ZERO, 0);
    let gap = RTT / window;
    let start = Instant::now();
    while receiver.next_expected() < PACKETS {
        while let Some(segment) = sender.poll_transmit(now) {
            if lost_of == 0 || segment.transmission % lost_of != lost_of - 1 {
                wire.push_back(segment);
            }
        }
        late_wakeups += u64::from(sender.next_wakeup() <= now);
        now += gap;
        if let Some(segment) = wire.front() {
            if let Some(ack) = receiver.on_segment(now, segment) {
                sender.on_ack(now, &ack);
            }
            wire.pop_front();
            continue;
        }
        now = sender.next_wakeup().min(receiver.next_wakeup()).max(now);
        sender.on_wakeup(now);
        if let Some(ack) = receiver.on_wakeup(now) {
            sender.on_ack(now, &ack);
        }
    }
    assert!(late_wakeups < PACKETS, "keeps the timers from being optimised away");
    start.elapsed().as_secs_f64() * 1e9 / PACKETS as f64
}
