//! Schedules computed by hand.

use super::*;
use alloc::vec::Vec;

/// The pacer of Table II: mu(n) = 2 + 0.8 n Mbit/s up to 10 packets; a packet of 1000 B at 1 Mbit/s lasts 8 ms.
const TABLE_2: Params = Params {
    mu_min: Rate::from_mbps(2),
    mu_max: Rate::from_mbps(10),
    q_max: Packets::new(10),
    qmax_includes_in_service: false,
};

fn packet(size: u64) -> Packet<()> {
    Packet::new(0, Bytes::new(size), ())
}

fn at_us(us: u64) -> Time {
    Time::from_nanos(us * 1000)
}

fn pacer(params: Params) -> Qlbp<()> {
    Qlbp::new(params, Limit::Unlimited)
}

#[test]
fn the_first_packet_is_not_held() {
    let mut queue = pacer(TABLE_2);
    queue.enqueue(at_us(500), packet(1000));
    assert!(queue.dequeue(at_us(500)).is_some());
}

#[test]
fn nothing_is_due_while_nothing_waits() {
    let mut queue = pacer(TABLE_2);
    queue.enqueue(Time::ZERO, packet(1000));
    queue.dequeue(Time::ZERO);
    assert_eq!(queue.next_wakeup(), Time::MAX);
}

#[test]
fn each_arrival_moves_the_next_departure_earlier() {
    let mut queue = pacer(TABLE_2);
    queue.enqueue(Time::ZERO, packet(1000));
    queue.dequeue(Time::ZERO);
    // One waits: 8 ms / 2.8. Two: 8 ms / 3.6. Three: 8 ms / 4.4 = 1.818 ms, which ends at 2.1 ms.
    queue.enqueue(at_us(1000), packet(1000));
    assert_eq!(queue.next_wakeup(), Time::from_picos(2_857_142_857));
    assert!(queue.dequeue(at_us(1000)).is_none());
    queue.enqueue(at_us(2000), packet(1000));
    assert_eq!(queue.next_wakeup(), Time::from_picos(2_222_222_222));
    queue.enqueue(at_us(2100), packet(1000));
    assert!(queue.dequeue(at_us(2100)).is_some());
    // Two wait again: 8 ms / 3.6 after 2.1 ms.
    assert_eq!(queue.next_wakeup(), Time::from_picos(4_322_222_222));
}

#[test]
fn a_packet_after_the_gap_is_not_held() {
    let mut queue = pacer(TABLE_2);
    queue.enqueue(Time::ZERO, packet(1000));
    queue.dequeue(Time::ZERO);
    queue.enqueue(at_us(4000), packet(1000));
    assert!(queue.dequeue(at_us(4000)).is_some());
}

#[test]
fn the_gap_is_that_of_the_departed_packet() {
    let mut queue = pacer(TABLE_2);
    queue.enqueue(Time::ZERO, packet(500));
    queue.dequeue(Time::ZERO);
    queue.enqueue(Time::ZERO, packet(1500));
    // 4000 bits at 2.8 Mbit/s.
    assert_eq!(queue.next_wakeup(), Time::from_picos(1_428_571_428));
}

#[test]
fn beyond_q_max_packets_leave_at_the_link_rate() {
    let mut queue = pacer(TABLE_2);
    for _ in 0..13 {
        queue.enqueue(Time::ZERO, packet(1000));
    }
    // 12, then 11 wait: no gap. With 10 left the gap is that of mu_max, 0.8 ms.
    assert!(queue.dequeue(Time::ZERO).is_some());
    assert!(queue.dequeue(Time::ZERO).is_some());
    assert!(queue.dequeue(Time::ZERO).is_some());
    assert!(queue.dequeue(Time::ZERO).is_none());
    assert_eq!(queue.next_wakeup(), at_us(800));
}

