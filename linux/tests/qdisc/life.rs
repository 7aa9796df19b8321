//! Loading, changing and unloading.

use super::*;
use linux::tcp::{self, Options};
use std::path::Path;

const PINS: &str = "/run/packetscale";
/// A packet in a second or so.
const SLOW: Qlbp = Qlbp { rate_min: Rate::from_bps(8000), rate_max: Rate::from_bps(16_000), ..PACER };

#[test]
fn unload_leaves_no_trace() {
    let pair = Pair::new("trace");
    let before = pair.shown();
    pair.inside(|| {
        qdisc::load(DEVICE, &PACER).unwrap_or_else(|error| panic!("{error}"));
        assert!(qdisc::unload(DEVICE).expect("it goes"));
        assert!(!qdisc::unload(DEVICE).expect("nothing is there"));
        assert_eq!(qdisc::status().expect("the state"), []);
    });
    assert_eq!(pair.shown().split_whitespace().nth(1), before.split_whitespace().nth(1));
    assert!(!Path::new(PINS).exists());
    assert!(!printed("tc qdisc show").contains("qlbp"));
}

/// Beyond q_max equation (1) has the rate of the link, and this one is quick: sixty packets wait, and no more.
#[test]
fn a_queue_beyond_q_max_is_not_paced_and_ends_with_its_packets() {
    let pair = Pair::new("full");
    pair.inside(|| {
        qdisc::load(DEVICE, &SLOW).unwrap_or_else(|error| panic!("{error}"));
        let socket = socket();
        (0..100).for_each(|_| drop(socket.send(&[0; PAYLOAD])));
        let found = queue();
        assert!(found.waiting == 60 && found.sent + 60 == found.queued && found.dropped == 0, "{found:?}");
        assert!(qdisc::unload(DEVICE).expect("it goes"), "with packets in the queue");
    });
}

#[test]
fn a_second_load_changes_the_parameters_and_loses_no_packet() {
    let pair = Pair::new("change");
    pair.inside(|| {
        qdisc::load(DEVICE, &SLOW).unwrap_or_else(|error| panic!("{error}"));
        let socket = socket();
        (0..20).for_each(|_| drop(socket.send(&[0; PAYLOAD])));
        let before = queue();
        assert!(before.queued >= 20 && before.sent < 3, "{before:?}");
        qdisc::load(DEVICE, &PACER).unwrap_or_else(|error| panic!("{error}"));
        let _ = socket.send(&[0; PAYLOAD]);
        std::thread::sleep(std::time::Duration::from_millis(100));
        let after = queue();
        assert!(after.sent == after.queued && after.queued > before.queued && after.dropped == 0, "{after:?}");
        assert!(qdisc::unload(DEVICE).expect("it goes"));
    });
}

#[test]
fn a_device_that_goes_down_and_up_is_paced_again() {
    let pair = Pair::new("down");
    pair.inside(|| {
        qdisc::load(DEVICE, &SLOW).unwrap_or_else(|error| panic!("{error}"));
        let first = socket();
        (0..20).for_each(|_| drop(first.send(&[0; PAYLOAD])));
        run(&format!("ip link set {DEVICE} down"));
        run(&format!("ip link set {DEVICE} up"));
        qdisc::load(DEVICE, &PACER).unwrap_or_else(|error| panic!("{error}"));
        let sent = queue().sent;
        let second = socket();
        (0..5).for_each(|_| drop(second.send(&[0; PAYLOAD])));
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(queue().sent >= sent + 5, "{:?}", queue());
        assert!(qdisc::unload(DEVICE).expect("it goes"));
    });
}

#[test]
fn two_devices_have_queues_of_their_own() {
    let (one, other) = (Pair::new("one"), Pair::new("other"));
    for pair in [&one, &other] {
        pair.inside(|| qdisc::load(DEVICE, &PACER)).unwrap_or_else(|error| panic!("{error}"));
    }
    one.inside(|| {
        let socket = socket();
        (0..5).for_each(|_| drop(socket.send(&[0; PAYLOAD])));
    });
    let queued = |pair: &Pair| pair.inside(|| queue().queued);
    assert!(queued(&one) >= 5 && queued(&other) < 5);
    assert!(one.inside(|| qdisc::unload(DEVICE)).expect("it goes"));
    assert_eq!(qdisc::status().expect("the state").len(), 1);
    assert!(other.inside(|| qdisc::unload(DEVICE)).expect("it goes"));
    assert!(!Path::new(PINS).exists());
}

/// Rapid loads on this kernel, too: both have pins in one file system, which goes with the last of them.
#[test]
fn rapid_and_the_queue_come_and_go_independently() {
    let pair = Pair::new("both");
    let put = || pair.inside(|| qdisc::load(DEVICE, &PACER)).unwrap_or_else(|error| panic!("{error}"));
    let take = || pair.inside(|| qdisc::unload(DEVICE)).unwrap_or_else(|error| panic!("{error}"));
    let load = || tcp::load(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let unload = || tcp::unload("rapid").unwrap_or_else(|error| panic!("{error}"));
    put();
    load();
    assert!(unload());
    assert_eq!(qdisc::status().expect("the state").len(), 1);
    load();
    assert!(take() && tcp::is_registered("rapid"));
    assert!(unload());
    assert!(!Path::new(PINS).exists());
}

#[test]
fn a_queue_that_went_with_its_namespace_leaves_nothing() {
    let (one, other) = (Pair::new("gone"), Pair::new("stays"));
    for pair in [&one, &other] {
        pair.inside(|| qdisc::load(DEVICE, &PACER)).unwrap_or_else(|error| panic!("{error}"));
    }
    drop(one);
    let began = std::time::Instant::now();
    while qdisc::status().expect("the state").len() > 1 && began.elapsed().as_secs() < 10 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(other.inside(|| qdisc::unload(DEVICE)).expect("it goes"));
    assert!(!Path::new(PINS).exists());
}

#[test]
fn a_missing_device_and_wrong_parameters_are_refused() {
    let said = |device: &str, qlbp: Qlbp| qdisc::load(device, &qlbp).expect_err("refused").to_string();
    assert!(said("nowhere", PACER).contains("--device: found nowhere"));
    assert!(said("lo", Qlbp { rate_max: PACER.rate_min, ..PACER }).contains("--rate-max"));
    assert!(said("lo", Qlbp { q_max: Packets::ZERO, ..PACER }).contains("--q-max"));
    assert!(said("lo", Qlbp { limit: PACER.q_max, ..PACER }).contains("--limit"));
    assert!(!Path::new(PINS).exists());
}
