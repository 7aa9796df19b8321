//! Real connections between two namespaces: the option on the wire, compared with captured arrivals.

use std::collections::HashMap;
use std::iter;
use std::time::Duration;

use libbpf_rs::TC_INGRESS;

use super::capture::Segment;
use super::net::{Cgroup, Pair};
use super::programs::{Fate, Programs, STAMPS, WANTS, Way};
use super::transfer::{PORT, Plan, Seen, send};
use super::wire::{self, Run};
use super::{alone, needs_programs};

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

/// Makes a transfer with the sockets of both ends under the programs.
pub fn both(pair: &Pair, plan: &Plan) -> Seen {
    let cgroup = Cgroup::new("both").expect("a cgroup");
    let programs = Programs::load(STAMPS | WANTS);
    let _option = programs.attach_option(&cgroup);
    programs.attach_stamp(&pair.right);
    send(pair, plan, Some(&cgroup), Some(&cgroup), |_| {})
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
        let mut end = if run.beside { ack.first_sacked().expect("a SACK block") } else { ack.ack };
        let mut earlier_ns = 0;
        for gap in iter::once(0).chain(run.gap_ns.iter().copied()) {
            earlier_ns += gap;
            let segment = arrivals.get(&end).expect("the run steps over segments that arrived");
            let truth = (segment.ns as i64 - offset) as u32;
            let reported = run.newest_ns.wrapping_sub(earlier_ns);
            // Both clocks modulo 2^31, the difference around zero.
            errors.push(i64::from((reported.wrapping_sub(truth) << 1) as i32 >> 1));
            end = segment.seq;
        }
    }
    errors.sort_unstable();
    errors
}

fn quantile(sorted: &[i64], q: f64) -> i64 {
    sorted[((sorted.len() - 1) as f64 * q) as usize]
}

/// Judges the median and the 95th percentile of the errors. The socket stamps a packet when the device queues it; the program
/// stamps it when the queue is processed. In between, a processor wakes up. That takes a microsecond on one that is awake, 14
/// on a virtual one that was halted, and more under load.
pub fn assert_true(errors: &[i64]) {
    let [low, median, high] = [0.0, 0.5, 0.95].map(|q| quantile(errors, q));
    eprintln!("{} arrivals reported; error {low} least, {median} median, {high} ns p95", errors.len());
    assert!(low > -1_000, "an arrival was reported {low} ns too early");
    assert!(median < 50_000 && high < 500_000, "reported {median} ns late, {high} ns in 5 of 100");
}

#[test]
fn acks_report_arrivals_if_both_agree() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    let seen = both(&pair, &Plan::default());
    let acks = acks(&seen.left);
    let reported = acks.iter().filter(|a| run_of(a).is_some()).count();
    let packets = data(&seen.right).len();
    eprintln!("{packets} packets, {} acknowledgments, {reported} with the option", acks.len());
    assert!(acks.len() * 10 < packets * 7, "acknowledgments were to be delayed");
    assert!(reported * 100 >= acks.len() * 99, "{reported} of {} acknowledgments carry the option", acks.len());
    let errors = errors(&seen);
    assert!(errors.len() * 100 >= packets * 99, "{} of {packets} packets have a reported arrival", errors.len());
    assert_true(&errors);
}

#[test]
fn reports_arrivals_over_ipv6() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    let seen = both(&pair, &Plan { family: 1, bytes: 500_000, ..Plan::default() });
    let (errors, packets) = (errors(&seen), data(&seen.right).len());
    assert!(errors.len() * 100 >= packets * 98, "{} of {packets} packets have a reported arrival", errors.len());
    assert_true(&errors);
}

#[test]
fn peer_without_programs_sees_one_offer() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for programs_at_sender in [true, false] {
        let pair = Pair::new().expect("namespaces");
        let cgroup = Cgroup::new("one").expect("a cgroup");
        let programs = Programs::load(STAMPS | WANTS);
        let _option = programs.attach_option(&cgroup);
        programs.attach_stamp(&pair.right);
        let (left, right) = if programs_at_sender { (Some(&cgroup), None) } else { (None, Some(&cgroup)) };
        let seen = send(&pair, &Plan { bytes: 300_000, ..Plan::default() }, left, right, |_| {});
        let carrying = |s: &&Segment| wire::find(&s.options).is_some();
        let carriers: Vec<&Segment> = seen.left.iter().filter(carrying).collect();
        assert!(carriers.iter().all(|s| s.flags & 0x12 == 0x02), "only a SYN may carry an offer: {carriers:?}");
        assert_eq!(carriers.len(), usize::from(programs_at_sender), "offers seen");
    }
}

