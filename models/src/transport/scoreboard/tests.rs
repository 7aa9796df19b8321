//! The scoreboard against a naive model that stores everything and recounts after every operation.

use super::*;
use alloc::format;
use alloc::vec::Vec;
use proptest::prelude::*;

/// One operation on the scoreboard. Its numbers select among what is possible at that moment.
#[derive(Clone, Debug)]
enum Operation {
    SendNew,
    Acknowledge { edge: u8, blocks: Vec<(u8, u8)>, echo: u8 },
    LoseOldestOnce,
    LoseOldestRetransmitted,
    LoseAny(u8),
    Retransmit,
    Rewind,
    BelieveInFlight,
}

fn operation() -> impl Strategy<Value = Operation> {
    let blocks = proptest::collection::vec((any::<u8>(), 1u8..20), 0..=MAX_SACK_BLOCKS);
    prop_oneof![
        12 => Just(Operation::SendNew),
        6 => (prop_oneof![3 => Just(0), 1 => any::<u8>()], blocks, any::<u8>())
            .prop_map(|(edge, blocks, echo)| Operation::Acknowledge { edge, blocks, echo }),
        3 => Just(Operation::LoseOldestOnce),
        2 => Just(Operation::LoseOldestRetransmitted),
        1 => any::<u8>().prop_map(Operation::LoseAny),
        4 => Just(Operation::Retransmit),
        1 => Just(Operation::Rewind),
        1 => Just(Operation::BelieveInFlight),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    state: State,
    retransmitted: bool,
    transmission: u64,
}

/// Every packet ever sent.
#[derive(Default)]
struct Model {
    packets: Vec<Packet>,
    first: usize,
}

impl Model {
    fn outstanding(&self) -> impl Iterator<Item = (u64, &Packet)> {
        self.packets.iter().enumerate().skip(self.first).map(|(i, packet)| (i as u64, packet))
    }

    fn count(&self, state: State) -> u32 {
        self.outstanding().filter(|(_, packet)| packet.state == state).count() as u32
    }

    fn oldest(&self, retransmitted: bool) -> Option<u64> {
        self.outstanding()
            .filter(|(_, packet)| packet.state == State::InFlight && packet.retransmitted == retransmitted)
            .min_by_key(|(_, packet)| packet.transmission)
            .map(|(sequence, _)| sequence)
    }

    /// Returns the packets newly covered: below `edge` or in a block.
    fn acknowledge(&mut self, edge: u64, blocks: &[SackBlock]) -> Vec<u64> {
        let covered: Vec<u64> = self
            .outstanding()
            .filter(|(sequence, packet)| {
                let selected = blocks.iter().any(|block| (block.start..block.end).contains(sequence));
                packet.state != State::Sacked && (*sequence < edge || selected)
            })
            .map(|(sequence, _)| sequence)
            .collect();
        for &sequence in &covered {
            self.packets[sequence as usize].state = State::Sacked;
        }
        self.first = self.first.max(edge as usize);
        covered
    }
}

/// Applies one operation to both, and compares what they return.
fn apply(operation: &Operation, board: &mut Scoreboard, model: &mut Model, transmission: &mut u64) {
    match operation {
        Operation::SendNew => {
            let sequence = board.send_new(Time::from_picos(*transmission), *transmission);
            assert_eq!(sequence, model.packets.len() as u64);
            model.packets.push(Packet { state: State::InFlight, retransmitted: false, transmission: *transmission });
            *transmission += 1;
        }
        Operation::Acknowledge { edge, blocks, echo } => {
            let span = board.next() - board.first();
            let edge = board.first() + u64::from(*edge).min(span);
            let mut ack = Ack::plain(edge, u64::from(*echo), 0);
            for (i, (start, length)) in blocks.iter().enumerate() {
                let start = board.first() + u64::from(*start) % (span + 1);
                ack.sack[i] = SackBlock { start, end: start + u64::from(*length) };
                ack.blocks += 1;
            }
            let mut coverage = Coverage::new(ack.echo);
            let mut room = Vec::new();
            let mut list = CoveredList::new(&mut room);
            board.take_in(&ack, &mut coverage, Some(&mut list));
            let mut reported: Vec<u64> = list.packets().iter().map(|packet| packet.sequence).collect();
            reported.sort_unstable();
            let covered = model.acknowledge(edge, &ack.sack[..usize::from(ack.blocks)]);
            assert_eq!(reported, covered);
            assert_eq!(coverage.delivered as usize, covered.len());
            assert_eq!(coverage.cumulative as usize, covered.iter().filter(|sequence| **sequence < edge).count());
        }
        Operation::LoseOldestOnce => {
            let oldest = board.oldest_sent_once();
            assert_eq!(oldest, model.oldest(false));
            lose(oldest, board, model);
        }
        Operation::LoseOldestRetransmitted => {
            let oldest = board.oldest_retransmitted();
            assert_eq!(oldest, model.oldest(true));
            lose(oldest, board, model);
        }
        Operation::LoseAny(choice) => {
            let flying: Vec<u64> =
                model.outstanding().filter(|(_, p)| p.state == State::InFlight).map(|(sequence, _)| sequence).collect();
            let chosen = (!flying.is_empty()).then(|| flying[usize::from(*choice) % flying.len()]);
            lose(chosen, board, model);
        }
        Operation::Retransmit => {
            let chosen = board.next_retransmission();
            assert_eq!(chosen.is_some(), model.count(State::Lost) > 0);
            if let Some(sequence) = chosen {
                assert_eq!(model.packets[sequence as usize].state, State::Lost);
                board.retransmit(sequence, Time::from_picos(*transmission), *transmission);
                model.packets[sequence as usize] =
                    Packet { state: State::InFlight, retransmitted: true, transmission: *transmission };
                *transmission += 1;
            }
        }
        Operation::Rewind => {
            board.rewind();
            let lowest = model.outstanding().find(|(_, packet)| packet.state == State::Lost);
            assert_eq!(board.next_retransmission(), lowest.map(|(sequence, _)| sequence));
        }
        Operation::BelieveInFlight => {
            board.believe_in_flight();
            let first = model.first;
            for packet in &mut model.packets[first..] {
                if packet.state == State::Lost {
                    packet.state = State::InFlight;
                }
            }
        }
    }
}

fn lose(chosen: Option<u64>, board: &mut Scoreboard, model: &mut Model) {
    if let Some(sequence) = chosen {
        let packet = &mut model.packets[sequence as usize];
        assert_eq!(board.lose(sequence), packet.transmission);
        packet.state = State::Lost;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_count_equals_a_recount(operations in proptest::collection::vec(operation(), 1..300)) {
        let (mut board, mut model, mut transmission) = (Scoreboard::new(), Model::default(), 0);
        for operation in &operations {
            apply(operation, &mut board, &mut model, &mut transmission);
            prop_assert_eq!(board.first(), model.first as u64);
            prop_assert_eq!(board.next(), model.packets.len() as u64);
            prop_assert_eq!(board.in_flight(), model.count(State::InFlight));
            prop_assert_eq!(board.lost(), model.count(State::Lost));
            prop_assert_eq!(board.sacked(), model.count(State::Sacked));
            let plain = model.outstanding().all(|(_, p)| p.state == State::InFlight && !p.retransmitted);
            prop_assert_eq!(board.is_plain(), plain);
        }
    }
}

#[test]
fn a_record_takes_24_bytes() {
    assert_eq!(size_of::<Record>(), 24);
}

proptest! {
    /// The short way over plain packets, and packet by packet: any transmission may be echoed, since acknowledgments are
    /// lost, and transmissions have holes, where others were sent again.
    #[test]
    fn fast_and_slow_paths_cover_the_same_packets(
        skipped in proptest::collection::vec(0u64..3, 1..60), before in 0u64..60, edge in 0u64..60, echo in 0u64..200,
    ) {
        let mut short = Scoreboard::new();
        let mut transmission = 0;
        for skip in &skipped {
            transmission += 1 + skip;
            short.send_new(Time::from_picos(1000 * transmission), transmission);
        }
        let packets = skipped.len() as u64;
        let before = before % packets;
        short.acknowledge(&Ack::plain(before, 0, 0), &mut Coverage::new(0), None);
        let mut long = short.clone();
        let edge = before + 1 + edge % (packets - before);
        let (mut found, mut expected) = (Coverage::new(echo), Coverage::new(echo));
        short.advance_plain(edge, &mut found);
        long.acknowledge(&Ack::plain(edge, echo, 0), &mut expected, None);
        prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        prop_assert_eq!((short.first(), short.in_flight()), (long.first(), long.in_flight()));
    }
}
