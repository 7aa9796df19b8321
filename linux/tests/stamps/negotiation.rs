//! Real connections between two namespaces: what the option says on the wire, and whether it is true.

use std::collections::HashMap;
use std::iter;
use std::time::Duration;

use libbpf_rs::TC_INGRESS;

use super::alone;
use super::capture::Segment;
use super::net::{Cgroup, Pair};
use super::programs::{Fate, Hosts, Programs, STAMPS, WANTS, Way};
use super::transfer::{PORT, Plan, Seen, send};
use super::wire::{self, Run};

/// Returns the segments with the transfer's data, as captured at one end.
pub fn data(seen: &[Segment]) -> Vec<&Segment> {
    seen.iter().filter(|s| s.target_port == PORT && s.payload > 0).collect()
}

/// Returns the pure acknowledgments of that data, after the handshake.
pub fn acks(seen: &[Segment]) -> Vec<&Segment> {
    seen.iter().filter(|s| s.source_port == PORT && s.is_pure_ack()).collect()
}

pub fn run_of(ack: &Segment) -> Option<Run> {
    Run::read(wire::find(&ack.options)?)
}

/// Realtime minus monotonic clock.
fn clock_offset() -> i64 {
    let read = |clock| nix::time::clock_gettime(clock).expect("a clock");
    let monotonic = read(nix::time::ClockId::CLOCK_MONOTONIC);
    let realtime = read(nix::time::ClockId::CLOCK_REALTIME);
    (realtime.tv_sec() - monotonic.tv_sec()) * 1_000_000_000 + realtime.tv_nsec() - monotonic.tv_nsec()
}

/// Returns the error of each arrival time in the acknowledgments against the receiver's packet socket, in nanoseconds.
/// Panics where an acknowledgment reports the arrival of something that is no segment.
pub fn errors(seen: &Seen) -> Vec<i64> {
    let offset = clock_offset();
    let arrivals: HashMap<u32, &Segment> = data(&seen.right).into_iter().map(|s| (s.end(), s)).collect();
    let mut errors = Vec::new();
    for ack in acks(&seen.left) {
        let Some(run) = run_of(ack) else { continue };
        let mut end = if run.beside { ack.first_sacked().expect("a block to lie beside") } else { ack.ack };
        let mut earlier_ns = 0;
        for gap in iter::once(0).chain(run.gap_ns.iter().copied()) {
            earlier_ns += gap;
            let segment = arrivals.get(&end).expect("the run steps over segments that arrived");
            let truth = (segment.ns as i64 - offset) as u32;
            let told = run.newest_ns.wrapping_sub(earlier_ns);
            // Both clocks modulo 2^31, the difference around zero.
            errors.push(i64::from((told.wrapping_sub(truth) << 1) as i32 >> 1));
            end = segment.seq;
        }
    }
    errors.sort_unstable();
    errors
}

/// Judges the median and the 95th percentile of the errors. The socket stamps a packet where the device hands it to its
/// queue; the program stamps it where the queue is processed. In between, a processor wakes up. That takes a
/// microsecond on one that is awake, 14 on a virtual one that had halted, and more where other programs want it too.
fn assert_true(errors: &[i64]) {
    let [low, median, high] = [0.0, 0.5, 0.95].map(|q| errors[((errors.len() - 1) as f64 * q) as usize]);
    eprintln!("{} arrivals told; error {low} least, {median} median, {high} ns p95", errors.len());
    assert!(low > -1_000, "an arrival was told {low} ns before it happened");
    assert!(median < 50_000 && high < 500_000, "told {median} ns late, {high} ns in 5 of 100");
}

fn plan(bytes: usize) -> Plan {
    Plan { bytes, ..Plan::default() }
}

/// Which answers to SYNs carried the option, in their order.
fn answers(seen: &Seen) -> Vec<bool> {
    let answers = seen.right.iter().filter(|s| s.flags & 0x12 == 0x12);
    answers.map(|answer| wire::find(&answer.options).is_some()).collect()
}

/// How many acknowledgments told arrivals.
fn told(seen: &Seen) -> usize {
    acks(&seen.left).into_iter().filter(|ack| run_of(ack).is_some()).count()
}