/// The SYN passes with the option, its answers only without.
#[test]
fn dropped_syn_ack_is_retried_without_option() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    let cgroup = Cgroup::new("refused").expect("a cgroup");
    let programs = Programs::load(STAMPS | WANTS);
    let _option = programs.attach_option(&cgroup);
    programs.attach_stamp(&pair.right);
    let way = Way::load(Fate::default());
    way.attach("path_refuse", &pair.left, TC_INGRESS);
    let seen = send(&pair, &Plan { bytes: 300_000, ..Plan::default() }, Some(&cgroup), Some(&cgroup), |_| {});
    let answers = answers(&seen);
    assert_eq!(way.done().0, 2, "answers that did not pass; all: {answers:?}");
    assert_eq!(answers[..3], [true, true, false], "answers with the option: {answers:?}");
    assert!(acks(&seen.left).iter().all(|ack| run_of(ack).is_none()), "an end reports arrivals without agreement");
}

/// Which answers to SYNs carried the option, in their order.
fn answers(seen: &Seen) -> Vec<bool> {
    let answers = seen.right.iter().filter(|s| s.flags & 0x12 == 0x12);
    answers.map(|answer| wire::find(&answer.options).is_some()).collect()
}

/// Number of acknowledgments with arrivals.
fn reported(seen: &Seen) -> usize {
    acks(&seen.left).into_iter().filter(|ack| run_of(ack).is_some()).count()
}

/// The first answer is lost. The second goes out by our timer, the third, without the option, because the SYN came again.
#[test]
fn negotiation_survives_loss_of_syn_ack() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    let way = Way::load(Fate::default());
    way.attach("path_lose_answer", &pair.left, TC_INGRESS);
    let delay = |how: &str, ms: u32| {
        pair.left.command("tc", &format!("qdisc {how} dev wire root netem delay {ms}ms")).expect("netem");
    };
    delay("add", 20);
    let seen = std::thread::scope(|scope| {
        // The path becomes longer, so that the SYN comes again long after the timer: its answer bears a later time.
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            delay("change", 60);
        });
        both(&pair, &Plan { bytes: 300_000, ..Plan::default() })
    });
    assert_eq!((answers(&seen), way.done().0), (vec![true, true, false], 1), "answers with the option, and lost");
    assert!(reported(&seen) > 50, "{} acknowledgments report arrivals", reported(&seen));
}

/// Answers come after the SYN went out again, without the option, and carry it: the first one passed.
#[test]
fn syn_ack_with_option_confirms_offer() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    let cgroup = Cgroup::new("late").expect("a cgroup");
    let programs = Programs::load(STAMPS | WANTS);
    let _option = programs.attach_option(&cgroup);
    let offers = || {
        let seen = send(&pair, &Plan { bytes: 1000, ..Plan::default() }, Some(&cgroup), Some(&cgroup), |_| {});
        let offers = seen.left.iter().filter(|s| s.flags & 0x12 == 0x02);
        offers.map(|offer| wire::find(&offer.options).is_some()).collect::<Vec<_>>()
    };
    // The ends know each other's addresses from now on; that this SYN passed is soon forgotten.
    assert_eq!(offers(), [true]);
    std::thread::sleep(Duration::from_secs(4));
    pair.right.command("tc", "qdisc add dev wire root netem delay 1200ms").expect("netem");
    for connection in 1..=4 {
        assert_eq!(offers(), [true, false], "offers of connection {connection}");
    }
}

/// Abandoned handshakes of the same ports have no effect.
#[test]
fn abandoned_handshakes_do_not_block_option() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    // An answer finds no socket, and is reset.
    pair.right.command("tc", "qdisc add dev wire root netem delay 100ms").expect("netem");
    let seen = both(&pair, &Plan { bytes: 300_000, abandoned: 3, ..Plan::default() });
    assert_eq!(answers(&seen), [true; 4], "answers with the option");
    assert!(reported(&seen) > 20, "{} acknowledgments report arrivals", reported(&seen));
}