#[test]
fn counting_the_packet_in_service_reaches_mu_max_earlier() {
    let mut queue = pacer(Params { qmax_includes_in_service: true, ..TABLE_2 });
    for _ in 0..10 {
        queue.enqueue(Time::ZERO, packet(1000));
    }
    queue.dequeue(Time::ZERO);
    assert_eq!(queue.next_wakeup(), at_us(800));
    // Eight wait: mu = 2 + 8/9 * 8 = 82/9 Mbit/s.
    queue.dequeue(at_us(800));
    assert_eq!(queue.next_wakeup(), Time::from_picos(800_000_000 + 72_000_000_000 / 82));
}

#[test]
fn with_mu_min_zero_the_last_packet_opens_an_endless_gap() {
    let mut queue = pacer(Params { mu_min: Rate::ZERO, ..TABLE_2 });
    queue.enqueue(Time::ZERO, packet(1000));
    queue.dequeue(Time::ZERO);
    assert!(queue.dequeue(Time::from_picos(u64::MAX - 1)).is_none());
    // One waits: 8 ms / 1.
    queue.enqueue(at_us(100), packet(1000));
    assert_eq!(queue.next_wakeup(), at_us(8000));
}

#[test]
fn a_dropped_packet_does_not_change_the_schedule() {
    let mut queue = Qlbp::new(TABLE_2, Limit::Packets(Packets::new(2)));
    queue.enqueue(Time::ZERO, packet(1000));
    queue.dequeue(Time::ZERO);
    queue.enqueue(Time::ZERO, packet(1000));
    let due = queue.next_wakeup();
    assert_eq!(queue.enqueue(Time::ZERO, packet(1000)), Verdict::Dropped(DropReason::Full));
    assert_eq!((queue.next_wakeup(), queue.length()), (due, (Packets::new(2), Bytes::new(2000))));
}

#[test]
fn refuses_unordered_rates_and_a_zero_step() {
    assert_eq!(TABLE_2.check(), Ok(()));
    let faults = [
        Params { mu_min: Rate::from_mbps(10), ..TABLE_2 },
        Params { q_max: Packets::ZERO, ..TABLE_2 },
        Params { q_max: Packets::new(1), qmax_includes_in_service: true, ..TABLE_2 },
        Params { q_max: Packets::new(10_000_001), ..TABLE_2 },
    ];
    let keys: Vec<&str> = faults
        .iter()
        .map(|params| match params.check() {
            Err(SettingError::Invalid { name, .. }) => name,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(keys, ["mu_min", "q_max", "q_max", "q_max"]);
}

#[test]
fn defaults_pace_from_a_hundredth_of_the_link_to_all() {
    let default = Params::of(Rate::from_mbps(100), &Settings::new()).unwrap();
    assert_eq!((default.mu_min, default.mu_max), (Rate::from_mbps(1), Rate::from_mbps(100)));
    assert_eq!((default.q_max, default.qmax_includes_in_service), (Packets::new(80), false));
}

/// A full queue after arrivals stop: the last packet waits for the sum of S / mu(j) over j = Q_max ... 1.
/// Here 8 ms (1/10 + 1/9.2 + 1/8.4 + 1/7.6 + 1/6.8 + 1/6 + 1/5.2 + 1/4.4 + 1/3.6 + 1/2.8) = 14.620 ms, where the bound
/// of the steady state is 8 ms.
#[test]
fn an_emptying_queue_holds_its_last_packet_for_all_gaps() {
    let mut queue = pacer(TABLE_2);
    for _ in 0..11 {
        queue.enqueue(Time::ZERO, packet(1000));
    }
    let mut now = Time::ZERO;
    queue.dequeue(now);
    while queue.next_wakeup() != Time::MAX {
        now = queue.next_wakeup();
        assert!(queue.dequeue(now).is_some());
    }
    let by_hand: f64 = (1..=10).map(|j| 8e-3 / (2.0 + 0.8 * f64::from(j))).sum();
    assert!((now.as_secs_f64() - by_hand).abs() < 1e-10, "{now:?}, {by_hand}");
    assert!((by_hand - 14.620e-3).abs() < 0.5e-6, "{by_hand}");
}
