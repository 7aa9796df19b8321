//! What a packet costs: sender, receiver and controller on a path that loses nothing.
//!
//! `cargo run --release -p packetscale-transport --example per_packet`

use std::collections::VecDeque;
use std::time::Instant;

use congestion::{AnyController, Settings, Setup, find};
use packetscale_transport::{Ack, Receiver, ReceiverParams, Segment, Sender, SenderParams, Transfer};
use units::{Bytes, Span, Time};

const PACKETS: u64 = 20_000_000;

fn main() {
    println!("sender         {:4} bytes with any controller", size_of::<Sender<AnyController>>());
    println!("receiver       {:4} bytes", size_of::<Receiver>());
    println!("acknowledgment {:4} bytes\n", size_of::<Ack>());
    println!("controller  window  acks  stamps  ns per packet");
    for name in ["newreno", "cubic", "rapid"] {
        for (window, delayed_ack, stamps) in
            [(20, 1, false), (20, 2, false), (100, 2, false), (10_000, 2, false), (100, 2, true)]
        {
            let cost = measure(name, window, delayed_ack, stamps);
            println!("{name:10}  {window:6}  1:{delayed_ack}   {stamps:6}  {cost:.1}");
        }
    }
}

/// Nanoseconds of processor time per packet delivered, with this many packets in flight.
fn measure(name: &str, window: u64, delayed_ack: u32, stamps: bool) -> f64 {
    let rtt = Span::from_millis(20);
    let setup = Setup { now: Time::ZERO, packet: Bytes::new(1000), handshake_rtt: rtt, initial_window: 10, seed: 1 };
    let controller = (find(name).expect("registered").build)(&setup, &Settings::new()).expect("defaults are valid");
    let params = SenderParams {
        packet: setup.packet,
        transfer: Transfer::Unlimited,
        initial_window: 10,
        handshake_rtt: rtt,
        min_rto: Span::from_millis(200),
        pacing_percent: 0,
    };
    let receiver = ReceiverParams { delayed_ack, delayed_ack_timeout: Span::from_millis(40), window, stamps };
    let mut sender = Sender::new(params, controller, Time::ZERO);
    let mut receiver = Receiver::new(receiver);
    let mut wire: VecDeque<Segment> = VecDeque::with_capacity(2 * window as usize);
    let (mut now, mut wakeups) = (Time::ZERO, 0);
    let gap = rtt / window;
    let start = Instant::now();
    while receiver.next_expected() < PACKETS {
        while let Some(segment) = sender.poll_transmit(now) {
            wire.push_back(segment);
        }
        wakeups += u64::from(sender.next_wakeup() <= now);
        now += gap;
        let ack = match wire.pop_front() {
            Some(segment) => receiver.on_segment(now, &segment),
            None => {
                now = sender.next_wakeup().min(receiver.next_wakeup()).max(now);
                sender.on_wakeup(now);
                receiver.on_wakeup(now)
            }
        };
        if let Some(ack) = ack {
            sender.on_ack(now, &ack);
        }
    }
    assert!(wakeups < PACKETS, "keeps the timers from being optimised away");
    start.elapsed().as_secs_f64() * 1e9 / PACKETS as f64
}
