//! Whatever the channel does, a transfer completes, and every packet arrives.

mod path;

use packetscale_transport::{Receiver, ReceiverParams, Sender, SenderParams, Transfer};
use path::{Dice, Fate, Path, controller, receiver_params, sender_params};
use proptest::prelude::*;
use units::{Bytes, Span, Time};

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
        let rtt = Span::from_millis(50);
        let params = SenderParams { pacing_percent, ..sender_params(Transfer::Sized(Bytes::new(bytes)), rtt) };
        let sender = Sender::new(params, controller(name, &params, &[]), Time::ZERO);
        let receiver = Receiver::new(ReceiverParams { delayed_ack, window, ..receiver_params() });
        let mut path = Path::new(sender, receiver, rtt);
        let (mut data, mut acks) = (channel.fates(1), channel.fates(2));
        path.segment_fate = Box::new(move |_, _| data());
        path.ack_fate = Box::new(move |_, _| acks());
        path.run(Time::ZERO + Span::from_secs(100_000));

        prop_assert!(path.sender.is_done(), "stalled at {:?}: {:?}", path.now, path.sender);
        prop_assert_eq!(path.receiver.next_expected(), bytes.div_ceil(1000));
        prop_assert_eq!(path.sender.in_flight(), 0);
        let counters = path.sender.counters();
        prop_assert_eq!(counters.delivered, bytes.div_ceil(1000));
        prop_assert_eq!(counters.sent - counters.retransmitted, bytes.div_ceil(1000));
        prop_assert_eq!(counters.sent, path.sent.len() as u64);
    }
}