/// Segments of the sender's side that carry the option.
fn carriers(seen: &Seen) -> Vec<&Segment> {
    seen.left.iter().filter(|s| wire::find(&s.options).is_some()).collect()
}

#[test]
fn acknowledgments_tell_arrivals_where_both_ends_agree() {
    let Some(_alone) = alone() else { return };
    for (family, bytes, least) in [(0, 2_000_000, 99), (1, 500_000, 98)] {
        let seen = Hosts::new().send(&Plan { family, ..plan(bytes) });
        let (acks, told, packets) = (acks(&seen.left).len(), told(&seen), data(&seen.right).len());
        eprintln!("{packets} packets, {acks} acknowledgments, {told} with the option");
        assert!(acks * 10 < packets * 7, "acknowledgments were to be delayed");
        assert!(told * 100 >= acks * least, "{told} of {acks} acknowledgments carry the option");
        let errors = errors(&seen);
        assert!(errors.len() * 100 >= packets * least, "{} of {packets} packets have their arrival told", errors.len());
        assert_true(&errors);
    }
}

#[test]
fn peer_without_the_programs_sees_one_offer_and_no_more() {
    let Some(_alone) = alone() else { return };
    for at_sender in [true, false] {
        let hosts = Hosts::new();
        let [left, right] = [at_sender, !at_sender].map(|has| has.then_some(&hosts.cgroup));
        let seen = send(&hosts.pair, &plan(300_000), left, right, |_| {});
        let carriers = carriers(&seen);
        assert!(carriers.iter().all(|s| s.flags & 0x12 == 0x02), "only a SYN may carry an offer: {carriers:?}");
        assert_eq!(carriers.len(), usize::from(at_sender), "offers seen");
    }
}

/// The SYN passes with the option, its answers only without.
#[test]
fn answer_that_does_not_pass_with_the_option_goes_out_without_it() {
    let Some(_alone) = alone() else { return };
    let (hosts, way) = (Hosts::new(), Way::load(Fate::default()));
    way.attach("path_refuse", &hosts.pair.left, TC_INGRESS);
    let seen = hosts.send(&plan(300_000));
    let answers = answers(&seen);
    assert_eq!(way.done().0, 2, "answers that did not pass; all: {answers:?}");
    assert_eq!(answers[..3], [true, true, false], "answers with the option: {answers:?}");
    assert_eq!(told(&seen), 0, "an end tells what was not agreed on");
}

/// The first answer is lost. The second goes out by our timer, the third, without the option, because the SYN came again.
#[test]
fn ends_agree_though_the_first_answer_is_lost() {
    let Some(_alone) = alone() else { return };
    let (hosts, way) = (Hosts::new(), Way::load(Fate::default()));
    way.attach("path_lose_answer", &hosts.pair.left, TC_INGRESS);
    let delay = |how: &str, ms: u32| {
        hosts.pair.left.command("tc", &format!("qdisc {how} dev wire root netem delay {ms}ms")).expect("netem");
    };
    delay("add", 20);
    let seen = std::thread::scope(|scope| {
        // The path becomes longer, so that the SYN comes again long after the timer: its answer bears a later time.
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            delay("change", 60);
        });
        hosts.send(&plan(300_000))
    });
    assert_eq!((answers(&seen), way.done().0), (vec![true, true, false], 1), "answers with the option, and lost");
    assert!(told(&seen) > 50, "{} acknowledgments tell arrivals", told(&seen));
}

/// Answers come after the SYN went out again, without the option, and carry it: the first one passed.
#[test]
fn answer_with_the_option_says_that_the_offer_passed() {
    let Some(_alone) = alone() else { return };
    let hosts = Hosts::new();
    let offers = || {
        let seen = hosts.send(&plan(1000));
        let offers = seen.left.iter().filter(|s| s.flags & 0x12 == 0x02);
        offers.map(|offer| wire::find(&offer.options).is_some()).collect::<Vec<_>>()
    };
    // The ends know each other's addresses from now on; that this SYN passed is soon forgotten.
    assert_eq!(offers(), [true]);
    std::thread::sleep(Duration::from_secs(4));
    hosts.pair.right.command("tc", "qdisc add dev wire root netem delay 1200ms").expect("netem");
    for connection in 1..=4 {
        assert_eq!(offers(), [true, false], "offers of connection {connection}");
    }
}

