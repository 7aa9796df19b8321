//! What holds for every controller of the registry, whatever its host reports. The host keeps its books: no more is
//! acknowledged than was sent, and neither numbers nor time go back.

use packetscale_models::congestion::{
    AckSample, Controller, Decision, Loss, LossResponse, Marked, RateSample, Sent, Setup, Timeout, Undo, registry,
};
use packetscale_models::settings::Settings;
use packetscale_models::units::{Bytes, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Debug)]
enum Operation {
    Wait { micros: u64 },
    Send { packets: u32 },
    Ack { packets: u32, holes: u32, rtt_micros: Option<u64>, window_limited: bool },
    Lose { packets: u32 },
    Mark { packets: u32, bursty: u32, answer: bool },
    Expire,
    Undo,
    Recover,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        2 => (0u64..2_000_000).prop_map(|micros| Operation::Wait { micros }),
        4 => (1u32..2_000).prop_map(|packets| Operation::Send { packets }),
        8 => (1u32..500, 0u32..3, prop::option::of(1u64..20_000_000), any::<bool>()).prop_map(
            |(packets, holes, rtt_micros, window_limited)| Operation::Ack { packets, holes, rtt_micros, window_limited }
        ),
        1 => (1u32..100).prop_map(|packets| Operation::Lose { packets }),
        1 => (0u32..100, 0u32..100, any::<bool>())
            .prop_map(|(packets, bursty, answer)| Operation::Mark { packets, bursty, answer }),
        1 => Just(Operation::Expire),
        1 => Just(Operation::Undo),
        1 => Just(Operation::Recover),
    ]
}

const PACKET: Bytes = Bytes::new(1500);
const HANDSHAKE: Span = Span::from_millis(60);

/// The host: what it knows, and whether it is recovering.
struct Host<C> {
    controller: C,
    now: Time,
    sent: u64,
    acked: u64,
    transmissions: u64,
    in_recovery: bool,
    expired: bool,
    srtt: Span,
    min_rtt: Span,
}

impl<C: Controller> Host<C> {
    fn new(controller: C, now: Time) -> Host<C> {
        Host {
            controller,
            now,
            sent: 0,
            acked: 0,
            transmissions: 0,
            in_recovery: false,
            expired: false,
            srtt: HANDSHAKE,
            min_rtt: HANDSHAKE,
        }
    }

    fn in_flight(&self) -> u32 {
        (self.sent - self.acked) as u32
    }

    fn play(&mut self, operation: &Operation) {
        match *operation {
            Operation::Wait { micros } => self.now += Span::from_micros(micros),
            Operation::Send { packets } => (0..packets).for_each(|_| self.send()),
            Operation::Ack { packets, holes, rtt_micros, window_limited } => {
                self.ack(packets, holes, rtt_micros.map(Span::from_micros), window_limited);
            }
            Operation::Lose { packets } => self.lose(packets),
            Operation::Mark { packets, bursty, answer } => self.controller.on_mark(&Marked {
                now: self.now,
                congestion: packets,
                burstiness: bursty,
                answer: answer && packets > 0 && !self.in_recovery,
                srtt: self.srtt,
            }),
            Operation::Expire => self.expire(),
            Operation::Undo => self.undo(),
            Operation::Recover => self.recover(),
        }
    }

    fn send(&mut self) {
        self.sent += 1;
        let sent = Sent {
            now: self.now,
            paced_from: self.now,
            transmission: self.transmissions,
            size: PACKET,
            in_flight: self.in_flight(),
            app_limited: false,
            retransmission: false,
        };
        self.transmissions += 1;
        self.controller.on_sent(&sent);
    }

    /// Of the packets, at most `holes` are delivered above a hole: they move no left edge.
    fn ack(&mut self, packets: u32, holes: u32, rtt: Option<Span>, window_limited: bool) {
        let delivered = packets.min(self.in_flight());
        if delivered == 0 {
            return;
        }
        let cumulative = delivered.saturating_sub(holes);
        let prior_in_flight = self.in_flight();
        self.acked += u64::from(cumulative);
        if let Some(rtt) = rtt {
            self.srtt = (self.srtt.saturating_mul(7) + rtt) / 8;
            self.min_rtt = self.min_rtt.min(rtt);
        }
        self.controller.on_ack(&AckSample {
            now: self.now,
            delivered,
            cumulative,
            prior_in_flight,
            in_flight: self.in_flight(),
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            next_unacked: self.acked,
            next_unsent: self.sent,
            window_limited,
            in_recovery: self.in_recovery,
            arrivals: &[],
            rate: Some(RateSample {
                delivered: u64::from(delivered),
                interval: rtt.unwrap_or(Span::ZERO),
                prior_delivered: self.acked - u64::from(cumulative),
                is_app_limited: !window_limited,
                tx_in_flight: prior_in_flight,
                lost: 0,
            }),
        });
        self.expired = false;
    }

