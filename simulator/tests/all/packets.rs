//! The page's records of single packets agree with the run's counters.

use super::*;
use harness::runner::Host;
use simulator::Simulator;

/// 8 s at 2 Mbit/s are 1333 packets of 1500 B at most: every one fits into the lists. The buffer of 10 packets overflows,
/// and the link loses some more.
fn experiment(packets: bool) -> Experiment {
    planned(&format!(
        "run = {{ duration = \"8 s\" }}\npath = {{ rate = \"2 Mbit/s\", delay = \"20 ms\", buffer = \"10 packets\", loss = 0.01 }}\n\
         flow = [{{ controller = \"newreno\" }}, {{ controller = \"cubic\", start = \"1 s\" }}]\n\
         record = {{ packets = {packets} }}\n"
    ))
}

#[test]
fn lists_every_packet_without_changing_the_run() {
    let with = Simulator.run(&experiment(true)).unwrap();
    let (mut plain, mut bare) = (run(&experiment(false)), Run { sequences: Vec::new(), ..with.clone() });
    (plain.summary.cpu_s, bare.summary.cpu_s) = (None, None);
    assert_eq!(bare, plain);
    assert_eq!(with.sequences.len(), 2);
    for (flow, lists) in with.flows.iter().zip(&with.sequences) {
        assert_eq!((lists.sent.len() + lists.sent_again.len()) as u64, flow.sent_packets);
        assert_eq!(lists.sent_again.len() as u64, flow.retransmitted_packets);
        let gone = flow.dropped_packets + flow.lost_packets;
        assert!(gone > 10 && lists.lost.len() as u64 == gone, "{gone} of flow {}", lists.flow);
        // First transmissions come in order and without a gap; the receiver expects no packet that was not sent.
        assert!(lists.sent.iter().map(|packet| packet.1).eq(0..lists.sent.len() as u64));
        assert!(lists.acknowledged.is_sorted_by_key(|packet| packet.1));
        assert!(lists.acknowledged.iter().all(|packet| packet.1 <= lists.sent.len() as u64));
        // Every packet that was lost was sent before, and those of the first half were sent again later.
        for (at, number) in &lists.lost {
            assert!(lists.sent[*number as usize].0 <= *at);
            assert!(*at > 4.0 || lists.sent_again.iter().any(|again| again.1 == *number && again.0 > *at));
        }
        // What is in flight is sent, and neither acknowledged nor known to be lost.
        assert!(lists.in_flight.iter().all(|point| point.1 <= flow.sent_packets));
        assert!(lists.in_flight.iter().any(|point| point.1 > 5));
    }
}