/// Handshakes of the same ports that their client left count for nothing.
#[test]
fn abandoned_handshakes_do_not_keep_the_option_from_the_next() {
    let Some(_alone) = alone() else { return };
    let hosts = Hosts::new();
    // An answer finds no socket, and is reset.
    hosts.pair.right.command("tc", "qdisc add dev wire root netem delay 100ms").expect("netem");
    let seen = hosts.send(&Plan { abandoned: 3, ..plan(300_000) });
    assert_eq!(answers(&seen), [true; 4], "answers with the option");
    assert!(told(&seen) > 20, "{} acknowledgments tell arrivals", told(&seen));
}

/// Another program leaves no room for the option.
#[test]
fn answer_without_room_for_the_option_agrees_on_nothing() {
    let Some(_alone) = alone() else { return };
    let pair = Pair::new().expect("namespaces");
    let cgroup = Cgroup::new("crowd").expect("a cgroup");
    let way = Way::load(Fate::default());
    let _other = way.crowd(&cgroup);
    let programs = Programs::load(STAMPS | WANTS);
    let _option = programs.attach_option(&cgroup);
    programs.attach_stamp(&pair.right);
    let seen = send(&pair, &plan(300_000), Some(&cgroup), Some(&cgroup), |_| {});
    assert_eq!((answers(&seen), told(&seen)), (vec![false], 0), "answers with the option, and arrivals told");
}

#[test]
fn connections_of_other_congestion_controls_offer_and_tell_nothing() {
    let Some(_alone) = alone() else { return };
    let hosts = Hosts::at(Pair::new().expect("namespaces"), Programs::load_unasked(STAMPS | WANTS));
    let seen = hosts.send(&plan(300_000));
    assert!(seen.left.len() > 200, "{} packets", seen.left.len());
    let carriers = carriers(&seen);
    assert!(carriers.iter().all(|s| s.flags & 0x02 != 0), "a SYN and its answer: {carriers:?}");
    let offers: Vec<_> = carriers.iter().filter_map(|s| wire::offer(wire::find(&s.options)?)).collect();
    // WIRE_STAMPS and WIRE_MAY: each may ask the other later.
    assert_eq!(offers, [(1, 5), (1, 5)]);
}

#[test]
fn ends_stamp_only_what_is_wanted() {
    let Some(_alone) = alone() else { return };
    for (sender, receiver, tells) in [(WANTS, STAMPS, true), (STAMPS, WANTS, false), (STAMPS, STAMPS, false)] {
        let pair = Pair::new().expect("namespaces");
        let cgroups = ["left", "right"].map(|name| Cgroup::new(name).expect("a cgroup"));
        let programs = [sender, receiver].map(Programs::load);
        let _links = [0, 1].map(|i| programs[i].attach_option(&cgroups[i]));
        programs[1].attach_stamp(&pair.right);
        let seen = send(&pair, &plan(300_000), Some(&cgroups[0]), Some(&cgroups[1]), |_| {});
        let told = told(&seen);
        assert_eq!(told > 0, tells, "sender offers {sender}, receiver {receiver}: {told} carry the option");
        let offer = seen.left.iter().find_map(|s| wire::offer(wire::find(&s.options)?));
        assert_eq!(offer, Some((1, sender as u8)), "the SYN says the version and what its sender offers");
        let answered = seen.left.iter().any(|s| s.flags & 0x12 == 0x12 && wire::find(&s.options).is_some());
        assert_eq!(answered, sender != receiver, "an offer is answered where the answer means something");
    }
}

#[test]
fn segments_of_data_are_as_large_as_without_the_option() {
    let Some(_alone) = alone() else { return };
    let (hosts, plan) = (Hosts::new(), plan(1448 * 200));
    for seen in [send(&hosts.pair, &plan, None, None, |_| {}), hosts.send(&plan)] {
        let data = data(&seen.left);
        // An MTU of 1500 less IPv4, TCP and timestamps.
        assert_eq!(data.iter().map(|s| s.payload).max(), Some(1448));
        assert!(data.iter().all(|s| wire::find(&s.options).is_none()));
    }
}
