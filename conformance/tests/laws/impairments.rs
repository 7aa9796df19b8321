//! What every controller does on an impaired path: one that fails for a while, reorders, loses acknowledgments or
//! changes its delay.

use super::contenders;
use super::path::{dumbbell, link, run};
use experiment::scenario::{Buffer, Experiment, FlowSpec, Reordering};
use packetscale_models::units::{Packets, Rate, Ratio, Span, Time};
use rayon::prelude::*;
use simulator::Mode;

const PACKET: u64 = 1000;
const RATE: Rate = Rate::from_mbps(20);

/// A path of 20 Mbit/s with a round trip of 20.13 ms, about 50 packets, and an equal buffer, from one second to
/// another.
fn path(flow: FlowSpec, (from, to): (u64, u64)) -> Experiment {
    let wire = link(RATE, Span::from_micros(20_130) / 2, Buffer::Packets(Packets::new(50)));
    Experiment { flows: vec![flow.into()], warmup: Span::from_secs(from), ..dumbbell(wire, Span::from_secs(to)) }
}

/// Returns the share of the path that each contender gets between two times, in the experiment that `change` makes from
/// an idle path.
fn shares(within: (u64, u64), change: impl Fn(&mut Experiment) + Sync) -> Vec<(String, f64)> {
    let share = |(name, flow): (String, FlowSpec)| {
        let mut experiment = path(flow, within);
        change(&mut experiment);
        (name, run(&experiment).summary.throughput_bps.unwrap() / RATE.bps() as f64)
    };
    contenders(PACKET, Span::from_micros(20_130)).into_par_iter().map(share).collect()
}

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// Every contender gets at least 80 % of its value in `of`, except those listed, which do not.
#[track_caller]
fn assert_not_below(found: &[(String, f64)], of: &[(String, f64)], except: &[&str], what: &str) {
    let pairs = found.iter().zip(of).filter(|((name, found), (_, of))| {
        let short = *found < 0.8 * of;
        assert!(short || !except.contains(&name.as_str()), "{name} is excepted for nothing: {found:.3} of {of:.3}");
        short && !except.contains(&name.as_str())
    });
    let short: Vec<String> = pairs.map(|((name, found), (_, of))| format!("{name}: {found:.3} of {of:.3}")).collect();
    assert!(short.is_empty(), "{what}: {short:?}");
}

fn idle() -> Vec<(String, f64)> {
    shares((20, 60), |_| {})
}

/// The wire loses everything for ten seconds. Meanwhile the flow backs off (RFC 9743, section 5.1.1). By then timeouts
/// have grown to seconds, so the flow gets ten more to recover.
#[test]
fn every_controller_recovers_when_the_wire_comes_back() {
    let outage = |e: &mut Experiment| e.links[0].impairments.outages = vec![(at(30), at(40))];
    for (name, share) in shares((31, 40), outage) {
        assert!(share < 0.05, "{name} goes on into a wire that loses everything: {share:.3}");
    }
    assert_not_below(&shares((50, 80), outage), &idle(), &[], "after the outage");
}

/// One packet in a hundred is overtaken by 3 or by 30 others, less than a round trip: no sender takes this for loss for
/// long.
#[test]
fn no_controller_minds_reordering_within_a_round_trip() {
    for packets in [3, 30] {
        let reorder = Some(Reordering { share: Ratio::of(1, 100), packets });
        let found = shares((20, 60), |e| e.links[0].impairments.reorder = reorder);
        assert_not_below(&found, &idle(), &[], &format!("{packets} packets"));
    }
}

/// Packets are overtaken by 300 others, six round trips. No sender can wait that long (RFC 8985 section 6.2 waits at
/// most a round trip), so a late packet counts as lost. It must not cost more than a loss would.
#[test]
fn long_reordering_costs_no_more_than_loss() {
    for one_in in [100, 1000] {
        let share = Ratio::of(1, one_in);
        let reorder = Some(Reordering { share, packets: 300 });
        let late = shares((20, 60), |e| e.links[0].impairments.reorder = reorder);
        let lost = shares((20, 60), |e| e.links[0].loss = share);
        assert_not_below(&late, &lost, &[], &format!("one in {one_in}"));
    }
}

/// Acknowledgments are cumulative: every other one is enough. LEDBAT++ is the exception: it starts with two packets and
/// needs six acknowledged in a row to add one. With every other acknowledgment lost, a timeout happens first. With three in
/// ten lost, chance decides: over twenty seeds it gets 0 to 100 % of this path, 63 % on average.
#[test]
fn controllers_tolerate_loss_of_every_other_acknowledgment() {
    for lost in [Ratio::of(1, 2), Ratio::of(3, 10)] {
        let found = shares((20, 60), |e| e.receiver.ack_loss = lost);
        assert_not_below(&found, &idle(), &["ledbat"], &format!("{lost:?}"));
    }
}

/// Acknowledgments arrive every 10 ms, half a round trip, all at once.
#[test]
fn no_controller_minds_acknowledgments_in_bunches() {
    let found = shares((20, 60), |e| e.receiver.ack_bunching = Span::from_millis(10));
    assert_not_below(&found, &idle(), &[], "bunches");
}

/// The round trip grows from 20 to 200 ms after 30 s. From 100 s on a controller gets the same as on a path with a
/// long round trip from the start. The exceptions keep the smallest round trip for ever and take the rest for a
/// queue: Vegas and FAST shrink to nothing, Illinois grows at its slowest rate, Westwood+ leaves too small a window
/// after a loss. LEDBAT++ keeps it for ten minutes. When the round trip falls again, all get what they had before.
#[test]
fn controllers_that_forget_adapt_to_a_longer_path() {
    let long = Span::from_millis(190);
    let up = |e: &mut Experiment| e.links[0].impairments.delay_steps = vec![(at(30), long)];
    let always = |e: &mut Experiment| e.links[0].impairments.delay_steps = vec![(at(0), long)];
    let (after, of) = (shares((150, 210), up), shares((150, 210), always));
    assert_not_below(&after, &of, &["vegas", "fast", "illinois", "westwood", "ledbat"], "longer");
    let back = |e: &mut Experiment| {
        e.links[0].impairments.delay_steps = vec![(at(30), long), (at(60), e.links[0].delay)];
    };
    assert_not_below(&shares((90, 120), back), &idle(), &[], "as before");
}

/// A flow with data to send and a free path is never silent for a second, which is ten round trips.
#[test]
fn no_controller_stalls_on_an_empty_path() {
    for (name, flow) in contenders(PACKET, Span::from_millis(100)) {
        let wire = link(Rate::from_mbps(10), Span::from_millis(50), Buffer::Packets(Packets::new(125)));
        let experiment = Experiment { flows: vec![flow.into()], ..dumbbell(wire, Span::from_secs(60)) };
        let log = simulator::log(&experiment, Mode::Fused).unwrap();
        let sent: Vec<Time> = log.iter().map(|s| s.departure).filter(|departure| *departure < Time::MAX).collect();
        let longest = sent.windows(2).map(|pair| pair[1].since(pair[0])).max().expect("packets");
        assert!(longest < Span::from_secs(1), "{name}: silent for {longest}");
        assert!(at(60).since(sent[sent.len() - 1]) < Span::from_secs(1), "{name}: silent at the end");
    }
}
