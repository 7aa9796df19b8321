//! Whatever the channel does, a transfer completes, and every packet arrives.

use super::*;
use packetscale_models::transport::SackBlock;
use proptest::prelude::*;

const RTT: Span = Span::from_millis(50);

/// How a channel mistreats what crosses it, in probabilities per packet.
#[derive(Clone, Copy, Debug)]
struct Channel {
    loss: f64,
    duplication: f64,
    reordering: f64,
    latest: Span,
    seed: u64,
}

impl Channel {
    fn fates(self, salt: u64) -> impl FnMut() -> Fate {
        let mut dice = Dice(self.seed ^ salt);
        move || {
            let copies = match dice.roll() {
                x if x < self.loss => 0,
                x if x < self.loss + self.duplication => 2,
                _ => 1,
            };
            (0..copies)
                .map(|_| {
                    let late = dice.roll() < self.reordering;
                    if late { Span::from_picos((self.latest.picos() as f64 * dice.roll()) as u64) } else { Span::ZERO }
                })
                .collect()
        }
    }
}

/// Runs a transfer through a channel to its end, in both directions.
fn carried<C: Extras>(sender: Sender<C>, receiver: ReceiverParams, channel: Channel) -> Path<C> {
    let mut path = Path::new(sender, Receiver::new(receiver), RTT);
    let (mut data, mut acks) = (channel.fates(1), channel.fates(2));
    path.segment_fate = Box::new(move |_, _| data());
    path.ack_fate = Box::new(move |_, _| acks());
    path.run(Time::ZERO + Span::from_secs(100_000));
    path
}

fn channels() -> impl Strategy<Value = Channel> {
    (0.0..0.4, 0.0..0.2, 0.0..0.5, 0u64..200, any::<u64>()).prop_map(|(loss, duplication, reordering, ms, seed)| {
        Channel { loss, duplication, reordering, latest: Span::from_millis(ms), seed }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_transfer_completes_through_any_channel(
        channel in channels(),
        bytes in 1u64..400_000,
        name in prop_oneof![Just("newreno"), Just("cubic")],
        delayed_ack in 1u32..4,
        window in 1u64..200,
        pacing_percent in prop_oneof![Just(0u32), Just(120)],
    ) {
        let params = SenderParams { pacing_percent, ..sender_params(Transfer::Sized(Bytes::new(bytes)), RTT) };
        let sender = Sender::new(params, controller(name, &params, &[]), Time::ZERO);
        let path = carried(sender, ReceiverParams { delayed_ack, window, ..receiver_params() }, channel);

        prop_assert!(path.sender.is_done(), "stalled at {:?}: {:?}", path.now, path.sender);
        prop_assert_eq!(path.receiver.next_expected(), bytes.div_ceil(1000));
        prop_assert_eq!(path.sender.in_flight(), 0);
        let counters = path.sender.counters();
        prop_assert_eq!(counters.delivered, bytes.div_ceil(1000));
        prop_assert_eq!(counters.sent - counters.retransmitted, bytes.div_ceil(1000));
        prop_assert_eq!(counters.sent, path.sent.len() as u64);
    }

    /// Each packet is reported delivered once, with a transmission that existed. Each loss names a transmission that
    /// existed.
    #[test]
    fn reports_every_packet_to_a_controller_that_needs_arrivals(channel in channels(), packets in 1u64..400) {
        let params = sender_params(Transfer::Sized(path::PACKET * packets), RTT);
        let controller = Scripted { wants_arrivals: true, ..Scripted::new(30) };
        let sender = Sender::new(params, controller, Time::ZERO);
        let path = carried(sender, ReceiverParams { stamps: true, ..receiver_params() }, channel);
        prop_assert!(path.sender.is_done());

        let (mut arrived, mut lost) = (BTreeSet::new(), 0);
        for reports in &path.sender.controller().reports {
            match reports {
                Report::Arrivals(arrivals) => {
                    prop_assert!(arrivals.is_sorted_by_key(|(transmission, _)| *transmission));
                    for (transmission, when) in arrivals {
                        let (left, segment) = path.sent[*transmission as usize];
                        prop_assert!(arrived.insert(segment.sequence), "reported twice");
                        prop_assert!(when.is_none_or(|when| when >= left + RTT / 2));
                    }
                }
                Report::Loss { lost: count, transmissions, .. } => {
                    prop_assert_eq!(*count as usize, transmissions.len());
                    lost += u64::from(*count);
                }
                _ => {}
            }
        }
        prop_assert_eq!(arrived.len() as u64, packets);
        prop_assert_eq!(lost, path.sender.counters().lost);
        prop_assert!(path.sender.counters().retransmitted <= lost, "only what was declared lost is sent again");
    }

    /// Sends acknowledgments that no receiver would send, between transmissions and expiring timers.
    #[test]
    fn survives_impossible_acknowledgments(
        nonsense in proptest::collection::vec((0u64..60, 0u64..80, 0u64..100, 0u8..9, proptest::array::uniform6(0u64..90)), 1..80),
    ) {
        let params = sender_params(Transfer::Unlimited, RTT);
        let mut sender = Sender::new(params, controller("cubic", &params, &[]), Time::ZERO);
        let mut now = Time::ZERO;
        for (next_expected, echo, receive_window, flags, edges) in nonsense {
            while sender.poll_transmit(now).is_some() {}
            let mut ack = Ack::plain(next_expected, echo, receive_window);
            ack.duplicate = flags & 1 == 1;
            ack.blocks = flags / 2;
            for (i, block) in ack.sack.iter_mut().enumerate() {
                *block = SackBlock { start: edges[2 * i], end: edges[2 * i + 1] };
            }
            now += Span::from_millis(echo);
            sender.on_ack(now, &ack);
            sender.on_wakeup(now);
            prop_assert!(sender.counters().delivered <= sender.counters().sent);
        }
    }
}
