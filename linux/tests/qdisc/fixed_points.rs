//! At a constant rate the queue rests where the law says.

use super::*;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The queue nears its rest with the time constant q_max S / (mu_max - mu_min) = 15 ms: thirteen of them, then the mean of as many
/// packets as fit into the rest.
const SETTLES: Duration = Duration::from_millis(200);
const MEASURED: Duration = Duration::from_millis(300);

/// Sends at this rate for a time.
fn send(socket: &UdpSocket, rate: Rate, time: Duration) {
    let (began, packet) = (Instant::now(), [0; PAYLOAD]);
    let gap = Duration::from_nanos(FRAME * 8 * 1_000_000_000 / rate.bps());
    for number in 0.. {
        let due = gap * number;
        if due >= time {
            return;
        }
        sleep(due.saturating_sub(began.elapsed()));
        // Nobody listens: a refusal of the packet before is no failure of this one.
        let _ = socket.send(&packet);
    }
}

/// Nine loads between the least rate and the most. The law: n = q_max (r - mu_min) / (mu_max - mu_min), where the pacer's rate is
/// what comes. It knows whole packets only, so each waits for ceil(n) - 1 of them (the paper's Theorem 1): the mean queue is up to a
/// packet below n. At a whole n any mean within that packet is a rest, so these loads are half-way between two.
#[test]
fn at_nine_loads_the_queue_rests_within_a_packet_of_the_law() {
    let pair = Pair::new("rest");
    pair.inside(|| {
        qdisc::load(DEVICE, &PACER).unwrap_or_else(|error| panic!("{error}"));
        let socket = socket();
        let mut rests = Vec::new();
        for tenth in 1..=9 {
            let halves = 2 * PACER.q_max.get() * tenth / 10 + 1;
            let range = PACER.rate_max.bps() - PACER.rate_min.bps();
            let rate = Rate::from_bps(PACER.rate_min.bps() + range * halves / (2 * PACER.q_max.get()));
            send(&socket, rate, SETTLES);
            let before = queue();
            send(&socket, rate, MEASURED);
            let after = queue();
            let found = (after.area - before.area) as f64 / (after.changed_ns - before.changed_ns) as f64;
            let law = halves as f64 / 2.0;
            println!("{rate}: {found:.2} packets wait, law {law:.2}");
            rests.push((found, law));
        }
        println!("{}", printed(&format!("tc -s qdisc show dev {DEVICE}")));
        assert!(rests.iter().all(|(found, law)| (found - law).abs() < 1.0), "{rests:?}");
        assert_eq!(queue().dropped, 0);
        assert!(qdisc::unload(DEVICE).expect("it goes"));
    });
}
