//! A flow knows how long its handshake took: as long as the queues that it met.
//!
//! Rapid's first gap reveals it: its first two packets leave a tenth of the handshake's round trip apart.

use super::*;

const LINK: Rate = Rate::from_mbps(10);
const RTT: Span = Span::from_millis(20);
const START: Time = Time::from_nanos(1_000_000_000);

/// One flow that starts after a second of traffic of twice the rate of the link there, and 1.5 times that of the link back.
fn experiment(handshake_waits: bool) -> Experiment {
    let delay = Span::from_millis(1);
    let mut experiment = dumbbell(LINK, delay, Buffer::Unlimited, Span::from_secs(6));
    experiment.links.push(link("return", LINK, delay));
    let cbr = |rate, route| {
        let mut source = traffic(TrafficKind::Cbr { rate }, 500, 1);
        (source.route, source.stop) = (vec![route], START);
        source
    };
    experiment.traffic = vec![cbr(Rate::from_mbps(20), 0), cbr(Rate::from_mbps(15), 1)];
    let mut newcomer = flow("rapid", 1500, RTT);
    (newcomer.start, newcomer.back, newcomer.handshake_waits) = (Start::At(START), vec![1], handshake_waits);
    experiment.flows.push(newcomer.into());
    experiment
}

/// How far apart the first two packets of the flow arrive at the first link, in milliseconds.
fn first_gap_ms(experiment: &Experiment, mode: Mode) -> u64 {
    let log = log(experiment, mode);
    let arrivals: Vec<Time> = log.iter().filter(|served| served.owner == 0).map(|served| served.arrival).collect();
    arrivals[1].since(arrivals[0]).nanos() / 1_000_000
}

#[test]
fn a_handshake_waits_in_the_queues_there_and_back() {
    // A second there, half a second back, and 20 ms. With a queue per flow only the packet on the wire is ahead.
    for (waits, queue, mode, expected_ms) in [
        (true, "fifo", Mode::Fused, 152),
        (true, "fifo", Mode::Stepped, 152),
        (true, "fq-codel", Mode::Fused, 52),
        (false, "fifo", Mode::Fused, 2),
    ] {
        let mut experiment = experiment(waits);
        experiment.links[0].queue = QueueSpec::named(queue);
        assert_eq!(first_gap_ms(&experiment, mode), expected_ms, "{queue}, {mode:?}, waits: {waits}");
    }
}

/// A link with a rate that falls to nothing never takes another packet: the flow starts nevertheless.
#[test]
fn a_handshake_does_not_wait_on_a_dead_link() {
    let text = r#"
        run = { duration = "4 s" }
        path = { rate = "10 Mbit/s", delay = "5 ms", buffer = "50 packets", rate_steps = [["1 s", "0 bit/s"]] }
        sender = { handshake_waits = true }
        flow = [{ controller = "newreno" }, { controller = "rapid", start = "2 s" }]
    "#;
    assert!(run(&planned(text)).flows[1].sent_packets > 0, "the second flow has sent nothing");
}
