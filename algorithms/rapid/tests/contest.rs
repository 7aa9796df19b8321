//! Competitive mode (`contest.h`), on a path whose queue the test says.

use crate::told::{PACKET, Told};
use packetscale_rapid::Params;
use units::{Ratio, Span};

const RTT: Span = Span::from_millis(30);
/// A packet per round trip more, per round trip: 12 kbit / (30 ms)^2.
const GROWTH_BPS_PER_S: f64 = 12_000.0 / 0.03 / 0.03;

fn on_an_empty_path(competitive: bool) -> Told {
    let mut flow = Told::new(&Params { competitive, margin: Ratio::ZERO, ..Params::new(PACKET) }, RTT);
    flow.law.on_timeout(); // ends start-up
    flow.run(Span::from_millis(500));
    flow
}

/// Half a second on the empty path, then beside a queue of 15 to 17 ms for `span`.
fn beside_a_queue(competitive: bool, span: Span) -> Told {
    let mut flow = on_an_empty_path(competitive);
    meet_a_queue(&mut flow, span);
    flow
}

fn meet_a_queue(flow: &mut Told, span: Span) {
    for step in 0..span.nanos() / 50_000_000 {
        flow.queue = Span::from_millis(15 + 2 * (step % 2));
        flow.run(Span::from_millis(50));
    }
}

fn mbps(flow: &Told) -> f64 {
    flow.law.rate().bps() as f64 / 1e6
}

fn a_loss_is_no_reason(flow: &mut Told) {
    let before = mbps(flow);
    flow.law.on_recovery();
    assert!((mbps(flow) - before).abs() < 1e-9, "{before} to {}", mbps(flow));
}

#[test]
fn a_standing_queue_makes_it_grow_as_reno_does() {
    let mut flow = beside_a_queue(true, Span::from_secs(1));
    let before = mbps(&flow);
    meet_a_queue(&mut flow, Span::from_secs(1));
    let grown = (mbps(&flow) - before) * 1e6 / GROWTH_BPS_PER_S;
    assert!((0.95..1.05).contains(&grown), "{grown} of a packet per round trip, per round trip");
}

#[test]
fn a_loss_recovery_leaves_seven_tenths() {
    let mut flow = beside_a_queue(true, Span::from_secs(1));
    let before = mbps(&flow);
    flow.law.on_recovery();
    assert!((mbps(&flow) / before - 0.7).abs() < 1e-3, "{before} to {}", mbps(&flow));
}

#[test]
fn it_ends_with_the_queue() {
    let mut flow = beside_a_queue(true, Span::from_secs(1));
    flow.queue = Span::ZERO;
    flow.run(Span::from_millis(200));
    a_loss_is_no_reason(&mut flow);
}

#[test]
fn without_the_setting_a_loss_beside_a_queue_is_no_reason() {
    let mut flow = beside_a_queue(false, Span::from_secs(1));
    a_loss_is_no_reason(&mut flow);
}

#[test]
fn a_queue_of_less_than_ten_round_trips_does_not_begin_it() {
    let mut flow = beside_a_queue(true, Span::from_millis(250));
    a_loss_is_no_reason(&mut flow);
}