/// If another program fills the options of the SYN-ACK, the option is not negotiated.
#[test]
fn full_syn_ack_negotiates_no_option() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    let cgroup = Cgroup::new("full").expect("a cgroup");
    let way = Way::load(Fate::default());
    let _other = way.crowd(&cgroup);
    let programs = Programs::load(STAMPS | WANTS);
    let _option = programs.attach_option(&cgroup);
    programs.attach_stamp(&pair.right);
    let seen = send(&pair, &Plan { bytes: 300_000, ..Plan::default() }, Some(&cgroup), Some(&cgroup), |_| {});
    assert_eq!((answers(&seen), reported(&seen)), (vec![false], 0), "answers with the option, and reported arrivals");
}

#[test]
fn other_controllers_offer_and_report_no_arrivals() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    let cgroup = Cgroup::new("others").expect("a cgroup");
    let programs = Programs::load_unasked(STAMPS | WANTS);
    let _option = programs.attach_option(&cgroup);
    programs.attach_stamp(&pair.right);
    let seen = send(&pair, &Plan { bytes: 300_000, ..Plan::default() }, Some(&cgroup), Some(&cgroup), |_| {});
    assert!(seen.left.len() > 200, "{} packets", seen.left.len());
    let carriers: Vec<&Segment> = seen.left.iter().filter(|s| wire::find(&s.options).is_some()).collect();
    assert!(carriers.iter().all(|s| s.flags & 0x02 != 0) && carriers.len() == 2, "a SYN and its answer: {carriers:?}");
    let offers: Vec<_> = carriers.iter().filter_map(|s| wire::offer(wire::find(&s.options)?)).collect();
    // WIRE_STAMPS and WIRE_MAY: each may ask the other later.
    assert_eq!(offers, [(1, 5), (1, 5)]);
}

#[test]
fn stamps_only_requested_arrivals() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for (sender, receiver, reports) in [(WANTS, STAMPS, true), (STAMPS, WANTS, false), (STAMPS, STAMPS, false)] {
        let pair = Pair::new().expect("namespaces");
        let cgroups = [Cgroup::new("left").expect("a cgroup"), Cgroup::new("right").expect("a cgroup")];
        let programs = [Programs::load(sender), Programs::load(receiver)];
        let _links = [0, 1].map(|i| programs[i].attach_option(&cgroups[i]));
        programs[1].attach_stamp(&pair.right);
        let plan = Plan { bytes: 300_000, ..Plan::default() };
        let seen = send(&pair, &plan, Some(&cgroups[0]), Some(&cgroups[1]), |_| {});
        let reported = acks(&seen.left).iter().filter(|a| run_of(a).is_some()).count();
        assert_eq!(
            reported > 0,
            reports,
            "sender offers {sender}, receiver {receiver}: {reported} acknowledgments carry the option"
        );
        let offer = seen.left.iter().find_map(|s| wire::offer(wire::find(&s.options)?));
        assert_eq!(offer, Some((1, sender as u8)), "the SYN has the version and its sender's offer");
        let answered = seen.left.iter().any(|s| s.flags & 0x12 == 0x12 && wire::find(&s.options).is_some());
        assert_eq!(answered, sender != receiver, "an offer is answered where the answer means something");
    }
}

#[test]
fn option_does_not_shrink_data_segments() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let sizes = |seen: &Seen| {
        let mut sizes: Vec<u32> = data(&seen.left).iter().map(|s| s.payload).collect();
        sizes.sort_unstable();
        sizes.dedup();
        (sizes.pop(), data(&seen.left).iter().any(|s| wire::find(&s.options).is_some()))
    };
    let plan = Plan { bytes: 1448 * 200, ..Plan::default() };
    let pair = Pair::new().expect("namespaces");
    let without = sizes(&send(&pair, &plan, None, None, |_| {}));
    assert_eq!(without, (Some(1448), false), "an MTU of 1500 less IPv4, TCP and timestamps");
    assert_eq!(sizes(&both(&pair, &plan)), without);
}
