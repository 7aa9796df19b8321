//! The integer law of `law/include/queueing/qlbp.h` against this file's form and against equation (1) in floating point.

use super::*;
use crate::units::Random;
use packetscale_law::queueing::{self, QlbpParams};

/// Packets of all cases together.
const PACKETS: u64 = 1_000_000;
/// Rates in bytes per second, and Q_max; whole bytes, so that both forms have the same rates.
const CASES: [(u64, u64, u32); 5] = [
    (0, 125_000, 10),
    (625_000, 6_250_000, 60),
    (1_250_001, 12_500_003, 7),
    (1, 125_000_000, 16_384),
    (1_000_000_000, 12_500_000_000, 333),
];

/// One pacer, as this file has it and as the law has it, that see the same packets at the same instants.
struct Both {
    reading: Qlbp<()>,
    law: queueing::Qlbp,
    params: QlbpParams,
    departed: (u64, u64),
    compared: u64,
}

impl Both {
    fn new((mu_min, mu_max, q_max): (u64, u64, u32)) -> Both {
        let params = Params {
            mu_min: Rate::from_bps(8 * mu_min),
            mu_max: Rate::from_bps(8 * mu_max),
            q_max: Packets::new(q_max.into()),
            qmax_includes_in_service: false,
        };
        let params_of_law = QlbpParams { mu_min, mu_max, q_max, ..QlbpParams::default() };
        let reading = Qlbp::new(params, Limit::Unlimited);
        Both { reading, law: queueing::Qlbp::default(), params: params_of_law, departed: (0, 0), compared: 0 }
    }

    fn waiting(&self) -> u64 {
        self.reading.waiting.len() as u64
    }

    fn arrives(&mut self, now: u64, size: u64) {
        self.reading.enqueue(Time::from_nanos(now), Packet::new(0, Bytes::new(size), ()));
        self.law.on_arrival(&self.params, self.waiting());
        self.compare();
    }

    /// Whole nanoseconds, rounded up: when the reading lets the next packet go.
    fn ready(&self) -> u64 {
        self.reading.next_wakeup().picos().div_ceil(1000)
    }

    fn leaves(&mut self, now: u64) {
        let packet = self.reading.dequeue(Time::from_nanos(now)).expect("it may leave");
        self.reading.departed(Time::from_nanos(now), packet.size);
        self.departed = (now, packet.size.get());
        self.law.on_departure(&self.params, now, packet.size.get() as u32, self.waiting());
        self.compare();
    }

    /// The same instant, rounded down to the nanosecond: floor(floor(x ps) / 1000). Equation (1) lies above it by less than a
    /// nanosecond, and the six roundings of 2^-53 that it takes in floating point.
    fn compare(&mut self) {
        let waiting = self.waiting();
        if waiting == 0 {
            return;
        }
        self.compared += 1;
        assert_eq!(self.law.next_ns, self.reading.next.picos() / 1000, "{waiting} wait");
        let (last, size) = self.departed;
        let QlbpParams { mu_min, mu_max, q_max, .. } = self.params;
        let rate = mu_min as f64 + (mu_max - mu_min) as f64 * waiting as f64 / f64::from(q_max);
        let gap = if waiting > q_max.into() { 0.0 } else { size as f64 / rate * 1e9 };
        let early = gap - (self.law.next_ns - last) as f64;
        let slack = 6.0 * f64::EPSILON * gap;
        assert!(early >= -slack && early < 1.0 + slack, "{waiting} wait: early by {early} ns of {gap}");
    }
}

/// Bursts of packets of all sizes, with rests: queues from one packet to beyond Q_max.
#[test]
fn the_integer_law_lets_each_packet_go_at_the_readings_nanosecond() {
    let mut random = Random::new(1);
    for case in CASES {
        let mut both = Both::new(case);
        let (mut now, mut longest) = (0, 0);
        for _ in 0..PACKETS / CASES.len() as u64 {
            let mean = 700_000_000_000 / case.1;
            now += if random.bits().is_multiple_of(8) { random.bits() % (16 * mean) } else { random.bits() % mean };
            while both.waiting() > 0 && both.ready() <= now {
                both.leaves(both.ready().max(both.departed.0));
            }
            both.arrives(now, 40 + random.bits() % 65_496);
            longest = longest.max(both.waiting());
        }
        assert!(both.compared > PACKETS / CASES.len() as u64 && longest > 5, "{case:?}: {}, {longest}", both.compared);
    }
}

#[test]
fn without_a_least_rate_an_empty_queue_holds_its_next_packet_for_ever() {
    let mut law = queueing::Qlbp::default();
    let params = QlbpParams { mu_max: 1000, q_max: 2, ..QlbpParams::default() };
    law.on_departure(&params, 5, 1000, 0);
    assert_eq!(law.next_ns, u64::MAX);
    law.on_arrival(&params, 1);
    assert_eq!(law.next_ns, 5 + 2_000_000_000);
}
