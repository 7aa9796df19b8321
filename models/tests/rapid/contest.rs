//! Competitive mode (`contest.h`), on a path with a scripted queue.

use super::*;

const RTT: Span = Span::from_millis(30);
/// The queue of others is between 40 and 45 ms, so a round trip takes 72.5 ms on average.
const ROUND_S: f64 = 0.0725;
/// A packet leaves at 1.2 times the pace of its window.
const PACE: f64 = 1.2;

fn on_an_empty_path(competitive: bool) -> ScriptedFlow {
    let mut flow = ScriptedFlow::new(&Params { competitive, margin: Ratio::ZERO, ..Params::new(PACKET) }, RTT);
    flow.law.on_timeout(); // ends start-up
    flow.run(Span::from_millis(500));
    assert!(flow.run_until(Span::from_secs(20), |law| law.rate().bps() > 100_000_000), "{} Mbit/s", mbps(&flow));
    flow
}

/// Some time on the empty path, then with a queue of others for `span`.
fn beside_a_queue(competitive: bool, span: Span) -> ScriptedFlow {
    let mut flow = on_an_empty_path(competitive);
    meet_a_queue(&mut flow, span);
    flow
}

fn meet_a_queue(flow: &mut ScriptedFlow, span: Span) {
    for step in 0..span.nanos() / 50_000_000 {
        flow.queue = Span::from_micros(40_000 + step * 3_090 % 5_000);
        flow.run(Span::from_millis(50));
    }
}

fn mbps(flow: &ScriptedFlow) -> f64 {
    flow.law.rate().bps() as f64 / 1e6
}

/// The window that the rate belongs to.
fn window_packets(flow: &ScriptedFlow) -> f64 {
    flow.law.rate().bps() as f64 / PACE * (flow.rtt + flow.queue).as_secs_f64() / PACKET.bits() as f64
}

fn a_loss_is_no_reason(flow: &mut ScriptedFlow) {
    let before = mbps(flow);
    flow.law.on_recovery();
    assert!((mbps(flow) - before).abs() < 1e-9, "{before} to {}", mbps(flow));
}

/// RFC 9438, equation 4: 3 (1 - 0.7) / (1 + 0.7) of a packet per round trip. The cubic is slower for the first five seconds.
#[test]
fn a_persistent_queue_makes_it_grow_as_reno() {
    let mut flow = beside_a_queue(true, Span::from_secs(2));
    let before = window_packets(&flow);
    meet_a_queue(&mut flow, Span::from_secs(2));
    let rounds = 2.0 / ROUND_S;
    let grown = (window_packets(&flow) - before) / rounds;
    assert!((0.95..1.05).contains(&(grown / 0.529)), "{grown} packets per round trip");
}

/// RFC 9438, equations 1 and 2, after a loss that left 0.75 of some thousand packets.
#[test]
fn after_a_loss_it_follows_the_cubic() {
    let mut flow = on_an_empty_path(true);
    assert!(flow.run_until(Span::from_secs(20), |law| law.rate().bps() > 400_000_000), "{} Mbit/s", mbps(&flow));
    meet_a_queue(&mut flow, Span::from_secs(2));
    let most = window_packets(&flow);
    flow.law.on_recovery();
    let k = ((0.25 * most) / 0.4).cbrt();
    for second in [2.0, 4.0, 6.0, 8.0] {
        meet_a_queue(&mut flow, Span::from_secs(2));
        let expected = most - 0.4 * (k - second).powi(3);
        let found = window_packets(&flow);
        assert!((found / expected - 1.0).abs() < 0.01, "{found} of {expected} packets after {second} s, K = {k} s");
    }
}

#[test]
fn a_loss_leaves_three_quarters_once_per_rtt() {
    let mut flow = beside_a_queue(true, Span::from_secs(2));
    let before = mbps(&flow);
    flow.law.on_recovery();
    flow.law.on_recovery();
    assert!((mbps(&flow) / before - 0.75).abs() < 1e-3, "{before} to {}", mbps(&flow));
}

/// A flow that is alone on a longer path finds the same delay in each probe, however little it has in flight.
#[test]
fn equal_delays_in_three_probes_mean_a_longer_path() {
    let mut flow = beside_a_queue(true, Span::from_secs(2));
    flow.queue = Span::from_millis(30);
    flow.run(Span::from_millis(60) * 24);
    a_loss_is_no_reason(&mut flow);
    let before = mbps(&flow);
    flow.run(Span::from_secs(1));
    assert!(mbps(&flow) > 1.5 * before, "there is no queue to give way to: {before} to {} Mbit/s", mbps(&flow));
}

/// A queue of 6 ms is more than an eighth of the round trip. After one round trip the flow probes, for five.
#[test]
fn ends_where_a_probe_finds_no_queue() {
    let mut flow = beside_a_queue(true, Span::from_secs(2));
    flow.queue = Span::from_millis(6);
    flow.run(Span::from_millis(36) * 3);
    flow.queue = Span::ZERO;
    flow.run(RTT * 6);
    a_loss_is_no_reason(&mut flow);
}

/// A loss that all answer empties a shallow buffer, and proves nothing. An empty queue is looked at after ten seconds.
#[test]
fn probes_ten_seconds_later_with_an_empty_queue() {
    let mut flow = beside_a_queue(true, Span::from_secs(2));
    flow.queue = Span::ZERO;
    flow.run(Span::from_secs(9));
    let before = mbps(&flow);
    flow.law.on_recovery();
    assert!((mbps(&flow) / before - 0.75).abs() < 1e-3, "{before} to {}", mbps(&flow));
    flow.run(Span::from_secs(1) + RTT * 8);
    a_loss_is_no_reason(&mut flow);
}

/// While it probes, it leaves its part of the path without a queue in flight: the rate falls to T / T' of it. The first probe comes
/// with competitive mode, the next when the queue falls by an eighth.
#[test]
fn a_probe_removes_the_flows_own_packets_from_the_queue() {
    let mut flow = beside_a_queue(true, Span::from_secs(2));
    let window = window_packets(&flow);
    flow.queue = Span::from_millis(38);
    flow.run(Span::from_millis(68 * 4));
    let left = flow.law.rate().bps() as f64 * 0.068 / PACKET.bits() as f64;
    assert!((left / window / (30.0 / 68.0) - 1.0).abs() < 0.05, "{left} of {window} packets");
}

#[test]
fn an_expired_timer_ends_it() {
    let mut flow = beside_a_queue(true, Span::from_secs(2));
    flow.law.on_timeout();
    a_loss_is_no_reason(&mut flow);
}

#[test]
fn without_the_setting_a_loss_does_not_start_it() {
    let mut flow = beside_a_queue(false, Span::from_secs(2));
    a_loss_is_no_reason(&mut flow);
}

#[test]
fn a_queue_of_under_20_rtts_does_not_start_it() {
    let mut flow = beside_a_queue(true, Span::from_millis(550));
    a_loss_is_no_reason(&mut flow);
}