    fn lose(&mut self, packets: u32) {
        let lost = packets.min(self.in_flight());
        if lost == 0 {
            return;
        }
        self.controller.on_loss(&Loss {
            now: self.now,
            transmissions: &[],
            flights: &[],
            lost,
            enters_recovery: !self.in_recovery,
            prior_in_flight: self.in_flight(),
            srtt: self.srtt,
        });
        self.in_recovery = true;
    }

    fn expire(&mut self) {
        let timeout = Timeout { now: self.now, in_flight: self.in_flight(), first: !self.expired };
        self.controller.on_timeout(&timeout);
        self.expired = true;
        self.in_recovery = true;
    }

    fn undo(&mut self) {
        if self.in_recovery {
            self.controller.on_undo(&Undo { now: self.now });
            self.in_recovery = false;
        }
    }

    /// Everything that was under way arrives.
    fn recover(&mut self) {
        self.in_recovery = false;
        self.ack(self.in_flight(), 0, Some(HANDSHAKE), true);
    }

    fn window(&self) -> u32 {
        self.controller.decision().window
    }
}

fn hosts(initial_window: u32) -> impl Iterator<Item = (&'static str, Host<impl Controller + Clone>)> {
    let now = Time::ZERO + Span::from_secs(1);
    let setup = Setup { now, packet: PACKET, handshake_rtt: HANDSHAKE, initial_window, seed: 7 };
    registry().iter().map(move |entry| {
        let controller = (entry.build)(&setup, &Settings::new()).expect("the defaults are valid");
        (entry.name, Host::new(controller, now))
    })
}

/// An endless path: every round trip a whole window arrives, reported in one acknowledgment. 2^31 packets would be 32
/// doublings from one.
#[test]
fn window_without_losses_stays_below_2_to_the_31() {
    for (name, mut host) in hosts(1) {
        if host.controller.loss_response() == LossResponse::OwnWindow {
            continue;
        }
        for _ in 0..100 {
            let window = host.window();
            assert!(window < 1 << 31, "{name}: {window}");
            host.sent += u64::from(window);
            host.now += HANDSHAKE;
            host.ack(window, 0, Some(HANDSHAKE), true);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_window_stays_within_bounds(
        initial in 1u32..1000,
        operations in prop::collection::vec(operation(), 1..150),
    ) {
        for (name, mut host) in hosts(initial) {
            for (at, operation) in operations.iter().enumerate() {
                host.play(operation);
                let window = host.window();
                prop_assert!((1..1 << 31).contains(&window), "{name}: {window} after operation {at}, {operation:?}");
            }
        }
    }

    #[test]
    fn the_same_events_give_the_same_decisions(operations in prop::collection::vec(operation(), 1..80)) {
        for ((name, mut one), (_, mut other)) in hosts(10).zip(hosts(10)) {
            for operation in &operations {
                one.play(operation);
                other.play(operation);
                let decisions: [Decision; 2] = [one.controller.decision(), other.controller.decision()];
                prop_assert_eq!(decisions[0], decisions[1], "{}", name);
            }
        }
    }

    /// Linux: at least what it was, for the window and for the threshold. Controllers that do not answer to a loss with
    /// their window have nothing to restore.
    #[test]
    fn an_undo_restores_the_window_before_the_loss(
        operations in prop::collection::vec(operation(), 1..100),
        timeout in any::<bool>(),
    ) {
        for (name, mut host) in hosts(10) {
            if host.controller.loss_response() == LossResponse::OwnWindow {
                continue;
            }
            operations.iter().for_each(|operation| host.play(operation));
            host.recover();
            (0..20).for_each(|_| host.send());
            host.recover();
            let before = (host.window(), host.controller.slow_start_threshold());
            (0..20).for_each(|_| host.send());
            if timeout { host.expire() } else { host.lose(1) }
            host.undo();
            let after = (host.window(), host.controller.slow_start_threshold());
            prop_assert!(after.0 >= before.0 && after.1 >= before.1, "{name}: {before:?} became {after:?}");
        }
    }
}
