//! What a receiver acknowledges, and when.

use super::*;
use packetscale_models::transport::MAX_STAMPS;
use proptest::prelude::*;

fn params() -> ReceiverParams {
    ReceiverParams { delayed_ack: 2, delayed_ack_timeout: Span::from_millis(40), window: 1000, stamps: false }
}

fn segment(sequence: u64) -> Segment {
    Segment {
        sequence,
        transmission: sequence,
        size: Bytes::new(1000),
        retransmission: false,
        ecn: Ecn::NotEct,
        marks: Marks::NONE,
    }
}

/// Sends packets at time zero. Returns the last acknowledgment.
fn feed(receiver: &mut Receiver, sequences: &[u64]) -> Option<Ack> {
    sequences.iter().map(|&sequence| receiver.on_segment(at(0), &segment(sequence))).last().flatten()
}

fn blocks(ack: &Ack) -> Vec<(u64, u64)> {
    ack.sack[..usize::from(ack.blocks)].iter().map(|block| (block.start, block.end)).collect()
}

#[test]
fn every_second_packet_is_acknowledged() {
    let mut receiver = Receiver::new(params());
    let acked: Vec<_> =
        (0..6).map(|i| receiver.on_segment(at(0), &segment(i)).map(|ack| (ack.next_expected, ack.echo))).collect();
    assert_eq!(acked, [None, Some((2, 0)), None, Some((4, 2)), None, Some((6, 4))]);
}

#[test]
fn a_single_packet_is_acknowledged_after_the_timeout() {
    let mut receiver = Receiver::new(params());
    assert!(receiver.on_segment(at(10), &segment(0)).is_none());
    assert_eq!(receiver.next_wakeup(), at(50));
    assert!(receiver.on_wakeup(at(49)).is_none());
    let ack = receiver.on_wakeup(at(50)).expect("due");
    assert_eq!((ack.next_expected, ack.echo, ack.blocks), (1, 0, 0));
    assert_eq!(receiver.next_wakeup(), Time::MAX);
    assert!(receiver.on_wakeup(at(90)).is_none());
}

#[test]
fn packets_above_or_within_a_hole_are_acknowledged_at_once() {
    for (sequences, expected) in [(&[0, 2][..], (1, 2, vec![(2, 3)])), (&[0, 1, 4, 2], (3, 2, vec![(4, 5)]))] {
        let mut receiver = Receiver::new(params());
        let ack = feed(&mut receiver, sequences).expect("at once");
        assert_eq!((ack.next_expected, ack.echo, blocks(&ack)), expected, "{sequences:?}");
        assert_eq!(receiver.next_wakeup(), Time::MAX, "a packet held back is acknowledged with it");
    }
}

/// RFC 2018, section 4, case 3: the 2nd, 4th, 6th and 8th of eight segments are dropped; then the 4th and the 2nd
/// arrive after all.
#[test]
fn blocks_are_those_of_the_rfc_example() {
    let mut receiver = Receiver::new(params());
    let mut reported = |sequence| {
        let ack = receiver.on_segment(at(0), &segment(sequence));
        ack.map(|ack| (ack.next_expected, blocks(&ack)))
    };
    assert_eq!(reported(0), None);
    assert_eq!(reported(2), Some((1, vec![(2, 3)])));
    assert_eq!(reported(4), Some((1, vec![(4, 5), (2, 3)])));
    assert_eq!(reported(6), Some((1, vec![(6, 7), (4, 5), (2, 3)])));
    assert_eq!(reported(3), Some((1, vec![(2, 5), (6, 7)])));
    assert_eq!(reported(1), Some((5, vec![(6, 7)])));
}

#[test]
fn a_repeated_packet_is_reported_as_duplicate() {
    let mut receiver = Receiver::new(params());
    feed(&mut receiver, &[0, 1, 3]);
    for sequence in [1, 3] {
        let ack = receiver.on_segment(at(0), &segment(sequence)).expect("at once");
        assert!(ack.duplicate);
        assert_eq!((ack.next_expected, blocks(&ack)), (2, vec![(3, 4)]));
    }
}

#[test]
fn a_packet_beyond_the_window_is_refused() {
    let mut receiver = Receiver::new(ReceiverParams { window: 4, ..params() });
    let ack = feed(&mut receiver, &[4]).expect("at once");
    assert_eq!((ack.next_expected, ack.blocks, ack.receive_window), (0, 0, 4));
    assert_eq!(blocks(&feed(&mut receiver, &[3]).expect("at once")), [(3, 4)]);
}

#[test]
fn every_arrival_is_stamped_once() {
    let mut receiver = Receiver::new(ReceiverParams { stamps: true, ..params() });
    let mut reported = |ms, sequence| {
        let ack = receiver.on_segment(at(ms), &segment(sequence))?;
        Some(ack.arrivals[..usize::from(ack.stamps)].iter().map(|s| (s.sequence, s.arrived)).collect::<Vec<_>>())
    };
    assert_eq!(reported(1, 0), None);
    assert_eq!(reported(2, 1), Some(vec![(0, at(1)), (1, at(2))]));
    assert_eq!(reported(3, 2), None);
    assert_eq!(reported(4, 5), Some(vec![(2, at(3)), (5, at(4))]));
    assert_eq!(reported(5, 5), Some(vec![]), "a duplicate has its stamp already");
    assert_eq!(reported(6, 3), Some(vec![(3, at(6))]));
}

#[test]
fn drops_the_oldest_of_too_many_stamps() {
    let mut receiver = Receiver::new(ReceiverParams { stamps: true, delayed_ack: 11, ..params() });
    let ack = feed(&mut receiver, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).expect("eleventh");
    assert_eq!(usize::from(ack.stamps), MAX_STAMPS);
    let sequences: Vec<_> = ack.arrivals.iter().map(|stamp| stamp.sequence).collect();
    assert_eq!(sequences, [3, 4, 5, 6, 7, 8, 9, 10]);
}

/// The maximal runs of what has arrived above the first hole.
fn runs(arrived: &BTreeSet<u64>) -> (u64, Vec<(u64, u64)>) {
    let edge = (0..).find(|i| !arrived.contains(i)).expect("finite");
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &i in arrived.range(edge..) {
        match runs.last_mut() {
            Some(run) if run.1 == i => run.1 += 1,
            _ => runs.push((i, i + 1)),
        }
    }
    (edge, runs)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_acknowledgment_matches_what_arrived(sequences in proptest::collection::vec(0u64..40, 1..120)) {
        let mut receiver = Receiver::new(params());
        let mut arrived = BTreeSet::new();
        for sequence in sequences {
            let new = arrived.insert(sequence);
            let ack = receiver.on_segment(at(0), &segment(sequence));
            let (edge, runs) = runs(&arrived);
            prop_assert_eq!(receiver.next_expected(), edge);
            let Some(ack) = ack else { continue };
            prop_assert_eq!(ack.next_expected, edge);
            prop_assert_eq!(ack.duplicate, !new);
            let reported = blocks(&ack);
            prop_assert_eq!(reported.len(), runs.len().min(3));
            prop_assert!(reported.iter().all(|block| runs.contains(block)), "{:?} of {:?}", reported, runs);
            let distinct: BTreeSet<_> = reported.iter().collect();
            prop_assert_eq!(distinct.len(), reported.len());
            if new && sequence > edge {
                prop_assert!((reported[0].0..reported[0].1).contains(&sequence), "the newest comes first");
            }
        }
    }
}
