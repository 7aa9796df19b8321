//! Turns deliveries into a run. The queue is not observable: a packet's departure is known by this clock and its arrival by the
//! server's. The least difference counts as the delay of a path without a queue.

use super::running::Running;
use crate::transfer::Delivery;
use experiment::results::Run;
use experiment::scenario::Experiment;
use harness::measure::{Owner, Recorder, Seen};
use packetscale_models::units::{Bytes, Span, Time};

/// A flow's deliveries, and its losses: when they were declared, and how many packets.
type Records = (Vec<Delivery>, Vec<(Time, u32)>);

/// An event of a flow.
enum Event {
    /// A packet arrives that left then, with this size.
    Comes(Time, Bytes),
    /// This number of packets is declared lost.
    Lost(u32),
}

/// The run. `rtt`: round trip of the handshake.
pub(super) fn figures(experiment: &Experiment, mut running: Running<'_>, rtt: Span, cpu_s: f64) -> Run {
    let starts: Vec<Time> = running.flows.iter().map(|flow| flow.start).collect();
    let least = |flow: usize| {
        let known = running.flows.get(flow)?.outgoing.as_ref().map(|outgoing| outgoing.least_rtt());
        Some(known.filter(|least| *least > Span::ZERO && *least < Span::MAX).unwrap_or(rtt))
    };
    let base_rtt = harness::measure::longest(experiment, least);
    let mut recorder = Recorder::new(experiment, &starts, base_rtt);
    let seen = |flow: &super::running::One<'_>| {
        flow.outgoing.as_ref().map(|outgoing| outgoing.seen(flow.completed)).unwrap_or_default()
    };
    let flows = running.flows.iter().map(seen).collect();
    let records: Vec<Records> = running
        .flows
        .iter_mut()
        .map(|flow| flow.outgoing.as_mut().map(|outgoing| outgoing.take_records()).unwrap_or_default())
        .collect();
    replay(&mut recorder, &records, base_rtt.unwrap_or(rtt) / 2);
    if recorder.samples.enabled() {
        let sampled = recorder.samples.flows();
        for (flow, samples) in running.samples.iter().enumerate().take(sampled) {
            samples.iter().for_each(|sample| recorder.samples.of_flow(flow, *sample));
        }
    }
    recorder.finish(experiment, Seen { flows, path_unknown: true, cpu_s: Some(cpu_s), ..Seen::default() })
}

/// Replays all events to the recorder, in order of time. `way`: one-way delay from the least delay to the receiver.
fn replay(recorder: &mut Recorder, records: &[Records], way: Span) {
    // Clocks have arbitrary origins: use wrapping differences only.
    let delay_ns = |delivery: &Delivery| delivery.came_ns.wrapping_sub(delivery.left.nanos()) as i64;
    let least_ns = records.iter().flat_map(|(deliveries, _)| deliveries).map(delay_ns).min().unwrap_or(0);
    let mut events: Vec<(Time, usize, Event)> = Vec::new();
    for (flow, (deliveries, losses)) in records.iter().enumerate() {
        for delivery in deliveries {
            let above_ns = delay_ns(delivery).wrapping_sub(least_ns).max(0) as u64;
            let at = delivery.left.saturating_add(Span::from_nanos(above_ns.min(Span::MAX.nanos())));
            events.push((at, flow, Event::Comes(delivery.left, delivery.size)));
        }
        events.extend(losses.iter().map(|(at, lost)| (*at, flow, Event::Lost(*lost))));
    }
    events.sort_by_key(|(at, ..)| *at);
    for (at, flow, event) in events {
        let owner = Owner::Flow(flow);
        match event {
            Event::Comes(left, size) => {
                recorder.served(owner, size, left, at, at);
                recorder.delivered(flow, size, at.saturating_add(way));
            }
            Event::Lost(packets) => (0..packets).for_each(|_| recorder.lost(owner, at)),
        }
    }
}
